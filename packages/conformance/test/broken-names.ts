import { type BrokenStore, isId } from "./broken-store.ts";

/** A store that writes ids in another form than they were given. */
function renaming(rename: (id: string) => string): NonNullable<BrokenStore["wrap"]> {
  const renamed = (id: string): string => (isId(id) ? rename(id) : id);
  return (base) => ({
    getMessages: async (id, options) => base.getMessages(renamed(id), options),
    updateMessages: async (id, update, options) => base.updateMessages(renamed(id), update, options),
    deleteMessages: async (id, options) => base.deleteMessages(renamed(id), options),
    getHistory: async (id, query, options) => base.getHistory(renamed(id), query, options),
  });
}

export const brokenNames: readonly BrokenStore[] = [
  {
    fault: "answers an empty list instead of UNSUPPORTED",
    caughtBy: ["list", "a store without a listing says so"],
    capabilities: { list: false },
    wrap: () => ({ listMemories: async () => ({ memories: [] }) }),
  },
  {
    fault: "lists everybody's memories to each owner",
    caughtBy: ["list", "an owner's list holds no memory of others"],
    wrap: (base) => ({
      listMemories: ({ owner: _, ...query }, options) =>
        base.listMemories({ limit: 1000, ...query }, options),
    }),
  },
  {
    fault: "misses the last memory of a full page",
    caughtBy: ["list", "the pages of a list hold each memory once"],
    wrap: (base) => ({
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        if (page.cursor !== undefined) page.memories.pop();
        return page;
      },
    }),
  },
  {
    fault: "lists only memories with an owner",
    caughtBy: ["list", "without an owner every memory is listed once"],
    wrap: (base) => ({
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        return { ...page, memories: page.memories.filter(({ owner }) => owner !== undefined) };
      },
    }),
  },
  {
    fault: "takes a memory off the list when its beginning comes again",
    caughtBy: ["list", "a memory whose beginning was sent twice is listed once"],
    wrap: (base, { memories }) => {
      const unlisted = new Set<string>();
      return {
        async updateMessages(id, update, options) {
          const isAgain = update.expected === null && memories.get(id)?.version === update.version;
          await base.updateMessages(id, update, options);
          if (isAgain) unlisted.add(id);
        },
        async listMemories(query, options) {
          const page = await base.listMemories(query, options);
          return { ...page, memories: page.memories.filter(({ memoryId }) => !unlisted.has(memoryId)) };
        },
      };
    },
  },
  {
    fault: "counts from the front for a cursor",
    caughtBy: ["list", "a cursor stays good while memories begin, change and are deleted"],
    wrap: (base, database) => ({
      async listMemories(query, options) {
        const { cursor, limit = 100, ...rest } = query;
        if (cursor === "") return base.listMemories(query, options);
        const { memories } = await base.listMemories({ ...rest, limit: 1000 }, options);
        // The newest first.
        const begun = [...database.memories.keys()];
        memories.sort((a, b) => begun.indexOf(b.memoryId) - begun.indexOf(a.memoryId));
        const first = Number(cursor ?? 0);
        const page = memories.slice(first, first + limit);
        return first + limit < memories.length
          ? { memories: page, cursor: String(first + limit) }
          : { memories: page };
      },
    }),
  },
  {
    fault: "lists from an index that lags",
    caughtBy: ["list", "a memory is listed as soon as its beginning was acknowledged"],
    wrap: (base, { now }) => ({
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        return { ...page, memories: page.memories.filter(({ updatedAt }) => updatedAt < now() - 5) };
      },
    }),
  },
  {
    fault: "folds upper and lower case of ids",
    caughtBy: ["ids", "memory ids that differ in upper and lower case are apart"],
    wrap: renaming((id) => id.toLowerCase()),
  },
  {
    fault: "normalises ids",
    caughtBy: ["ids", "memory ids that differ in normalisation form are apart"],
    wrap: renaming((id) => id.normalize("NFC")),
  },
  {
    fault: "trims trailing blanks of ids",
    caughtBy: ["ids", "memory ids that differ in a trailing blank are apart"],
    wrap: renaming((id) => id.trimEnd() || id),
  },
  {
    fault: "splits ids at a colon",
    caughtBy: ["ids", "memory ids that differ in a key's separator are apart"],
    wrap: renaming((id) => id.split(":")[0] || id),
  },
  {
    fault: "cuts ids at 255 characters",
    caughtBy: ["ids", "memory ids of 512 bytes are told apart by their last and first byte"],
    wrap: renaming((id) => id.slice(0, 255)),
  },
  {
    fault: "cannot hold a memory with the id __proto__",
    caughtBy: ["ids", "ids with a meaning of their own are plain ids"],
    wrap: renaming((id) => (id in {} ? "object" : id)),
  },
  {
    fault: "takes any id",
    caughtBy: ["ids", "a memory id that is not as described is refused by every method"],
    wrap: (base) => ({
      async getMessages(id, options) {
        return id.length > 512 ? { version: null, nextSeq: 1, messages: [] } : base.getMessages(id, options);
      },
    }),
  },
  {
    fault: "finds message ids by their beginning",
    caughtBy: ["ids", "a message is found in history by exactly its id"],
    wrap: (base) => ({
      async getHistory(id, { ids, ...query }, options) {
        if (ids === undefined || ids.length !== 1) return base.getHistory(id, { ids, ...query }, options);
        const page = await base.getHistory(id, { limit: 1000, ...query }, options);
        const messages = page.messages.filter((message) => message.id.startsWith(ids[0] ?? ""));
        return { ...page, messages };
      },
    }),
  },
  {
    fault: "forgets to check message ids",
    caughtBy: ["ids", "a message id that is not as described is refused"],
    wrap: (base) => ({
      getHistory: (id, query, options) =>
        base.getHistory(id, { ...query, ids: query.ids?.filter((one) => one !== "") }, options),
    }),
  },
  {
    fault: "folds upper and lower case of owners",
    caughtBy: ["ids", "any owner comes back as given and has a list of its own"],
    wrap: (base) => ({
      async listMemories({ owner, ...query }, options) {
        const page = await base.listMemories({ limit: 1000, ...query }, options);
        const folded = owner?.toLowerCase();
        const memories = page.memories.filter((entry) => entry.owner?.toLowerCase() === folded);
        return owner === undefined ? page : { ...page, memories };
      },
    }),
  },
  {
    fault: "loses a trailing blank of message ids",
    caughtBy: ["ids", "any message id comes back as it was given"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        const messages = snapshot.messages.map((message) => ({ ...message, id: message.id.trimEnd() }));
        return { ...snapshot, messages };
      },
    }),
  },
  {
    fault: "lists a memory that was deleted",
    caughtBy: ["list", "a deleted memory is not listed, one that began again is listed once"],
    wrap: (base) => {
      const deleted: string[] = [];
      return {
        async deleteMessages(id, options) {
          await base.deleteMessages(id, options);
          deleted.push(id);
        },
        async listMemories(query, options) {
          const page = await base.listMemories(query, options);
          return {
            ...page,
            memories: [...page.memories, ...deleted.map((memoryId) => ({ memoryId, updatedAt: 0 }))],
          };
        },
      };
    },
  },
  {
    fault: "forgets to change updatedAt",
    caughtBy: ["list", "updatedAt rises with each write"],
    wrap: (base) => ({
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        return {
          ...page,
          memories: page.memories.map((entry) => ({ ...entry, updatedAt: 1_700_000_000_000 })),
        };
      },
    }),
  },
  {
    fault: "answers updatedAt in seconds, with a fraction",
    caughtBy: ["list", "an owner's memories are listed with owner and time"],
    wrap: (base) => ({
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        return {
          ...page,
          memories: page.memories.map((m) => ({ ...m, updatedAt: m.updatedAt / 1000 + 0.0001 })),
        };
      },
    }),
  },
  {
    fault: "answers updatedAt in the time of another zone",
    caughtBy: ["list", "updatedAt rises with each write"],
    realTime: true,
    wrap: (base) => ({
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        const inHalfAnHour = page.memories.map((m) => ({ ...m, updatedAt: m.updatedAt + 1_800_000 }));
        return { ...page, memories: inHalfAnHour };
      },
    }),
  },
  {
    fault: "lists 1,000 memories where no limit is given",
    caughtBy: ["list", "a page has 100 memories unless asked, and 1,000 at most"],
    wrap: (base) => ({
      listMemories: (query, options) => base.listMemories({ limit: 1000, ...query }, options),
    }),
  },
  {
    fault: "corrects the limit of a list instead of refusing it",
    caughtBy: ["list", "a list query that is not as described is refused"],
    wrap: (base) => ({
      listMemories: (query, options) =>
        base.listMemories({ ...query, limit: Math.min(1000, Math.floor(query.limit || 100)) }, options),
    }),
  },
  {
    fault: "takes an empty owner for none",
    caughtBy: ["ids", "an owner that is not as described is refused"],
    wrap: (base) => ({
      updateMessages: (id, { owner, ...update }, options) =>
        base.updateMessages(id, owner ? { ...update, owner } : update, options),
    }),
  },
  {
    fault: "takes an asterisk for a pattern",
    caughtBy: ["ids", "any id is a memory of its own"],
    wrap: (base, { memories }) => ({
      async deleteMessages(id, options) {
        await base.deleteMessages(id, options);
        if (!id.endsWith("*")) return;
        for (const other of memories.keys()) if (other.startsWith(id.slice(0, -1))) memories.delete(other);
      },
    }),
  },
];
