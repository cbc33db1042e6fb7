import type { MemoryUpdate } from "@turnkeep/core";
import { checkUpdate, conflictError } from "@turnkeep/core/store-kit";
import type { BrokenStore } from "./broken-store.ts";
import { applied, type Database, fullCapabilities, roundTrip } from "./reference-store.ts";

function isLarge({ append, replace, move }: MemoryUpdate): boolean {
  return append.length + replace.length + move.length >= 100;
}

function write({ memories, now }: Database, id: string, update: MemoryUpdate): void {
  const memory = applied(memories.get(id), structuredClone(update));
  memories.set(id, { ...memory, updatedAt: now(), expiresAt: Number.POSITIVE_INFINITY });
}

/** A store that writes large updates on a path of their own. */
function ownPath(
  path: (database: Database, id: string, update: MemoryUpdate) => Promise<void>,
): NonNullable<BrokenStore["wrap"]> {
  return (base, database) => ({
    async updateMessages(id, update, options) {
      if (!isLarge(update)) return base.updateMessages(id, update, options);
      checkUpdate(update, fullCapabilities);
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
];
