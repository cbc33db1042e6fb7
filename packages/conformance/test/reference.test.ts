import type { StoreCapabilities } from "@turnkeep/core";
import { expect, test } from "vitest";
import { cases, formatReport, runConformance } from "../src/index.ts";
import { referenceHarness } from "./reference-store.ts";

test("a correct store passes every case", async () => {
  const report = await runConformance(referenceHarness());
  expect(formatReport(report)).toContain("Conforms");
  expect(report.results).toHaveLength(cases.length);
  const skipped = report.results.flatMap((result) => (result.status === "skipped" ? [result.name] : []));
  expect(skipped).toEqual([
    // Its data are in this process: see `elsewhere.test.ts`.
    "a process sees at once what another wrote",
    "writers in two processes all land once",
    "of two beginnings in two processes exactly one wins",
    "what leaves a store without history is gone",
    "a store without history says so",
    "a store without a listing says so",
    "a store without the order newest says so",
    "a full memory says so before anything is written, and goes on once there is room",
  ]);
});

/** Each alone in the thorough run. */
const alone: Partial<StoreCapabilities>[] = [
  { history: false },
  { list: false },
  { newest: false },
  { ttl: false },
  { shared: false, durable: false },
];
const declared: Partial<StoreCapabilities>[] = [
  ...(process.env.TURNKEEP_THOROUGH ? alone : [{ newest: false }]),
  { maxMessageBytes: 512 * 1024, maxMemoryBytes: 1024 * 1024 },
  { history: false, list: false, ttl: false, shared: false, durable: false, delta: false, readSteps: 2 },
];

test.each(declared)(
  "a correct store that declares %o passes every case that is left",
  async (capabilities) => {
    const report = await runConformance(referenceHarness({ capabilities }));
    expect(formatReport(report)).toContain("Conforms");
    const reasons = report.results.flatMap((result) => (result.status === "skipped" ? [result.reason] : []));
    for (const name of ["history", "list", "newest", "ttl", "shared", "durable"] as const) {
      const excluded = capabilities[name] === false;
      const skips = reasons.includes(`declares ${name}: false`);
      expect(skips, name).toBe(excluded);
    }
  },
);

test("limits that are declared are shown, and only what is larger is skipped", async () => {
  const capabilities = { maxMessageBytes: 512 * 1024, maxMemoryBytes: 1024 * 1024 };
  const report = await runConformance(referenceHarness({ capabilities }), { groups: ["sizes"] });
  const lines = formatReport(report).split("\n");
  expect(lines[0]).toContain("maxMessageBytes 524288 and maxMemoryBytes 1048576");
  expect(lines).toContain(
    "skipped sizes: a hundred messages of 1 MB live at once (the store declares maxMessageBytes: 524288)",
  );
  expect(report.counts.skipped).toBe(6);
});
