import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { type BrokenStore, beside, isId } from "./broken-store.ts";

const twelveThousand = "twelve thousand messages come in one update, live at once, and all leave in one";

const firstOfHash = beside(() => new Map<number, string>());

/** FNV-1a, of 32 bits. */
function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) bits = Math.imul(bits ^ byte, 0x01000193);
  return bits;
}

/** What is right for little, and wrong for much. */
export const brokenLimits: readonly BrokenStore[] = [
  {
    fault: "reads the first 10,000 live messages",
    caughtBy: ["sizes", twelveThousand],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        return { ...snapshot, messages: snapshot.messages.slice(0, 10_000) };
      },
    }),
  },
  {
    fault: "loses the rows behind the 9,362nd, with 7 of 65,535 parameters each",
    caughtBy: ["sizes", twelveThousand],
    wrap: (base) => ({
      updateMessages: (id, update, options) =>
        base.updateMessages(id, { ...update, append: update.append?.slice(0, 9_362) }, options),
    }),
  },
  {
    fault: "lists the first 1,000 memories",
    caughtBy: ["list", "a list goes on behind a thousand memories"],
    wrap: (base) => ({
      async listMemories(query, options) {
        const page = await base.listMemories(query, options);
        return query.limit === 1000 ? { memories: page.memories } : page;
      },
    }),
  },
  {
    fault: "sweeps 100 memories at most",
    caughtBy: ["ttl", "one sweep removes all that has expired"],
    wrap: (base, { memories, now }) => ({
      async sweep(options) {
        await base.getMessages("a", options);
        const expired = [...memories].filter(([, memory]) => memory?.expiresAt <= now()).slice(0, 100);
        for (const [id] of expired) memories.delete(id);
        return { removed: expired.length };
      },
    }),
  },
  {
    fault: "begins at the start for a cursor that it does not know",
    caughtBy: ["list", "a cursor that no page gave does not begin at the start"],
    wrap: (base) => ({
      listMemories: (query, options) =>
        base.listMemories(query, options).catch((error: unknown) => {
          if (!query.cursor || !isTurnkeepError(error, "INVALID_OPTION")) throw error;
          return base.listMemories({ ...query, cursor: undefined }, options);
        }),
    }),
  },
  {
    fault: "takes a 32-bit hash of an id for its key",
    caughtBy: ["ids", "ids with the same 32-bit hash are apart"],
    wrap(base, { memories }) {
      const first = firstOfHash(memories);
      const keyOf = (id: string): string => {
        if (typeof id !== "string" || !isId(id)) return id;
        const key = first.get(hash(id)) ?? id;
        first.set(hash(id), key);
        return key;
      };
      return {
        getMessages: async (id, options) => base.getMessages(keyOf(id), options),
        updateMessages: async (id, update, options) => base.updateMessages(keyOf(id), update, options),
        deleteMessages: async (id, options) => base.deleteMessages(keyOf(id), options),
        getHistory: async (id, query, options) => base.getHistory(keyOf(id), query, options),
      };
    },
  },
  {
    fault: "asks for the head before it reads the messages",
    caughtBy: ["sizes", "a read takes the declared number of steps"],
    wrap: (base, { sent }) => ({
      async getMessages(id, options) {
        sent?.("head");
        return base.getMessages(id, options);
      },
    }),
  },
  {
    fault: "writes the whole memory with each append",
    caughtBy: ["sizes", "an append writes only the messages that it names"],
    wrap: (base, { memories, sent }) => ({
      async updateMessages(id, update, options) {
        sent?.(memories.get(id));
        return base.updateMessages(id, update, options);
      },
    }),
  },
];
