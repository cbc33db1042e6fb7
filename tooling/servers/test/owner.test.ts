import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { withClient } from "../src/database.ts";
import { isAlive } from "../src/process.ts";
import { createServerFolder, reapLeftovers, recordsFolder } from "../src/records.ts";
import { neutralEnvironment, ownRecords, recordedServers } from "./support.ts";

const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");

/** A test run of its own that has started a Postgres and goes on until it is ended. */
async function startOwner(changes: NodeJS.ProcessEnv = {}): Promise<{ owner: ChildProcess; url: string }> {
  const owner = spawn(
    process.execPath,
    [vitest, "run", "--root", join(import.meta.dirname, "fixtures/owner")],
    {
      env: neutralEnvironment({ TURNKEEP_POSTGRES_SOURCE: "cache", VITEST: undefined, ...changes }),
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    },
  );
  onTestFinished(() => {
    // The whole group: a killed run may leave its workers behind.
    try {
      if (owner.pid !== undefined) process.kill(-owner.pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  });
  let output = "";
  for await (const chunk of owner.stdout ?? []) {
    output += chunk;
    const host = /Postgres \S+ at (\S+) \(cache/.exec(output)?.[1];
    if (host !== undefined) return { owner, url: `postgres://postgres@${host}/postgres` };
  }
  throw new Error(`the run ended before it had a server:\n${output}`);
}

it("a server whose owner was killed is cleared away by the next start", async () => {
  ownRecords();
  const { owner, url } = await startOwner();
  expect(await reapLeftovers()).toBe(0);
  owner.kill("SIGKILL");
  await once(owner, "exit");
  await withClient(url, (client) => client.query("select 1"));
  const [server] = recordedServers();
  if (server === undefined) throw new Error("the server was not recorded");

  expect(await reapLeftovers()).toBe(1);
  expect(isAlive(server)).toBe(false);
  expect(readdirSync(recordsFolder())).toEqual([]);
  await expect(withClient(url, async () => {})).rejects.toThrow("ECONNREFUSED");
});

it.each([
  ["a run", "SIGTERM", {}],
  ["a run", "SIGINT", {}],
  ["a program that has looked for Docker", "SIGTERM", { OWNER: "alone" }],
  ["a program that has looked for Docker", "SIGINT", { OWNER: "alone" }],
] as const)("%s that is ended by %s takes its server with it", async (_, signal, changes) => {
  ownRecords();
  const { owner } = await startOwner(changes);
  const [server] = recordedServers();
  if (server === undefined) throw new Error("the server was not recorded");
  const exited = once(owner, "exit");
  owner.kill(signal);
  await exited;
  expect(isAlive(server)).toBe(false);
  expect(existsSync(recordsFolder()) && readdirSync(recordsFolder())).toEqual([]);
});

it.runIf(process.platform === "linux")(
  "what the owner of the same number in another space of process numbers has is left alone",
  async () => {
    ownRecords();
    await createServerFolder("theirs", "SIGKILL");
    const [file = ""] = readdirSync(recordsFolder()).filter((name) => name.endsWith(".json"));
    const path = join(recordsFolder(), file);
    const record = JSON.parse(readFileSync(path, "utf8"));
    const { host } = record as { host: string };
    const foreign = { ...record, host: host.replace(/\d+\]$/, "1]"), owner: { pid: 2 ** 30, started: "1" } };
    writeFileSync(path, JSON.stringify(foreign));
    expect(await reapLeftovers()).toBe(0);
    writeFileSync(path, JSON.stringify({ ...foreign, host }));
    expect(await reapLeftovers()).toBe(1);
  },
);
