import { expect, it } from "vitest";
import { storesTable, tableIn, withTable } from "../src/documents/stores-table.mjs";

const theirs = {
  package: "their-store",
  store: "theirStore",
  database: "a | b",
  link: "https://their.example",
  author: "Ann",
  kit: "1.2.0",
  offered: ["reopen", "rawRead", "fault", "given"],
};

it("shows ours, then others' with their author and what they passed", () => {
  const ours = { package: "@turnkeep/a", store: "aStore", database: "A", folder: "packages/a" };
  const badge = "https://their.example/badge.svg";
  expect(storesTable({ ours: [ours], community: [theirs, { ...theirs, badge }] })).toBe(
    [
      "| store | database | package | conformance | by |",
      "| --- | --- | --- | --- | --- |",
      "| `aStore` | A | [`@turnkeep/a`](packages/a) | at every commit | Turnkeep |",
      "| `theirStore` | a \\| b | [`their-store`](https://their.example) | kit 1.2.0 | Ann |",
      `| \`theirStore\` | a \\| b | [\`their-store\`](https://their.example) | ![kit 1.2.0](${badge}) | Ann |`,
      "",
    ].join("\n"),
  );
});

it("is put between the marks of a document, and found there", () => {
  const empty =
    "Before\n<!-- stores: from docs/stores.json, by pnpm stores -->\n<!-- end of stores -->\nAfter\n";
  const table = storesTable({ ours: [], community: [theirs] });
  const written = withTable(empty, table);
  expect(tableIn(written)).toBe(table);
  expect(withTable(written, "")).toBe(empty);
  expect(tableIn("No marks")).toBeUndefined();
  expect(() => withTable("No marks", table)).toThrow("There is no place for the table");
});
