/**
 * Runs the benchmarks, prints what they found, and writes it into `results/` and the documents.
 *
 *     pnpm bench [benchmark…] [--only postgres,redis] [--quick] [--conversations FILE.jsonl]
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Benchmark } from "./benchmark.ts";
import { cache } from "./benchmarks/cache.ts";
import { calls } from "./benchmarks/calls.ts";
import { elsewhere } from "./benchmarks/elsewhere.ts";
import { growth } from "./benchmarks/growth.ts";
import { redis } from "./benchmarks/redis.ts";
import { scattered } from "./benchmarks/scattered.ts";
import { start } from "./benchmarks/start.ts";
import { sqlite, stores } from "./benchmarks/stores.ts";
import { tokens } from "./benchmarks/tokens.ts";
import { units } from "./benchmarks/units.ts";
import { upkeep } from "./benchmarks/upkeep.ts";
import { window } from "./benchmarks/window.ts";
import { benchFolder } from "./peers.ts";
import { thisMachine } from "./report/machine.ts";
import {
  documents,
  isOfOlderNode,
  joined,
  pageOf,
  readResults,
  withResults,
  writeResult,
} from "./report/results.ts";
import { markdownOf } from "./report/table.ts";
import { targetsOf } from "./report/targets.ts";

const benchmarks: readonly Benchmark[] = [
  cache,
  calls,
  elsewhere,
  growth,
  redis,
  scattered,
  sqlite,
  start,
  stores,
  tokens,
  units,
  upkeep,
  window,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    conversations: { type: "string" },
  },
});
const names = benchmarks.map(({ name }) => name);
const chosen = positionals.length > 0 ? positionals : names;
const only = values.only?.split(",") ?? [];
const picked = benchmarks.filter(({ name }) => chosen.includes(name));
const strange = [
  ...chosen.filter((name) => !names.includes(name)),
  // In none of those that are run may it mean nothing.
  ...only.filter((part) => !picked.every(({ parts = [] }) => parts.includes(part))),
];
if (strange.length > 0) {
  console.error(`There is no ${strange.join(", ")}. Benchmarks:`);
  for (const { name, about, parts } of benchmarks) {
    console.error(`  ${name.padEnd(10)} ${about}${parts === undefined ? "" : `; --only ${parts.join(",")}`}`);
  }
  process.exit(2);
}

const deaf = picked.filter(({ readsConversations }) => !readsConversations);
if (values.conversations !== undefined && deaf.length > 0) {
  console.error(`No conversations are read by ${deaf.map(({ name }) => name).join(", ")}.`);
  process.exit(2);
}

/** pnpm runs scripts in their package's folder, and tells where it was called. */
const { INIT_CWD: callersFolder = process.cwd() } = process.env;

// Each in a process of its own: what one has loaded and warmed up must not help the next.
if (chosen.length > 1) {
  const flags = process.argv.slice(2).filter((argument) => !positionals.includes(argument));
  for (const name of chosen) {
    const { status } = spawnSync(
      process.execPath,
      [...process.execArgv, import.meta.filename, name, ...flags],
      {
        stdio: "inherit",
      },
    );
    if (status !== 0) process.exitCode = 1;
  }
  process.exit();
}

const results = join(benchFolder, "results");
for (const { name, run } of picked) {
  console.log(`# ${name}\n`);
  const findings = await run({
    quick: values.quick,
    only,
    conversations:
      values.conversations === undefined ? undefined : resolve(callersFolder, values.conversations),
    say: (text) => console.error(`  ${text}`),
  });
  for (const table of [...findings.tables, ...(findings.details ?? [])]) console.log(markdownOf(table));
  const date = new Date().toISOString().slice(0, 10);
  const result = { benchmark: name, date, machine: thisMachine(), ...findings };
  if (findings.targets !== undefined) console.log(targetsOf(result));
  const before = readResults(results).find(({ benchmark }) => benchmark === name);
  // A part of the figures, or those of other data, must not take the place of all of them.
  const isPart = only.length > 0 && (before === undefined || !isOfOlderNode(result, before));
  if (values.quick || isPart || values.conversations !== undefined) continue;
  await writeResult(results, joined(before, result));
}
const newest = readResults(results);
for (const result of newest) {
  if (result.details !== undefined) writeFileSync(join(results, `${result.benchmark}.md`), pageOf(result));
}
for (const name of documents) {
  const document = join(benchFolder, "..", name);
  writeFileSync(document, withResults(readFileSync(document, "utf8"), newest));
}
