import { type ConformanceCase, inGroup } from "../case.ts";
import { begin } from "../support/begin.ts";
import { expectCode, expectEqual, expectSettled } from "../support/expect.ts";
import { expectListed, expectNewest, idsOf, listedIds, pagesOf, wholeList } from "../support/listed.ts";
import type { Change, TestMemory } from "../support/memory.ts";
import { sentences } from "../support/sentences.ts";

const requires = { list: true, newest: true };

/** Long enough for a database that keeps times to the second. */
const pauseMs = 1050;

export const listNewestCases: readonly ConformanceCase[] = inGroup("list", [
  {
    name: "a store without the order newest says so",
    sentence: sentences.everyMethod,
    requires: { list: true, newest: false },
    async run({ store, unique }) {
      for (const owner of [undefined, unique()])
        await expectCode("a list of the newest", "UNSUPPORTED", () =>
          store.listMemories({ order: "newest", owner }),
        );
    },
  },
  {
    name: "what began last, and what was written to last, comes first",
    sentence: sentences.newest,
    requires,
    heavy: true,
    async run(context) {
      const owner = context.unique();
      const { capabilities } = context;
      const store = await context.create({ activityMs: 1 });
      const changes: Change[] = [
        { append: 1 },
        { head: "{}" },
        { replace: [{ seq: 1, payload: '"new"' }] },
        { data: "{}" },
        { append: 1, move: [{ seq: 1, to: "evicted" }] },
      ];
      let newest: TestMemory[] = [];
      for (const _ of changes.slice(0, 3)) {
        const memory = context.memory(undefined, store);
        await memory.commit({ append: 1, owner });
        newest = [memory, ...newest];
        await expectNewest("an owner's list when a memory has begun", store, { owner }, newest);
        await context.elapse(pauseMs);
      }
      for (const change of changes) {
        const last = newest.at(-1) as TestMemory;
        await last.commit(change);
        newest = [last, ...newest.slice(0, -1)];
        for (const client of capabilities.shared ? [store, context.other] : [store]) {
          await expectNewest("an owner's list after a write", client, { owner }, newest);
          await expectNewest("the same, in pages of one", client, { owner, limit: 1 }, newest);
        }
        await expectNewest("everybody's list after a write", store, { limit: 1 }, newest.slice(0, 1));
        await context.elapse(pauseMs);
      }
    },
  },
  {
    name: "what begins comes first, however short the time",
    sentence: sentences.activity,
    requires,
    async run(context) {
      const owner = context.unique();
      let newest: TestMemory[] = [];
      for (let round = 0; round < 3; round++) {
        const memory = context.memory();
        // With the store's own granularity: what was written to just before may have its old place.
        await memory.commit({ append: 1, owner });
        await memory.commit({ append: 1 });
        newest = [memory, ...newest];
        await context.elapse(pauseMs);
      }
      await expectNewest(
        "an owner's list of memories that began one after the other",
        context.store,
        { owner },
        newest,
      );
      const [last] = newest.slice(-1) as [TestMemory];
      await last.delete();
      await last.commit({ append: 1, owner });
      newest = [last, ...newest.slice(0, -1)];
      await expectNewest("an owner's list when one has begun again", context.store, { owner }, newest);
    },
  },
  {
    name: "the pages of the newest hold each memory once, also those that began at once",
    sentence: sentences.newest,
    requires,
    async run(context) {
      const owner = context.unique();
      const memories = await begin(context, 23, owner);
      const order = "newest";
      for (const limit of [1, 7, 23, 24]) {
        const what = `the pages of ${limit} of 23 memories, newest first`;
        await expectListed(what, context.store, { owner, limit, order }, memories);
      }
      const everybody = await wholeList(context.store, { limit: 10, order });
      const wanted = idsOf(memories);
      const mine = listedIds(everybody).filter((id) => wanted.includes(id));
      expectEqual("which memories of this case everybody's list of the newest holds", mine, wanted);
      const empty = await context.store.listMemories({ owner: context.unique(), order });
      expectEqual("the newest of an owner who has none", empty, { memories: [] });
    },
  },
  {
    name: "what nobody writes to is on the pages of the newest once, while others are written to",
    sentence: sentences.newestPages,
    requires,
    async run(context) {
      const owner = context.unique();
      const writer = await context.create({ activityMs: 1 });
      const memories = await begin(context, 12, owner, writer);
      const busy = memories.splice(0, 4);
      const found: string[] = [];
      for await (const page of pagesOf(writer, { owner, limit: 2, order: "newest" })) {
        found.push(...listedIds(page.memories));
        if (found.length > 60) break;
        await context.elapse(5);
        for (const memory of found.length < 30 ? busy : []) await memory.commit({ append: 1 }, writer);
        await begin(context, 1, owner, writer);
      }
      const wanted = idsOf(memories);
      const seen = found.filter((id) => wanted.includes(id)).sort();
      expectEqual("the memories that nobody wrote to while a reader paged", seen, wanted);
    },
  },
  {
    name: "the newest are those that are there, and whose they are",
    sentence: sentences.assigned,
    requires,
    async run(context) {
      const [owner, other] = [context.unique(), context.unique()];
      const [first, second, third] = (await begin(context, 3, owner)) as [TestMemory, TestMemory, TestMemory];
      await first.delete();
      await second.commit({ owner: other });
      await expectNewest("the newest of the owner", context.store, { owner }, [third]);
      await expectNewest("the newest of the other", context.store, { owner: other }, [second]);
      const entry = (await context.other.listMemories({ owner: other, order: "newest" })).memories[0];
      expectEqual("the owner of a memory among the newest", entry?.owner, other);
      await second.commit({ data: '{"title":"x"}' });
      const titled = (await context.other.listMemories({ owner: other, order: "newest" })).memories[0];
      expectEqual("the data of a memory among the newest", titled?.data, '{"title":"x"}');
    },
  },
  {
    name: "a cursor of one order does not start over in the other",
    sentence: sentences.foreignCursor,
    requires,
    async run(context) {
      const owner = context.unique();
      await begin(context, 4, owner);
      for (const [order, otherOrder] of [
        ["stored", "newest"],
        ["newest", "stored"],
      ] as const) {
        const first = await context.store.listMemories({ owner, limit: 2, order });
        const { cursor } = first;
        const started = await context.store.listMemories({ owner, limit: 2, order: otherOrder });
        const [result] = await Promise.allSettled([
          context.store.listMemories({ owner, limit: 2, order: otherOrder, cursor }),
        ]);
        if (!expectSettled(`a cursor of the order ${order} in the other`, result, "INVALID_OPTION")) continue;
        const ids = result.status === "fulfilled" ? listedIds(result.value.memories) : [];
        const isStart = ids.length > 0 && ids.join() === listedIds(started.memories).join();
        expectEqual(`whether the order ${otherOrder} starts over for a cursor of the other`, isStart, false);
      }
      await expectCode("a list in an order that there is not", "INVALID_OPTION", () =>
        context.store.listMemories({ order: "oldest" as "newest" }),
      );
    },
  },
]);
