import type { HistoryQuery } from "@turnkeep/core";
import { conflictError } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";
import { type Database, fullCapabilities, referenceStore } from "./reference-store.ts";

const prolongs = "every write prolongs the life of the whole memory";
const absent = "an expired memory is absent in every method at once";
const neither = "neither reads nor refused updates prolong a life";
const sweeps = "sweep removes what has expired and nothing else";

/** Gives a memory that is alive its whole life again. */
function touch({ memories, now }: Database, id: string, ttlMs: number | undefined): void {
  const memory = memories.get(id);
  if (memory !== undefined && ttlMs !== undefined && memory.expiresAt > now()) {
    memory.expiresAt = now() + ttlMs;
  }
}

/** A store of which some history queries do not look whether the memory has expired. */
function timeless(chosen: (query: HistoryQuery) => boolean): NonNullable<BrokenStore["wrap"]> {
  return (base, database) => {
    const eternal = referenceStore({ ...database, now: () => 0 }, fullCapabilities, {});
    return {
      getHistory: (id, query, options) => (chosen(query) ? eternal : base).getHistory(id, query, options),
    };
  };
}

/** Lives that end too early, too late or by something of another life. */
export const brokenExpiry: readonly BrokenStore[] = [
  {
    fault: "shows an expired memory from its newest message on",
    caughtBy: ["ttl", absent],
    wrap: timeless(({ order }) => order === "descending"),
  },
  {
    fault: "finds messages of an expired memory by their ids",
    caughtBy: ["ttl", absent],
    wrap: timeless(({ ids }) => ids !== undefined),
  },
  {
    fault: "shows an expired memory to who asks for states",
    caughtBy: ["ttl", absent],
    wrap: timeless(({ states }) => states !== undefined),
  },
  {
    fault: "shows an expired memory to who asks for a part of it",
    caughtBy: ["ttl", absent],
    wrap: timeless(({ after }) => after !== undefined),
  },
  {
    fault: "leaves expired memories in everybody's list until they are swept",
    caughtBy: ["ttl", absent],
    wrap: (base, { memories }) => ({
      async listMemories(query, options) {
        if (query.owner !== undefined) return base.listMemories(query, options);
        return { memories: [...memories].map(([memoryId, { updatedAt }]) => ({ memoryId, updatedAt })) };
      },
    }),
  },
  {
    fault: "leaves expired memories among an owner's newest",
    caughtBy: ["ttl", absent],
    wrap: (base, { memories }) => ({
      async listMemories(query, options) {
        if (query.order !== "newest") return base.listMemories(query, options);
        const found = [...memories].filter(([, { owner }]) => owner === query.owner);
        return { memories: found.map(([memoryId, { updatedAt }]) => ({ memoryId, updatedAt })) };
      },
    }),
  },
  {
    fault: "keeps the data of an earlier life",
    caughtBy: ["ttl", "an earlier life never shows in a later one"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const { data } = memories.get(id) ?? {};
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        if (memory !== undefined && update.expected === null && data !== undefined) memory.data ??= data;
      },
    }),
  },
  {
    fault: "takes an expired memory for a rival of a beginning that contradicts itself",
    caughtBy: ["ttl", absent],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options).catch((error: unknown) => {
          throw update.expected === null && memories.has(id) ? conflictError(id, null) : error;
        });
      },
    }),
  },
  {
    fault: "prolongs a life with an update that it refuses",
    caughtBy: ["ttl", neither],
    wrap: (base, database, { ttlMs }) => ({
      async updateMessages(id, update, options) {
        touch(database, id, ttlMs);
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "prolongs a life with a read that knows the version",
    caughtBy: ["ttl", neither],
    wrap: (base, database, { ttlMs }) => ({
      async getMessages(id, options) {
        if (options?.known !== undefined) touch(database, id, ttlMs);
        return base.getMessages(id, options);
      },
    }),
  },
  {
    fault: "prolongs no life with an update without change",
    caughtBy: ["ttl", prolongs],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const { expiresAt } = memories.get(id) ?? {};
        await base.updateMessages(id, update, options);
        const { append, replace, move, head } = update;
        const memory = memories.get(id);
        const isEmpty = append.length + replace.length + move.length === 0 && head === undefined;
        if (memory && expiresAt !== undefined && isEmpty) memory.expiresAt = expiresAt;
      },
    }),
  },
  {
    fault: "lets what was evicted expire by itself",
    caughtBy: ["ttl", prolongs],
    wrap: (base, { now }, { ttlMs }) => {
      const ends = new Map<string, number>();
      return {
        async updateMessages(id, update, options) {
          await base.updateMessages(id, update, options);
          for (const { seq } of update.move) if (ttlMs !== undefined) ends.set(`${id} ${seq}`, now() + ttlMs);
        },
        async getHistory(id, query, options) {
          const page = await base.getHistory(id, query, options);
          const lasting = page.messages.filter(({ seq }) => (ends.get(`${id} ${seq}`) ?? now() + 1) > now());
          return { ...page, messages: lasting };
        },
      };
    },
  },
  {
    fault: "sweeps what began so long ago",
    caughtBy: ["ttl", prolongs],
    wrap: (base, { memories, now }, { ttlMs }) => {
      const begun = new Map<string, number>();
      return {
        async updateMessages(id, update, options) {
          await base.updateMessages(id, update, options);
          if (update.expected === null) begun.set(id, now());
        },
        async sweep(options) {
          for (const [id, since] of begun) {
            if (ttlMs !== undefined && since + ttlMs <= now()) memories.delete(id);
          }
          return base.sweep(options);
        },
      };
    },
  },
  {
    fault: "leaves the end of a life behind when it deletes it",
    caughtBy: ["ttl", "the end of a deleted life does not end a later one"],
    wrap: (base, database, { ttlMs }) => {
      const { memories } = database;
      return {
        async updateMessages(id, update, options) {
          await base.updateMessages(id, update, options);
          const memory = memories.get(id);
          if (memory === undefined) return;
          if (ttlMs === undefined) memory.expiresAt = leftEnds.get(id) ?? memory.expiresAt;
          else leftEnds.set(id, memory.expiresAt);
        },
      };
    },
  },
  {
    fault: "counts ttlMs in 32 bits",
    caughtBy: ["ttl", "a life of many years has not ended after a moment"],
    wrap: (base, { memories, now }, { ttlMs }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        if (memory !== undefined && ttlMs !== undefined) memory.expiresAt = now() + (ttlMs | 0);
      },
    }),
  },
  {
    fault: "does not count what it sweeps",
    caughtBy: ["ttl", sweeps],
    wrap: (base) => ({
      async sweep(options) {
        await base.sweep(options);
        return { removed: 0 };
      },
    }),
  },
  {
    fault: "counts what it looked at in a sweep",
    caughtBy: ["ttl", sweeps],
    wrap: (base, { memories }) => ({
      async sweep(options) {
        const removed = memories.size;
        await base.sweep(options);
        return { removed };
      },
    }),
  },
];

/** The ends of lives, by memory id, in a place that all clients share. */
const leftEnds = new Map<string, number>();
