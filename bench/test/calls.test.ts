import { expect, test } from "vitest";
import { calls } from "../src/benchmarks/calls.ts";

test("each call is counted, and does what its name says", async () => {
  const { tables } = await calls.run({ quick: true, only: ["sqlite"], say() {} });
  const [table] = tables;
  expect(table?.columns).toEqual(["", "SQLite"]);
  const spent = new Map(table?.rows.map(([name, cell]) => [name, String(cell)]));
  expect(spent.get("`add`")).toBe("1 · 4 statements");
  // Two statements more: what leaves is moved, and the head says where the view begins anew.
  expect(spent.get("`add` that evicts")).toBe("1 · 6 statements");
  for (const cell of spent.values()) expect(cell).toMatch(/^[1-9]/);
});
