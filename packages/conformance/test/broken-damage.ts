import { corruptError, isTurnkeepError, TurnkeepError } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";
import type { GivenDatabase } from "./reference-store.ts";

const corrupt = "a corrupt record is named, and does not hide the others";

const lost = "a live message whose record is gone stands in its place, and hides no other";

/** A page or snapshot without the messages whose record is gone. */
const withoutLost = <Message extends { payload: string }>(messages: readonly Message[]): Message[] =>
  messages.filter(({ payload }) => payload !== "");

export const brokenDamage: readonly BrokenStore[] = [
  {
    fault: "goes on in silence without a message whose record is gone",
    caughtBy: ["errors", lost],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        return { ...snapshot, messages: withoutLost(snapshot.messages) };
      },
    }),
  },
  {
    fault: "leaves a message whose record is gone out of history",
    caughtBy: ["errors", lost],
    wrap: (base) => ({
      async getHistory(id, query, options) {
        const page = await base.getHistory(id, query, options);
        return { ...page, messages: withoutLost(page.messages) };
      },
    }),
  },
  {
    fault: "does not find a message whose record is gone by the id under which it shows it",
    caughtBy: ["errors", lost],
    wrap: (base) => ({
      async getHistory(id, query, options) {
        const page = await base.getHistory(id, query, options);
        return query.ids === undefined ? page : { ...page, messages: withoutLost(page.messages) };
      },
    }),
  },
  {
    fault: "answers no message of a memory of which one record is gone",
    caughtBy: ["errors", lost],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        if (withoutLost(snapshot.messages).length === snapshot.messages.length) return snapshot;
        throw corruptError(id, "a record is gone");
      },
    }),
  },
  {
    fault: "refuses to remove a message whose record is gone",
    caughtBy: ["errors", lost],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const rows = memories.get(id)?.rows ?? [];
        const isLost = (seq: number) => rows.some((row) => row.seq === seq && row.payload === "");
        if (update.move.some(({ seq, to }) => to === "removed" && isLost(seq)))
          throw new TurnkeepError("INVALID_OPTION", "no such message");
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "cannot evict a message whose record is gone",
    caughtBy: ["errors", "a message whose record is gone leaves memory like any other"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const rows = memories.get(id)?.rows ?? [];
        const isLost = (seq: number) => rows.some((row) => row.seq === seq && row.payload === "");
        const move = update.move.filter(({ seq, to }) => to === "removed" || !isLost(seq));
        await base.updateMessages(id, { ...update, move }, options);
      },
    }),
  },
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
