import type { ListPage, ListQuery, MemoryUpdate } from "@turnkeep/core";
import { type BrokenStore, beside, changing } from "./broken-store.ts";
import type { Database, StoredMemory } from "./reference-store.ts";

type Listed = ListPage["memories"];

/** Stores data that are larger than the contract allows, of which this is true. */
function unlimited(takes: (data: string) => boolean): NonNullable<BrokenStore["wrap"]> {
  return (base, { memories }) => ({
    async updateMessages(id, update, options) {
      const { data } = update;
      const isTaken = data !== undefined && Buffer.byteLength(data) > 8192 && takes(data);
      await base.updateMessages(id, isTaken ? { ...update, data: undefined } : update, options);
      const memory = memories.get(id);
      if (isTaken && memory !== undefined) memory.data = data;
    },
  });
}

/** Changes the pages of lists. */
function paging(
  change: (listed: Listed, query: ListQuery, database: Database) => Listed,
): NonNullable<BrokenStore["wrap"]> {
  return (base, database) => ({
    async listMemories(query, options) {
      const page = await base.listMemories(query, options);
      return { ...page, memories: change(page.memories, query, database) };
    },
  });
}

const beginnings = beside(() => new Map<string, string>());

/** Lists the data, or the owner, that a memory began with, where this is true. */
function asBegun(
  member: "data" | "owner",
  isStale: (one: Listed[number], query: ListQuery) => boolean,
): NonNullable<BrokenStore["wrap"]> {
  return (base, { memories }) => {
    const begun = beginnings(memories);
    return {
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const value = update[member];
        if (update.expected === null && value !== undefined) begun.set(id, value);
      },
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        const listed = page.memories.map((one) =>
          isStale(one, query) ? { ...one, [member]: begun.get(one.memoryId) } : one,
        );
        return { ...page, memories: listed };
      },
    };
  };
}

/** Notes no activity for some of the writes. */
function unnoted(isUnnoted: (update: MemoryUpdate) => boolean): NonNullable<BrokenStore["wrap"]> {
  return (base, { memories }) => ({
    async updateMessages(id, update, options) {
      const { active } = memories.get(id) ?? {};
      await base.updateMessages(id, update, options);
      const memory = memories.get(id);
      if (memory !== undefined && active !== undefined && isUnnoted(update)) memory.active = active;
    },
  });
}

const newestFirst = "what began last, and what was written to last, comes first";
const newOwner = "a memory that gets another owner is in that list, and in the old one no more";
const listedData = "a listed memory has the data that its last update left";
const data = "the data stay until an update brings others";

const owners = beside(() => new Map<string, Set<string>>());

/** Keeps a list for each owner beside the memories, as stores do that have no index over them. */
function ownersLists(
  leaves: (update: MemoryUpdate, before: StoredMemory | undefined) => boolean,
): NonNullable<BrokenStore["wrap"]> {
  return (base, { memories }) => {
    const lists = owners(memories);
    return {
      async updateMessages(id, update, options) {
        const before = memories.get(id);
        await base.updateMessages(id, update, options);
        if (update.owner === undefined) return;
        if (leaves(update, before)) for (const [, list] of lists) list.delete(id);
        const list = lists.get(update.owner) ?? new Set();
        lists.set(update.owner, list.add(id));
      },
      async deleteMessages(id, options) {
        await base.deleteMessages(id, options);
        const { owner } = memories.get(id) ?? {};
        if (owner !== undefined) lists.get(owner)?.delete(id);
      },
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        if (query.owner === undefined || query.order === "newest") return page;
        const here = new Set(page.memories.map(({ memoryId }) => memoryId));
        const left = [...(lists.get(query.owner) ?? [])].filter((id) => !here.has(id) && memories.has(id));
        return page.cursor === undefined && query.cursor === undefined
          ? { ...page, memories: [...page.memories, ...left.map((memoryId) => ({ memoryId, updatedAt: 0 }))] }
          : page;
      },
    };
  };
}

/** What the application says about a conversation, whose it is, when it was last active, and how long it lives. */
export const brokenConversations: readonly BrokenStore[] = [
  {
    fault: "drops the data that a beginning without messages brings",
    caughtBy: ["basic", data],
    wrap: changing((update) =>
      update.expected === null && update.append.length === 0 ? { ...update, data: undefined } : update,
    ),
  },
  {
    fault: "drops the data when something else is written",
    caughtBy: ["basic", data],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        if (memory !== undefined && update.data === undefined && update.head !== undefined)
          delete memory.data;
      },
    }),
  },
  {
    fault: "takes data that are an empty text for none",
    caughtBy: ["basic", data],
    wrap: changing((update) => (update.data === "" ? { ...update, data: undefined } : update)),
  },
  {
    fault: "takes data of any size",
    caughtBy: ["sizes", "data of 8 KB work, more are refused"],
    wrap: unlimited(() => true),
  },
  {
    fault: "counts characters of data, not bytes",
    caughtBy: ["sizes", "data of 8 KB work, more are refused"],
    wrap: unlimited((data) => data.length <= 8192),
  },
  {
    fault: "keeps the owner that a memory began with",
    caughtBy: ["basic", "the owner stays until an update names another"],
    wrap: changing((update, memory) =>
      memory?.owner === undefined ? update : { ...update, owner: undefined },
    ),
  },
  {
    fault: "keeps a memory without an owner when it is to get one",
    caughtBy: ["basic", "the owner stays until an update names another"],
    wrap: changing((update, memory) =>
      memory !== undefined && memory.owner === undefined ? { ...update, owner: undefined } : update,
    ),
  },
  {
    fault: "leaves a memory in the list of the owner before",
    caughtBy: ["list", newOwner],
    wrap: ownersLists(() => false),
  },
  {
    fault: "leaves a memory in the list of the owner before when something is appended too",
    caughtBy: ["list", newOwner],
    wrap: ownersLists((update) => update.append.length === 0),
  },
  {
    fault: "forgets at a delete the owners that a memory had before",
    caughtBy: ["list", "an owner that comes back has the memory once, and a deleted one is in no list"],
    wrap: ownersLists((_, before) => before?.rows.length !== 1 || before.owner === undefined),
  },
  {
    fault: "changes the owner whichever update wins",
    caughtBy: ["list", "of two owners in a race one has the memory, in its list and no other"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const before = memories.get(id)?.version;
        try {
          await base.updateMessages(id, update, options);
        } catch (error) {
          const memory = memories.get(id);
          if (before === update.expected && memory !== undefined && update.owner !== undefined)
            memory.owner = update.owner;
          throw error;
        }
      },
    }),
  },
  {
    fault: "lists the data that a memory began with",
    caughtBy: ["list", listedData],
    wrap: asBegun("data", ({ data }) => data !== undefined),
  },
  {
    fault: "lists no data in everybody's list",
    caughtBy: ["list", listedData],
    wrap: paging((listed, { owner }) =>
      owner === undefined ? listed.map(({ data: _, ...one }) => one) : listed,
    ),
  },
  {
    fault: "declares no order newest, and answers the stored one",
    caughtBy: ["list", "a store without the order newest says so"],
    capabilities: { newest: false },
    wrap: (base) => ({
      listMemories: ({ order: _, ...query }, options) => base.listMemories(query, options),
    }),
  },
  {
    fault: "lists the oldest first",
    caughtBy: ["list", newestFirst],
    wrap: paging((listed, { order }) => (order === "newest" ? listed.toReversed() : listed)),
  },
  {
    fault: "notes activity when something is appended",
    caughtBy: ["list", newestFirst],
    wrap: unnoted(({ append }) => append.length === 0),
  },
  {
    fault: "notes no activity when the data change",
    caughtBy: ["list", newestFirst],
    wrap: unnoted((update) => update.data !== undefined),
  },
  {
    fault: "notes no activity on the path of a plain append",
    caughtBy: ["list", newestFirst],
    wrap: unnoted(({ append, move }) => append.length > 0 && move.length > 0),
  },
  {
    fault: "notes activity by the minute, also that of a memory that begins",
    caughtBy: ["list", "what begins comes first, however short the time"],
    wrap: paging((listed, { order }, { memories }) => {
      if (order !== "newest") return listed;
      const minute = (id: string) => Math.floor((memories.get(id)?.updatedAt ?? 0) / 60_000);
      const byId = listed.toSorted((one, other) => (one.memoryId < other.memoryId ? -1 : 1));
      return byId.sort((one, other) => minute(other.memoryId) - minute(one.memoryId));
    }),
  },
  {
    fault: "goes on after the time of a page's last memory",
    caughtBy: ["list", "the pages of the newest hold each memory once, also those that began at once"],
    wrap: paging((listed, { order, cursor }, { memories }) => {
      if (order !== "newest" || cursor === undefined) return listed;
      const [first] = listed;
      const time = memories.get(first?.memoryId ?? "")?.updatedAt;
      return listed.filter((one) => one === first || memories.get(one.memoryId)?.updatedAt !== time);
    }),
  },
  {
    fault: "counts from the front for a cursor of the newest",
    caughtBy: [
      "list",
      "what nobody writes to is on the pages of the newest once, while others are written to",
    ],
    wrap: (base) => ({
      async listMemories({ cursor, ...query }, options) {
        if (query.order !== "newest") return base.listMemories({ cursor, ...query }, options);
        const { memories } = await base.listMemories({ ...query, limit: 1000 }, options);
        const from = Number(cursor ?? 0);
        const to = from + (query.limit ?? 100);
        return { memories: memories.slice(from, to), cursor: to < memories.length ? `${to}` : undefined };
      },
    }),
  },
  {
    fault: "names among the newest the owner that a memory began with",
    caughtBy: ["list", "the newest are those that are there, and whose they are"],
    wrap: asBegun("owner", (_, { order }) => order === "newest"),
  },
  {
    fault: "starts over for a cursor of the other order",
    caughtBy: ["list", "a cursor of one order does not start over in the other"],
    wrap: (base) => ({
      async listMemories(query, options) {
        try {
          return await base.listMemories(query, options);
        } catch {
          return base.listMemories({ ...query, cursor: undefined }, options);
        }
      },
    }),
  },
  {
    fault: "sets the end of every life by the client's ttlMs",
    caughtBy: ["ttl", "an update's own ttlMs sets the end of the life, whatever the client's"],
    wrap: changing((update) => ({ ...update, ttlMs: undefined })),
  },
  {
    fault: "takes null for no ttlMs of its own",
    caughtBy: ["ttl", "an update's own ttlMs sets the end of the life, whatever the client's"],
    wrap: changing((update) => (update.ttlMs === null ? { ...update, ttlMs: undefined } : update)),
  },
  {
    fault: "keeps the ttlMs of the update before",
    caughtBy: ["ttl", "an update without a ttlMs of its own sets the end by the client's again"],
    wrap: (base, { memories }) => {
      const lives = ownLives(memories);
      return {
        async updateMessages(id, update, options) {
          const ttlMs = update.ttlMs === undefined ? lives.get(id) : update.ttlMs;
          await base.updateMessages(id, { ...update, ttlMs }, options);
          lives.set(id, ttlMs);
        },
      };
    },
  },
  {
    fault: "takes an update's ttlMs of 0 for none",
    caughtBy: [
      "ttl",
      "an update's ttlMs that is no number of milliseconds is refused, and any where nothing expires",
    ],
    wrap: changing((update) => (update.ttlMs === 0 ? { ...update, ttlMs: undefined } : update)),
  },
];

const ownLives = beside(() => new Map<string, number | null | undefined>());
