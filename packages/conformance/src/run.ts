import {
  abortSignal,
  callback,
  type Fields,
  invalidOption,
  optional,
  quoted,
  such,
  takeOptions,
} from "@turnkeep/core/store-kit";
import { type ConformanceCase, type ConformanceGroup, conformanceGroups } from "./case.ts";
import { cases } from "./cases/index.ts";
import type { ConformanceHarness } from "./harness.ts";
import { newSeed } from "./random.ts";
import { type ConformanceReport, type ConformanceResult, createReport } from "./report.ts";
import { ConformanceSession } from "./session.ts";

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
}

/** Options with every default filled in. */
export interface NormalOptions {
  readonly seed: number;
  readonly path: string | undefined;
  readonly timeoutMs: number;
  readonly cases: readonly ConformanceCase[];
}

const list = such<never>("a list", Array.isArray);

const fields = {
  groups: optional(list),
  names: optional(list),
  seed: optional(such<number>("a whole number", Number.isSafeInteger)),
  path: optional(),
  timeoutMs: optional(
    such<number>("a positive number", (value) => Number(value) > 0),
    60_000,
  ),
  cases: optional(list, cases),
} satisfies Fields<ConformanceOptions>;

const runFields = {
  ...fields,
  signal: optional(abortSignal),
  onResult: optional(callback),
} satisfies Fields<RunOptions>;

/**
 * Runs the cases over a store, one after the other, and returns a report. Skipped cases follow from the store's
 * `capabilities` and from what the harness lacks of `rawRead`, `rawWrite`, `rawRemove`, `fault` and `given`. A failing store does
 * not make the call reject: the report shows it. The call rejects if the harness fails, and with
 * `INVALID_OPTION` for invalid options, options that select no case, or a harness with a misspelt member.
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
  const { signal, onResult, ...others } = takeOptions("The kit's options", runFields, options);
  const normal = chosen(others);
  const session = new ConformanceSession(harness, normal);
  try {
    const results: ConformanceResult[] = [];
    for (const member of normal.cases) {
      signal?.throwIfAborted();
      const result = await session.run(member);
      results.push(result);
      onResult?.(result);
    }
    return createReport(normal.seed, await session.capabilities(), results);
  } finally {
    await session.end();
  }
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
