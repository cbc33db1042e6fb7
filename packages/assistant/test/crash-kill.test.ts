import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { postgresStore } from "@turnkeep/store-postgres";
import { bundled, resultOf } from "@turnkeep/store-tests/processes";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ChildReport, ChildTask } from "./crash-child.ts";
import { refusals, unpaired } from "./crash-turn.ts";

/** From the sources that the tests run. */
const child = bundled(new URL("crash-child.ts", import.meta.url), { external: [/^@electric-sql\//] });

/** What a process tells at its end, or that it was killed. */
const run = async (task: ChildTask): Promise<ChildReport | "SIGKILL"> => resultOf(await child, task);

/** A database with its tables, made once: to make one takes longer than all that is tested. */
const template = mkdtempSync(join(tmpdir(), "turnkeep-crash-template-"));
beforeAll(async () => {
  const client = await PGlite.create(template);
  await postgresStore({ client }).migrate();
  await client.close();
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

/** Kills a process at one await and lets another one ask again; answers whether the first one died. */
async function killedAt(task: Omit<ChildTask, "folder">): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-crash-"));
  try {
    if (task.kind === "pglite") cpSync(template, join(folder, "database"), { recursive: true });
    if ((await run({ ...task, folder })) !== "SIGKILL") return false;
    const report = await run({ ...task, folder, dieAt: 0 });
    if (report === "SIGKILL") throw new Error("The process that goes on was killed.");
    const { before, after, text, requests } = report;
    const at = `killed at ${task.dieAt}`;
    expect(text, at).toBe("Done.");
    expect(after.questions, at).toBe(1);
    expect(after.answers, at).toBe(1);
    expect(after.results.slice(0, before.results.length), at).toEqual(before.results);
    expect(after.results, at).toHaveLength(3);
    if (task.isApproved) expect(after.results.filter((result) => result.includes("denied"))).toHaveLength(1);
    expect(unpaired(after.messages), at).toEqual([]);
    expect(requests.flatMap(refusals), at).toEqual([]);
    const runs = readFileSync(join(folder, "runs"), "utf8").trim().split("\n");
    if (task.isApproved)
      expect(
        runs.filter((id) => !/^call-(?:room|taxi)$/.test(id)),
        at,
      ).toEqual([]);
    if (!task.idempotent) expect(new Set(runs).size, at).toBe(runs.length);
    return true;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A turn is killed at every eighth place in the usual run, and at each in `npm run thorough`. */
const stride = process.env.TURNKEEP_THOROUGH ? 1 : 8;

/** How often a turn was killed, that is once for every `stride` places where it can be. */
async function deathsOf(task: Omit<ChildTask, "folder" | "dieAt">): Promise<number> {
  let deaths = 0;
  while (await killedAt({ ...task, dieAt: 1 + deaths * stride })) deaths++;
  return deaths;
}

const ofPlaces = (places: number): number => Math.ceil(places / stride);

const minutes = 60_000;

// Beside each other: each waits for one process at a time.
test.concurrent(
  "kill -9 at each await of a turn over files",
  async () => {
    expect(await deathsOf({ kind: "file", isApproved: false, idempotent: false, among: "" })).toBeGreaterThan(
      ofPlaces(30),
    );
  },
  5 * minutes,
);

test.concurrent(
  "kill -9 behind each write and each tool of a turn whose calls the user approves and denies, over files",
  async () => {
    const among = "^behind (?:updateMessages|call-)";
    expect(await deathsOf({ kind: "file", isApproved: true, idempotent: false, among })).toBe(ofPlaces(10));
  },
  5 * minutes,
);

test.concurrent(
  "kill -9 behind each write of a turn over PGlite",
  async () => {
    expect(
      await deathsOf({
        kind: "pglite",
        isApproved: false,
        idempotent: false,
        among: "^behind updateMessages",
      }),
    ).toBe(ofPlaces(7));
  },
  5 * minutes,
);
