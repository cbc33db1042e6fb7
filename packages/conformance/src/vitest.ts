import { afterAll, describe, type TestContext, test } from "vitest";
import { conformanceGroups } from "./case.ts";
import type { ConformanceHarness } from "./harness.ts";
import { type ConformanceOptions, normalizeOptions } from "./run.ts";
import { ConformanceSession, endTimeout, testTimeout } from "./session.ts";
import type { RepeatOptions } from "./support/expect.ts";

/** Even if the configuration runs tests concurrently. Vitest 5 has no `describe.sequential`. */
const oneByOne = { concurrent: false };

/**
 * Registers the kit as tests of vitest: one `describe` with a test per case, run one after the other. A case that the
 * store's `capabilities` exclude is skipped, with what was declared. `harness.create` is first called when the first
 * test runs, so it may use what a `beforeAll` started.
 *
 * @example
 * ```ts
 * import { describeConformance } from "@turnkeep/conformance/vitest";
 * import { inMemoryStore } from "@turnkeep/core";
 *
 * describeConformance("inMemoryStore", { create: ({ ttlMs }) => inMemoryStore({ ttlMs }) });
 * ```
 */
export function describeConformance(
  name: string,
  harness: ConformanceHarness,
  options: ConformanceOptions = {},
): void {
  const normal = normalizeOptions(options);
  const repeat = (again: RepeatOptions) =>
    `describeConformance(${JSON.stringify(name)}, harness, ${JSON.stringify(again)})`;
  const session = new ConformanceSession(harness, { ...normal, repeat });
  describe(name, oneByOne, () => {
    afterAll(() => session.end(), endTimeout(normal.timeoutMs));
    for (const group of conformanceGroups) {
      const members = normal.cases.filter((member) => member.group === group);
      if (members.length === 0) continue;
      describe(group, oneByOne, () => {
        for (const member of members) {
          const timeout = testTimeout(member, normal.timeoutMs);
          test(member.name, { timeout, retry: 0 }, (context: TestContext) =>
            session.runAsTest(member, (reason) => context.skip(reason)),
          );
        }
      });
    }
  });
}
