import type { ListPage, ListQuery, TurnkeepErrorCode } from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
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

/** Writes who begins into a list first, and leaves it there where the update is refused. */
function listingFirst(
  code: TurnkeepErrorCode,
  inList: (query: ListQuery, owner: string | undefined) => boolean,
): NonNullable<BrokenStore["wrap"]> {
  return (base, database) => {
    const shared = database as Database & { refused?: Map<string, string | undefined> };
    shared.refused ??= new Map();
    const { refused } = shared;
    return {
      async updateMessages(id, update, options) {
        try {
          await base.updateMessages(id, update, options);
        } catch (error) {
          if (!database.memories.has(id) && isTurnkeepError(error, code)) refused.set(id, update.owner);
          throw error;
        }
      },
      async deleteMessages(id, options) {
        await base.deleteMessages(id, options);
        refused.delete(id);
      },
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        const left = [...refused].filter(([, owner]) => inList(query, owner));
        return {
          ...page,
          memories: [...page.memories, ...left.map(([memoryId]) => ({ memoryId, updatedAt: 0 }))],
        };
      },
    };
  };
}

const isOwners = (query: ListQuery, owner: string | undefined) =>
  query.owner !== undefined && query.owner === owner;

/** A list of everybody's memories that is told of some only when they begin. */
function everybodysFromTheBeginning(
  some: (memory: StoredMemory) => boolean,
): NonNullable<BrokenStore["wrap"]> {
  return (base, database) => {
    const shared = database as Database & { begun?: Map<string, number> };
    shared.begun ??= new Map();
    const { begun, memories } = shared as typeof shared & { begun: Map<string, number> };
    return {
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        if (update.expected === null) begun.set(id, memories.get(id)?.updatedAt ?? 0);
      },
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        if (query.owner !== undefined) return page;
        const stale = page.memories.map((entry) => {
          const memory = memories.get(entry.memoryId);
          const updatedAt = begun.get(entry.memoryId) ?? 0;
          return memory !== undefined && some(memory) ? { ...entry, updatedAt } : entry;
        });
        return { ...page, memories: stale };
      },
    };
  };
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
    fault: "goes on after the id as JSON writes it, among the newest",
    caughtBy: ["list", "a page may end with any id"],
    wrap: (base) => ({
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        const last = page.memories.at(-1)?.memoryId ?? "";
        const isBare = JSON.stringify(last) === `"${last}"`;
        return query.order !== "newest" || isBare ? page : { memories: page.memories };
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
    fault: "keeps in everybody's list when a memory began",
    caughtBy: ["list", "updatedAt rises with each write"],
    wrap: everybodysFromTheBeginning(({ owner }) => owner !== undefined),
  },
  {
    fault: "keeps in everybody's list when a memory without owner began",
    caughtBy: ["list", "updatedAt rises with each write"],
    wrap: everybodysFromTheBeginning(({ owner }) => owner === undefined),
  },
  {
    fault: "leaves a beginning in its owner's list that is not as described",
    caughtBy: ["errors", "a beginning that is not as described begins nothing"],
    wrap: listingFirst("INVALID_OPTION", isOwners),
  },
  {
    fault: "leaves a beginning in its owner's list that names what is not there",
    caughtBy: ["errors", "a beginning that names what is not there is refused"],
    wrap: listingFirst("INVALID_OPTION", isOwners),
  },
  {
    fault: "leaves a beginning in everybody's list that is refused",
    caughtBy: ["errors", "a beginning that names what is not there is refused"],
    wrap: listingFirst("INVALID_OPTION", ({ owner }) => owner === undefined),
  },
  {
    fault: "leaves a beginning in its owner's list that is too large",
    caughtBy: ["sizes", "a message above maxMessageBytes is refused before anything is written"],
    wrap: listingFirst("MESSAGE_TOO_LARGE", isOwners),
  },
  {
    fault: "leaves an absent memory in a list that an update names",
    caughtBy: ["versions", "an update of an absent memory conflicts and does not begin it"],
    wrap: listingFirst("VERSION_CONFLICT", isOwners),
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
