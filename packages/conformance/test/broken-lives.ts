import type { ListPage, MemorySnapshot } from "@turnkeep/core";
import type { BrokenStore } from "./broken-store.ts";

export const brokenLives: readonly BrokenStore[] = [
  {
    fault: "counts ttlMs in seconds",
    caughtBy: ["ttl", "an expired memory is absent in every method at once"],
    prepare: ({ ttlMs }) => ({ ttlMs: ttlMs && ttlMs * 1000 }),
  },
  {
    fault: "leaves expired memories in the list until they are swept",
    caughtBy: ["ttl", "an expired memory is absent in every method at once"],
    wrap: (_base, { memories }) => ({
      async listMemories(query) {
        const found = [...memories].filter(([, { owner }]) => owner === query.owner);
        return { memories: found.map(([memoryId, { updatedAt }]) => ({ memoryId, updatedAt })) };
      },
    }),
  },
  {
    fault: "leaves what has expired where it is when it is deleted",
    caughtBy: ["ttl", "an expired memory is absent in every method at once"],
    wrap: (base) => ({
      async deleteMessages(id, options) {
        if ((await base.getMessages(id, options)).version !== null) await base.deleteMessages(id, options);
      },
    }),
  },
  {
    fault: "takes what it did in an earlier life for done",
    caughtBy: ["ttl", "an expired memory is absent in every method at once"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        if (memories.get(id)?.version !== update.version) await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "lets a memory expire so long after its beginning",
    caughtBy: ["ttl", "every write prolongs the life of the whole memory"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const before = memories.get(id)?.expiresAt;
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        if (memory && before && update.expected !== null) memory.expiresAt = before;
      },
    }),
  },
  {
    fault: "prolongs a life with each read",
    caughtBy: ["ttl", "neither reads nor refused updates prolong a life"],
    wrap: (base, { memories, now }, { ttlMs }) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        const memory = memories.get(id);
        if (snapshot.version && memory && ttlMs) memory.expiresAt = now() + ttlMs;
        return snapshot;
      },
    }),
  },
  {
    fault: "shows the history of an earlier life",
    caughtBy: ["ttl", "an earlier life never shows in a later one"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const before = memories.get(id)?.rows.filter(({ state }) => state === "evicted") ?? [];
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        if (memory && update.expected === null) memory.rows = [...before, ...memory.rows];
      },
    }),
  },
  {
    fault: "sweeps what has not expired yet",
    caughtBy: ["ttl", "sweep removes what has expired and nothing else"],
    wrap: (base, { memories }) => ({
      async sweep(options) {
        for (const [id, memory] of memories)
          if (memory.expiresAt < Number.POSITIVE_INFINITY) memories.delete(id);
        return base.sweep(options);
      },
    }),
  },
  {
    fault: "takes a ttlMs of 0 for none",
    caughtBy: ["ttl", "a ttlMs that is not as described is refused"],
    prepare: ({ ttlMs }) => ({ ttlMs: ttlMs || undefined }),
  },
  {
    fault: "answers its own messages",
    caughtBy: ["isolation", "what a caller does to a snapshot changes nothing stored"],
    wrap: (base, { memories }) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        const rows = memories.get(id)?.rows ?? [];
        return { ...snapshot, messages: rows.filter(({ state }) => state === "live") };
      },
    }),
  },
  {
    fault: "answers its own history",
    caughtBy: ["isolation", "what a caller does to a page of history changes nothing stored"],
    wrap: (base, { memories }) => ({
      async getHistory(id, query, options) {
        const page = await base.getHistory(id, query, options);
        const rows = memories.get(id)?.rows ?? [];
        return { ...page, messages: page.messages.map((m) => rows.find(({ seq }) => seq === m.seq) ?? m) };
      },
    }),
  },
  {
    fault: "answers the same list to all",
    caughtBy: ["isolation", "what a caller does to a list changes nothing stored"],
    wrap: (base) => {
      const pages = new Map<string, ListPage>();
      return {
        async listMemories(query, options) {
          const key = JSON.stringify(query);
          const page = pages.get(key) ?? (await base.listMemories(query, options));
          pages.set(key, page);
          return page;
        },
      };
    },
  },
  {
    fault: "keeps the objects it was given",
    caughtBy: ["isolation", "what a caller does to an update after the call changes nothing stored"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        const given = new Map(update.append.map((message) => [message.seq, message]));
        if (memory === undefined || update.move.length > 0) return;
        memory.rows = memory.rows.map((row) =>
          Object.assign(given.get(row.seq) ?? row, { state: row.state }),
        );
      },
    }),
  },
  {
    fault: "sorts the moves that it was given",
    caughtBy: ["isolation", "a store leaves what it is given as it is"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        update.move.sort((a, b) => b.seq - a.seq);
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "answers the same snapshot until somebody writes",
    caughtBy: ["isolation", "two reads answer two objects"],
    wrap: (base) => {
      const snapshots = new Map<string | null, MemorySnapshot>();
      return {
        async getMessages(id, options) {
          const snapshot = await base.getMessages(id, options);
          const known = snapshots.get(snapshot.version) ?? snapshot;
          snapshots.set(snapshot.version, known);
          return known;
        },
      };
    },
  },
  {
    fault: "keeps payloads by message id alone",
    caughtBy: ["isolation", "memories with the same message ids and seqs are apart"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        for (const { id: messageId, payload } of update.replace) {
          for (const { rows } of memories.values()) {
            for (const row of rows) if (row.id === messageId) row.payload = payload;
          }
        }
      },
    }),
  },
];
