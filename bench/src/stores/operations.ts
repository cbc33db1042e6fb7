import type { ModelMessage } from "@turnkeep/core";
import { median } from "../measure.ts";
import type { Contender, Conversation, Window } from "./contender.ts";

/** What is measured, in this order in each turn. */
export const operations = ["append", "append + read", "read", "unchanged", "first read"] as const;

export type Operation = (typeof operations)[number];

/** The times of one contender, in milliseconds. */
export interface Times {
  /** Medians; of `append` those in which nothing left memory. */
  readonly median: Readonly<Record<Operation, number>>;
  /** What an append takes with its share of evictions: by the medians of both kinds, which a hiccup of the disk does not move. */
  readonly meanAppend: number;
}

/** Who is measured, and in what. */
export interface Side {
  readonly contender: Contender;
  /** A client of the same data, for what somebody else writes. */
  readonly writer: Contender;
  /** Each holds about as many messages; they take turns, so that short ones stay short. */
  readonly conversations: readonly string[];
}

export interface Calls {
  readonly window: Window;
  /** How often each operation is called. */
  readonly count: number;
  /** How many of these calls a contender makes before the next has its turn. */
  readonly inARow: number;
  /** A contender has one more try at an operation only while its tries have taken less than that. */
  readonly budgetMs: number;
  /** Does what a contender is asked for; it may end its part by what it throws. */
  readonly attempt: (contender: Contender, run: () => Promise<void>) => Promise<unknown>;
  /** Whether a contender still takes part. */
  readonly isIn: (contender: Contender) => boolean;
  readonly next: () => ModelMessage;
}

/**
 * Measures every operation of every side, in turns, each time another side first; `read` is that of a conversation to which
 * another client has added a message. `undefined`: the contender did not get to the end.
 */
export async function measure(
  sides: readonly Side[],
  { window, count, inARow, budgetMs, attempt, isIn, next }: Calls,
): Promise<(Times | undefined)[]> {
  const runners = sides.map((side) => new Runner(side, window));
  const attemptIn = async (runner: Runner, run: () => Promise<void>): Promise<void> => {
    if (isIn(runner.contender)) await attempt(runner.contender, run);
  };
  for (const runner of runners) {
    for (const name of runner.conversations) await attemptIn(runner, () => runner.warmUp(name, next()));
  }
  for (let from = 0, turn = 0; from < count; from += inARow, turn++) {
    for (const operation of operations) {
      const messages = Array.from({ length: inARow }, next);
      for (let place = 0; place < runners.length; place++) {
        const runner = runners[(place + turn) % runners.length] as Runner;
        for (const [index, message] of messages.entries()) {
          if (!runner.mayTry(operation, budgetMs)) break;
          await attemptIn(runner, () => runner.time(operation, from + index, message));
        }
      }
    }
  }
  return runners.map((runner) => (isIn(runner.contender) ? runner.times() : undefined));
}

interface Sample {
  readonly ms: number;
  readonly evicted: boolean;
}

class Runner {
  readonly contender: Contender;
  readonly conversations: readonly string[];
  readonly #writer: Contender;
  readonly #window: Window;
  readonly #open = new Map<string, { readonly own: Conversation; readonly others: Conversation }>();
  readonly #samples = new Map<Operation, Sample[]>(operations.map((operation) => [operation, []]));
  readonly #spentMs = new Map<Operation, number>();

  constructor({ contender, writer, conversations }: Side, window: Window) {
    this.contender = contender;
    this.conversations = conversations;
    this.#writer = writer;
    this.#window = window;
  }

  async warmUp(name: string, message: ModelMessage): Promise<void> {
    const own = this.contender.open(name, this.#window);
    const others = this.#writer.open(name, this.#window);
    this.#open.set(name, { own, others });
    await others.append(message);
    await own.read();
  }

  mayTry(operation: Operation, budgetMs: number): boolean {
    return (this.#spentMs.get(operation) ?? 0) < budgetMs;
  }

  async time(operation: Operation, call: number, message: ModelMessage): Promise<void> {
    const name = this.conversations[call % this.conversations.length] as string;
    const { own, others } = this.#open.get(name) as { own: Conversation; others: Conversation };
    if (operation === "read") await others.append(message);
    let evicted = false;
    const began = performance.now();
    if (operation === "first read") await this.contender.open(name, this.#window).read();
    else if (operation === "unchanged") await (own.readUnchanged ?? own.read)();
    else {
      if (operation !== "read") evicted = await own.append(message);
      if (operation !== "append") await own.read();
    }
    const ms = performance.now() - began;
    this.#samples.get(operation)?.push({ ms, evicted });
    this.#spentMs.set(operation, (this.#spentMs.get(operation) ?? 0) + ms);
  }

  times(): Times {
    const appends = this.#samples.get("append") ?? [];
    const timesOf = (samples: readonly Sample[]): number[] => samples.map(({ ms }) => ms);
    const evicting = appends.filter(({ evicted }) => evicted);
    const plain = appends.filter(({ evicted }) => !evicted);
    // A window that is full and makes room for one message at a time has no append without an eviction.
    const plainAppend = median(timesOf(plain.length > 0 ? plain : evicting));
    const evictingAppend = evicting.length > 0 ? median(timesOf(evicting)) : 0;
    const medians = operations.map((operation) => [
      operation,
      operation === "append" ? plainAppend : median(timesOf(this.#samples.get(operation) ?? [])),
    ]);
    return {
      median: Object.fromEntries(medians) as Times["median"],
      meanAppend: (plainAppend * plain.length + evictingAppend * evicting.length) / appends.length,
    };
  }
}
