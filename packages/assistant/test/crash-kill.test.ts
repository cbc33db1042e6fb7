import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import { postgresStore } from "@turnkeep/store-postgres";
import { build } from "tsdown";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ChildReport, ChildTask } from "./crash-child.ts";
import { refusals, unpaired } from "./crash-turn.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The child, from the sources that the tests run; it lies one folder below the package, as `dist` does. */
beforeAll(() =>
  build({
    cwd: root,
    config: false,
    entry: { "crash-child": "test/crash-child.ts" },
    outDir: ".cache",
    format: "esm",
    platform: "node",
    fixedExtension: false,
    target: "node20.19",
    dts: false,
    logLevel: "error",
    noExternal: [/^@turnkeep\//],
    external: [/^@electric-sql\//],
    inputOptions: { resolve: { conditionNames: ["source", "import", "node", "default"] } },
  }),
);

/** How a process ended: `SIGKILL`, or `ok`. */
async function run(task: ChildTask): Promise<string> {
  const child = spawn(process.execPath, [join(root, ".cache/crash-child.js"), JSON.stringify(task)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let printed = "";
  child.stderr.on("data", (chunk) => {
    printed += chunk;
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  if (code !== null && code !== 0) throw new Error(printed);
  return signal ?? "ok";
}

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
    const end = await run({ ...task, folder });
    if (end === "ok") return false;
    expect(end).toBe("SIGKILL");
    expect(await run({ ...task, folder, dieAt: 0 })).toBe("ok");
    const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as ChildReport;
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

/** A turn is killed at every fifth place in the usual run, and at each in `npm run thorough`. */
const stride = process.env.TURNKEEP_THOROUGH ? 1 : 5;

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
