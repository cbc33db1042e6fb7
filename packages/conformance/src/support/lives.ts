import type { ChatMemoryStore, MemoryUpdate } from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import type { ConformanceContext } from "../context.ts";
import { expectHeld } from "./erased.ts";
import { ConformanceError } from "./expect.ts";
import type { Change, TestMemory } from "./memory.ts";

/** One memory in stores whose memories expire, and what the clock allows to be said of it. */
export interface MortalMemory {
  readonly ttlMs: number;
  /** One or two clients with the same `ttlMs`. */
  readonly clients: readonly [ChatMemoryStore, ...ChatMemoryStore[]];
  readonly memory: TestMemory;
  readonly owner: string;
  write(change: Change, client?: ChatMemoryStore): Promise<MemoryUpdate>;
  /** Fails unless the memory is as written; throws {@link tooSlow} if it may have expired by now. */
  check(what: string): Promise<void>;
  /** Fails unless the database, where it can be looked into, shows the messages that hold this text; throws {@link tooSlow} as well. */
  holds(text: string): Promise<void>;
  /** Lets the life of the last write run out; the model is empty afterwards. */
  expire(): Promise<void>;
}

const tooSlow = Symbol("the memory may have expired before it was looked at");

/** What clocks that are read one after the other may differ by. */
const slackMs = 25;

/** A client whose memories expire soon, and what lets those live out their time that it has written. */
export async function mortalClient(
  context: ConformanceContext,
): Promise<{ readonly mortal: ChatMemoryStore; expire(): Promise<void> }> {
  const ttlMs = context.clockIsMoved ? 60_000 : 200;
  const mortal = await context.create({ ttlMs });
  return { mortal, expire: () => context.elapse(ttlMs + slackMs) };
}

/**
 * Runs a case with a short life. Where time passes by itself, a slow machine may let a memory expire before the case
 * has looked: that shows nothing, so the case begins again with a longer life.
 */
export async function inTime(
  context: ConformanceContext,
  run: (life: MortalMemory) => Promise<void>,
): Promise<void> {
  const lives = context.clockIsMoved ? [60_000] : [400, 1600, 6400, 20_000];
  for (const ttlMs of lives) {
    try {
      return await run(await createLife(context, ttlMs));
    } catch (error) {
      if (error !== tooSlow) throw error;
    }
  }
  throw new ConformanceError(
    `the case: expected to read within a life of ${lives.at(-1)} ms, saw none in time`,
  );
}

async function createLife(context: ConformanceContext, ttlMs: number): Promise<MortalMemory> {
  const first = await context.create({ ttlMs });
  const rest = context.capabilities.shared ? [await context.create({ ttlMs })] : [];
  const memory = context.memory(context.memoryId(), first);
  let sentAt = 0;
  let acknowledgedAt = 0;
  const mayHaveExpired = () => context.now() - sentAt >= ttlMs;
  async function inItsLife(look: () => Promise<void>): Promise<void> {
    try {
      await look();
    } catch (error) {
      throw mayHaveExpired() ? tooSlow : error;
    }
  }
  return {
    ttlMs,
    clients: [first, ...rest],
    memory,
    owner: context.unique(),
    async write(change, client = first) {
      const begins = memory.model.version === null;
      const sending = context.now();
      const update = memory.update(change);
      try {
        await memory.send(update, client);
      } catch (error) {
        if (begins || !isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
        if (mayHaveExpired()) throw tooSlow;
        const last = Math.round(context.now() - sentAt);
        throw new ConformanceError(
          `a write ${last} ms after the last one, in a life of ${ttlMs} ms: expected success, saw VERSION_CONFLICT`,
          { cause: error },
        );
      }
      sentAt = sending;
      acknowledgedAt = context.now();
      return update;
    },
    check: (what) => inItsLife(() => memory.check(what)),
    holds: (text) => inItsLife(() => expectHeld(context, memory, text)),
    async expire() {
      await context.elapse(Math.max(0, acknowledgedAt + ttlMs + slackMs - context.now()));
      memory.model.delete();
    },
  };
}
