import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Findings, Target } from "../benchmark.ts";
import { type Machine, majorOf } from "./machine.ts";
import { type Plot, svgOf } from "./plot.ts";
import { markdownOf, rowsOf } from "./table.ts";
import { headOf, targetsOf } from "./targets.ts";

/** A benchmark's file in `results/`. */
export interface Result extends Findings {
  readonly benchmark: string;
  /** The day, as in 2026-01-31. */
  readonly date: string;
  readonly machine: Machine;
  /** What came of the targets on an older Node, where they were measured there too. */
  readonly older?: { readonly date: string; readonly node: string; readonly targets: readonly Target[] };
}

/**
 * What is kept of a benchmark that was run before: all of the newest Node, and the targets of an older one, of which a run may
 * have measured some.
 */
export function joined(before: Result | undefined, now: Result): Result {
  if (before === undefined) return now;
  if (isOfOlderNode(now, before)) {
    const measured = new Set(now.targets?.map(({ what }) => what));
    const others = (before.older?.targets ?? []).filter(({ what }) => !measured.has(what));
    return { ...before, older: { ...olderOf(now), targets: [...others, ...(now.targets ?? [])] } };
  }
  const older = isOfOlderNode(before, now) ? olderOf(before) : before.older;
  return older === undefined ? now : { ...now, older };
}

export function isOfOlderNode(one: Result, other: Result): boolean {
  return majorOf(one.machine.node) < majorOf(other.machine.node);
}

function olderOf({ date, machine, targets = [] }: Result): NonNullable<Result["older"]> {
  return { date, node: machine.node, targets };
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

/** What docs/performance.md shows of a result: its tables and pictures, what it is held to, where the rest is. */
export function sectionOf(result: Result): string {
  const { benchmark, tables, targets = [], plots = [], details = [] } = result;
  return [
    ...tables.map(markdownOf),
    ...(targets.length === 0 ? [] : [targetsOf(result)]),
    ...picturesOf(plots, benchmark, "../bench/results/"),
    ...(details.length === 0
      ? []
      : [`More of it: [bench/results/${benchmark}.md](../bench/results/${benchmark}.md).\n`]),
    measuredBy(result),
  ].join("\n");
}

/** All tables of a result, as a page beside its file. */
export function pageOf(result: Result): string {
  const { benchmark, tables, details = [], plots = [] } = result;
  return [
    `# ${benchmark}\n`,
    "How it is measured, and what is aimed at: [docs/performance.md](../../docs/performance.md).\n",
    ...[...tables, ...details].map(markdownOf),
    ...picturesOf(plots, benchmark, ""),
    measuredBy(result),
  ].join("\n");
}

function picturesOf(plots: readonly Plot[], benchmark: string, folder: string): string[] {
  return plots.map(({ name, title }) => `![${title}](${folder}${benchmark}-${name}.svg)\n`);
}

function measuredBy({ benchmark, date, machine, older, versions = {} }: Result): string {
  const { cpu, cores, memoryGb, node, system } = machine;
  const beside = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return (
    `Measured on ${date} by \`pnpm bench ${benchmark}\`: ${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node ${node}` +
    `${older === undefined || older.targets.length === 0 ? "" : ` (${older.node} on ${older.date})`}` +
    `${beside.length === 0 ? "" : `; ${beside.join(", ")}`}.\n`
  );
}

/** What shows results, from the top folder. */
export const documents: readonly string[] = ["docs/performance.md", "README.md"];

const end = "<!-- end of bench -->";

/**
 * The document with the newest figures: a result's section between `<!-- bench: NAME -->` and `<!-- end of bench -->`,
 * its headline behind `<!-- bench headline: NAME -->`, and what a reader decides by behind `<!-- bench head -->`.
 */
export function withResults(document: string, results: readonly Result[]): string {
  return results.reduce(
    (text, result) => {
      const whole = withPart(text, `bench: ${result.benchmark}`, sectionOf(result));
      return result.headline === undefined
        ? whole
        : withPart(whole, `bench headline: ${result.benchmark}`, rowsOf(result.headline));
    },
    withPart(document, "bench head", headOf(results)),
  );
}

function withPart(document: string, name: string, part: string): string {
  const begin = `<!-- ${name} -->\n`;
  const from = document.indexOf(begin);
  const to = document.indexOf(end, from);
  if (from === -1 || to === -1) return document;
  return `${document.slice(0, from + begin.length)}${part}${document.slice(to)}`;
}
