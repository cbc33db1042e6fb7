import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Findings, isMet, type Target } from "../benchmark.ts";
import type { Machine } from "./machine.ts";
import { svgOf } from "./plot.ts";
import { markdownOf, shown } from "./table.ts";

/** A benchmark's file in `results/`. */
export interface Result extends Findings {
  readonly benchmark: string;
  /** The day, as in 2026-01-31. */
  readonly date: string;
  readonly machine: Machine;
}

export async function writeResult(folder: string, result: Result): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const { benchmark, plots = [] } = result;
  for (const file of readdirSync(folder)) {
    if (file.startsWith(`${benchmark}-`) && file.endsWith(".svg")) rmSync(join(folder, file));
  }
  writeFileSync(join(folder, `${benchmark}.json`), `${JSON.stringify(result, null, 2)}\n`);
  for (const plot of plots) writeFileSync(join(folder, `${benchmark}-${plot.name}.svg`), await svgOf(plot));
}

export function readResults(folder: string): Result[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as Result);
}

/** What a document shows of a result: its tables, its targets, where and when it was measured. */
export function sectionOf({
  benchmark,
  date,
  machine,
  tables,
  targets = [],
  plots = [],
  versions = {},
}: Result): string {
  const { cpu, cores, memoryGb, node, system } = machine;
  const beside = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    ...tables.map(markdownOf),
    ...(targets.length === 0 ? [] : [targetsOf(targets)]),
    ...plots.map(({ name, title }) => `![${title}](../bench/results/${benchmark}-${name}.svg)\n`),
    `Measured on ${date} by \`pnpm bench ${benchmark}\`: ${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node ${node}` +
      `${beside.length === 0 ? "" : `; ${beside.join(", ")}`}.\n`,
  ].join("\n");
}

export function targetsOf(targets: readonly Target[]): string {
  return markdownOf({
    title: "Targets",
    columns: ["what", "measured", "target", ""],
    rows: targets.map((target) => [
      target.what,
      target.measured,
      target.atMost === undefined ? `≥ ${shown(target.atLeast ?? null)}` : `≤ ${shown(target.atMost)}`,
      isMet(target) ? "met" : "missed",
    ]),
  });
}

const end = "<!-- end of bench -->";

/** The document with the newest figures between `<!-- bench: NAME -->` and `<!-- end of bench -->`. */
export function withResults(document: string, results: readonly Result[]): string {
  return results.reduce((text, result) => {
    const begin = `<!-- bench: ${result.benchmark} -->\n`;
    const from = text.indexOf(begin);
    const to = text.indexOf(end, from);
    if (from === -1 || to === -1) return text;
    return `${text.slice(0, from + begin.length)}${sectionOf(result)}${text.slice(to)}`;
  }, document);
}
