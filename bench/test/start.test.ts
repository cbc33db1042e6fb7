import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { benchFolder } from "../src/peers.ts";
import { readResults } from "../src/report/results.ts";
import { bundleOf } from "../src/start/bundle.ts";
import { footprintOf } from "../src/start/footprint.ts";
import { bundleOfUse } from "../src/start/uses.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "turnkeep-start-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("what is installed is counted once, links not at all", () => {
  const store = join(folder, "node_modules/.pnpm/one@1.0.0/node_modules/one");
  mkdirSync(store, { recursive: true });
  mkdirSync(join(folder, "node_modules/.pnpm/node_modules"));
  writeFileSync(join(folder, "node_modules/.pnpm/lock.yaml"), "x".repeat(500));
  writeFileSync(join(store, "index.js"), "x".repeat(1_500));
  symlinkSync(store, join(folder, "node_modules/one"));
  expect(footprintOf(folder)).toEqual({ megabytes: 0.002, packages: 1 });
});

test("a bundle holds everything that is exported; what is asked for later stands apart", async () => {
  const table = (name: string): string =>
    `export const ${name} = ${JSON.stringify(Array.from({ length: 400 }, (_, index) => `${name} ${index * index}`))};`;
  writeFileSync(join(folder, "a.mjs"), `${table("first")}\nexport const load = () => import("./b.mjs");`);
  writeFileSync(join(folder, "b.mjs"), table("second"));
  writeFileSync(join(folder, "c.mjs"), `export * from "./a.mjs"; export * from "peer/deep";`);
  const bundle = await bundleOf([join(folder, "c.mjs")], { folder, external: ["peer"] });
  expect(bundle.atOnce).toBeGreaterThan(0.5);
  expect(bundle.later).toBeGreaterThan(0.5);
  writeFileSync(join(folder, "a.mjs"), 'export { second } from "./b.mjs";');
  const alone = await bundleOf([join(folder, "a.mjs")], { folder, external: [] });
  expect(alone.later).toBe(0);
  expect(alone.atOnce).toBeLessThan(bundle.atOnce + bundle.later);
});

test("the sizes in the results are those of the code, to a tenth", async () => {
  const measured = readResults(join(benchFolder, "results")).find(({ benchmark }) => benchmark === "start");
  const rows = measured?.tables.flatMap((table) => table.rows) ?? [];
  const cache = join(benchFolder, ".cache", "sizes");
  for (const entry of ["@turnkeep/core", "@turnkeep/core/processors", "@turnkeep/core/store-kit"]) {
    const [, said] = rows.find(([what]) => what === entry) ?? [];
    const { atOnce } = await bundleOf([entry], { folder: cache, external: [] });
    expect(Math.abs(atOnce / Number(said) - 1), `${entry}: ${atOnce} KB`).toBeLessThan(0.1);
  }
});

test("an import of core reads two files, each kept with one byte a character", () => {
  const dist = join(benchFolder, "../packages/core/dist");
  const read = new Map<string, string>();
  const wanted = ["index.js"];
  for (const file of wanted) {
    const code = readFileSync(join(dist, file), "utf8");
    read.set(file, code);
    for (const [, imported = ""] of code.matchAll(/^(?:import|export) .* from "\.\/(.*)";$/gm)) {
      if (!wanted.includes(imported)) wanted.push(imported);
    }
  }
  expect(read.size).toBe(2);
  for (const [file, code] of read) expect(code.match(/[^\0-\x7f]/g) ?? [], file).toEqual([]);
});

// Ceilings against growth by accident: whoever needs more room raises them in the change that takes it.
test.each([
  { use: "all of @turnkeep/core", most: 66 },
  { use: "createChatMemory", most: 56 },
  { use: "viewOf", most: 33 },
  { use: "a message helper", most: 5 },
  { use: "createChatMemory and a store", most: 70 },
] as const)("$use is $most KB in a bundle at most", async ({ use, most }) => {
  const { atOnce } = await bundleOfUse(use);
  expect(atOnce).toBeLessThanOrEqual(most);
});
