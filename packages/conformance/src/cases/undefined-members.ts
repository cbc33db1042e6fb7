import { type ConformanceCase, inGroup } from "../case.ts";
import { expectEqual, expectPage } from "../support/expect.ts";
import { idsOf, listedIds } from "../support/listed.ts";
import { sentences } from "../support/sentences.ts";

/** The contract's optional members admit `undefined`: it counts as absent, wherever it stands. */
export const undefinedMembersCases: readonly ConformanceCase[] = [
  ...inGroup("basic", [
    {
      name: "a member of an update or message that is undefined counts as absent",
      sentence: sentences.head,
      async run(context) {
        const memory = context.memory();
        const none = { owner: undefined, head: undefined };
        const bare = (seq: number) => ({ ...memory.message(seq), meta: undefined });
        await memory.send({ ...memory.update(), ...none, append: [bare(1), bare(2)], nextSeq: 3 });
        await memory.check("after a beginning whose owner, head and metas are undefined");
        await memory.commit({ head: "1", replace: [{ seq: 2, meta: "{}" }] });
        await memory.send({ ...memory.update(), ...none, replace: [bare(2)] });
        await memory.check("after an update whose owner, head and meta are undefined");
        const options = { signal: undefined, known: undefined };
        const { unchanged, messages } = await context.store.getMessages(memory.id, options);
        expectEqual("unchanged, where known is undefined", unchanged, undefined);
        expectEqual("the number of messages, where known is undefined", messages.length, 2);
      },
    },
  ]),
  ...inGroup("history", [
    {
      name: "a part of a history query that is undefined counts as absent",
      sentence: sentences.limit,
      requires: { history: true },
      async run(context) {
        const memory = context.memory();
        await memory.commit({ append: 101 });
        await memory.commit({ move: [{ seq: 1, to: "evicted" }] });
        const nothing = { after: undefined, before: undefined, order: undefined, limit: undefined };
        const query = { ...nothing, states: undefined, ids: undefined };
        const page = await context.store.getHistory(memory.id, query, { signal: undefined });
        expectPage("getHistory of a query of undefined parts", page, memory.model.history({}));
        await memory.checkHistory("of a query whose limit is undefined", { ...query, after: 99 });
      },
    },
  ]),
  ...inGroup("list", [
    {
      name: "a part of a list query that is undefined counts as absent",
      sentence: sentences.limit,
      requires: { list: true },
      async run(context) {
        const { store } = context;
        const owner = context.unique();
        const memories = [context.memory(), context.memory()];
        for (const memory of memories) await memory.commit({ append: 1, owner });
        const page = await store.listMemories(
          { owner, cursor: undefined, limit: undefined },
          { signal: undefined },
        );
        const what = "an owner's list where cursor and limit are undefined";
        expectEqual(what, listedIds(page.memories), idsOf(memories));
        const plain = await store.listMemories({});
        const everybodys = await store.listMemories({
          owner: undefined,
          cursor: undefined,
          limit: undefined,
        });
        const lengths = [plain, everybodys].map((list) => list.memories.length);
        expectEqual("how many memories are listed where the owner is undefined", lengths[1], lengths[0]);
      },
    },
  ]),
];
