import type { HistoryQuery, MemoryUpdate, StoredMessage } from "@turnkeep/core";
import { isTurnkeepError, storeError, TurnkeepError } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";

/** A store that changes each message before it is written. */
function writing(change: (message: StoredMessage) => StoredMessage): NonNullable<BrokenStore["wrap"]> {
  return (base) => ({
    updateMessages(id, update, options) {
      const changed: MemoryUpdate = {
        ...update,
        append: update.append?.map(change),
        replace: update.replace?.map(change),
      };
      return base.updateMessages(id, changed, options);
    },
  });
}

/** A store that cuts long payloads in the answers to some history queries. */
function cutting(chosen: (query: HistoryQuery) => boolean): NonNullable<BrokenStore["wrap"]> {
  return (base) => ({
    async getHistory(id, query, options) {
      const page = await base.getHistory(id, query, options);
      if (!chosen(query)) return page;
      const messages = page.messages.map((row) => ({ ...row, payload: row.payload.slice(0, 256 * 1024) }));
      return { ...page, messages };
    },
  });
}

export const brokenContents: readonly BrokenStore[] = [
  {
    fault: "keeps a payload parsed",
    caughtBy: ["payloads", "a payload keeps numbers that a parser would change"],
    wrap: writing((message) => ({ ...message, payload: JSON.stringify(JSON.parse(message.payload)) })),
  },
  {
    fault: "normalises payloads",
    caughtBy: ["payloads", "a payload keeps emoji and combining marks"],
    wrap: writing((message) => ({ ...message, payload: message.payload.normalize("NFC") })),
  },
  {
    fault: "loses an escaped lone surrogate",
    caughtBy: ["payloads", "a payload keeps an escaped lone surrogate"],
    wrap: writing((message) => ({ ...message, payload: message.payload.replace(/\\ud800/g, "\ufffd") })),
  },
  {
    fault: "gives a message without meta an empty one",
    caughtBy: ["payloads", "a message without meta has none, one with an empty text has it"],
    wrap: writing((message) => ({ ...message, meta: message.meta ?? "" })),
  },
  {
    fault: "mends text that is not well-formed",
    caughtBy: ["payloads", "text that is not well-formed is refused"],
    wrap: writing((message) => ({
      ...message,
      payload:
        typeof message.payload === "string" ? message.payload.replaceAll("\u0000", "") : message.payload,
    })),
  },
  {
    fault: "cuts a message at 1,000,000 characters",
    caughtBy: ["sizes", "a message of 1 MB works in every state"],
    wrap: writing((message) => ({ ...message, payload: message.payload.slice(0, 1_000_000) })),
  },
  {
    fault: "cuts a large message that is read by ids",
    caughtBy: ["sizes", "a message of 1 MB works in every state"],
    wrap: cutting(({ ids }) => ids !== undefined),
  },
  {
    fault: "cuts a large message that is read in descending order",
    caughtBy: ["sizes", "a message of 1 MB works in every state"],
    wrap: cutting(({ order }) => order === "descending"),
  },
  {
    fault: "fails to answer a page of history of more than 16 MB",
    caughtBy: ["sizes", "a page of history holds twenty messages of 1 MB"],
    wrap: (base) => ({
      async getHistory(id, query, options) {
        const page = await base.getHistory(id, query, options);
        const size = page.messages.reduce((sum, { payload }) => sum + payload.length, 0);
        if (size > 16 * 1024 * 1024) throw storeError("broken", new RangeError("the answer is too large"));
        return page;
      },
    }),
  },
  {
    fault: "ends a page of history at 8 MB",
    caughtBy: ["sizes", "a page of history holds twenty messages of 1 MB"],
    wrap: (base) => ({
      async getHistory(id, query, options) {
        const page = await base.getHistory(id, query, options);
        let bytes = 0;
        const messages = page.messages.filter(({ payload }) => {
          bytes += payload.length;
          return bytes <= 8 * 1024 * 1024;
        });
        return { messages, hasMore: page.hasMore || messages.length < page.messages.length };
      },
    }),
  },
  {
    fault: "reads 4,096 live messages at most",
    caughtBy: ["sizes", "five thousand messages live at once, a thousand come and all leave in one update"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        return { ...snapshot, messages: snapshot.messages.slice(0, 4096) };
      },
    }),
  },
  {
    fault: "writes what fits, then refuses what is too large",
    caughtBy: ["sizes", "a message above maxMessageBytes is refused before anything is written"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        try {
          await base.updateMessages(id, update, options);
        } catch (error) {
          if (isTurnkeepError(error, "MESSAGE_TOO_LARGE") && update.replace.length === 0) {
            const append = update.append.filter(
              ({ payload, meta = "" }) => payload.length + meta.length < 1000,
            );
            await base.updateMessages(id, { ...update, append, version: `${update.version}-half` }, options);
          }
          throw error;
        }
      },
    }),
  },
  {
    fault: "answers a page of at most 1,000 live messages",
    caughtBy: ["sizes", "five thousand messages live at once, a thousand come and all leave in one update"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        return { ...snapshot, messages: snapshot.messages.slice(-1000) };
      },
    }),
  },
  {
    fault: "cuts the head",
    caughtBy: ["sizes", "a head of 16 KB works, a larger one is refused"],
    wrap: (base) => ({
      updateMessages: (id, update, options) =>
        base.updateMessages(
          id,
          update.head ? { ...update, head: update.head.slice(0, 8192) } : update,
          options,
        ),
    }),
  },
  {
    fault: "counts characters instead of bytes",
    caughtBy: ["sizes", "maxMessageBytes counts bytes, not characters"],
    capabilities: { maxMessageBytes: 1024 * 1024 },
    wrap: writing((message) => {
      const { length } = message.payload;
      const fits = length + (message.meta?.length ?? 0) <= 1024 * 1024;
      return fits && length > 100_000 ? { ...message, payload: message.payload.slice(0, 100_000) } : message;
    }),
  },
  {
    fault: "reads 64 MB at most",
    caughtBy: ["sizes", "a hundred messages of 1 MB live at once"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        let bytes = 0;
        const messages = snapshot.messages.filter(({ payload }) => {
          bytes += payload.length;
          return bytes <= 64 * 1024 * 1024;
        });
        return { ...snapshot, messages };
      },
    }),
  },
  {
    fault: "refuses a message of the size that it declares",
    caughtBy: ["sizes", "a message of exactly maxMessageBytes works"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        for (const { payload, meta = "" } of update.append) {
          if (payload.length + meta.length < base.capabilities.maxMessageBytes) continue;
          throw new TurnkeepError("MESSAGE_TOO_LARGE", "too large");
        }
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "cuts metas at 64 KB",
    caughtBy: ["sizes", "a meta of 1 MB works"],
    wrap: writing((message) =>
      message.meta ? { ...message, meta: message.meta.slice(0, 65_536) } : message,
    ),
  },
  {
    fault: "cuts a payload of wide characters at 1 MB of UTF-16",
    caughtBy: ["sizes", "1 MB of characters of several bytes works"],
    wrap: writing((message) => ({
      ...message,
      payload: message.payload?.slice?.(0, 500_000) ?? message.payload,
    })),
  },
  {
    fault: "keeps Latin-1 only",
    caughtBy: ["payloads", "any JSON text comes back as it was given"],
    wrap: writing((message) => ({ ...message, payload: message.payload.replace(/[^\0-\u00ff]/g, "?") })),
  },
];
