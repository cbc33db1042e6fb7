import { type BrokenStore, beside } from "./broken-store.ts";
import { applied, type Row, type StoredMemory } from "./reference-store.ts";

const dies = {
  large: "a process that dies between two steps of a large update leaves all of it or none",
  beginning: "a process that dies between two steps of a beginning leaves all of it or nothing",
  delete: "a process that dies between two steps of a delete leaves the memory whole or absent",
};
const restarted = "what was deleted stays deleted, and what is listed stays listed, after a restart";

const owners = beside(() => new Map<string, string>());
const leftBehind = beside(() => new Map<string, Row[]>());
const deleted = beside(() => new Map<string, StoredMemory>());
const forgotten = beside(() => new Set<string>());

/** Stores that are as they should be until a process dies, or begins again. */
export const brokenCrashes: readonly BrokenStore[] = [
  {
    fault: "writes the messages of a large update, then the rest",
    caughtBy: ["atomicity", dies.large],
    wrap: (base, { memories, beforeWrite }) => ({
      async updateMessages(id, update, options) {
        const memory = memories.get(id);
        if (memory === undefined || beforeWrite === undefined || update.append.length < 100)
          return base.updateMessages(id, update, options);
        beforeWrite();
        const { rows } = applied(memory, { ...update, replace: [], move: [] });
        memories.set(id, { ...memory, rows });
        beforeWrite();
        memories.set(id, memory);
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "begins a memory, then writes its messages",
    caughtBy: ["atomicity", dies.beginning],
    wrap: (base, { memories, beforeWrite }) => ({
      async updateMessages(id, update, options) {
        if (update.expected !== null || beforeWrite === undefined)
          return base.updateMessages(id, update, options);
        await base.updateMessages(id, { ...update, append: [], move: [] }, options);
        beforeWrite();
        Object.assign(memories.get(id) as StoredMemory, applied(undefined, update));
      },
    }),
  },
  {
    fault: "writes a memory into its owner's list, then begins it, and lists what it finds there",
    caughtBy: ["atomicity", dies.beginning],
    wrap: (base, { memories, beforeWrite }) => ({
      async updateMessages(id, update, options) {
        if (update.expected === null && update.owner !== undefined && beforeWrite !== undefined) {
          beforeWrite();
          owners(memories).set(id, update.owner);
        }
        await base.updateMessages(id, update, options);
        owners(memories).delete(id);
      },
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        const found = [...owners(memories)].filter(([, owner]) => owner === query.owner);
        const more = found.map(([memoryId, owner]) => ({ memoryId, owner, updatedAt: 0 }));
        return { ...page, memories: [...page.memories, ...more] };
      },
    }),
  },
  {
    fault: "deletes the head, then the messages, which the next life finds",
    caughtBy: ["atomicity", dies.delete],
    wrap: (base, { memories, beforeWrite }) => ({
      async deleteMessages(id, options) {
        const memory = memories.get(id);
        if (memory === undefined || beforeWrite === undefined) return base.deleteMessages(id, options);
        beforeWrite();
        await base.deleteMessages(id, options);
        leftBehind(memories).set(id, memory.rows);
        beforeWrite();
        leftBehind(memories).delete(id);
      },
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const [memory, left] = [memories.get(id), leftBehind(memories).get(id)];
        if (memory === undefined || left === undefined) return;
        const rows = new Map([...left, ...memory.rows].map((row) => [row.seq, row]));
        memory.rows = [...rows.values()].sort((a, b) => a.seq - b.seq);
      },
    }),
  },
  {
    fault: "loses the deletes before a restart",
    caughtBy: ["lifecycle", restarted],
    wrap: (base, { memories }) => ({
      async deleteMessages(id, options) {
        const memory = memories.get(id);
        await base.deleteMessages(id, options);
        if (memory !== undefined) deleted(memories).set(id, memory);
      },
    }),
    reopen({ memories }) {
      for (const [id, memory] of deleted(memories)) if (!memories.has(id)) memories.set(id, memory);
    },
  },
  {
    fault: "keeps its lists in the process",
    caughtBy: ["lifecycle", restarted],
    wrap: (base, { memories }) => ({
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        const isKnown = ({ memoryId }: { memoryId: string }) => !forgotten(memories).has(memoryId);
        return { ...page, memories: page.memories.filter(isKnown) };
      },
    }),
    reopen({ memories }) {
      for (const id of memories.keys()) forgotten(memories).add(id);
    },
  },
  {
    fault: "keeps in the process when a memory expires",
    caughtBy: ["ttl", "a life ends in time though the store was restarted"],
    reopen({ memories }) {
      for (const memory of memories.values()) memory.expiresAt = Number.POSITIVE_INFINITY;
    },
  },
];
