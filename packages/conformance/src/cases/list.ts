import type { ListPage } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import { begin } from "../support/begin.ts";
import { quote } from "../support/brief.ts";
import { expectCode, expectEqual, expectSettled, expectThat } from "../support/expect.ts";
import { expectListed, idsOf, listed, listedIds, pagesOf, wholeList } from "../support/listed.ts";
import type { Change, TestMemory } from "../support/memory.ts";
import { all, readWhile } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

const requires = { list: true };

/** No database's clock is so far off, and no two time zones are so near. */
const quarterOfAnHour = 15 * 60 * 1000;

export const listCases: readonly ConformanceCase[] = inGroup("list", [
  {
    name: "a store without a listing says so",
    sentence: sentences.everyMethod,
    requires: { list: false },
    async run({ store, unique }) {
      await expectCode("listMemories", "UNSUPPORTED", () => store.listMemories({}));
      await expectCode("listMemories", "UNSUPPORTED", () => store.listMemories({ owner: unique() }));
    },
  },
  {
    name: "an owner's memories are listed with owner and time",
    sentence: sentences.ofOwner,
    requires,
    async run(context) {
      const owner = context.unique();
      const memories = await begin(context, 3, owner);
      const found = await wholeList(context.store, { owner });
      expectEqual("the ids of an owner's memories, sorted", listedIds(found), idsOf(memories));
      for (const entry of found) {
        expectEqual("the owner of a listed memory", entry.owner, owner);
        const isTime = Number.isSafeInteger(entry.updatedAt) && entry.updatedAt >= 0;
        expectThat("updatedAt is in whole milliseconds", isTime, entry.updatedAt);
      }
      const nobody = await context.store.listMemories({ owner: context.unique() });
      expectEqual("the memories of an owner who has none", nobody.memories, []);
      expectEqual("the cursor of a listing that is empty", nobody.cursor, undefined);
    },
  },
  {
    name: "an owner's list holds no memory of others",
    sentence: sentences.ofOwner,
    requires,
    async run(context) {
      const [one, two] = [context.unique(), context.unique()];
      const ones = await begin(context, 2, one);
      const twos = await begin(context, 3, two);
      await begin(context, 1, undefined);
      await expectListed("the memories of one owner", context.store, { owner: one }, ones);
      await expectListed("the memories of another", context.store, { owner: two }, twos);
    },
  },
  {
    name: "without an owner every memory is listed once",
    sentence: sentences.list,
    requires,
    async run(context) {
      const owner = context.unique();
      const memories = [...(await begin(context, 4, owner)), ...(await begin(context, 4, undefined))];
      const wanted = idsOf(memories);
      const mine = (await wholeList(context.store, { limit: 1000 })).filter(({ memoryId }) =>
        wanted.includes(memoryId),
      );
      expectEqual("which memories of this case are listed", listedIds(mine), wanted);
      for (const { memoryId, owner: seen } of mine) {
        const memory = memories.find(({ id }) => id === memoryId);
        expectEqual("the owner of a listed memory", seen, memory?.model.owner);
      }
    },
  },
  {
    name: "the pages of a list hold each memory once",
    sentence: sentences.cursor,
    requires,
    async run(context) {
      const owner = context.unique();
      const memories = await begin(context, 11, owner);
      for (const limit of [1, 2, 5, 10, 11, 12]) {
        const what = `the pages of ${limit} of 11 memories`;
        await expectListed(what, context.store, { owner, limit }, memories);
      }
      // The next page may be asked for by another process, and again.
      const first = await context.store.listMemories({ owner, limit: 4 });
      const next = { owner, limit: 4, cursor: first.cursor };
      const second = await context.store.listMemories(next);
      expectEqual("the second page, by another client", await context.other.listMemories(next), second);
      expectEqual("the second page, asked for again", await context.store.listMemories(next), second);
      const { cursor } = await context.store.listMemories({ owner, limit: 11 });
      expectEqual("the cursor of a page of 11 that holds all 11 memories", cursor, undefined);
    },
  },
  {
    name: "a page has 100 memories unless asked, and 1,000 at most",
    sentence: sentences.limit,
    requires,
    async run(context) {
      const owner = context.unique();
      const memories = await begin(context, 102, owner);
      const page = await context.store.listMemories({ owner });
      expectEqual("the number of memories of a page", page.memories.length, 100);
      expectThat("there is a cursor while there is more", page.cursor !== undefined, page.cursor);
      await expectListed("the memories of a page of 1,000", context.store, { owner, limit: 1000 }, memories);
    },
  },
  {
    name: "a cursor stays good while memories begin, change and are deleted",
    sentence: sentences.cursor,
    requires,
    async run(context) {
      const owner = context.unique();
      const staying = await begin(context, 12, owner);
      const leaving = await begin(context, 6, owner);
      const found: ListPage["memories"] = [];
      for await (const page of pagesOf(context.store, { owner, limit: 3 })) {
        found.push(...page.memories);
        await leaving.pop()?.delete(context.other);
        const [begun] = await begin(context, 1, owner);
        await staying[found.length % staying.length]?.commit({ append: 1 }, context.other);
        if (found.length % 2 === 0) await begun?.delete(context.other);
      }
      const wanted = idsOf(staying);
      const seen = listedIds(found).filter((id) => wanted.includes(id));
      expectEqual("the memories that stayed while a reader paged", seen, wanted);
      expectEqual("memories listed twice", found.length - new Set(listedIds(found)).size, 0);
    },
  },
  {
    name: "a memory is listed as soon as its beginning was acknowledged",
    sentence: sentences.list,
    requires,
    async run(context) {
      const owner = context.unique();
      const begun: TestMemory[] = [];
      const read = async () => {
        const before = [...begun];
        const found = listedIds(await wholeList(context.other, { owner }));
        const missing = idsOf(before).filter((id) => !found.includes(id));
        expectEqual("memories that were acknowledged before the call and are not listed", missing, []);
      };
      await readWhile(read, () =>
        all(
          [0, 1, 2].map(async () => {
            for (let round = 0; round < 10; round++) {
              const [memory] = await begin(context, 1, owner);
              if (memory !== undefined) begun.push(memory);
            }
          }),
        ),
      );
      await expectListed("the memories after all began", context.other, { owner }, begun);
      for (let round = 0; round < 2; round++) {
        const [memory] = (await begin(context, 1, round === 0 ? owner : undefined)) as [TestMemory];
        const entry = await listed(context.other, undefined, memory.id);
        expectEqual("the id in everybody's list of a memory that has just begun", entry?.memoryId, memory.id);
      }
    },
  },
  {
    name: "a deleted memory is not listed, one that began again is listed once",
    sentence: sentences.delete,
    requires,
    async run(context) {
      const [owner, next] = [context.unique(), context.unique()];
      const memories = await begin(context, 3, owner);
      const [first, second] = memories as [TestMemory, TestMemory, TestMemory];
      await first.delete();
      await second.delete();
      await second.commit({ append: 1, owner: next });
      await expectListed("an owner's list after two deletes", context.store, { owner }, memories.slice(2));
      const what = "the list of the owner of a memory that began again";
      await expectListed(what, context.store, { owner: next }, [second]);
      const everything = await wholeList(context.store, { limit: 1000 });
      const times = everything.filter(({ memoryId }) => memoryId === second.id).length;
      expectEqual("how often a memory that began again is listed", times, 1);
    },
  },
  {
    name: "a memory whose beginning was sent twice is listed once",
    sentence: sentences.list,
    requires,
    async run(context) {
      const owner = context.unique();
      const memory = context.memory();
      const beginning = await memory.commit({ append: 1, owner });
      for (const client of [context.store, context.other]) {
        await client.updateMessages(memory.id, beginning);
        await expectListed("the list after a beginning was sent again", client, { owner }, [memory]);
      }
    },
  },
  {
    name: "updatedAt rises with each write",
    sentence: sentences.updatedAt,
    requires,
    async run(context) {
      const owner = context.unique();
      const [memory] = (await begin(context, 1, owner)) as [TestMemory];
      const [nobodys] = (await begin(context, 1, undefined)) as [TestMemory];
      const lists: readonly (readonly [what: string, memoryId: string, owner: string | undefined])[] = [
        ["its owner's list", memory.id, owner],
        ["everybody's list", memory.id, undefined],
        ["everybody's list, of a memory without owner", nobodys.id, undefined],
      ];
      const seen = lists.map((): number[] => []);
      const changes: Change[] = [
        { append: 1 },
        { replace: [{ seq: 1, payload: '"new"' }] },
        { move: [{ seq: 1, to: "removed" }] },
        { head: "{}" },
        {},
        // What an append to a full window is, and what a store may write on another path.
        { append: 1, move: [{ seq: 2, to: "removed" }] },
        { append: 200 },
      ];
      let pauseMs = 20;
      for (const change of [undefined, ...changes]) {
        if (change !== undefined) {
          await context.elapse(pauseMs);
          await memory.commit(change);
          await nobodys.commit(change);
        }
        for (const [index, [, id, of]] of lists.entries()) {
          seen[index]?.push((await listed(context.store, of, id))?.updatedAt ?? Number.NaN);
        }
        if (change === undefined) {
          const first = seen.flat();
          if (!context.clockIsMoved) expectNow(first.filter(Number.isFinite));
          // A database may keep times to the second.
          if (first.every((time) => time % 1000 === 0)) pauseMs = 1020;
        }
      }
      for (const [at, [what]] of lists.entries()) {
        const times = seen[at] ?? [];
        const rises = times.every((time, index) => index === 0 || time > (times[index - 1] ?? 0));
        expectThat(`updatedAt in ${what} rises with writes that are ${pauseMs} ms apart`, rises, times);
      }
    },
  },
  {
    name: "a list query that is not as described is refused",
    sentence: sentences.limit,
    requires,
    async run({ store }) {
      const bad = [
        { limit: 0 },
        { limit: 1001 },
        { limit: 2.5 },
        { limit: Number.NaN },
        { owner: "" },
        { cursor: "" },
      ];
      for (const query of bad) {
        await expectCode(`listMemories with ${JSON.stringify(query)}`, "INVALID_OPTION", () =>
          store.listMemories(query),
        );
      }
      for (const cursor of ["x", "{", "%", "-1", "🙂", "x".repeat(2000)]) {
        const [result] = await Promise.allSettled([store.listMemories({ cursor })]);
        expectSettled(
          `a list after the cursor ${quote(cursor.slice(0, 8))}, which no page had`,
          result,
          "INVALID_OPTION",
        );
      }
    },
  },
]);

/** Fails where times of writes that have just been made are far from this process's clock. */
function expectNow(times: readonly number[]): void {
  for (const time of times) {
    const ms = time - Date.now();
    const off = `${Math.round(Math.abs(ms) / 60_000)} minutes ${ms < 0 ? "before" : "after"} this process's clock`;
    expectThat(
      `updatedAt is the time of the write (a time zone or unit that was lost shows here, and a database's wrong clock)`,
      Math.abs(ms) < quarterOfAnHour,
      `${time}, ${off}`,
    );
  }
}
