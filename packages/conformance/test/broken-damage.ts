import { isTurnkeepError, TurnkeepError } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";
import type { GivenDatabase } from "./reference-store.ts";

const corrupt = "a corrupt record is named, and does not hide the others";

export const brokenDamage: readonly BrokenStore[] = [
  {
    fault: "hides good records behind a corrupt one",
    caughtBy: ["errors", corrupt],
    wrap: (base, { memories }) => ({
      async listMemories(query, options) {
        for (const [id, memory] of memories) {
          if (!Array.isArray(memory?.rows)) throw new TurnkeepError("CORRUPT_RECORD", id);
        }
        return base.listMemories(query, options);
      },
    }),
  },
  {
    fault: "stops a sweep at a corrupt record",
    caughtBy: ["errors", corrupt],
    wrap: (base, { memories }) => ({
      async sweep(options) {
        for (const memory of memories.values()) memory.rows.length.toFixed();
        return base.sweep(options);
      },
    }),
  },
  {
    fault: "takes a corrupt record for an absent memory",
    caughtBy: ["errors", corrupt],
    wrap: (base, { memories }) => ({
      async getMessages(id, options) {
        const absent = memories.has(id) && !Array.isArray(memories.get(id)?.rows);
        return absent ? { version: null, nextSeq: 1, messages: [] } : base.getMessages(id, options);
      },
      async getHistory(id, query, options) {
        const absent = memories.has(id) && !Array.isArray(memories.get(id)?.rows);
        return absent ? { messages: [], hasMore: false } : base.getHistory(id, query, options);
      },
    }),
  },
  {
    fault: "does not say which record is corrupt",
    caughtBy: ["errors", corrupt],
    wrap: (base, { memories }) => ({
      async getMessages(id, options) {
        const damaged = memories.has(id) && !Array.isArray(memories.get(id)?.rows);
        if (damaged) throw new TurnkeepError("CORRUPT_RECORD", "A record is corrupt");
        return base.getMessages(id, options);
      },
    }),
  },
  {
    fault: "writes the messages, then the head",
    caughtBy: ["atomicity", "a process that dies between two steps of an update leaves all of it or none"],
    wrap: (base, database) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const memory = database.memories.get(id);
        if (memory === undefined || update.head === undefined || update.expected === null) return;
        const head = memory.head;
        memory.head = "1";
        database.beforeWrite?.();
        if (head !== undefined) memory.head = head;
      },
    }),
  },
  {
    fault: "swallows a failed write",
    caughtBy: ["atomicity", "a process that dies between two steps of an update leaves all of it or none"],
    wrap: (base) => ({
      updateMessages: (id, update, options) =>
        base.updateMessages(id, update, options).catch((error: unknown) => {
          if (!isTurnkeepError(error, "STORE_UNAVAILABLE")) throw error;
        }),
    }),
  },
  {
    fault: "closes a client it was given",
    caughtBy: ["lifecycle", "close leaves a client that the store was given open"],
    wrap: (base, database) => ({
      async close() {
        await base.close();
        (database as Partial<GivenDatabase>).disconnect?.();
      },
    }),
  },
];
