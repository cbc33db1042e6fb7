import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { newerNode } from "@turnkeep/servers";
import { bundled } from "@turnkeep/store-tests/processes";
import { expect, test } from "vitest";

/** What a program of these prints, in a Node that Strands wants. */
async function printed(path: string, ...args: string[]): Promise<string> {
  const program = await bundled(new URL(path, import.meta.url), {
    external: [/^@strands-agents\/sdk$/, /^zod$/],
  });
  return (await promisify(execFile)(newerNode(), ["--no-warnings", program, ...args])).stdout;
}

test("prints what an agent is shown, what is kept, and whom it refuses", async () => {
  const expected = readFileSync(new URL("../output.txt", import.meta.url), "utf8");
  expect(await printed("../src/chat.ts")).toBe(expected);
});

test("shows neither what a guardrail has blocked, nor an answer that was made again", async () => {
  expect(JSON.parse(await printed("guarded.ts"))).toMatchObject([
    { role: "user", content: [{ text: "[blocked]" }] },
    { role: "assistant", content: [{ text: "I cannot say." }] },
    { role: "user", content: [{ text: "And now?" }] },
  ]);
});

test("another process goes on after kill -9 in the second tool", async () => {
  const folder = mkdtempSync(join(tmpdir(), "strands-"));
  const run = (task: object) =>
    printed("crash.ts", JSON.stringify({ file: join(folder, "chat.db"), ...task }));
  await expect(run({ question: "Do it.", dies: true })).rejects.toMatchObject({ signal: "SIGKILL" });
  expect(JSON.parse(await run({ question: "Go on", dies: false }))).toMatchObject([
    { role: "user", content: [{ text: "Do it." }] },
    { role: "assistant", content: [{ toolUse: { name: "first" } }] },
    { role: "user", content: [{ toolResult: { content: [{ text: "first done" }] } }] },
    { role: "assistant", content: [{ toolUse: { name: "second" } }] },
    { role: "user", content: [{ toolResult: { status: "error" } }, { text: "Go on" }] },
  ]);
  rmSync(folder, { recursive: true });
});
