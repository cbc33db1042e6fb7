import type { MemoryUpdate } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import { expectEqual, expectPage } from "../support/expect.ts";
import { listedIds } from "../support/listed.ts";
import { all } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

export const isolationCases: readonly ConformanceCase[] = inGroup("isolation", [
  {
    name: "what a caller does to a snapshot changes nothing stored",
    sentence: sentences.fresh,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 3, owner: "alice", head: "1" });
      const snapshot = await context.store.getMessages(memory.id);
      spoil(snapshot.messages);
      Object.assign(snapshot, { version: "spoiled", nextSeq: 99, owner: "mallory", head: "spoiled" });
      await memory.check("after a caller changed an earlier answer");
    },
  },
  {
    name: "what a caller does to a page of history changes nothing stored",
    sentence: sentences.fresh,
    requires: { history: true },
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 4 });
      await memory.commit({
        move: [
          { seq: 1, to: "evicted" },
          { seq: 2, to: "superseded" },
        ],
      });
      for (const query of [{}, { ids: ["m1", "m3"] }, { order: "descending" as const }]) {
        const page = await context.store.getHistory(memory.id, query);
        for (const message of page.messages) message.state = "superseded";
        spoil(page.messages);
        await memory.check("after a caller changed an earlier page");
      }
    },
  },
  {
    name: "what a caller does to a list changes nothing stored",
    sentence: sentences.fresh,
    requires: { list: true },
    async run(context) {
      const owner = context.unique();
      const memory = context.memory();
      await memory.commit({ append: 1, owner });
      const before = await context.store.listMemories({ owner });
      const copy = structuredClone(before);
      for (const entry of before.memories)
        Object.assign(entry, { memoryId: "x", owner: "mallory", updatedAt: 0 });
      before.memories.pop();
      expectEqual(
        "the list after a caller changed an earlier one",
        await context.store.listMemories({ owner }),
        copy,
      );
    },
  },
  {
    name: "what a caller does to an update after the call changes nothing stored",
    sentence: sentences.untouched,
    async run(context) {
      const memory = context.memory();
      for (const change of [{ append: 3 }, { append: 1, replace: [{ seq: 2, payload: '"two"' }] }]) {
        const update = memory.update(change);
        const sent = structuredClone(update);
        await context.store.updateMessages(memory.id, sent);
        memory.model.apply(update);
        spoilUpdate(sent);
        await memory.check("after a caller changed an update that was applied");
      }
    },
  },
  {
    name: "what a caller does to an argument while the call is under way changes nothing",
    sentence: sentences.untouched,
    async run(context) {
      const memory = context.memory();
      for (const change of [{ append: 3 }, { append: 1, replace: [{ seq: 2, payload: '"two"' }] }]) {
        const update = memory.update(change);
        const sent = structuredClone(update);
        const sending = context.store.updateMessages(memory.id, sent);
        spoilUpdate(sent);
        await sending;
        memory.model.apply(update);
        await memory.check("after a caller changed an update that was under way");
      }
      if (context.capabilities.list) {
        const owner = context.unique();
        const owned = context.memory();
        await owned.commit({ owner });
        const listing: { owner: string; limit: number } = { owner, limit: 2 };
        const asking = context.store.listMemories(listing);
        Object.assign(listing, { owner: context.unique(), limit: 0, cursor: "spoiled" });
        const ids = listedIds((await asking).memories);
        expectEqual("listMemories of a query that was changed while it was under way", ids, [owned.id]);
      }
      if (!context.capabilities.history) return;
      const query = { ids: ["m1", "m2"], states: ["live" as const], limit: 2 };
      const expected = memory.model.history(structuredClone(query));
      const asking = context.store.getHistory(memory.id, query);
      query.ids.pop();
      query.states.pop();
      query.limit = 1;
      expectPage("getHistory of a query that was changed while it was under way", await asking, expected);
    },
  },
  {
    name: "a store leaves what it is given as it is",
    sentence: sentences.untouched,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 3 });
      const update = frozen(
        memory.update({
          append: 2,
          replace: [{ seq: 2, payload: '"two"' }],
          move: [
            { seq: 1, to: "evicted" },
            { seq: 4, to: "superseded" },
          ],
          head: "2",
        }),
      );
      await memory.send(update);
      await context.other.updateMessages(memory.id, update);
      await memory.check("after an update that was frozen");
      if (context.capabilities.history) {
        const query = { ids: ["m4", "m1"], states: ["superseded" as const, "evicted" as const], limit: 5 };
        Object.freeze(query.ids);
        Object.freeze(query.states);
        await memory.checkHistory("of a query that was frozen", Object.freeze(query));
      }
      if (context.capabilities.list) await context.store.listMemories(Object.freeze({ limit: 1 }));
    },
  },
  {
    name: "two reads answer two objects",
    sentence: sentences.fresh,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 2 });
      const [one, two] = await Promise.all([1, 2].map(() => context.store.getMessages(memory.id)));
      expectEqual("whether two reads answer the same object", one === two, false);
      expectEqual("whether two reads answer the same list", one?.messages === two?.messages, false);
      expectEqual("whether two reads answer the same message", one?.messages[0] === two?.messages[0], false);
    },
  },
  {
    name: "calls on many memories at once do not mix",
    sentence: sentences.apart,
    async run(context) {
      const memories = Array.from({ length: 20 }, () => context.memory());
      const payload = (index: number, round: number) => `"${index} in round ${round}"`;
      for (let round = 0; round < 4; round++) {
        await all(
          memories.map(async (memory, index) => {
            const client = (index + round) % 3 === 0 ? context.other : context.store;
            const change = { append: [{ payload: payload(index, round) }, {}], head: payload(index, round) };
            const move = round === 0 ? [] : [{ seq: 2 * round, to: "evicted" as const }];
            await memory.commit({ ...change, move }, client);
          }),
        );
        await all(memories.map(async (memory) => memory.check("read beside many others")));
      }
    },
  },
  {
    name: "memories with the same message ids and seqs are apart",
    sentence: sentences.apart,
    async run(context) {
      const [one, two] = [context.memory(), context.memory()];
      await one.commit({ append: [{ payload: '"one"' }, {}, {}], head: "1" });
      await two.commit({ append: [{ payload: '"two"' }, {}, {}], head: "2" });
      await one.commit({ replace: [{ seq: 1, payload: '"ONE"' }], move: [{ seq: 2, to: "evicted" }] });
      await two.commit({ append: 1, move: [{ seq: 3, to: "removed" }] });
      await one.check("of the first memory");
      await two.check("of the second memory");
      await one.delete();
      await two.check("of the second memory after the first was deleted");
    },
  },
]);

/** Does to messages what a careless caller may do. */
function spoil(messages: MemoryUpdate["append"]): void {
  for (const message of messages) {
    Object.assign(message, { id: "spoiled", seq: 77, createdAt: 7, payload: "spoiled", meta: "spoiled" });
  }
  messages.reverse();
  messages.pop();
}

function spoilUpdate(update: MemoryUpdate): void {
  spoil(update.append);
  spoil(update.replace);
  update.move.push({ seq: 1, to: "removed" });
  Object.assign(update, { version: "spoiled", nextSeq: 99, head: "spoiled" });
}

function frozen(update: MemoryUpdate): MemoryUpdate {
  for (const list of [update.append, update.replace, update.move]) {
    for (const entry of list) Object.freeze(entry);
    Object.freeze(list);
  }
  return Object.freeze(update);
}
