import type { MemoryUpdate } from "@turnkeep/core";
import { conflictError, throwIfAborted } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";
import { applied, type Database, roundTrip } from "./reference-store.ts";

const appliedWhole = "a large update is applied whole, and leaves as it was what it does not name";

function isLarge({ append, replace, move }: MemoryUpdate): boolean {
  return append.length + replace.length + move.length >= 100;
}

function write({ memories, now, tick }: Database, id: string, update: MemoryUpdate): void {
  const memory = applied(memories.get(id), structuredClone(update));
  memories.set(id, { ...memory, updatedAt: now(), active: tick(), expiresAt: Number.POSITIVE_INFINITY });
}

/** A store that writes large updates on a path of their own. */
function ownPath(
  path: (database: Database, id: string, update: MemoryUpdate) => Promise<void>,
): NonNullable<BrokenStore["wrap"]> {
  return (base, database) => ({
    async updateMessages(id, update, options) {
      if (!isLarge(update)) return base.updateMessages(id, update, options);
      await roundTrip();
      await path(database, id, update);
    },
  });
}

/** Stores of which the path for large updates does less than the other. */
export const brokenLarge: readonly BrokenStore[] = [
  {
    fault: "writes a large update whatever version it expects",
    caughtBy: ["versions", "a large update of an earlier version conflicts"],
    wrap: ownPath(async (database, id, update) => {
      if (database.memories.get(id)?.version !== update.version) write(database, id, update);
    }),
  },
  {
    fault: "looks at the version before it writes a large update in portions",
    caughtBy: ["versions", "of two large updates of one version exactly one wins"],
    wrap: ownPath(async (database, id, update) => {
      const version = database.memories.get(id)?.version ?? null;
      if (version === update.version) return;
      if (version !== update.expected) throw conflictError(id, update.expected);
      await roundTrip();
      write(database, id, update);
    }),
  },
  {
    fault: "refuses a large update that is sent again",
    caughtBy: ["replay", "a large update sent twice is applied once, and conflicts after another commit"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        if (isLarge(update) && memories.get(id)?.version === update.version) {
          throw conflictError(id, update.expected);
        }
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "writes a large update without looking at what is stored",
    caughtBy: ["errors", "a large update that contradicts what is stored is refused"],
    wrap: ownPath(async (database, id, update) => {
      const version = database.memories.get(id)?.version ?? null;
      if (version === update.version) return;
      if (version !== update.expected) throw conflictError(id, update.expected);
      write(database, id, update);
    }),
  },
  {
    fault: "stages the messages of a large update by seq, whoever wins",
    caughtBy: ["versions", "of two large updates of one version exactly one wins"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        if (!isLarge(update)) return base.updateMessages(id, update, options);
        const staged = stagedIn(memories);
        for (const message of update.append) staged.set(`${id} ${message.seq}`, message.payload);
        await base.updateMessages(id, update, options);
        for (const row of memories.get(id)?.rows ?? []) {
          const isNew = update.append.some(({ seq }) => seq === row.seq);
          if (isNew) row.payload = staged.get(`${id} ${row.seq}`) ?? row.payload;
        }
      },
    }),
  },
  {
    fault: "refuses a large update that another client is sending",
    caughtBy: ["replay", "a large update sent twice at once is applied once"],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const { version, expected } = update;
        if (!isLarge(update)) return base.updateMessages(id, update, options);
        if (running.has(version)) throw conflictError(id, expected);
        running.add(version);
        await base.updateMessages(id, update, options).finally(() => running.delete(version));
      },
    }),
  },
  {
    fault: "writes a large update over a memory that was deleted meanwhile",
    caughtBy: ["atomicity", "a delete that races a large update leaves nothing behind"],
    wrap: (base, database) => ({
      async updateMessages(id, update, options) {
        const before = database.memories.get(id);
        const isNext = before !== undefined && before.version === update.expected;
        if (!isLarge(update) || !isNext) return base.updateMessages(id, update, options);
        await roundTrip();
        await roundTrip();
        if (database.memories.has(id)) return base.updateMessages(id, update, options);
        database.memories.set(id, before);
        write(database, id, update);
      },
    }),
  },
  {
    fault: "leaves the messages of a large update when a signal fires",
    caughtBy: ["errors", "a signal that fires during a large update leaves all of it or none"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const memory = memories.get(id);
        if (!isLarge(update) || memory?.version !== update.expected) {
          return base.updateMessages(id, update, options);
        }
        const { rows } = memory;
        memory.rows = applied(memory, { ...update, replace: [], move: [] }).rows;
        await roundTrip();
        throwIfAborted(options?.signal);
        memory.rows = rows;
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "forgets the head with a large update that brings none",
    caughtBy: ["atomicity", appliedWhole],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        const { append, replace, move, head } = update;
        const isLarge = append.length + replace.length + move.length > 150;
        if (memory !== undefined && isLarge && head === undefined) delete memory.head;
      },
    }),
  },
  {
    fault: "forgets the new metas of what a large update replaces",
    caughtBy: ["atomicity", appliedWhole],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const replace = isLarge(update) ? update.replace.map(({ meta: _, ...bare }) => bare) : update.replace;
        await base.updateMessages(id, { ...update, replace }, options);
      },
    }),
  },
  {
    fault: "forgets the data that a large update brings",
    caughtBy: ["atomicity", appliedWhole],
    wrap: (base) => ({
      async updateMessages(id, { data, ...update }, options) {
        const stays = isLarge(update) || data === undefined;
        await base.updateMessages(id, stays ? update : { ...update, data }, options);
      },
    }),
  },
  {
    fault: "forgets the data with a large update that brings none",
    caughtBy: ["atomicity", appliedWhole],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        await base.updateMessages(id, update, options);
        const memory = memories.get(id);
        if (memory !== undefined && isLarge(update) && update.data === undefined) delete memory.data;
      },
    }),
  },
  {
    fault: "keeps the owner with a large update that names another",
    caughtBy: ["atomicity", appliedWhole],
    wrap: (base) => ({
      async updateMessages(id, { owner, ...update }, options) {
        const stays = owner === undefined || (isLarge(update) && update.expected !== null);
        await base.updateMessages(id, stays ? update : { ...update, owner }, options);
      },
    }),
  },
  {
    fault: "writes the data of a large update before it looks at the rest",
    caughtBy: ["errors", "a large update that contradicts what is stored is refused"],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const memory = memories.get(id);
        if (memory?.version === update.expected && isLarge(update) && update.data !== undefined) {
          memory.data = update.data;
        }
        await base.updateMessages(id, update, options);
      },
    }),
  },
  {
    fault: "brings 100 messages back at most",
    caughtBy: [
      "states",
      "several hundred messages may come back, and be removed from history, in one update",
    ],
    wrap: (base) => ({
      async updateMessages(id, update, options) {
        const back = update.move.filter(({ to }) => to === "live").slice(100);
        const move = update.move.filter((entry) => !back.includes(entry));
        await base.updateMessages(id, { ...update, move }, options);
      },
    }),
  },
  {
    fault: "removes 100 messages of history at most",
    caughtBy: [
      "states",
      "several hundred messages may come back, and be removed from history, in one update",
    ],
    wrap: (base, { memories }) => ({
      async updateMessages(id, update, options) {
        const rows = memories.get(id)?.rows ?? [];
        const left = new Set(rows.filter(({ state }) => state !== "live").map(({ seq }) => seq));
        const rest = update.move.filter(({ seq, to }) => to === "removed" && left.has(seq)).slice(100);
        const move = update.move.filter((entry) => !rest.includes(entry));
        await base.updateMessages(id, { ...update, move }, options);
      },
    }),
  },
];

/** Versions of large updates that some client is sending. */
const running = new Set<string>();

const staging = new WeakMap<Database["memories"], Map<string, string>>();

/** What all clients of a database have staged. */
function stagedIn(memories: Database["memories"]): Map<string, string> {
  const staged = staging.get(memories) ?? new Map<string, string>();
  staging.set(memories, staged);
  return staged;
}
