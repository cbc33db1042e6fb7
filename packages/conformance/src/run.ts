import type { StoreCapabilities } from "@turnkeep/core";
import {
  abortSignal,
  callback,
  type Fields,
  integer,
  invalidOption,
  optional,
  quoted,
  such,
  takeOptions,
} from "@turnkeep/core/store-kit";
import { type ConformanceCase, type ConformanceGroup, conformanceGroups, lackingOf } from "./case.ts";
import { cases } from "./cases/index.ts";
import { offeredBy } from "./checks.ts";
import type { ConformanceHarness } from "./harness.ts";
import { newSeed } from "./random.ts";
import { type ConformanceReport, type ConformanceResult, createReport } from "./report.ts";
import { ConformanceSession } from "./session.ts";
import { describeError, type RepeatOptions } from "./support/expect.ts";

/** Which cases to run, and how. */
export interface ConformanceOptions {
  /** Default: all. */
  readonly groups?: readonly ConformanceGroup[] | undefined;
  /** Only cases whose name contains one of these texts. */
  readonly names?: readonly string[] | undefined;
  /** A whole number; default: a new one, which the report shows. */
  readonly seed?: number | undefined;
  /** Where to start in the model's sequences, as a failed case printed it. Use it with the same `seed`. */
  readonly path?: string | undefined;
  /** Time limit for one case, in milliseconds; heavy cases have five times as long. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** The cases to choose from; default: {@link cases}. Use it to add your own cases or replace the kit's. */
  readonly cases?: readonly ConformanceCase[] | undefined;
}

/** Options of {@link runConformance}. */
export interface RunOptions extends ConformanceOptions {
  /** Ends the run before the next case; `runConformance` then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each case. */
  readonly onResult?: ((result: ConformanceResult) => void) | undefined;
  /** Ends the run after so many failed cases. The report then says so, and the store does not conform. Default: none. */
  readonly bail?: number | undefined;
  /** Ends the run after so many milliseconds, within a case if need be, which then does not count. Default: never. */
  readonly totalMs?: number | undefined;
}

/** Options with every default filled in. */
export interface NormalOptions {
  readonly seed: number;
  readonly path: string | undefined;
  readonly timeoutMs: number;
  readonly cases: readonly ConformanceCase[];
}

/** How a run goes on, and when it ends. */
export type RunLimits = Pick<RunOptions, "signal" | "onResult" | "bail" | "totalMs">;

const list = such<never>("a list", Array.isArray);
const positive = such<number>("a positive number", (value) => Number(value) > 0);

const fields = {
  groups: optional(list),
  names: optional(list),
  seed: optional(such<number>("a whole number", Number.isSafeInteger)),
  path: optional(such<string>('a path as a failed case printed it, such as "3:1:0"', isPath)),
  timeoutMs: optional(positive, 60_000),
  cases: optional(list, cases),
} satisfies Fields<ConformanceOptions>;

const runFields = {
  ...fields,
  signal: optional(abortSignal),
  onResult: optional(callback),
  bail: optional(integer(1)),
  totalMs: optional(positive),
} satisfies Fields<RunOptions>;

/**
 * Runs the cases over a store, one after the other, and returns a report. Skipped cases follow from the store's
 * `capabilities` and from what the harness lacks, which the report names. A failing store does not make the call reject,
 * nor what it throws in the background: the report shows it. Nor does a harness whose `destroy` fails: `harnessFailure`.
 * The call rejects if the harness fails before, and with `INVALID_OPTION` for invalid options, options that select no
 * case, a `path` that leads nowhere, or a harness with a misspelt member.
 *
 * @example
 * ```ts
 * import { formatReport, runConformance } from "@turnkeep/conformance";
 * import { inMemoryStore } from "@turnkeep/core";
 *
 * const report = await runConformance(
 *   { create: ({ ttlMs }) => inMemoryStore({ ttlMs }) },
 *   { groups: ["basic", "atomicity"] },
 * );
 * console.log(formatReport(report));
 * ```
 */
export async function runConformance(
  harness: ConformanceHarness,
  options?: RunOptions,
): Promise<ConformanceReport> {
  const { signal, onResult, bail, totalMs, ...others } = takeOptions("The kit's options", runFields, options);
  const repeat = (again: RepeatOptions) => `runConformance(harness, ${JSON.stringify(again)})`;
  return runCases(harness, chosen(others), repeat, { signal, onResult, bail, totalMs });
}

/** The same of options that are complete; `repeat` tells how whoever calls it repeats a failure. */
export async function runCases(
  harness: ConformanceHarness,
  normal: NormalOptions,
  repeat: (again: RepeatOptions) => string,
  limits: RunLimits,
): Promise<ConformanceReport> {
  const date = new Date().toISOString();
  const session = new ConformanceSession(harness, { ...normal, repeat });
  const results: ConformanceResult[] = [];
  const { capabilities, stopped } = await runAll(session, normal.cases, limits, results).catch(
    async (error: unknown) => {
      // What failed first is what the caller has to know.
      await session.end().catch(() => {});
      throw error;
    },
  );
  const harnessFailure = await session.end().then(
    () => undefined,
    (error: unknown) => ({ message: describeError(error), error }),
  );
  const ran = new Set(results.map(({ name }) => name));
  const whole =
    stopped === undefined && normal.path === undefined && cases.every(({ name }) => ran.has(name));
  return createReport(
    {
      date,
      seed: normal.seed,
      capabilities,
      offered: offeredBy(harness),
      lacking: lackingOf(cases, capabilities, harness),
      whole,
      casesOfTheKit: cases.length,
      stopped,
      harnessFailure,
    },
    results,
  );
}

interface Ended {
  readonly capabilities: StoreCapabilities;
  /** Why it ended before the last case; `undefined`: it did not. */
  readonly stopped: string | undefined;
}

/** Runs the cases in turn and adds their results. */
async function runAll(
  session: ConformanceSession,
  members: readonly ConformanceCase[],
  { signal, onResult, bail, totalMs = Number.POSITIVE_INFINITY }: RunLimits,
  results: ConformanceResult[],
): Promise<Ended> {
  const end = performance.now() + totalMs;
  const capabilities = await session.capabilities();
  let failed = 0;
  for (const member of members) {
    signal?.throwIfAborted();
    if (failed === bail) return { capabilities, stopped: `${failed} failed, as many as bail allows` };
    const leftMs = end - performance.now();
    const result = leftMs > 0 ? await session.run(member, leftMs) : undefined;
    if (result === undefined) {
      const stopped = `its ${totalMs} ms were over before the case "${member.name}" had ended`;
      return { capabilities, stopped };
    }
    if (result.status === "failed") failed++;
    results.push(result);
    onResult?.(result);
  }
  return { capabilities, stopped: undefined };
}

/** As fast-check writes them. */
function isPath(value: unknown): boolean {
  return typeof value === "string" && /^\d{1,6}(:\d{1,6})*$/.test(value);
}

/** The same without what only a run takes. Errors: `INVALID_OPTION`, also for a group or name without cases. */
export function normalizeOptions(options: ConformanceOptions): NormalOptions {
  return chosen(takeOptions("The kit's options", fields, options));
}

/** Fills in what depends on the options, and chooses the cases. */
function chosen(
  options: ConformanceOptions & { readonly timeoutMs: number; readonly cases: readonly ConformanceCase[] },
): NormalOptions {
  const { groups, names, seed = newSeed(), path, timeoutMs, cases: all } = options;
  for (const group of groups ?? []) {
    if (!conformanceGroups.includes(group)) {
      throw invalidOption(`There is no group ${group}: choose from ${conformanceGroups.join(", ")}.`);
    }
  }
  for (const name of names ?? []) {
    if (!all.some((member) => member.name.includes(name))) {
      throw invalidOption(`No case has ${quoted(name)} in its name.`);
    }
  }
  const left = all.filter(
    (member) =>
      (groups === undefined || groups.includes(member.group)) &&
      (names === undefined || names.some((name) => member.name.includes(name))),
  );
  if (left.length === 0) throw invalidOption("The options groups and names leave no case.");
  return { seed, path, timeoutMs, cases: left };
}
