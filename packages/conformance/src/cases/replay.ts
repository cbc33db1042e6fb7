import { type ConformanceCase, inGroup } from "../case.ts";
import { expectAppliedOnce } from "../support/rivals.ts";
import { sentences } from "../support/sentences.ts";

export const replayCases: readonly ConformanceCase[] = inGroup("replay", [
  {
    name: "an update sent twice is applied once",
    sentence: sentences.replay,
    async run(context) {
      const memory = context.memory();
      const beginning = await memory.commit({ append: 2, owner: "alice", head: "1" });
      await context.other.updateMessages(memory.id, structuredClone(beginning));
      await memory.check("after the beginning was sent twice");
      const update = await memory.commit({ append: 2 });
      await context.store.updateMessages(memory.id, update);
      await context.other.updateMessages(memory.id, structuredClone(update));
      await memory.check("after an append was sent three times");
    },
  },
  {
    name: "an update that replaces and moves is applied once",
    sentence: sentences.replay,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 6 });
      const update = await memory.commit({
        append: 2,
        replace: [2, 3].map((seq) => ({ seq, payload: '"changed"' })),
        move: [
          { seq: 1, to: "evicted" },
          { seq: 3, to: "superseded" },
          { seq: 4, to: "removed" },
          { seq: 7, to: "removed" },
        ],
        head: "2",
      });
      await context.other.updateMessages(memory.id, structuredClone(update));
      await memory.check("after an update of every kind was sent twice");
    },
  },
  {
    name: "an update without change is one update too",
    sentence: sentences.replay,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 1 });
      const update = await memory.commit({});
      await context.other.updateMessages(memory.id, structuredClone(update));
      await memory.check("after an empty update was sent twice");
    },
  },
  {
    name: "a replay after another commit conflicts",
    sentence: sentences.replay,
    async run(context) {
      const memory = context.memory();
      const beginning = await memory.commit({ append: 1 });
      const update = await memory.commit({ append: 1, move: [{ seq: 1, to: "evicted" }] });
      await memory.commit({ append: 1 });
      for (const early of [beginning, update]) {
        await memory.refused("a replay after another commit", "VERSION_CONFLICT", early);
        await memory.check("after a replay that came too late");
      }
    },
  },
  {
    name: "a replay does not begin a deleted memory again",
    sentence: sentences.begins,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 1 });
      const update = await memory.commit({ append: 1 });
      await memory.delete();
      for (const client of [context.store, context.other]) {
        await memory.refused("a replay on a deleted memory", "VERSION_CONFLICT", update, client);
      }
      await memory.check("after a replay on a deleted memory");
    },
  },
  {
    name: "a replay does not touch the memory that began after a delete",
    sentence: sentences.begins,
    async run(context) {
      const memory = context.memory();
      const first = await memory.commit({ append: 2 });
      const second = await memory.commit({ append: 1 });
      await memory.delete();
      await memory.commit({ append: 1 });
      for (const early of [first, second]) {
        await memory.refused("a replay on a memory that began again", "VERSION_CONFLICT", early);
      }
      await memory.check("after replays of the deleted memory's updates");
    },
  },
  {
    name: "an update sent twice at once is applied once",
    sentence: sentences.replay,
    async run(context) {
      const memory = context.memory();
      for (let round = 0; round < 20; round++) {
        const oldest = memory.model.seqs("live")[0];
        const move = oldest === undefined || round % 3 > 0 ? [] : [{ seq: oldest, to: "evicted" as const }];
        const update = memory.update({ append: 2, move, head: `${round}` });
        await expectAppliedOnce("an update", context, memory, round, update);
        await memory.check("after an update was sent twice at once");
      }
    },
  },
]);
