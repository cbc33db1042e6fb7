import { type ConformanceCase, inGroup } from "../case.ts";
import { expectListed, expectUnlisted } from "../support/listed.ts";
import { mortalClient } from "../support/lives.ts";
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
