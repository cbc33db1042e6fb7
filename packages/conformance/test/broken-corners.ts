import type { ListPage, MemoryUpdate } from "@turnkeep/core";
import { isTurnkeepError, TurnkeepError, throwIfAborted } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";
import {
  type Database,
  fullCapabilities,
  type Row,
  roundTrip,
  type StoredMemory,
} from "./reference-store.ts";

const isLarge = ({ payload }: { readonly payload: string }): boolean => payload.length >= 256_000;

const drafts = new WeakMap<Database["memories"], Map<string, string>>();
const ends = new WeakMap<Database["memories"], Map<string, number>>();

function of<T>(all: WeakMap<object, Map<string, T>>, memories: Database["memories"]): Map<string, T> {
  const known = all.get(memories) ?? new Map<string, T>();
  all.set(memories, known);
  return known;
}

/** A store that changes what it has stored after each update. */
function after(
  change: (memory: StoredMemory, update: MemoryUpdate, before: StoredMemory | undefined) => void,
): NonNullable<BrokenStore["wrap"]> {
  return (base, { memories }) => ({
    async updateMessages(id, update, options) {
      const before = structuredClone(memories.get(id));
      const sent = structuredClone(update);
      await base.updateMessages(id, update, options);
      const memory = memories.get(id);
      if (memory?.version === sent.version) change(memory, sent, before);
    },
  });
}

const maxMessage = "a message of exactly maxMessageBytes works";
const signalInRead = "a signal that fires during a read ends it or not";
const contradiction = "an update that contradicts what is stored is refused";
const full = ({ payload, meta = "" }: { payload?: unknown; meta?: string | undefined }): boolean =>
  String(payload).length + meta.length === fullCapabilities.maxMessageBytes;

/** Stores that fail where two things come together of which each alone is well. */
export const brokenCorners: readonly BrokenStore[] = [
  {
    fault: "evicts the draft of a large message that a small one has replaced",
    caughtBy: ["sizes", "a message of 1 MB works in every state"],
    wrap: (base, database) =>
      after((memory, { append, replace, move }) => {
        const mine = of(drafts, database.memories);
        const key = (seq: number) => `${memory.rows[0]?.createdAt} ${seq}`;
        for (const message of [...append, ...replace])
          if (isLarge(message)) mine.set(key(message.seq), message.payload);
        for (const { seq, to } of move) {
          const row = memory.rows.find((one) => one.seq === seq);
          if (row !== undefined && to === "evicted") row.payload = mine.get(key(seq)) ?? row.payload;
        }
      })(base, database, {}),
  },
  {
    fault: "cannot evict a message of the size that it declares",
    caughtBy: ["sizes", maxMessage],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const row = memories.get(id)?.rows.find(({ seq }) => seq === update.move?.[0]?.seq);
        if (row !== undefined && full(row)) throw new TurnkeepError("STORE_UNAVAILABLE", "Item too large");
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "has no room for a long id beside a message of the size that it declares",
    caughtBy: ["sizes", maxMessage],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        if (update.append?.some((message) => full(message) && message.id.length > 100))
          throw new TurnkeepError("STORE_UNAVAILABLE", "Item too large");
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "quotes the message that contradicts what is stored",
    caughtBy: ["errors", contradiction],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options).catch((error) => {
          if (!isTurnkeepError(error, "INVALID_OPTION")) throw error;
          const { append, replace } = update;
          throw new TurnkeepError("INVALID_OPTION", `${error.message} ${JSON.stringify([append, replace])}`);
        });
      },
    }),
  },
  {
    fault: "quotes what is stored and contradicts the update",
    caughtBy: ["errors", contradiction],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options).catch((error) => {
          if (!isTurnkeepError(error, "INVALID_OPTION")) throw error;
          const details = { stored: memories.get(id)?.rows };
          throw new TurnkeepError("INVALID_OPTION", error.message, { details: details as object });
        });
      },
    }),
  },
  {
    fault: "changes no updatedAt with a large update",
    caughtBy: ["list", "updatedAt rises with each write"],
    wrap: after((memory, { append }, before) => {
      if (before !== undefined && append.length > 100) memory.updatedAt = before.updatedAt;
    }),
  },
  {
    fault: "changes no updatedAt with an append that evicts",
    caughtBy: ["list", "updatedAt rises with each write"],
    wrap: after((memory, { append, move }, before) => {
      if (before !== undefined && append.length * move.length > 0) memory.updatedAt = before.updatedAt;
    }),
  },
  {
    fault: "prolongs lives with a sweep",
    caughtBy: ["ttl", "neither reads nor refused updates prolong a life"],
    wrap: (base, { memories, now }, { ttlMs = 0 }) => ({
      async sweep(options) {
        const swept = await base.sweep(options);
        for (const memory of memories.values()) {
          if (memory.expiresAt < Number.POSITIVE_INFINITY) memory.expiresAt = now() + ttlMs;
        }
        return swept;
      },
    }),
  },
  {
    fault: "sweeps a memory that began again by the end of its earlier life",
    caughtBy: ["ttl", "an earlier life never shows in a later one"],
    wrap: (base, { memories, now }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const known = of(ends, memories);
        const { expiresAt = 0 } = memories.get(id) ?? {};
        if (update.expected !== null || !known.has(id)) known.set(id, expiresAt);
      },
      async sweep(options) {
        const { removed } = await base.sweep(options);
        const ended = [...of(ends, memories)].filter(([, end]) => end <= now()).map(([id]) => id);
        const more = ended.filter((id) => memories.delete(id));
        for (const id of ended) of(ends, memories).delete(id);
        return { removed: removed + more.length };
      },
    }),
  },
  {
    fault: "ends a life by the ttlMs of who asks",
    caughtBy: ["ttl", "the end of a deleted life does not end a later one"],
    wrap: (base, { memories, now }, { ttlMs = Number.POSITIVE_INFINITY }) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        const { updatedAt = now() } = memories.get(id) ?? {};
        return updatedAt + ttlMs > now() ? snapshot : { version: null, nextSeq: 1, messages: [] };
      },
    }),
  },
  {
    fault: "throws a signal's reason as it is when it fires during a listing",
    caughtBy: ["errors", signalInRead],
    wrap: (base) => ({
      async listMemories(query, options) {
        throwIfAborted(options?.signal);
        await roundTrip();
        options?.signal?.throwIfAborted();
        return base.listMemories(query, options);
      },
    }),
  },
  {
    fault: "throws a signal's reason as it is when it fires during a sweep",
    caughtBy: ["errors", signalInRead],
    wrap: (base) => ({
      async sweep(options) {
        throwIfAborted(options?.signal);
        await roundTrip();
        options?.signal?.throwIfAborted();
        return base.sweep(options);
      },
    }),
  },
  {
    fault: "looks at a list query once it has a connection",
    caughtBy: ["isolation", "what a caller does to an argument while the call is under way changes nothing"],
    wrap: (base) => ({
      async listMemories(query, options) {
        await roundTrip();
        return base.listMemories(query, options);
      },
    }),
  },
  {
    fault: "takes what a history ends before in 32 bits",
    caughtBy: ["order", "seq may be any safe integer"],
    wrap: (base) => ({
      getHistory: (id, { before, ...query }, options) =>
        base.getHistory(id, before === undefined ? query : { ...query, before: before | 0 }, options),
    }),
  },
  {
    fault: "fails a delete that another one has overtaken",
    caughtBy: ["basic", "a delete of what is not there succeeds"],
    wrap: (base, { memories }) => ({
      async deleteMessages(id, options) {
        if (!memories.has(id)) return base.deleteMessages(id, options);
        await roundTrip();
        if (!memories.delete(id)) throw new TurnkeepError("STORE_UNAVAILABLE", "Nothing deleted");
      },
    }),
  },
  {
    fault: "leaves the large messages that had left when it deletes a memory",
    caughtBy: ["basic", "a delete leaves nothing of a long memory"],
    wrap: (base, { memories }) => ({
      async deleteMessages(id, options) {
        const memory = memories.get(id);
        await base.deleteMessages(id, options);
        const rows = memory?.rows.filter((row) => row.state !== "live" && isLarge(row)) ?? [];
        if (memory !== undefined && rows.length > 0) memories.set(id, { ...memory, rows, expiresAt: 0 });
      },
    }),
  },
  {
    fault: "leaves the text of a large message that is removed",
    caughtBy: ["states", "what is removed is gone from memory and history"],
    wrap: after((memory, { move }, before) => {
      const removed = new Set(move.flatMap(({ seq, to }) => (to === "removed" ? [seq] : [])));
      const { rows = [], texts = [] }: { rows?: Row[]; texts?: Row[] } = before ?? {};
      const left = rows.filter((row) => removed.has(row.seq) && isLarge(row));
      Object.assign(memory, { texts: [...texts, ...left] });
    }),
  },
  {
    fault: "keeps everybody's list until its own next write",
    caughtBy: ["list", "a memory is listed as soon as its beginning was acknowledged"],
    wrap: (base) => {
      const kept = new Map<string, ListPage>();
      return {
        async listMemories(query, options) {
          if (query.owner !== undefined) return base.listMemories(query, options);
          const key = JSON.stringify(query);
          const page = kept.get(key) ?? (await base.listMemories(query, options));
          kept.set(key, page);
          return structuredClone(page);
        },
        async updateMessages(id, update, options) {
          kept.clear();
          await base.updateMessages(id, update, options);
        },
      };
    },
  },
];
