import type { HistoryPage } from "@turnkeep/core";
import { TurnkeepError } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";

export const brokenHistory: readonly BrokenStore[] = [
  {
    fault: "includes the seq that a history begins after",
    caughtBy: ["history", "after is exclusive"],
    wrap: (base) => ({
      getHistory: (id, { after, ...query }, options) =>
        base.getHistory(id, { ...query, after: after && after - 1 }, options),
    }),
  },
  {
    fault: "includes the seq that a history ends before",
    caughtBy: ["history", "before is exclusive"],
    wrap: (base) => ({
      getHistory: (id, { before, ...query }, options) =>
        base.getHistory(id, { ...query, before: before && before + 1 }, options),
    }),
  },
  {
    fault: "ignores the order of a history query",
    caughtBy: ["history", "history comes in either order"],
    wrap: (base) => ({
      getHistory: (id, query, options) => base.getHistory(id, { ...query, order: "ascending" }, options),
    }),
  },
  {
    fault: "says that a full page has more behind it",
    caughtBy: ["history", "hasMore tells whether anything follows"],
    wrap: (base) => ({
      async getHistory(id, query, options) {
        const page = await base.getHistory(id, query, options);
        return { ...page, hasMore: page.messages.length === (query.limit ?? 100) };
      },
    }),
  },
  {
    fault: "answers everything where no limit is given",
    caughtBy: ["history", "a page has 100 messages unless asked, and up to 1,000"],
    wrap: (base) => ({
      getHistory: (id, query, options) => base.getHistory(id, { limit: 1000, ...query }, options),
    }),
  },
  {
    fault: "takes an empty list of states for all",
    caughtBy: ["history", "history can be asked for states"],
    wrap: (base) => ({
      getHistory(id, query, options) {
        const states = query.states?.length === 0 ? undefined : query.states;
        return base.getHistory(id, { ...query, states }, options);
      },
    }),
  },
  {
    fault: "looks for message ids among the live ones only",
    caughtBy: ["history", "history can be asked for message ids"],
    wrap: (base) => ({
      getHistory(id, query, options) {
        const states = query.ids === undefined ? query.states : (["live"] as const);
        return base.getHistory(id, { ...query, states: states && [...states] }, options);
      },
    }),
  },
  {
    fault: "finds a removed message by its id",
    caughtBy: ["history", "a removed message is not found by its id"],
    wrap: (base, { memories }) => {
      const index = new Map<string, HistoryPage["messages"]>();
      return {
        async updateMessages(id, update, options) {
          await base.updateMessages(id, update, options);
          const known = new Map(index.get(id)?.map((row) => [row.seq, row]));
          for (const row of memories.get(id)?.rows ?? []) known.set(row.seq, row);
          index.set(id, [...known.values()]);
        },
        async getHistory(id, query, options) {
          const page = await base.getHistory(id, query, options);
          const { ids } = query;
          return ids === undefined
            ? page
            : { ...page, messages: index.get(id)?.filter((row) => ids.includes(row.id)) ?? [] };
        },
      };
    },
  },
  {
    fault: "applies the limit before the states",
    caughtBy: ["history", "every part of a query holds at once"],
    wrap: (base) => ({
      async getHistory(id, query, options) {
        const { states, ...rest } = query;
        const page = await base.getHistory(id, rest, options);
        const kept = page.messages.filter(({ state }) => states?.includes(state) ?? true);
        return { ...page, messages: kept };
      },
    }),
  },
  {
    fault: "corrects a limit instead of refusing it",
    caughtBy: ["history", "a query that is not as described is refused"],
    wrap: (base) => ({
      getHistory(id, query, options) {
        const limit = Math.min(1000, Math.max(1, Math.floor(query.limit ?? 100) || 1));
        return base.getHistory(id, { ...query, limit }, options);
      },
    }),
  },
  {
    fault: "reads a history in two places, one after the other",
    caughtBy: ["history", "paging while another client writes shows each message once"],
    wrap: (base) => ({
      async getHistory(id, query, options) {
        const states = query.states ?? ["live", "evicted", "superseded"];
        const pages = [
          await base.getHistory(id, { ...query, states: states.filter((s) => s !== "live") }, options),
          await base.getHistory(id, { ...query, states: states.filter((s) => s === "live") }, options),
        ];
        const messages = pages.flatMap((page) => page.messages).sort((a, b) => a.seq - b.seq);
        if (query.order === "descending") messages.reverse();
        const limit = query.limit ?? 100;
        const hasMore = messages.length > limit || pages.some((page) => page.hasMore);
        return { messages: messages.slice(0, limit), hasMore };
      },
    }),
  },
  {
    fault: "answers an empty history instead of UNSUPPORTED",
    caughtBy: ["history", "a store without history says so"],
    capabilities: { history: false },
    wrap: () => ({ getHistory: async () => ({ messages: [], hasMore: false }) }),
  },
  {
    fault: "answers the history of an unknown id with an error",
    caughtBy: ["history", "the history of an unknown id is empty"],
    wrap: (base, { memories }) => ({
      async getHistory(id, query, options) {
        if (!memories.has(id)) throw new TurnkeepError("INVALID_OPTION", "There is no such memory");
        return base.getHistory(id, query, options);
      },
    }),
  },
  {
    fault: "leaks another memory's history",
    caughtBy: ["isolation", "memories with the same message ids and seqs are apart"],
    wrap: (base, { memories }) => ({
      async getHistory(id, query, options) {
        const page = await base.getHistory(id, query, options);
        const others = [...memories].filter(([other]) => other !== id).flatMap(([, { rows }]) => rows);
        const left = others.filter(({ state }) => state !== "live");
        return { ...page, messages: [...page.messages, ...structuredClone(left)] };
      },
    }),
  },
];
