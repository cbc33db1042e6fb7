import type { MemoryUpdate, StoredMessage } from "@turnkeep/core";
import { invalidOption, storeError } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";
import { fullCapabilities, type Row, referenceStore, roundTrip } from "./reference-store.ts";

const underWay = "what a caller does to an argument while the call is under way changes nothing";
const undefinedMember = "a member of an update or message that is undefined counts as absent";
const noChange = "a replacement by the same, and a move to where a message is, are a change like any other";

/** What an update, as it should be, leaves of a row that is replaced. */
function isSame(row: Row | undefined, { payload, meta, createdAt }: StoredMessage): boolean {
  return row?.payload === payload && row.meta === meta && row.createdAt === createdAt;
}

/** A store that refuses an update of the version in place for a reason of its own. */
function refusing(
  isRefused: (rows: readonly Row[], update: MemoryUpdate) => boolean,
): NonNullable<BrokenStore["wrap"]> {
  return (base, { memories }) => ({
    async updateMessages(id, update, options) {
      const { version, rows = [] } = memories.get(id) ?? {};
      if (version !== undefined && version === update.expected && isRefused(rows, update)) {
        throw invalidOption("There is no such message");
      }
      await base.updateMessages(id, update, options);
    },
  });
}

/** Members of updates and queries, and what is made of them. */
export const brokenMembers: readonly BrokenStore[] = [
  {
    fault: "says of a memory that is not there that it is unchanged",
    caughtBy: ["basic", "an unknown id is an empty snapshot"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        return snapshot.version === (options?.known ?? null) ? { ...snapshot, unchanged: true } : snapshot;
      },
    }),
  },
  {
    fault: "says to who knows nothing that nothing has changed",
    caughtBy: ["basic", "an append keeps every message as it was given"],
    wrap: (base) => ({
      async getMessages(id, options) {
        const snapshot = await base.getMessages(id, options);
        return options?.known === undefined ? { ...snapshot, unchanged: true } : snapshot;
      },
    }),
  },
  {
    fault: "takes a head that is undefined for a new one",
    caughtBy: ["basic", undefinedMember],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        if (memory !== undefined && "head" in update && update.head === undefined) delete memory.head;
      },
    }),
  },
  {
    fault: "binds a meta that is undefined",
    caughtBy: ["basic", undefinedMember],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        if (update.append.some((message) => "meta" in message && message.meta === undefined)) {
          throw storeError("broken", new TypeError("undefined cannot be bound to a parameter"));
        }
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "puts a limit that is undefined in place of its own",
    caughtBy: ["history", "a part of a history query that is undefined counts as absent"],
    wrap: (base) => ({
      async getHistory(id, query, options) {
        const { limit } = { limit: 100, ...query };
        return base.getHistory(id, { ...query, limit: limit ?? 1000 }, options);
      },
    }),
  },
  {
    fault: "looks for the owner undefined",
    caughtBy: ["list", "a part of a list query that is undefined counts as absent"],
    wrap: (base) => ({
      async listMemories(query, options) {
        return base.listMemories("owner" in query ? { ...query, owner: `${query.owner}` } : query, options);
      },
    }),
  },
  {
    fault: "takes the last of two replacements of one message",
    caughtBy: ["errors", "an update that is not as described is refused"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const bySeq = new Map(update.replace?.map((message) => [message.seq, message]));
        const replace = update.replace && [...bySeq.values()];
        await base.updateMessages(id, { ...update, replace }, options);
      },
    }),
  },
  {
    fault: "checks what is new, not what is replaced",
    caughtBy: ["payloads", "text that is not well-formed is refused"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const replace = update.replace.map((message) => ({ ...message, payload: "1", meta: "1" }));
        await base.updateMessages(id, { ...update, replace }, options);
        for (const { seq, payload } of update.replace) {
          for (const row of memories.get(id)?.rows ?? []) if (row.seq === seq) row.payload = payload;
        }
      },
    }),
  },
  {
    fault: "makes an id of whatever it is given",
    caughtBy: ["ids", "a memory id that is not as described is refused by every method"],
    wrap: (base) => ({
      getMessages: (id, options) => base.getMessages(`${id}`, options),
      updateMessages: (id, update, options) => base.updateMessages(`${id}`, update, options),
      deleteMessages: (id, options) => base.deleteMessages(`${id}`, options),
      getHistory: (id, query, options) => base.getHistory(`${id}`, query, options),
    }),
  },
  {
    fault: "looks at an update once it has a connection",
    caughtBy: ["isolation", underWay],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        await roundTrip();
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "looks at a query once it has a connection",
    caughtBy: ["isolation", underWay],
    wrap: (base) => ({
      async getHistory(id, query, options) {
        await roundTrip();
        return base.getHistory(id, query, options);
      },
    }),
  },
  {
    fault: "takes a replacement by the same for one of nothing",
    caughtBy: ["states", noChange],
    wrap: refusing((rows, { replace }) =>
      replace.some((message) =>
        isSame(
          rows.find(({ seq }) => seq === message.seq),
          message,
        ),
      ),
    ),
  },
  {
    fault: "takes a move to where a message is for one of nothing",
    caughtBy: ["states", noChange],
    wrap: refusing((rows, { move }) =>
      move.some(({ seq, to }) => rows.some((row) => row.seq === seq && row.state === to)),
    ),
  },
  {
    fault: "looks for what is moved before it looks at the version",
    caughtBy: ["versions", "an update of an earlier version conflicts"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const { version, rows } = memories.get(id) ?? {};
        const known = new Set([...(rows ?? []), ...update.append].map(({ seq }) => seq));
        if (version !== update.version && update.move.some(({ seq }) => !known.has(seq))) {
          throw invalidOption("A move names what is not there");
        }
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "moves 1,000 messages of an update at most",
    caughtBy: ["sizes", "five thousand messages live at once, a thousand come and all leave in one update"],
    wrap: (base) => ({
      updateMessages: (id, update, options) =>
        base.updateMessages(id, { ...update, move: update.move.slice(0, 1000) }, options),
    }),
  },
  {
    fault: "keeps what has left in one document of 16 MB",
    caughtBy: ["sizes", "a hundred messages of 1 MB live at once"],
    wrap: (base, database) => ({
      async updateMessages(id, update, options) {
        const memories = new Map(structuredClone([...database.memories].filter(([other]) => other === id)));
        const trial = referenceStore({ ...database, memories }, fullCapabilities, {});
        await trial.updateMessages(id, update);
        const left = memories.get(id)?.rows.filter(({ state }) => state !== "live") ?? [];
        const size = left.reduce((sum, { payload }) => sum + payload.length, 0);
        if (size > 16 * 1024 * 1024) throw storeError("broken", new RangeError("the document is too large"));
        await base.updateMessages(id, update, options);
      },
    }),
  },
];
