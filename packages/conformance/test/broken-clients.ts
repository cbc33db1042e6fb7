import type { MemoryUpdate } from "@turnkeep/core";
import type { BrokenStore } from "./broken-store.ts";
import { roundTrip } from "./reference-store.ts";

const atOnce = "one client sees at once what another wrote";
const prolongs = "every write prolongs the life of the whole memory";
const nextBeginning = "a delete that races the next beginning leaves that beginning whole";

/** Leaves a memory's expiry as it was where an update of that kind is made. */
function prolongingNoneBy(isSuch: (update: MemoryUpdate) => boolean): NonNullable<BrokenStore["wrap"]> {
  return (base, { memories }) => ({
    async updateMessages(id, update, options) {
      const before = memories.get(id)?.expiresAt;
      await base.updateMessages(id, update, options);
      const memory = memories.get(id);
      if (memory && before !== undefined && isSuch(update) && update.expected !== null)
        memory.expiresAt = before;
    },
  });
}

/** What a client keeps for itself, and what only some writes do. */
export const brokenClients: readonly BrokenStore[] = [
  {
    fault: "remembers until its own next write which message ids are not there",
    caughtBy: ["basic", atOnce],
    wrap: (base) => {
      const absent = new Set<string>();
      return {
        async getHistory(id, query, options) {
          const key = JSON.stringify([id, query]);
          const page = await base.getHistory(id, query, options);
          if (absent.has(key)) return { messages: [], hasMore: false };
          if (query.ids !== undefined && page.messages.length === 0) absent.add(key);
          return page;
        },
        async updateMessages(id, update, options) {
          await base.updateMessages(id, update, options);
          absent.clear();
        },
      };
    },
  },
  {
    fault: "keeps what it found by ids until its own next write",
    caughtBy: ["basic", atOnce],
    wrap: (base) => {
      const found = new Map<string, Awaited<ReturnType<typeof base.getHistory>>>();
      return {
        async getHistory(id, query, options) {
          const key = JSON.stringify([id, query]);
          const page = found.get(key) ?? (await base.getHistory(id, query, options));
          if (query.ids !== undefined && page.messages.length > 0) found.set(key, structuredClone(page));
          return structuredClone(page);
        },
        async updateMessages(id, update, options) {
          await base.updateMessages(id, update, options);
          found.clear();
        },
      };
    },
  },
  {
    fault: "knows the cursors that it gave itself, and no others",
    caughtBy: ["list", "the pages of a list hold each memory once"],
    wrap: (base) => {
      const given = new Set<string>();
      return {
        async listMemories(query, options) {
          const known = query.cursor === undefined || given.has(query.cursor);
          const page = await base.listMemories(known ? query : { ...query, cursor: undefined }, options);
          if (page.cursor !== undefined) given.add(page.cursor);
          return page;
        },
      };
    },
  },
  {
    fault: "takes a memory off the list once its delete is done, though it has begun again",
    caughtBy: ["atomicity", nextBeginning],
    wrap: (base, database) => {
      const lists = database as { unlisted?: Set<string> };
      lists.unlisted ??= new Set();
      const { unlisted } = lists;
      return {
        async deleteMessages(id, options) {
          await base.deleteMessages(id, options);
          await roundTrip();
          unlisted.add(id);
        },
        async updateMessages(id, update, options) {
          await base.updateMessages(id, update, options);
          if (update.expected === null) unlisted.delete(id);
        },
        async listMemories(query, options) {
          const page = await base.listMemories(query, options);
          return { ...page, memories: page.memories.filter(({ memoryId }) => !unlisted.has(memoryId)) };
        },
      };
    },
  },
  {
    fault: "prolongs no life with an append that evicts",
    caughtBy: ["ttl", prolongs],
    wrap: prolongingNoneBy(({ append, move }) => append.length > 0 && move.length > 0),
  },
  {
    fault: "prolongs no life with a large update",
    caughtBy: ["ttl", prolongs],
    wrap: prolongingNoneBy(({ append }) => append.length >= 100),
  },
  {
    fault: "forgets the owner of a large beginning",
    caughtBy: ["replay", "a large update sent twice is applied once, and conflicts after another commit"],
    wrap: (base) => ({
      updateMessages: (id, update, options) =>
        base.updateMessages(
          id,
          update.expected === null && update.append.length >= 100 ? { ...update, owner: undefined } : update,
          options,
        ),
    }),
  },
];
