import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isMet } from "../src/benchmark.ts";
import { svgOf } from "../src/report/plot.ts";
import {
  documents,
  joined,
  pageOf,
  type Result,
  readResults,
  sectionOf,
  withResults,
} from "../src/report/results.ts";
import { markdownOf, shown } from "../src/report/table.ts";

const top = join(import.meta.dirname, "../..");
const result: Result = {
  benchmark: "example",
  date: "2026-01-31",
  machine: { cpu: "A", cores: 2, memoryGb: 4, system: "Linux x64", node: "v20.19.0" },
  versions: { "a-peer": "1.2.3" },
  tables: [
    {
      title: "Times",
      columns: ["who", "ms"],
      rows: [
        ["ours", 0.012345],
        ["a|b", null],
      ],
    },
  ],
  plots: [{ name: "times", title: "Times", x: { title: "n" }, y: { title: "ms" }, points: [] }],
  targets: [
    { what: "share", measured: 0.7, atLeast: 0.6 },
    { what: "ratio", measured: 1.31, atMost: 1.3 },
  ],
};

test("numbers are shown with three digits", () => {
  expect([0, 0.0123456, 1.005, 12.34, 999.4, 1_234.5, 1e6, null].map(shown)).toEqual([
    ...["0", "0.0123", "1", "12.3", "999", "1,235", "1,000,000", "–"],
  ]);
});

test("a table is Markdown, numbers to the right", () => {
  const [table] = result.tables;
  expect(table && markdownOf(table)).toBe(
    "**Times**\n\n| who  |     ms |\n| ---- | -----: |\n| ours | 0.0123 |\n| a\\|b |      – |\n",
  );
});

test("a target is met or missed", () => {
  expect(result.targets?.map(isMet)).toEqual([true, false]);
  expect(isMet({ what: "lead over no peer at all", measured: Number.POSITIVE_INFINITY, atLeast: 1 })).toBe(
    false,
  );
  expect(sectionOf(result)).toMatch(/ratio \| +1\.31 \| ≤ 1\.3 +\| missed/);
});

test("what an older Node measured stands beside the newest", () => {
  const on = (node: string, measured: number): Result => ({
    ...result,
    machine: { ...result.machine, node },
    targets: [{ what: "ratio", measured, atMost: 1.3, before: "2.2", decides: "turn" }],
  });
  const [newer, older] = [on("v24.1.0", 1.2), on("v20.19.0", 1.4)];
  const both = joined(newer, older);
  expect(both).toEqual({ ...newer, older: { date: older.date, node: "v20.19.0", targets: older.targets } });
  expect(joined(older, newer)).toEqual(both);
  expect(joined(both, on("v24.2.0", 1.1)).older).toEqual(both.older);
  expect(joined(both, on("v20.20.0", 1.5)).older?.targets.map(({ measured }) => measured)).toEqual([1.5]);
  const part = { ...on("v20.20.0", 1), targets: [{ what: "another ratio", measured: 1 }] };
  expect(joined(both, part).older?.targets.map(({ measured }) => measured)).toEqual([1.4, 1]);
  expect(sectionOf(both)).toMatch(
    /\| Node 24 \| Node 20 \| target .*\n.*\n\| ratio +\| +1\.2 \| +1\.4 \| ≤ 1\.3 +\| missed on one \|/,
  );
  expect(sectionOf(both)).toContain("Node v24.1.0 (v20.19.0 on 2026-01-31)");
  const head = "<!-- bench head -->\nold\n<!-- end of bench -->\n";
  expect(withResults(head, [both])).toMatch(
    /\*\*The cost of a turn\*\*\n\n.*\n.*\n\| ratio \| 2\.2 +\| +1\.2 \| +1\.4 \| ≤ 1\.3 +\| missed on one \| `example` +\|/,
  );
  expect(withResults(head, [older])).toMatch(/\| ratio \| 2\.2 +\| +1\.4 \| ≤ 1\.3 +\| missed \|/);
});

test("a section says where, when and beside what it was measured", () => {
  expect(sectionOf(result)).toContain("![Times](../bench/results/example-times.svg)");
  expect(sectionOf(result)).toContain(
    "Measured on 2026-01-31 by `pnpm bench example`: A, 2 cores, 4 GB, Linux x64, Node v20.19.0; a-peer 1.2.3.",
  );
});

test("a section takes its place in a document, and nothing else changes", () => {
  const document = "Before\n<!-- bench: example -->\nold\n<!-- end of bench -->\nAfter\n";
  expect(withResults(document, [result])).toBe(
    `Before\n<!-- bench: example -->\n${sectionOf(result)}<!-- end of bench -->\nAfter\n`,
  );
  expect(withResults("no place", [result])).toBe("no place");
});

test("a plot is a picture, the same each time", async () => {
  const plot = {
    ...{ name: "p", title: "P", x: { title: "n", scale: "log" as const }, y: { title: "ms" } },
    points: [1, 10, 100].map((x) => ({ x, y: x * 2, line: "ours" })),
  };
  const svg = await svgOf(plot);
  expect(svg).toMatch(/^<svg /);
  expect(await svgOf(plot)).toBe(svg);
});

test("a headline takes its place too", () => {
  const [headline] = result.tables;
  const document = "<!-- bench headline: example -->\nold\n<!-- end of bench -->\n";
  expect(headline && withResults(document, [{ ...result, headline }])).toBe(
    "<!-- bench headline: example -->\n| who  |     ms |\n| ---- | -----: |\n| ours | 0.0123 |\n| a\\|b |      – |\n<!-- end of bench -->\n",
  );
});

test("what is too much for a document stands in a page, which it names", () => {
  const detailed = { ...result, details: [{ title: "Sizes", columns: ["MB"], rows: [[1]] }] };
  expect(sectionOf(detailed)).toContain("[bench/results/example.md](../bench/results/example.md)");
  expect(sectionOf(detailed)).not.toContain("**Sizes**");
  expect(pageOf(detailed)).toMatch(/^# example\n.*\*\*Times\*\*.*\*\*Sizes\*\*.*\(example-times\.svg\)/s);
});

test.each(documents)("%s shows the newest figures", (name) => {
  const document = readFileSync(join(top, name), "utf8");
  expect(document).toMatch(/<!-- bench/);
  expect(withResults(document, readResults(join(top, "bench/results")))).toBe(document);
});

test("each page holds the newest figures", () => {
  const folder = join(top, "bench/results");
  const pages = readdirSync(folder).filter((name) => name.endsWith(".md"));
  const detailed = readResults(folder).filter(({ details }) => details !== undefined);
  expect(pages.sort()).toEqual(detailed.map(({ benchmark }) => `${benchmark}.md`).sort());
  for (const one of detailed) {
    expect(readFileSync(join(folder, `${one.benchmark}.md`), "utf8")).toBe(pageOf(one));
  }
});
