import type { CallOptions, ChatMemoryStore } from "@turnkeep/core";
import { conflictError, defineStore, isInPlace, namedSeqs, storedRows } from "@turnkeep/core/store-kit";
import { connect } from "./client.ts";
import { identifiersOf, migrate, migrationsOf } from "./migrations.ts";
import { type MariaDbStoreOptions, normalizeOptions } from "./options.ts";
import { listedOf, lockedOf, pageOf, snapshotOf } from "./records.ts";
import { storeName } from "./refusals.ts";
import { Statements, sweepBatch } from "./sql.ts";

/** A store in MariaDB. */
export interface MariaDbStore extends ChatMemoryStore {
  /**
   * Creates the tables or brings them up to date. Safe to run twice, by several processes at once, and after one that died
   * in the middle of it.
   *
   * Errors: `UNSUPPORTED_VERSION` if a later version of this package migrated them; `STORE_NOT_READY` if the server or the
   * given client is not fit for the store; `STORE_REFUSED` if the user may not create tables; `STORE_UNAVAILABLE`,
   * `ABORTED`, `CLOSED`.
   */
  migrate(options?: CallOptions): Promise<void>;
}

/** What stands in a cursor: a memory's key, and before it its activity. */
const positions = { stored: /^[1-9]\d{0,17}$/, newest: /^\d{1,15} [1-9]\d{0,17}$/ };

/** No memory yet. */
const nothing = storedRows(1, []);

/**
 * Keeps memories in MariaDB, over a pool of `mysql2`, in tables that `migrate()` creates. A read is one statement, and a
 * write one transaction, which locks the memory first. Creating the store does no I/O.
 *
 * A message may have 8 MiB. `signal` ends the wait at once and cuts the connection; what the server is doing just then may
 * still take effect.
 *
 * Errors: `INVALID_OPTION` from the factory; in calls what the store contract names, `STORE_NOT_READY` before `migrate()`,
 * and with the driver's error as `cause` `STORE_REFUSED` for what the server refuses until it is mended, and
 * `STORE_UNAVAILABLE` for the rest.
 *
 * @example
 * ```ts
 * import { createChatMemory, user } from "@turnkeep/core";
 * import { mariaDbStore } from "turnkeep-store-mariadb";
 *
 * const store = mariaDbStore({ url: "mysql://app@localhost:3306/chat" });
 * await store.migrate();
 * const memory = createChatMemory({ id: "user-1/chat-1", store });
 * await memory.add(user("Hello"));
 * await store.close();
 * ```
 */
export function mariaDbStore(options: MariaDbStoreOptions): MariaDbStore {
  const { connection: source, prefix, ...times } = normalizeOptions(options);
  const identifiers = identifiersOf(prefix);
  const sql = new Statements(identifiers, times);
  const definition = {
    name: storeName,
    connection: connect(source),
    positions,
    capabilities: Object.freeze({
      durable: true,
      shared: true,
      history: true,
      list: true,
      newest: true,
      ttl: true,
      delta: true,
      readSteps: 1 as const,
      // A row travels in one packet, of which a server takes 16 MiB as it comes.
      maxMessageBytes: 8 * 1024 * 1024,
    }),
  };

  // Every argument has been checked here, and is the store's own.
  const { store, enter } = defineStore(definition, {
    async read({ run }, memoryId, known) {
      return snapshotOf(await run(sql.read(memoryId, known)), known);
    },

    // The lock comes first, and what is decided is decided about the row that is locked. So nothing can come between.
    async update({ transaction }, memoryId, update) {
      await transaction(async (run) => {
        const locked = lockedOf(await run(sql.look(memoryId, namedSeqs(update))));
        const stored = locked?.version == null ? nothing : locked.stored;
        if (isInPlace(memoryId, update, locked?.version ?? null, stored)) return;
        if (update.expected !== null && locked !== undefined) {
          for (const statement of sql.change(locked.key, update, stored)) await run(statement);
          return;
        }
        // What has expired makes room, with its messages.
        if (locked !== undefined) await run(sql.removeKey(locked.key));
        const [begun] = await run(sql.begin(memoryId, update));
        for (const statement of sql.beginMessages(String(begun?.key), update)) await run(statement);
      });
    },

    async remove({ run, transaction }, memoryId, expected) {
      if (expected === undefined) {
        await run(sql.remove(memoryId));
        return;
      }
      await transaction(async (run) => {
        const locked = lockedOf(await run(sql.look(memoryId, [])));
        if (locked === undefined) return;
        if ((locked.version ?? expected) !== expected) throw conflictError(memoryId, expected);
        await run(sql.removeKey(locked.key));
      });
    },

    async history({ run }, memoryId, query) {
      return pageOf(await run(sql.history(memoryId, query)), query.limit);
    },

    async list({ run }, query) {
      return (await run(sql.list(query))).map(listedOf);
    },

    async sweep({ run }) {
      for (let removed = 0; ; ) {
        const batch = await run(sql.sweep());
        removed += batch.length;
        if (batch.length < sweepBatch) return removed;
      }
    },
  });

  return {
    ...store,
    async migrate(callOptions) {
      // Not a transaction: MariaDB ends one at each statement that makes a table.
      const { run } = enter(callOptions);
      await migrate(run, identifiers, migrationsOf(identifiers));
    },
  };
}
