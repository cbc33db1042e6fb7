import { describe, expect, test } from "vitest";
import { isTurnkeepError, type TokenCounter } from "../src/index.ts";
import { applyProcessors, tokenLimiter } from "../src/processors.ts";
import type { WindowOverflow } from "../src/window-options.ts";
import { limiterFaults, type Reason } from "./mastra-differences.ts";
import { loadCases, type Marked, type RecordedMessage, toModelMessage } from "./mastra-messages.ts";
import { promptUnits, singles } from "./mastra-reference.ts";
import { expectRow, onceEach } from "./mastra-tally.ts";
import { naiveLimit } from "./processors-naive.ts";

interface OldRuns {
  readonly counts: readonly (number | null)[];
  readonly base: number;
  readonly newCounts?: readonly number[];
  readonly runs: readonly {
    readonly limit: number;
    readonly kept?: readonly number[];
    readonly exactKept?: readonly number[];
    readonly error?: string;
  }[];
}
type Kept = readonly number[] | { readonly refused: string };
interface NewRuns {
  readonly counts: readonly number[];
  readonly runs: readonly {
    readonly limit: number;
    readonly bestFit: Kept;
    readonly contiguous: Kept;
    readonly exact?: { readonly bestFit?: Kept; readonly contiguous?: Kept };
  }[];
}
interface Case {
  readonly id: string;
  readonly messages: readonly RecordedMessage[];
  readonly old: Readonly<Record<"o200k_base" | "cl100k_base", OldRuns>>;
  readonly new?: NewRuns;
}

const cases = loadCases<Case>("token-limiter");
const tenths = (tokens: number): number => Math.round(tokens * 10);
const atLeastZero = (count: number): number => Math.max(0, count);

/** What our documents say that ours answers. */
function documented(
  messages: readonly Marked[],
  counts: readonly number[],
  { limit, reserve, overflow }: { limit: number; reserve: number; overflow: "evict" | "throw" },
): readonly number[] | "refused" {
  if (limit <= reserve) return "refused";
  const countOf = ({ index }: Marked): number => counts[index] as number;
  return naiveLimit(messages, limit - reserve, countOf, overflow)?.map(({ index }) => index) ?? "refused";
}

/** Ours with the recorded counts, in tenths of a token. Theirs never stops on a grid. */
async function ours(
  messages: readonly Marked[],
  counts: readonly number[],
  options: { readonly limit: number; readonly reserve: number; readonly overflow: WindowOverflow },
): Promise<readonly number[] | "refused"> {
  const counter: TokenCounter = {
    name: "recorded",
    count: (message) => atLeastZero(counts[(message as Marked).index] as number),
  };
  try {
    const limiter = tokenLimiter({ ...options, counter, target: 1 });
    return (await applyProcessors(messages, [limiter])).map(({ index }) => index);
  } catch (error) {
    if (isTurnkeepError(error, "INVALID_OPTION") || isTurnkeepError(error, "WINDOW_OVERFLOW"))
      return "refused";
    throw error;
  }
}

describe.each(["o200k_base", "cl100k_base"] as const)("Mastra's recorded TokenLimiter, %s", (encoding) => {
  const compare = onceEach(async (recorded: Case): Promise<Set<Reason>[]> => {
    const all: Set<Reason>[] = [];
    const messages = recorded.messages.map(toModelMessage);
    const { base, newCounts = [], runs, ...old } = recorded.old[encoding];
    // A message that theirs cannot count is in no answer of theirs.
    const counts = old.counts.map((count) => tenths(count ?? 0));
    const fixed = tenths(base) + newCounts.reduce((sum, count) => sum + tenths(count), 0);
    const reserve = tenths(base) + newCounts.reduce((sum, count) => sum + atLeastZero(tenths(count)), 0);
    const units = singles(messages, ({ index }) => counts[index] as number);
    for (const { limit: tokens, kept, exactKept, error } of runs) {
      const limit = tenths(tokens);
      const faults = new Set<Reason>();
      if (error !== undefined) faults.add("throws");
      const theirs = exactKept ?? kept ?? [];
      if (exactKept !== undefined) faults.add("float");
      const has = (index: number): boolean => theirs.includes(index);
      const room = { theirs: limit - fixed, ours: limit - reserve };
      if (limit <= reserve) faults.add("noRoom");
      else if (error === undefined) {
        const left = messages.filter(({ index }) => has(index));
        for (const fault of limiterFaults(messages, left, units, room)) faults.add(fault);
      }
      const options = { limit, reserve, overflow: "evict" as const };
      const answer = await ours(messages, counts, options);
      expect(answer).toEqual(documented(messages, counts, options));
      const where = `limit ${tokens}: ${[...faults].join()}`;
      if (faults.has("noRoom")) expect(answer, where).toBe("refused");
      else if (faults.has("throws")) expect(answer, where).not.toBe("refused");
      else if (faults.size === 0 || (faults.size === 1 && faults.has("float"))) {
        expect(answer, where).toEqual(theirs);
        if (faults.has("float")) expect(answer, where).not.toEqual(kept);
      } else expect(answer, where).not.toEqual(theirs);
      all.push(faults);
    }
    return all;
  });

  test.each(cases.map((recorded) => [recorded.id, recorded] as const))("%s", async (_, recorded) => {
    await compare(recorded);
  });

  test("are as many alike, and as many different on purpose, as the document says", async () =>
    expectRow(`token-limiter, old, ${encoding}`, cases, compare));
});

describe.each(["contiguous", "bestFit"] as const)("Mastra's recorded TokenLimiterProcessor, %s", (mode) => {
  const compare = onceEach(async (recorded: Case): Promise<Set<Reason>[]> => {
    const all: Set<Reason>[] = [];
    const { counts: counted, runs } = recorded.new ?? { counts: [], runs: [] };
    const messages = recorded.messages.map(toModelMessage);
    const counts = counted.map(tenths);
    const reserve = 240;
    const system = messages.filter(({ role }) => role === "system");
    const fixed = reserve + system.reduce((sum, { index }) => sum + (counts[index] as number), 0);
    const units = promptUnits(messages, ({ index }) => counts[index] as number);
    for (const run of runs) {
      const limit = tenths(run.limit);
      const exact = run.exact?.[mode];
      const theirs = exact ?? run[mode];
      const faults = new Set<Reason>();
      if (exact !== undefined) faults.add("float");
      const options = { limit, reserve, overflow: "throw" as const };
      const answer = await ours(messages, counts, options);
      expect(answer).toEqual(documented(messages, counts, options));
      if ("refused" in theirs) {
        if (theirs.refused === "no-messages" && limit > fixed) faults.add("emptyList");
      } else {
        const left = messages.filter(({ index }) => theirs.includes(index));
        const room = { theirs: limit - fixed, ours: limit - fixed };
        for (const fault of limiterFaults(messages, left, units, room)) faults.add(fault);
      }
      const expected = "refused" in theirs ? "refused" : theirs;
      const where = `limit ${run.limit}: ${[...faults].join()}`;
      if (faults.size === 0 || (faults.size === 1 && faults.has("float"))) {
        expect(answer, where).toEqual(expected);
        if (faults.has("float")) expect(answer, where).not.toEqual(run[mode]);
      } else expect(answer, where).not.toEqual(expected);
      all.push(faults);
    }
    return all;
  });
  const asked = cases.filter((recorded) => recorded.new !== undefined);

  test.each(asked.map((recorded) => [recorded.id, recorded] as const))("%s", async (_, recorded) => {
    await compare(recorded);
  });

  test("are as many alike, and as many different on purpose, as the document says", async () =>
    expectRow(`token-limiter, new, ${mode}`, asked, compare));
});
