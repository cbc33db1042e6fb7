/**
 * Runs the benchmarks, prints what they found, and writes it into `results/` and the documents.
 *
 *     pnpm bench [benchmark…] [--only postgres,redis] [--quick]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Benchmark } from "./benchmark.ts";
import { tokens } from "./benchmarks/tokens.ts";
import { benchFolder } from "./peers.ts";
import { thisMachine } from "./report/machine.ts";
import { readResults, targetsOf, withResults, writeResult } from "./report/results.ts";
import { markdownOf } from "./report/table.ts";

const benchmarks: readonly Benchmark[] = [tokens];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string" }, quick: { type: "boolean", default: false } },
});
const names = benchmarks.map(({ name }) => name);
const chosen = positionals.length > 0 ? positionals : names;
const only = values.only?.split(",") ?? [];
const parts = benchmarks.flatMap(({ name, parts = [] }) => (chosen.includes(name) ? parts : []));
const strange = [
  ...chosen.filter((name) => !names.includes(name)),
  ...only.filter((part) => !parts.includes(part)),
];
if (strange.length > 0) {
  console.error(`There is no ${strange.join(", ")}. Benchmarks:`);
  for (const { name, about, parts } of benchmarks) {
    console.error(`  ${name.padEnd(10)} ${about}${parts === undefined ? "" : `; --only ${parts.join(",")}`}`);
  }
  process.exit(2);
}

const results = join(benchFolder, "results");
for (const { name, run } of benchmarks.filter(({ name }) => chosen.includes(name))) {
  console.log(`# ${name}\n`);
  const findings = await run({ quick: values.quick, only, say: (text) => console.error(`  ${text}`) });
  for (const table of findings.tables) console.log(markdownOf(table));
  if (findings.targets !== undefined) console.log(targetsOf(findings.targets));
  // A part of the figures must not take the place of all of them.
  if (values.quick || only.length > 0) continue;
  const date = new Date().toISOString().slice(0, 10);
  await writeResult(results, { benchmark: name, date, machine: thisMachine(), ...findings });
}
const document = join(benchFolder, "../docs/performance.md");
writeFileSync(document, withResults(readFileSync(document, "utf8"), readResults(results)));
