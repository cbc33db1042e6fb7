import { describe, expect, test } from "vitest";
import { isTurnkeepError, type TokenCounter } from "../src/index.ts";
import { applyProcessors, type Processor, tokenLimiter, toolCallFilter } from "../src/processors.ts";
import { type Count, countNew, countOld } from "./mastra-counts.ts";
import { filterFaults, limiterFaults, type Reason, type Unit } from "./mastra-differences.ts";
import {
  type Left,
  leftOf,
  loadCases,
  type Marked,
  partsOf,
  type RecordedMessage,
  toModelMessage,
} from "./mastra-messages.ts";
import {
  filterNew,
  filterOld,
  limitNew,
  limitOld,
  promptUnits,
  singles,
  type Tenth,
} from "./mastra-reference.ts";
import { expectRow, onceEach } from "./mastra-tally.ts";
import { naiveFilter, naiveLimit } from "./processors-naive.ts";

interface Run<T> {
  readonly exclude?: readonly string[];
  readonly limit: number;
  readonly encoding?: "o200k_base" | "cl100k_base";
  readonly kept: Readonly<Record<string, T>>;
}
type NewAnswer = Left | null | { readonly refused: string };
interface Case {
  readonly id: string;
  readonly messages: readonly RecordedMessage[];
  readonly old: readonly Run<readonly number[]>[];
  readonly new?: readonly Run<NewAnswer>[];
}

/** A version of Mastra: what its processors do, one by one, and what they answer to a chain. */
interface Version {
  readonly runs: (recorded: Case) => readonly Run<unknown>[];
  readonly expected: (answer: unknown, messages: readonly Marked[]) => Left | undefined;
  readonly filter: (messages: readonly Marked[], exclude: readonly string[] | undefined) => Marked[];
  readonly limit: (
    messages: readonly Marked[],
    limit: number,
    countOf: (message: Marked) => number,
    tenth: Tenth,
  ) => Marked[] | undefined;
  readonly units: (messages: readonly Marked[], countOf: (message: Marked) => number) => Unit[];
  readonly count: (run: Run<unknown>) => Count;
}

const base = 240;
const cases = loadCases<Case>("chain");
const whole = (indices: readonly number[]): Left => indices.map((index) => [index, null]);

const versions: Readonly<Record<"old" | "new", Version>> = {
  old: {
    runs: (recorded) => recorded.old,
    expected: (answer) => whole(answer as readonly number[]),
    filter: filterOld,
    limit: limitOld,
    units: singles,
    count: ({ encoding = "o200k_base" }) => countOld(encoding),
  },
  new: {
    runs: (recorded) => recorded.new ?? [],
    expected: (answer, messages) => {
      if (answer === null) return whole(messages.map(({ index }) => index));
      return Array.isArray(answer) ? (answer as Left) : undefined;
    },
    filter: filterNew,
    limit: limitNew,
    units: promptUnits,
    count: () => countNew,
  },
};

const indicesOf = (messages: readonly Marked[] | undefined): string | undefined =>
  messages?.map(({ index }) => index).join();

/** The custom processor of the recorded chains. */
const conversation: Processor<Marked> = {
  name: "conversation",
  process: (messages) => messages.filter(({ role }) => role === "user" || role === "assistant"),
};

describe.each(["old", "new"] as const)("Mastra's recorded chains, %s", (name) => {
  const version = versions[name];

  /** Their answer to a chain, processor by processor, and what was wrong with each step of it. */
  function theirs(
    messages: readonly Marked[],
    chain: string,
    run: Run<unknown>,
    countOf: (message: Marked) => number,
  ): { readonly left: Marked[] | undefined; readonly faults: Set<Reason> } {
    const faults = new Set<Reason>();
    let shown: Marked[] = [...messages];
    for (const step of chain.split(">")) {
      const before = shown;
      if (step === "conversation")
        shown = before.filter(({ role }) => role === "user" || role === "assistant");
      else if (step === "filter") {
        shown = version.filter(before, run.exclude);
        for (const fault of filterFaults(before, leftOf(before, shown), run)) faults.add(fault);
      } else {
        const after = version.limit(before, run.limit * 10, countOf, 10);
        const exact = version.limit(before, run.limit * 10, countOf, 1);
        if (indicesOf(exact) !== indicesOf(after)) faults.add("float");
        if (after === undefined && before.every(({ role }) => role === "system")) faults.add("emptyList");
        if (after === undefined) return { left: undefined, faults };
        shown = after;
        const isFixed = ({ role }: Marked): boolean => name === "new" && role === "system";
        const fixed = before.filter(isFixed).reduce((sum, message) => sum + countOf(message), base);
        const room = { theirs: run.limit * 10 - fixed, ours: run.limit * 10 - fixed };
        for (const fault of limiterFaults(before, shown, version.units(before, countOf), room))
          faults.add(fault);
      }
    }
    return { left: shown, faults };
  }

  /** What our documents say of the same chain. */
  function documented(
    messages: readonly Marked[],
    chain: string,
    run: Run<unknown>,
    countOf: (message: Marked) => number,
  ): Marked[] | undefined {
    let shown: Marked[] | undefined = [...messages];
    for (const step of chain.split(">")) {
      if (shown === undefined) return undefined;
      if (step === "filter") shown = naiveFilter(shown, run);
      else if (step === "limit")
        shown = naiveLimit(shown, run.limit * 10 - base, countOf, name === "old" ? "evict" : "throw");
      else shown = shown.filter(({ role }) => role === "user" || role === "assistant");
    }
    return shown;
  }

  async function ours(
    messages: readonly Marked[],
    chain: string,
    run: Run<unknown>,
    countOf: (message: Marked) => number,
  ): Promise<Marked[] | undefined> {
    const counter: TokenCounter = {
      name: "recorded",
      count: (message) => Math.max(0, countOf(message as Marked)),
    };
    const limit = { limit: run.limit * 10, reserve: base, counter, target: 1 };
    const processors: Readonly<Record<string, Processor<Marked>>> = {
      conversation,
      filter: toolCallFilter({ exclude: run.exclude }),
      limit: tokenLimiter({ ...limit, overflow: name === "old" ? "evict" : "throw" }),
    };
    try {
      return await applyProcessors(
        messages,
        chain.split(">").map((step) => processors[step] as Processor<Marked>),
      );
    } catch (error) {
      if (isTurnkeepError(error, "WINDOW_OVERFLOW")) return undefined;
      throw error;
    }
  }

  const compare = onceEach(async (recorded: Case): Promise<Set<Reason>[]> => {
    const messages = recorded.messages.map(toModelMessage);
    const all: Set<Reason>[] = [];
    const counts = new Map<string, number>();
    for (const run of version.runs(recorded)) {
      const countOf = (message: Marked): number => {
        const parts = partsOf(message).map(({ part }) => part);
        const key = `${run.encoding ?? "estimate"} ${message.index}: ${parts.join()}`;
        const known = counts.get(key);
        if (known !== undefined) return known;
        const count = version.count(run)(recorded.messages[message.index] as RecordedMessage, parts);
        counts.set(key, count);
        return count;
      };
      for (const [chain, answer] of Object.entries(run.kept)) {
        const where = `${chain}, limit ${run.limit}, ${run.exclude?.join() ?? "all tools"}`;
        const expected = version.expected(answer, messages);
        const reference = theirs(messages, chain, run, countOf);
        const left = reference.left === undefined ? undefined : leftOf(messages, reference.left);
        expect(left, `the reference: ${where}`).toEqual(expected);
        const own = await ours(messages, chain, run, countOf);
        const same = own === undefined ? undefined : leftOf(messages, own);
        // What one processor does wrong, the next may leave out.
        const isAlike = JSON.stringify(same) === JSON.stringify(expected);
        if (reference.faults.size === 0) expect(same, where).toEqual(expected);
        const naive = documented(messages, chain, run, countOf);
        expect(same, `as documented: ${where}`).toEqual(naive && leftOf(messages, naive));
        all.push(isAlike ? new Set() : reference.faults);
      }
    }
    return all;
  });

  test.each(cases.map((recorded) => [recorded.id, recorded] as const))("%s", async (_, recorded) => {
    await compare(recorded);
  });

  test("are as many alike, and as many different on purpose, as the document says", async () =>
    expectRow(`chain, ${name}`, cases, compare));
});
