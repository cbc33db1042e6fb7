import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { cases } from "../src/index.ts";
import { folderWith } from "./command-folder.ts";

const kit = inject("kit");

/** Runs a file by `node --test`; answers its lines in TAP, without what surrounds them, and the folder that it ran in. */
async function nodeTest(
  text: string,
  { file = "store.test.mjs", flags = [] }: { file?: string; flags?: readonly string[] } = {},
): Promise<{ code: unknown; lines: string[]; cwd: string }> {
  const cwd = folderWith(kit, { [file]: text });
  // A runner inside a runner would take it for a part of its own.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = [...flags, "--test", "--test-reporter=tap", file];
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    out += piece;
  });
  const [code] = await once(child, "close");
  return { code, lines: out.split("\n").map((line) => line.trim()), cwd };
}

test("the binding registers a test for each case: passed, failed with the sentence, or skipped", async () => {
  const { code, lines, cwd } = await nodeTest(`import { appendFileSync } from "node:fs";
import { before } from "node:test";
import { describeConformance } from "../../node-test.js";
import { referenceHarness } from "../../reference.js";

let started = false;
before(() => { started = true; });
const harness = referenceHarness({
  capabilities: { list: false },
  wrap: (base) => ({
    updateMessages: (id, { owner: _, ...update }, options) => base.updateMessages(id, update, options),
  }),
});
const create = (options) => {
  if (!started) throw new Error("created before the first test");
  return harness.create(options);
};
// Not printed: where a runner that is late reads text between two of its reports at once, Node leaves the rest unread
// until the file has ended, and reports the failed file as one more test.
const destroy = () => appendFileSync("destroyed", "once;");
describeConformance("a store that forgets the owner", { ...harness, create, destroy }, { groups: ["basic", "list"], seed: 42 });
`);
  expect(code).toBe(1);
  const wanted = cases.filter(({ group }) => group === "basic" || group === "list");
  const told = lines.filter((line) => /^(not )?ok \d+ - /.test(line));
  const names = told.map((line) => line.replace(/^(not )?ok \d+ - /, "").replace(/ # SKIP.*/, ""));
  const groups = ["basic", "list", "a store that forgets the owner"];
  expect(names.filter((name) => !groups.includes(name))).toEqual(wanted.map(({ name }) => name));

  const failed = told.filter(
    (line) => line.startsWith("not ok") && !groups.some((name) => line.endsWith(name)),
  );
  expect(failed).toHaveLength(1);
  expect(failed[0]).toContain("the owner stays until an update names another");
  const text = lines.join("\n");
  expect(text).toContain('owner: expected "alice", saw undefined');
  expect(text).toContain(
    "Contract: The owner from now on. Absent: unchanged; none, for a memory that begins.",
  );
  expect(text).toContain("Seed: 42");
  expect(readFileSync(join(cwd, "destroyed"), "utf8")).toBe("once;");

  const skipped = told.filter((line) => line.includes("# SKIP"));
  const counted = (reason: string) =>
    skipped.filter((line) => line.endsWith(`# SKIP the store ${reason}`)).length;
  expect(counted("declares list: false")).toBe(wanted.filter(({ requires }) => requires?.list).length);
  const elsewhere = wanted.filter(({ needs }) => needs?.includes("elsewhere"));
  expect(counted("has a harness without elsewhere")).toBe(elsewhere.length);
});

test("TypeScript runs as the README says, on every version of Node", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, flags = "", file = ""] = /^node (--import \S+) --test (\S+)$/m.exec(readme) ?? [];
  const text = `import { describeConformance } from "../../node-test.js";
import { referenceHarness } from "../../reference.js";

// A compiler has to read it: Node's own way only leaves types out.
enum Group { Order = "order" }
describeConformance("a store", referenceHarness(), { groups: [Group.Order] });
`;
  const { code, lines } = await nodeTest(text, { file, flags: flags.split(" ") });
  expect(code).toBe(0);
  const names = lines.flatMap((line) => /^ok \d+ - (.+)$/.exec(line)?.[1] ?? []);
  const wanted = cases.filter(({ group }) => group === "order").map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(wanted));
});

test("a limit above what a timer can wait is no short one", async () => {
  const { code, lines } = await nodeTest(`import { describeConformance } from "../../node-test.js";
import { referenceHarness } from "../../reference.js";

describeConformance("a store", referenceHarness(), { groups: ["order"], timeoutMs: 2 ** 31 });
`);
  expect([code, lines.filter((line) => line.startsWith("not ok"))]).toEqual([0, []]);
});
