import type { ListPage, ListQuery } from "@turnkeep/core";
import type { BrokenStore } from "./broken-store.ts";
import type { Database, StoredMemory } from "./reference-store.ts";

const everyPage = "the pages of a list hold each memory once";

/** A list of its own kind: what it begins after, what it holds, and what its cursor is. */
function listing(
  database: Database,
  { owner, limit = 100 }: ListQuery,
  order: (a: readonly [string, StoredMemory], b: readonly [string, StoredMemory]) => number,
): { page(begin: number): ListPage["memories"]; length: number } {
  const found = [...database.memories].filter(([, memory]) => owner === undefined || memory.owner === owner);
  const entries = found.sort(order).map(([memoryId, memory]) => {
    const entry = { memoryId, updatedAt: memory.updatedAt };
    return memory.owner === undefined ? entry : { ...entry, owner: memory.owner };
  });
  return { length: entries.length, page: (begin) => entries.slice(begin, begin + limit) };
}

/** Lists that are right at first sight. */
export const brokenLists: readonly BrokenStore[] = [
  {
    fault: "counts from the front for a cursor of everybody's list",
    caughtBy: ["list", "the pages of everybody's list hold each memory once"],
    wrap: (base, database) => ({
      async listMemories(query, options) {
        await base.listMemories({ limit: query.limit }, options);
        if (query.owner !== undefined) return base.listMemories(query, options);
        const { page, length } = listing(database, query, ([a], [b]) => (a < b ? -1 : 1));
        const begin = Number(query.cursor ?? 0);
        const memories = page(begin);
        const end = begin + memories.length;
        return end < length ? { memories, cursor: `${end}` } : { memories };
      },
    }),
  },
  {
    fault: "goes on after the millisecond in which a page's last memory was written",
    caughtBy: ["list", everyPage],
    wrap: (base, database) => ({
      async listMemories(query, options) {
        await base.listMemories({ limit: query.limit }, options);
        const { page, length } = listing(database, query, ([, a], [, b]) => a.updatedAt - b.updatedAt);
        const all = Array.from({ length }, (_, index) => page(index)[0]).filter(
          (entry) => entry !== undefined,
        );
        const rest = all.filter(({ updatedAt }) => updatedAt > Number(query.cursor ?? -1));
        const memories = rest.slice(0, query.limit ?? 100);
        const cursor = `${memories.at(-1)?.updatedAt}`;
        return rest.length > memories.length ? { memories, cursor } : { memories };
      },
    }),
  },
  {
    fault: "gives a full page a cursor though nothing follows",
    caughtBy: ["list", everyPage],
    wrap: (base) => ({
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        const isFull = page.memories.length === (query.limit ?? 100);
        const last = page.memories.at(-1)?.memoryId ?? "";
        return isFull ? { cursor: Buffer.from(last).toString("base64url"), ...page } : page;
      },
    }),
  },
  {
    fault: "lists memories that hold messages",
    caughtBy: ["list", "a memory that has nothing to show is listed"],
    wrap: (base, { memories }) => ({
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        const holding = page.memories.filter(({ memoryId }) => memories.get(memoryId)?.rows.length);
        return { ...page, memories: holding };
      },
    }),
  },
  {
    fault: "changes updatedAt when something is appended",
    caughtBy: ["list", "updatedAt rises with each write"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const { updatedAt } = memories.get(id) ?? {};
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        if (memory && updatedAt !== undefined && update.append.length === 0) memory.updatedAt = updatedAt;
      },
    }),
  },
  {
    fault: "parses a cursor without looking at it",
    caughtBy: ["list", "a list query that is not as described is refused"],
    wrap: (base) => ({
      async listMemories(query, options) {
        if (query.cursor?.startsWith("{")) JSON.parse(query.cursor);
        return base.listMemories(query, options);
      },
    }),
  },
];
