import type { ListQuery } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { quote } from "../support/brief.ts";
import { expectEqual, expectSettled, expectThat } from "../support/expect.ts";
import { expectListed, idsOf, listedIds, pagesOf, wholeList } from "../support/listed.ts";
import type { TestMemory } from "../support/memory.ts";
import { inPortions } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";
import { alike, hostilePieces } from "../support/texts.ts";

const requires = { list: true };

export const listPagesCases: readonly ConformanceCase[] = inGroup("list", [
  {
    name: "a page may end with any id",
    sentence: sentences.cursor,
    requires,
    async run(context) {
      const unique = context.unique();
      const owner = `🙂:${unique}`;
      const pieces = [...hostilePieces, ...alike.flatMap(([, one, other]) => [one, other])];
      const ids = [...new Set(pieces.map((piece) => `${piece}${unique}${piece}`))];
      const memories = await Promise.all(ids.map(async (id) => context.memory(await context.claim(id))));
      await inPortions(memories, (memory) => memory.commit({ append: 1, owner }));
      for (const order of context.capabilities.newest ? (["stored", "newest"] as const) : [undefined])
        for (const limit of [1, 7]) {
          const what = `the pages of ${limit} of memories with every kind of id, in the order ${order}`;
          await expectListed(what, context.store, { owner, limit, order }, memories);
        }
    },
  },
  {
    name: "a cursor stays good when the memory at the end of its page is deleted",
    sentence: sentences.cursor,
    requires,
    async run(context) {
      for (const limit of [1, 2, 3]) {
        const owner = context.unique();
        const memories = new Map<string, TestMemory>();
        for (let count = 0; count < 9; count++) {
          const memory = context.memory();
          await memory.commit({ append: 1, owner });
          memories.set(memory.id, memory);
        }
        const listed = await listing(context, { owner, limit }, async (last) =>
          memories.get(last)?.delete(context.other),
        );
        expectEqual(
          `the pages of ${limit} of 9 memories, each page's last deleted once it was read`,
          listed.sort(),
          [...memories.keys()].sort(),
        );
      }
    },
  },
  {
    name: "an owner's pages hold what stands between the memories of others",
    sentence: sentences.ofOwner,
    requires,
    async run(context) {
      const [owner, other] = [context.unique(), context.unique()];
      const wanted: TestMemory[] = [];
      for (let count = 0; count < 24; count++) {
        const memory = context.memory();
        await memory.commit({
          append: 1,
          owner: count % 5 === 4 ? owner : count % 2 === 0 ? other : undefined,
        });
        if (count % 5 === 4) wanted.push(memory);
      }
      for (const limit of [1, 2, 3]) {
        const what = `the pages of ${limit} of an owner's memories among those of others`;
        await expectListed(what, context.store, { owner, limit }, wanted);
      }
    },
  },
  {
    name: "the pages of everybody's list hold each memory once",
    sentence: sentences.cursor,
    requires,
    async run(context) {
      const memories = new Map<string, TestMemory>();
      for (let count = 0; count < 24; count++) {
        const memory = context.memory();
        memories.set(memory.id, memory);
        await memory.commit({ append: 1, owner: count % 3 === 0 ? context.unique() : undefined });
      }
      // The database may hold more than this case's memories: some twelve pages, however many there are.
      const everybodys = (await wholeList(context.store, { limit: 1000 })).length;
      const limit = Math.min(1000, Math.ceil(everybodys / 12));
      const wanted = [...memories.keys()].sort();
      for (const [what, afterPage] of [
        ["", async () => {}],
        [", each page's last deleted", async (last: string) => memories.get(last)?.delete(context.other)],
      ] as const) {
        const listed = (await listing(context, { limit }, afterPage)).filter((id) => memories.has(id));
        expectEqual(`the pages of ${limit} of everybody's memories${what}`, listed.sort(), wanted);
      }
    },
  },
  {
    name: "a list goes on behind a thousand memories",
    sentence: sentences.anyNumber,
    requires,
    heavy: true,
    async run(context) {
      const owner = context.unique();
      const memories = Array.from({ length: 1100 }, () => context.memory());
      await inPortions(memories, (memory) => memory.commit({ owner }));
      for (const limit of [1000, 100]) {
        const what = `the pages of ${limit} of an owner's 1,100 memories`;
        await expectListed(what, context.store, { owner, limit }, memories);
      }
      const ids = new Set(memories.map(({ id }) => id));
      const everybodys = listedIds(await wholeList(context.store, { limit: 1000 }));
      const found = everybodys.filter((id) => ids.has(id));
      expectEqual("the owner's 1,100 memories in everybody's list", found, idsOf(memories));
    },
  },
  {
    name: "a cursor that no page gave does not begin at the start",
    sentence: sentences.foreignCursor,
    requires,
    async run(context) {
      const owner = context.unique();
      const memories = [context.memory(), context.memory(), context.memory()];
      for (const memory of memories) await memory.commit({ append: 1, owner });
      // A store whose cursor is an id takes them for ids: one stands before all others then, one behind them.
      for (const foreign of [
        ["!", "\u{1f642}"],
        ["!".repeat(2000), "~".repeat(2000)],
      ] as const) {
        const asking = foreign.map((cursor) => context.store.listMemories({ owner, cursor }));
        const settled = await Promise.allSettled(asking);
        const pages = settled.map((result, index) => {
          const what = `a list behind the cursor ${quote(foreign[index]?.slice(0, 8) ?? "")}, which no page gave`;
          expectSettled(what, result, "INVALID_OPTION");
          return result.status === "fulfilled" ? listedIds(result.value.memories) : [];
        });
        const fromTheStart = pages.filter((page) => page.length === memories.length).length;
        expectThat(
          "of two cursors that no page gave, one is refused or leads to another place than the start",
          fromTheStart < foreign.length,
          pages,
        );
      }
    },
  },
  {
    name: "a memory that has nothing to show is listed",
    sentence: sentences.list,
    requires,
    async run(context) {
      const owner = context.unique();
      const [empty, evicted, removed] = [context.memory(), context.memory(), context.memory()];
      await empty.commit({ owner });
      await evicted.commit({ append: 1, owner });
      await evicted.commit({ move: [{ seq: 1, to: "evicted" }] });
      await removed.commit({ append: 1, owner });
      await removed.commit({ move: [{ seq: 1, to: "removed" }] });
      const wanted = idsOf([empty, evicted, removed]);
      for (const of of [owner, undefined]) {
        const listed = listedIds(await wholeList(context.store, { owner: of, limit: 1000 }));
        const found = listed.filter((id) => wanted.includes(id));
        expectEqual("which memories without live messages are listed", found, wanted);
      }
    },
  },
]);

/** The ids on all pages of a list, of which `afterPage` is told the last of each. */
async function listing(
  { store }: ConformanceContext,
  query: ListQuery,
  afterPage: (last: string) => Promise<unknown>,
): Promise<string[]> {
  const ids: string[] = [];
  for await (const { memories } of pagesOf(store, query)) {
    ids.push(...memories.map(({ memoryId }) => memoryId));
    const last = memories.at(-1);
    if (last !== undefined) await afterPage(last.memoryId);
  }
  return ids;
}
