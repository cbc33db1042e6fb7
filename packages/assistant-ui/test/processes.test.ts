import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "@turnkeep/store-sqlite";
import { until } from "@turnkeep/store-tests/gate";
import { bundled } from "@turnkeep/store-tests/processes";
import Database from "libsql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPage } from "./page.ts";
import { server } from "./world.ts";

const folder = mkdtempSync(join(tmpdir(), "turnkeep-assistant-ui-"));
afterAll(() => rmSync(folder, { recursive: true }));

let program: string;
beforeAll(async () => {
  program = await bundled(new URL("chat-process.ts", import.meta.url), { external: [/^ai/, /^libsql$/] });
});

test("kill -9 in mid-answer: what was said so far is loaded from another process, marked, and gone on with", async () => {
  const file = join(folder, "chats.db");
  const store = sqliteStore({ client: new Database(file) });
  await store.migrate();
  const { page, memories, prompts, failures } = server(["Two."], { store });
  const child = spawn(process.execPath, [program, file], { stdio: ["ignore", "pipe", "inherit"] });
  const [printed] = await once(child.stdout, "data");
  const tab = await openPage({ api: String(printed).trim() });
  tab.runtime.thread.append("Count.");
  await until(() => tab.shown()[1] === "assistant: One, ");
  const id = tab.threadId();
  const stored = async () => (await memories.get(id).entries()).map(({ message }) => message);
  await until(async () => JSON.stringify(await stored()).includes("One, "));
  child.kill("SIGKILL");
  await once(child, "close");

  const loaded = await page();
  await loaded.runtime.threads.switchToThread(id);
  // Whoever asks waits until the dead process has lost its turn.
  await until(() => loaded.shown().length === 2);
  await loaded.settled();
  expect(loaded.shown()).toEqual(["user: Count.", "assistant: One, "]);
  await loaded.ask("Go on.");
  expect(prompts).toEqual([["user: Count.", "assistant: One, ", "user: Go on."]]);
  expect((await stored()).map(({ metadata }) => metadata)).toMatchObject([
    undefined,
    { status: "interrupted" },
    undefined,
    { status: "done" },
  ]);
  const again = await page();
  await again.open(id);
  expect(again.tree()).toEqual(loaded.tree());
  expect(failures).toEqual([]);
  await store.close();
});
