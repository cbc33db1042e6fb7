import { conflictError, invalidOption, isTurnkeepError, TurnkeepError } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";
import { type Database, roundTrip } from "./reference-store.ts";

/** Versions of updates that some client is sending. */
const running = new Set<string>();
const closedDatabases = new WeakSet<Database["memories"]>();

export const brokenCalls: readonly BrokenStore[] = [
  {
    fault: "takes the last of two moves of one message",
    caughtBy: ["errors", "an update that is not as described is refused"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const move = update.move && [...new Map(update.move.map((entry) => [entry.seq, entry])).values()];
        await base.updateMessages(id, { ...update, move }, options);
      },
    }),
  },
  {
    fault: "begins a memory before it checks the update",
    caughtBy: ["errors", "a beginning that is not as described begins nothing"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        if (update.expected === null && update.append.some(({ seq }) => seq >= update.nextSeq)) {
          await base.updateMessages(id, { ...update, append: [] }, options);
          await base.updateMessages(id, { ...update, version: `${update.version}-2` }, options);
        }
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "tells the update in an error",
    caughtBy: ["errors", "no error tells a message's content"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        try {
          await base.updateMessages(id, update, options);
        } catch (error) {
          if (!isTurnkeepError(error, "VERSION_CONFLICT")) throw error;
          throw new TurnkeepError("VERSION_CONFLICT", `cannot apply ${JSON.stringify(update)}`);
        }
      },
    }),
  },
  {
    fault: "throws errors without a code",
    caughtBy: ["errors", "an error is an Error with a code and a message"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options).catch((error) => {
          throw new Error(String(error));
        });
      },
    }),
  },
  {
    fault: "looks at a memory's id before it looks whether it was closed",
    caughtBy: ["errors", "what stands in the way of a call is said in one order"],
    wrap: (base) => ({
      async getMessages(id, options) {
        if (id === "") throw invalidOption("the id is empty");
        return base.getMessages(id, options);
      },
    }),
  },
  {
    fault: "looks at a query before it looks at the signal",
    caughtBy: ["errors", "what stands in the way of a call is said in one order"],
    wrap: (base) => ({
      async listMemories(query, options) {
        await base.listMemories({ limit: 1 });
        if (query.limit === 0) throw invalidOption("the limit is 0");
        return base.listMemories(query, options);
      },
    }),
  },
  {
    fault: "measures a message before it looks at the memory's id",
    caughtBy: ["errors", "what stands in the way of a call is said in one order"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        if (id === "" && update.nextSeq > 0) await base.updateMessages("a", update, options);
        return base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "says that it keeps no history before it looks at the query",
    caughtBy: ["errors", "what stands in the way of a call is said in one order"],
    capabilities: { history: false },
    wrap: (base) => ({
      async getHistory(id, _query, options) {
        return base.getHistory(id, {}, options);
      },
    }),
  },
  {
    fault: "looks at the stored version before it looks at the update",
    caughtBy: ["errors", "what stands in the way of a call is said in one order"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const { version } = await base.getMessages(id, options);
        if (version !== update.expected && version !== update.version) {
          throw conflictError(id, update.expected);
        }
        return base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "ignores a signal",
    caughtBy: ["errors", "a signal that has fired ends every call"],
    wrap: (base) => ({ deleteMessages: (id) => base.deleteMessages(id) }),
  },
  {
    fault: "leaves half of an update when a signal fires",
    caughtBy: ["errors", "a signal that fires during an update leaves all of it or none"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const signal = options?.signal;
        if (signal === undefined || update.expected === null) return base.updateMessages(id, update, options);
        const half = `${update.version}-half`;
        await base.updateMessages(id, { ...update, version: half, move: [] });
        await new Promise((resolve) => setTimeout(resolve, 3));
        if (signal.aborted) throw new TurnkeepError("ABORTED", "aborted");
        await base.updateMessages(id, { ...update, expected: half, append: [] });
      },
    }),
  },
  {
    fault: "throws the signal's reason as it is",
    caughtBy: ["errors", "a signal that fires during a read ends it or not"],
    wrap: (base) => ({
      async getMessages(id, options) {
        await roundTrip();
        if (options?.signal?.aborted) throw options.signal.reason;
        return base.getMessages(id);
      },
    }),
  },
  {
    fault: "fails when it is given a signal",
    caughtBy: ["errors", "a signal that does not fire changes nothing"],
    wrap: (base) => ({
      async sweep(options) {
        if (options?.signal) throw new TypeError("signal is not supported");
        return base.sweep();
      },
    }),
  },
  {
    fault: "goes on after close",
    caughtBy: ["lifecycle", "every call after close is CLOSED"],
    wrap: () => ({ close: async () => {} }),
  },
  {
    fault: "goes on after it was disposed of",
    caughtBy: ["lifecycle", "close may be called again"],
    wrap: () => ({ [Symbol.asyncDispose]: async () => {} }),
  },
  {
    fault: "fails to close twice",
    caughtBy: ["lifecycle", "close may be called again"],
    wrap: (base) => {
      let closed = false;
      return {
        async close() {
          if (closed) throw new Error("already closed");
          closed = true;
          await base.close();
        },
      };
    },
  },
  {
    fault: "closes the client that others use too",
    caughtBy: ["lifecycle", "closing one client leaves the others alone"],
    wrap: (base, { memories }) => ({
      async getMessages(id, options) {
        if (closedDatabases.has(memories)) throw new TurnkeepError("CLOSED", "closed");
        return base.getMessages(id, options);
      },
      async close() {
        closedDatabases.add(memories);
        await base.close();
      },
    }),
  },
  {
    fault: "fails calls under way with an error of its driver when it closes",
    caughtBy: ["lifecycle", "calls under way while a client closes come to an end"],
    wrap: (base) => {
      let closed = false;
      return {
        async getMessages(id, options) {
          const snapshot = await base.getMessages(id, options);
          if (closed) throw new Error("Connection terminated");
          return snapshot;
        },
        async close() {
          closed = true;
          await base.close();
        },
      };
    },
  },
  {
    fault: "loses the last update in a restart",
    caughtBy: ["lifecycle", "what was acknowledged survives"],
    reopen: ({ memories }) => {
      for (const memory of memories.values()) memory.rows.pop();
    },
  },
  {
    fault: "sweeps away what has just begun",
    caughtBy: ["lifecycle", "sweep answers a count and harms nothing that is there"],
    wrap: (base, { memories }) => ({
      async sweep(options) {
        for (const [id, { rows }] of memories) if (rows.length < 3) memories.delete(id);
        return base.sweep(options);
      },
    }),
  },
  {
    fault: "forgets the head of an update that replaces and moves",
    caughtBy: ["model", "random sequences of calls by two clients leave what a plain model holds"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const { head, ...rest } = update;
        const forgets = update.replace.length > 0 && update.move.length > 0 && update.append.length === 0;
        await base.updateMessages(id, forgets ? rest : update, options);
      },
    }),
  },
  {
    fault: "takes a query's ids for what comes after",
    caughtBy: ["model", "random queries of a history answer what a plain model answers"],
    wrap: (base) => ({
      getHistory: (id, query, options) =>
        base.getHistory(id, query.ids === undefined ? query : { ...query, after: undefined }, options),
    }),
  },
  {
    fault: "declares less than it must hold",
    caughtBy: ["basic", "every capability is declared"],
    capabilities: { maxMessageBytes: 400 * 1024 },
  },
  {
    fault: "leaves out a method that it cannot serve",
    caughtBy: ["basic", "every method is there"],
    wrap: () => ({ sweep: undefined as never }),
  },
  {
    fault: "refuses an update that another client is sending",
    caughtBy: ["replay", "an update sent twice at once is applied once"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        if (running.has(update.version)) throw conflictError(id, update.expected);
        running.add(update.version);
        await base.updateMessages(id, update, options).finally(() => running.delete(update.version));
      },
    }),
  },
];
