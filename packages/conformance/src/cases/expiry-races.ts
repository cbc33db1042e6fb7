import type { ChatMemoryStore } from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { withClock } from "../support/clock.ts";
import { expectThat } from "../support/expect.ts";
import { expectUnlisted } from "../support/listed.ts";
import { inTime, mortalClient } from "../support/lives.ts";
import type { TestMemory } from "../support/memory.ts";
import { all, readWhile, turns } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

const hour = 60 * 60 * 1000;

export const expiryRacesCases: readonly ConformanceCase[] = inGroup("ttl", [
  {
    name: "reads and lists of what has expired spare a memory that begins again meanwhile",
    sentence: sentences.noSooner,
    requires: { ttl: true, shared: true },
    heavy: true,
    async run(context) {
      const { mortal, expire } = await mortalClient(context);
      for (let round = 0; round < 4; round++) {
        const owner = context.unique();
        const memories = Array.from({ length: 8 }, () => context.memory());
        for (const memory of memories) {
          await memory.commit({ append: 2, owner }, mortal);
          memory.model.delete();
        }
        await expire();
        // By a client without ttlMs, so that no clock ends the later lives.
        const begin = () =>
          all(memories.map(async (memory) => void (await memory.commit({ append: 3, owner }))));
        const read = () =>
          all(memories.flatMap((memory) => looks(memory.id, owner, [context.other, mortal])));
        await readWhile(read, begin);
        for (const memory of memories) await memory.check("of a later life that began during reads");
      }
    },
  },
  {
    name: "what is written around the end of a life stays, beside reads, lists and sweeps",
    sentence: sentences.noSooner,
    requires: { ttl: true },
    heavy: true,
    run: writeAroundTheEnd,
  },
  {
    name: "each write sets the expiry by its own client's ttlMs",
    sentence: sentences.ownTtl,
    requires: { ttl: true, shared: true },
    heavy: true,
    run: (context) =>
      inTime(context, async (life) => {
        const { memory, owner } = life;
        const longer = await context.create({ ttlMs: 100 * life.ttlMs });
        const pastTheEnd = async (what: string) => {
          await context.elapse(1.2 * life.ttlMs);
          for (const client of [context.store, life.clients[0]]) {
            await memory.check(`past the end that an earlier write had set, after ${what}`, client);
            await client.sweep();
          }
          await memory.check(`past the end that an earlier write had set, after ${what} and a sweep`);
        };
        await life.write({ append: 3, owner });
        await life.write({ append: 1 }, context.store);
        await pastTheEnd("an append by a client without ttlMs");
        await life.write({ append: 1 });
        await life.write({ append: 1, move: [{ seq: 1, to: "evicted" }], head: "2" }, longer);
        await pastTheEnd("an update by a client with a longer ttlMs");
        await life.write({ append: 1 });
        await life.expire();
        const what = "past the end that its last write has set, though the one before had set a later one";
        await memory.check(what, context.store);
        await expectUnlisted(what, context.store, owner, memory);
      }),
  },
  {
    name: "a life ends by the database's clock, whatever this process's says",
    sentence: sentences.clock,
    requires: { ttl: true },
    needs: ["databaseNow"],
    heavy: true,
    async run(context) {
      for (const ahead of [hour, -hour]) {
        const what = `by a process whose clock is an hour ${ahead > 0 ? "ahead" : "behind"}`;
        await inTime(context, async (life) => {
          const { memory, owner } = life;
          await withClock(ahead, async () => {
            await life.write({ append: 2, owner });
            await life.write({ append: 1, move: [{ seq: 1, to: "evicted" }] });
            await life.check(`written and read ${what}`);
            await life.clients[0].sweep();
            await life.check(`swept ${what}`);
          });
          await life.check(`written ${what}`);
          await life.expire();
          await memory.check(`past the end of a life written ${what}`);
          await withClock(ahead, () => memory.check(`past the end of a life, ${what}`));
        });
      }
    },
  },
]);

/** Every way to come across a memory. */
function looks(memoryId: string, owner: string, clients: readonly ChatMemoryStore[]): Promise<unknown>[] {
  return clients.flatMap((client) => [
    client.getMessages(memoryId),
    ...(client.capabilities.history ? [client.getHistory(memoryId, {})] : []),
    ...(client.capabilities.list ? [client.listMemories({ owner })] : []),
  ]);
}

/**
 * Memories that are each written to again about when they expire: sometimes the write prolongs a life, sometimes it begins
 * another. Whichever it is, once it is acknowledged it must be there until its own time is up, whoever reads, lists and
 * sweeps meanwhile.
 */
async function writeAroundTheEnd(context: ConformanceContext): Promise<void> {
  const ttlMs = context.clockIsMoved ? 60_000 : 120;
  /** What a clock may have gone on meanwhile, unseen. */
  const slackMs = context.clockIsMoved ? ttlMs / 4 : 30;
  const first = await context.create({ ttlMs });
  const second = context.capabilities.shared ? await context.create({ ttlMs }) : first;
  const owner = context.unique();
  const memories = Array.from({ length: 12 }, () => context.memory(undefined, first));
  let writing = true;

  const pause = async (sentAt: number, round: number): Promise<void> => {
    if (context.clockIsMoved) return turns(3 + ((round * 7) % 11));
    const left = sentAt + ttlMs - context.now() + (round % 5) * 4 - 10;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, left)));
  };
  const write = async (memory: TestMemory, index: number): Promise<void> => {
    for (let round = 0; round < 8; round++) {
      const client = (index + round) % 2 === 0 ? first : second;
      const sentAt = await writeAnew(context, memory, { client, owner });
      const { version } = await (round % 2 === 0 ? first : second).getMessages(memory.id);
      const isDue = context.now() + slackMs - sentAt < ttlMs;
      const what = "a memory that was written to a moment ago, as an earlier life of it ended, is there";
      expectThat(what, !isDue || version === memory.model.version, version);
      await pause(sentAt, index + round);
    }
  };
  const moveClock = async (): Promise<void> => {
    while (writing && context.clockIsMoved) {
      await context.elapse(ttlMs / 4);
      await turns(4);
    }
  };
  const write12 = async (): Promise<void> => {
    try {
      await all(memories.map(write));
    } finally {
      writing = false;
    }
  };
  let turn = 0;
  const read = async (): Promise<void> => {
    const { id } = memories[turn++ % memories.length] as TestMemory;
    await all([...looks(id, owner, [first, second]), turn % 2 === 0 ? first.sweep() : second.sweep()]);
  };
  await all([readWhile(read, write12), moveClock()]);
}

/** Writes to what is there now, or begins it; answers when the write was sent. */
async function writeAnew(
  context: ConformanceContext,
  memory: TestMemory,
  { client, owner }: { readonly client: ChatMemoryStore; readonly owner: string },
): Promise<number> {
  for (;;) {
    const { version } = await client.getMessages(memory.id);
    if (version === null) memory.model.delete();
    const sentAt = context.now();
    try {
      await memory.commit({ append: 1, owner }, client);
      return sentAt;
    } catch (error) {
      // It has expired in between.
      if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
    }
  }
}
