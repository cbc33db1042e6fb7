/** Compiled by the type check, never run: what the options of the kit refuse. */
import { inMemoryStore } from "@turnkeep/core";
import { type ConformanceHarness, runConformance } from "../../src/index.ts";

const harness: ConformanceHarness = { create: ({ ttlMs }) => inMemoryStore({ ttlMs }) };

export async function runs(): Promise<void> {
  await runConformance(harness, { groups: ["order"], onResult: undefined });
  // @ts-expect-error a misspelt option
  await runConformance(harness, { group: ["order"] });
  // @ts-expect-error no such group
  await runConformance(harness, { groups: ["ordre"] });
  // @ts-expect-error a harness makes stores
  await runConformance({});
  // @ts-expect-error a misspelt member
  await runConformance({ ...harness, rawread: () => [] });
}
