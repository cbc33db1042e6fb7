import { setImmediate } from "node:timers/promises";
import type { CallOptions, ChatMemoryStore } from "@turnkeep/core";
import { conflictError, defineStore, isInPlace, namedSeqs } from "@turnkeep/core/store-kit";
import { connect, isDurable } from "./client.ts";
import { identifiersOf, migrate, migrationsOf } from "./migrations.ts";
import { normalizeOptions, type SqliteStoreOptions } from "./options.ts";
import { listedOf, pageOf, snapshotOf, storedOf } from "./records.ts";
import { storeName } from "./refusals.ts";
import { Statements, sweepBatch } from "./sql.ts";

/** A store in SQLite. */
export interface SqliteStore extends ChatMemoryStore {
  /**
   * Creates the tables or brings them up to date. Safe to run twice, and by several processes at once.
   *
   * Errors: `UNSUPPORTED_VERSION` if a later version of this package migrated them; `STORE_UNAVAILABLE`, `ABORTED`,
   * `CLOSED`.
   */
  migrate(options?: CallOptions): Promise<void>;
}

/** What stands in a cursor: a memory's key, and before it its activity. */
const positions = { stored: /^[1-9]\d{0,14}$/, newest: /^\d{1,15} [1-9]\d{0,14}$/ };

/**
 * Keeps memories in a file of SQLite, in tables that `migrate()` creates. Any number of processes of one machine may
 * use the file. A read is one statement, a write one transaction. The factory does no I/O.
 *
 * SQLite runs inside the process: a call holds the event loop for as long as it takes, and for as long as it waits for
 * another process's write, 5 seconds at most. `signal` is looked at before that.
 *
 * Errors: `INVALID_OPTION` from the factory; in calls what the store contract names, `STORE_NOT_READY` before
 * `migrate()`, and `STORE_UNAVAILABLE` with the driver's error as `cause`.
 *
 * @example
 * ```ts
 * import { createChatMemory, user } from "@turnkeep/core";
 * import { sqliteStore } from "turnkeep-store-sqlite";
 *
 * const store = sqliteStore({ url: "file:chat.db" });
 * await store.migrate();
 * const memory = createChatMemory({ id: "user-1/chat-1", store });
 * await memory.add(user("Hello"));
 * await store.close();
 * ```
 */
export function sqliteStore(options: SqliteStoreOptions): SqliteStore {
  const { connection: place, prefix, ...times } = normalizeOptions(options);
  const identifiers = identifiersOf(prefix);
  const sql = new Statements(identifiers, times);
  const definition = {
    name: storeName,
    connection: connect(place),
    positions,
    capabilities: Object.freeze({
      durable: isDurable(place),
      shared: true,
      history: true,
      list: true,
      newest: true,
      ttl: true,
      delta: true,
      readSteps: 1 as const,
      maxMessageBytes: 16 * 1024 * 1024,
    }),
  };

  // Every argument has been checked here, and is the store's own.
  const { store, enter } = defineStore(definition, {
    async read({ run }, memoryId) {
      return snapshotOf(await run(sql.read(memoryId)));
    },

    async update({ transaction }, memoryId, update) {
      await transaction((run) => {
        const [version, stored] = storedOf(run(sql.look(memoryId, namedSeqs(update))));
        if (isInPlace(memoryId, update, version, stored)) return;
        const begins = update.expected === null;
        const statements = begins ? sql.begin(memoryId, update) : sql.change(memoryId, update);
        statements.forEach(run);
      });
    },

    async remove({ transaction }, memoryId, expected) {
      await transaction((run) => {
        const [version] = expected === undefined ? [] : storedOf(run(sql.look(memoryId, [])));
        if (expected !== undefined && (version ?? expected) !== expected) {
          throw conflictError(memoryId, expected);
        }
        sql.remove(memoryId).forEach(run);
      });
    },

    async history({ run }, memoryId, query) {
      return pageOf(await run(sql.history(memoryId, query)), query.limit);
    },

    async list({ run }, query) {
      return (await run(sql.list(query))).map(listedOf);
    },

    async sweep({ transaction }) {
      for (let removed = 0; ; ) {
        const batch = await transaction((run) => {
          const keys = run(sql.expired()).map(({ key }) => key);
          sql.sweep(keys).forEach(run);
          return keys.length;
        });
        removed += batch;
        if (batch < sweepBatch) return removed;
        // Whatever else the process has to do comes between two batches.
        await setImmediate();
      }
    },
  });

  return {
    ...store,
    async migrate(callOptions) {
      const { transaction } = enter(callOptions);
      await transaction((run) => migrate(run, identifiers, migrationsOf(identifiers)));
    },
  };
}
