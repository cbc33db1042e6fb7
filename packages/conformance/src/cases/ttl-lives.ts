import { type ConformanceCase, inGroup } from "../case.ts";
import { expectEqual } from "../support/expect.ts";
import { expectListed, expectUnlisted } from "../support/listed.ts";
import { inTime, mortalClient } from "../support/lives.ts";
import { sentences } from "../support/sentences.ts";

const year = 365 * 24 * 60 * 60 * 1000;

export const ttlLivesCases: readonly ConformanceCase[] = inGroup("ttl", [
  {
    name: "the end of a deleted life does not end a later one",
    sentence: sentences.earlierLife,
    requires: { ttl: true, shared: true },
    async run(context) {
      const { mortal, expire } = await mortalClient(context);
      const memory = context.memory();
      await memory.commit({ append: 2, owner: context.unique() }, mortal);
      await memory.delete(mortal);
      // By a client without ttlMs, so that only what is left of the deleted life could end it.
      await memory.commit({ append: [{}, { payload: '"later"' }], owner: context.unique() });
      await memory.commit({ append: 1, move: [{ seq: 1, to: "evicted" }] });
      await expire();
      await memory.check("of a life without end, past the end of a deleted one");
      // A life is that of its memory, whatever the ttlMs of who asks.
      await memory.check("of a life without end, by a client with a ttlMs that has passed", mortal);
      await mortal.sweep();
      await memory.check("of a life without end, past the end of a deleted one and a sweep", context.other);
      const { owner } = memory.model;
      const what = "the list of the owner of a life without end, past the end of a deleted one";
      await expectListed(what, context.store, { owner }, [memory]);
    },
  },
  {
    name: "a life ends in time though the store was restarted",
    sentence: sentences.ttl,
    requires: { ttl: true, shared: true, durable: true },
    async run(context) {
      const { mortal, expire } = await mortalClient(context);
      const memory = context.memory();
      const owner = context.unique();
      await memory.commit({ append: 2, owner }, mortal);
      await context.reopen();
      await expire();
      memory.model.delete();
      await memory.check("of a life that ended after a restart", context.store);
      await expectUnlisted("of a life that ended after a restart", context.store, owner, memory);
      await memory.commit({ append: 1 }, context.store);
      await memory.check("of the life after one that ended after a restart", context.other);
    },
  },
  {
    name: "an update's own ttlMs sets the end of the life, whatever the client's",
    sentence: sentences.lifeOfOne,
    requires: { ttl: true, shared: true },
    heavy: true,
    run: (context) =>
      inTime(context, async (life) => {
        const { memory, owner, ttlMs } = life;
        const forEver = await context.create();
        await life.write({ append: 1, owner, ttlMs: null });
        await life.expire();
        // `expire` empties the model: what is there is looked at without it.
        expectEqual(
          "the version past the end that the client's ttlMs would set, after a write with null",
          typeof (await forEver.getMessages(memory.id)).version,
          "string",
        );
        await memory.delete();

        await life.write({ append: 1, owner, ttlMs: 100 * ttlMs });
        await life.write({ append: 1, ttlMs: 100 * ttlMs, head: "1" });
        await context.elapse(1.2 * ttlMs);
        await memory.check("past the end that the client's ttlMs would set, after a longer one of its own");
        await life.write({ append: 1, ttlMs }, forEver);
        await life.check("after a write with a ttlMs by a client that has none");
        await life.expire();
        await memory.check(
          "past the end that an update's own ttlMs has set, by a client without one",
          forEver,
        );
        await expectUnlisted("past the end that an update's own ttlMs has set", context.store, owner, memory);
      }),
  },
  {
    name: "an update without a ttlMs of its own sets the end by the client's again",
    sentence: sentences.ownTtl,
    requires: { ttl: true },
    heavy: true,
    run: (context) =>
      inTime(context, async (life) => {
        const { memory, owner } = life;
        await life.write({ append: 2, owner, ttlMs: null });
        await life.write({ append: 1 });
        await life.check("after a plain write that follows one with null");
        await life.expire();
        await memory.check("past the end that a plain write has set, after one with null");
        await life.write({ append: 1, owner, ttlMs: 100 * life.ttlMs });
        await life.write({ append: 1, move: [{ seq: 1, to: "evicted" }], data: "1" });
        await life.expire();
        await memory.check("past the end that an update has set, after one with a longer life");
        for (const client of life.clients) await client.sweep();
        await memory.check("past the end that an update has set, after a sweep");
      }),
  },
  {
    name: "an update's ttlMs that is no number of milliseconds is refused, and any where nothing expires",
    sentence: sentences.lifeOfOne,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 1 });
      for (const ttlMs of [0, -1, 1.5, Number.NaN, "1"]) {
        const update = { ...memory.update({ append: 1 }), ttlMs: ttlMs as number };
        await memory.refused(`an update with the ttlMs ${ttlMs}`, "INVALID_OPTION", update);
      }
      if (!context.capabilities.ttl)
        for (const ttlMs of [1000, null])
          await memory.refused("an update with a ttlMs", "UNSUPPORTED", memory.update({ append: 1, ttlMs }));
      await memory.check("after updates that were refused");
    },
  },
  {
    name: "a life of many years has not ended after a moment",
    sentence: sentences.ttl,
    requires: { ttl: true },
    async run(context) {
      for (const ttlMs of [2 ** 31, 2 ** 32 + 1, 10 * year, 1000 * year]) {
        const client = await context.create({ ttlMs });
        const memory = context.memory(undefined, client);
        await memory.commit({ append: 2, owner: context.unique() });
        await memory.commit({ append: 1, move: [{ seq: 1, to: "evicted" }] });
        await context.elapse(20);
        await client.sweep();
        await memory.check(`with a ttlMs of ${ttlMs}, after a moment and a sweep`);
        await memory.commit({ append: 1 });
        await memory.check(`with a ttlMs of ${ttlMs}, after another write`);
      }
    },
  },
]);
