import type { ChatMemoryStore, HistoryQuery } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { expectErased, expectHeld } from "../support/erased.ts";
import { expectCode, expectEqual, expectSettled, expectThat } from "../support/expect.ts";
import { expectListed, expectUnlisted } from "../support/listed.ts";
import { inTime, mortalClient } from "../support/lives.ts";
import type { Change, TestMemory } from "../support/memory.ts";
import { all, inPortions, race } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

const requires = { ttl: true };

export const ttlCases: readonly ConformanceCase[] = inGroup("ttl", [
  {
    name: "an expired memory is absent in every method at once",
    sentence: sentences.ttl,
    requires,
    heavy: true,
    run: (context) =>
      inTime(context, async (life) => {
        const { memory, owner } = life;
        const secret = context.unique();
        const said = { payload: `"${secret}"` };
        await life.write({ append: [said, said, {}], owner, head: "1", data: "1" });
        const last = await life.write({ append: 1, move: [{ seq: 1, to: "evicted" }] });
        await life.check("before it expires");
        await life.holds(secret);
        const late = memory.update({ append: 1 });
        await life.expire();
        for (const client of life.clients) {
          await memory.check("after it expired", client);
          await memory.checkKnown("after it expired", late.expected ?? "", client);
          await lookUp(context, memory, client);
          await expectUnlisted("after the memory expired", client, owner, memory);
          await memory.refused("an update of an expired memory", "VERSION_CONFLICT", late, client);
          await memory.refused(
            "the last update of an expired memory, sent again",
            "VERSION_CONFLICT",
            last,
            client,
          );
          const named = memory.update({ append: [{ seq: 9 }], move: [{ seq: 2, to: "evicted" }] });
          const what = "a beginning that names a message of an expired memory";
          await memory.refused(what, "INVALID_OPTION", named, client);
        }
        await memory.check("after an update of an expired memory");
        await memory.delete();
        const what = "nothing is left of an expired memory that was deleted, before any sweep";
        await expectErased(what, context, memory, secret);
      }),
  },
  {
    name: "every write prolongs the life of the whole memory",
    sentence: sentences.prolong,
    requires,
    heavy: true,
    run: (context) =>
      inTime(context, async (life) => {
        await life.write({ append: 4, owner: life.owner, head: "1" });
        // Each is followed by another write past half of a life, so that it shows whether it has prolonged the whole.
        const changes: Change[] = [
          { move: [{ seq: 1, to: "evicted" }] },
          {},
          { replace: [{ seq: 3, payload: '"changed"' }] },
          { head: "2" },
          { append: 1 },
          {},
          // What an append to a full window is, and what a store may write on another path.
          { append: 1, move: [{ seq: 2, to: "evicted" }] },
          {},
          { append: 120 },
          {},
        ];
        for (const [index, change] of changes.entries()) {
          await context.elapse(0.6 * life.ttlMs);
          await life.write(change, life.clients[index % life.clients.length]);
          await life.clients[0].sweep();
          await life.check(`after ${index + 1} writes, each past half of its life, and a sweep`);
        }
        await life.expire();
        await life.memory.check("after its last write expired");
      }),
  },
  {
    name: "neither reads nor refused updates prolong a life",
    sentence: sentences.ttl,
    requires,
    heavy: true,
    run: (context) =>
      inTime(context, async (life) => {
        const { memory, owner } = life;
        await life.write({ append: 2, owner });
        for (let round = 0; round < 3; round++) {
          await context.elapse(0.2 * life.ttlMs);
          await life.check("before it expires");
          const [client] = life.clients;
          await client.getMessages(memory.id, { known: memory.model.version ?? undefined });
          if (context.capabilities.list) await context.store.listMemories({ owner });
          await client.sweep();
          const refused = { ...memory.update({ append: 1 }), expected: context.unique() };
          await memory.refused("an update of a version that never was", "VERSION_CONFLICT", refused, client);
        }
        await life.expire();
        await memory.check("after it expired, though it was read and swept, and updates of it were refused");
      }),
  },
  {
    name: "an earlier life never shows in a later one",
    sentence: sentences.earlierLife,
    requires,
    heavy: true,
    run: (context) =>
      inTime(context, async (life) => {
        const { memory, owner } = life;
        const early = ["e1", "e2", "e3"].map((id) => ({ id, payload: '"earlier"' }));
        await life.write({ append: early, owner, head: '"earlier"', data: '"earlier"' });
        await life.write({ append: 3, move: [1, 4].map((seq) => ({ seq, to: "evicted" })) });
        const stale = memory.update({ append: 1 });
        await life.expire();
        const naming = memory.update({ append: [{ seq: 9 }], move: [{ seq: 1, to: "removed" }] });
        await memory.refused(
          "a beginning that removes a message of the earlier life",
          "INVALID_OPTION",
          naming,
        );
        await life.write({ append: 1 });
        await life.check("of the later life");
        await life.clients[0].sweep();
        await life.check("of the later life after a sweep");
        await life.write({ append: 4, move: [{ seq: 1, to: "superseded" }] });
        await life.check("of the later life after another update");
        if (context.capabilities.history) {
          const found = await life.clients[0].getHistory(memory.id, { ids: ["e1", "e2", "e3", "m6"] });
          expectEqual("messages of the earlier life found by id", found.messages, []);
        }
        await expectListed("the list of the earlier life's owner", life.clients[0], { owner }, []);
        await memory.refused("an update of the earlier life", "VERSION_CONFLICT", stale);
      }),
  },
  {
    name: "sweep removes what has expired and nothing else",
    sentence: sentences.sweep,
    requires,
    heavy: true,
    run: (context) =>
      inTime(context, async (life) => {
        const secret = context.unique();
        await life.write({ append: [{ payload: `"${secret}"` }, {}], owner: life.owner });
        await life.holds(secret);
        const unlimited = context.memory();
        await unlimited.commit({ append: 2, owner: life.owner });
        await life.expire();
        // A database with a clock of its own may remove it meanwhile.
        const isLeft = context.clockIsMoved && (await context.rawText(life.memory.id))?.includes(secret);
        const swept = await life.clients[0].sweep();
        expectThat(
          "sweep answers a count",
          Number.isSafeInteger(swept?.removed) && swept.removed >= 0,
          swept,
        );
        const remains = isLeft ? await context.rawText(life.memory.id) : undefined;
        const counts = remains === undefined || remains.includes(secret) || swept.removed > 0;
        expectThat("sweep counts a memory that it removed", counts, swept);
        const again = context.clockIsMoved ? await life.clients[0].sweep() : { removed: 0 };
        expectEqual("what a second sweep removed", again.removed, 0);
        await life.memory.check("after it expired and was swept");
        // A store that cannot list its memories cannot find those that nobody asks for.
        if (context.capabilities.list)
          await expectErased("the database holds nothing that was swept", context, life.memory, secret);
        if (context.capabilities.shared) await unlimited.check("of a memory without expiry after a sweep");
        await life.write({ append: 2 });
        await life.clients[0].sweep();
        await life.check("of the later life after a sweep");
      }),
  },
  {
    name: "one sweep removes all that has expired",
    sentence: sentences.anyNumber,
    requires,
    heavy: true,
    async run(context) {
      const { mortal, expire } = await mortalClient(context);
      const secret = context.unique();
      const memories = Array.from({ length: 150 }, () => context.memory());
      await inPortions(memories, (memory) => memory.commit({ append: [{ payload: `"${secret}"` }] }, mortal));
      if (context.clockIsMoved) await inPortions(memories, (memory) => expectHeld(context, memory, secret));
      await expire();
      await mortal.sweep();
      const again = context.clockIsMoved ? await mortal.sweep() : { removed: 0 };
      expectEqual("what a sweep removed right after one of 150 expired memories", again.removed, 0);
      // A store that cannot list its memories cannot find those that nobody asks for.
      if (!context.capabilities.list) return;
      await inPortions(memories, (memory) =>
        expectErased("the database holds none of 150 memories that were swept", context, memory, secret),
      );
    },
  },
  {
    name: "a sweep spares a memory that begins again meanwhile",
    sentence: sentences.sweep,
    requires: { ttl: true, shared: true },
    heavy: true,
    async run(context) {
      const { mortal, expire } = await mortalClient(context);
      for (let round = 0; round < 6; round++) {
        const memories = Array.from({ length: 8 }, () => context.memory());
        for (const memory of memories) {
          await memory.commit({ append: 2, owner: context.unique() }, mortal);
          memory.model.delete();
        }
        await expire();
        // By a client without ttlMs, so that no clock ends the later lives.
        const [begun, swept] = await race(
          round,
          () => all(memories.map(async (memory) => void (await memory.commit({ append: 3, head: "2" })))),
          () => context.other.sweep(),
        );
        expectSettled("a beginning that races a sweep", begun);
        expectSettled("a sweep that races a beginning", swept);
        for (const memory of memories) await memory.check("of a later life that began during a sweep");
      }
    },
  },
  {
    name: "what has expired does not cut a list short",
    sentence: sentences.list,
    requires: { ttl: true, list: true, shared: true },
    heavy: true,
    async run(context) {
      const { mortal, expire } = await mortalClient(context);
      const owner = context.unique();
      const lasting: TestMemory[] = [];
      const expired: TestMemory[] = [];
      for (let count = 0; count < 24; count++) {
        const memory = context.memory();
        const lasts = count % 6 === 5;
        await memory.commit({ append: 1, owner }, lasts ? context.store : mortal);
        (lasts ? lasting : expired).push(memory);
      }
      await expire();
      const expectPages = (limit: number, what: string) =>
        expectListed(`the pages of ${limit} ${what}`, context.store, { owner, limit }, lasting);
      for (const limit of [1, 2, 3]) await expectPages(limit, "among what has expired");
      for (const memory of expired.slice(4, 8)) {
        memory.model.delete();
        await memory.commit({ append: 1, owner }, context.store);
        lasting.push(memory);
      }
      for (const limit of [1, 2, 100]) await expectPages(limit, "after some that had expired began again");
    },
  },
  {
    name: "a ttlMs that is not as described is refused",
    sentence: sentences.ttl,
    requires,
    async run({ create }) {
      for (const ttlMs of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await expectCode(`a store with ttlMs ${ttlMs}`, "INVALID_OPTION", () => create({ ttlMs }));
      }
    },
  },
]);

/** Every kind of history query, of a memory whose first message was evicted: each may be a statement of its own. */
async function lookUp(
  context: ConformanceContext,
  memory: TestMemory,
  client: ChatMemoryStore,
): Promise<void> {
  if (!context.capabilities.history) return;
  const queries: readonly HistoryQuery[] = [
    { order: "descending" },
    { ids: ["m1", "m2", "m4"] },
    { ids: ["m2"], order: "descending" },
    { states: ["live"] },
    { states: ["evicted"] },
    { states: ["live", "evicted"], order: "descending" },
    { after: 1, before: 4 },
    { limit: 1 },
  ];
  for (const query of queries) {
    await memory.checkHistory(`with ${JSON.stringify(query)}, after it expired`, query, client);
  }
}
