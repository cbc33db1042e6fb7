import { after, describe, type TestContext, test } from "node:test";
import { conformanceGroups } from "./case.ts";
import type { ConformanceHarness } from "./harness.ts";
import { type ConformanceOptions, normalizeOptions } from "./run.ts";
import { ConformanceSession, testTimeout } from "./session.ts";
import type { RepeatOptions } from "./support/expect.ts";

/**
 * Registers the kit as tests of `node:test`: one `describe` with a test per case, run one after the other. A case that
 * the store's `capabilities` exclude is skipped, with what was declared. `harness.create` is first called when the
 * first test runs, so it may use what a `before` hook started.
 *
 * @example
 * ```ts
 * import { describeConformance } from "@turnkeep/conformance/node-test";
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
  describe(name, { concurrency: 1 }, () => {
    after(() => session.end());
    for (const group of conformanceGroups) {
      const members = normal.cases.filter((member) => member.group === group);
      if (members.length === 0) continue;
      describe(group, { concurrency: 1 }, () => {
        for (const member of members) {
          const timeout = testTimeout(member, normal.timeoutMs);
          test(member.name, { timeout }, (context: TestContext) =>
            session.runAsTest(member, (reason) => context.skip(reason)),
          );
        }
      });
    }
  });
}
