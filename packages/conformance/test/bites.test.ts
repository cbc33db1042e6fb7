import { expect, test } from "vitest";
import { cases, runConformance } from "../src/index.ts";
import { brokenStores } from "./broken-stores.ts";
import { referenceHarness } from "./reference-store.ts";

test.each(brokenStores.map((broken) => [broken.fault, broken] as const))(
  "a store that %s is caught",
  async (_, broken) => {
    const [group, name] = broken.caughtBy;
    const named = cases.filter((member) => member.name === name && member.group === group);
    expect(named, `the case ${group}: ${name}`).toHaveLength(1);
    const reference = referenceHarness(broken);
    const harness = (await broken.harness?.(reference)) ?? reference;
    const { timeoutMs = 10_000 } = broken;
    const { results } = await runConformance(harness, { cases: named, seed: 1, timeoutMs });
    const [result] = results;
    expect(result?.status).toBe("failed");
    if (result?.status !== "failed") return;
    // It was found out by what was seen, not by a fault of the kit, and without a dump of what is stored.
    expect(result.message).toMatch(/expected|saw/);
    expect(Math.max(...result.message.split("\n").map((line) => line.length))).toBeLessThan(700);
  },
);

test("every case of the kit is failed by some broken store", () => {
  const failed = new Set(brokenStores.map(({ caughtBy }) => caughtBy.join(": ")));
  const idle = cases.map(({ group, name }) => `${group}: ${name}`).filter((name) => !failed.has(name));
  expect(idle).toEqual([]);
});

test("no two broken stores have the same fault", () => {
  expect(new Set(brokenStores.map(({ fault }) => fault)).size).toBe(brokenStores.length);
});
