import { isMet, type Target } from "../benchmark.ts";
import { majorOf } from "./machine.ts";
import type { Result } from "./results.ts";
import { type Cell, markdownOf, shown, type Table } from "./table.ts";

/** What a benchmark is held to, and what came of it on each Node that it ran on. */
export function targetsOf(result: Result): string {
  const majors = majorsIn([result]);
  return markdownOf({
    title: "Targets",
    columns: ["what", ...(majors.length === 1 ? ["measured"] : majors.map(nodeColumn)), "target", ""],
    rows: (result.targets ?? []).map((target): Cell[] => [target.what, ...cellsOf(result, target, majors)]),
  });
}

const decisions = {
  start: "A cold start",
  turn: "The cost of a turn",
  capacity: "What one process and one server carry",
  size: "Bytes",
} as const;

/** What a reader decides by, of all benchmarks: as it was, as it is on each Node, as it shall be. */
export function headOf(results: readonly Result[]): string {
  const majors = majorsIn(results.filter(({ targets = [] }) => targets.some(({ decides }) => decides)));
  const tables = Object.entries(decisions).map(
    ([decision, title]): Table => ({
      title,
      columns: ["", "26 November", ...majors.map(nodeColumn), "target", "", "by `pnpm bench`"],
      rows: results.flatMap((result) =>
        (result.targets ?? [])
          .filter(({ decides }) => decides === decision)
          .map((target): Cell[] => {
            const { what, before = null } = target;
            return [what, before, ...cellsOf(result, target, majors), `\`${result.benchmark}\``];
          }),
      ),
    }),
  );
  return tables
    .filter(({ rows }) => rows.length > 0)
    .map(markdownOf)
    .join("\n");
}

/** The newest first. */
function majorsIn(results: readonly Result[]): number[] {
  const nodes = results.flatMap(({ machine, older }) => [machine.node, older?.node ?? machine.node]);
  return [...new Set(nodes.map(majorOf))].sort((a, b) => b - a);
}

function nodeColumn(major: number): string {
  return `Node ${major}`;
}

/** What was measured on each Node, the bound, and whether all of it is within. */
function cellsOf({ machine, older, targets }: Result, target: Target, majors: readonly number[]): Cell[] {
  const runs = [{ node: machine.node, targets }, ...(older === undefined ? [] : [older])];
  const measured = majors.map((major) => {
    const run = runs.find(({ node }) => majorOf(node) === major);
    return run?.targets?.find(({ what }) => what === target.what)?.measured ?? null;
  });
  const { atMost, atLeast } = target;
  if (atMost === undefined && atLeast === undefined) return [...measured, "", ""];
  const bound = atMost === undefined ? `≥ ${shown(atLeast ?? null)}` : `≤ ${shown(atMost)}`;
  // An older run is held to what the newest one is.
  const met = measured.flatMap((one) => (one === null ? [] : [isMet({ ...target, measured: one })]));
  return [...measured, bound, met.every(Boolean) ? "met" : met.some(Boolean) ? "missed on one" : "missed"];
}
