import type { CallOptions, ChatMemoryStore } from "@turnkeep/core";
import { conflictError, defineStore, isInPlace } from "@turnkeep/core/store-kit";
import { connect } from "./client.ts";
import { identifiersOf, migrate, migrationsOf } from "./migrations.ts";
import { normalizeOptions, type SqliteStoreOptions } from "./options.ts";
import { type LookRow, listedOf, pageOf, snapshotOf, storedOf } from "./records.ts";
import { storeName } from "./refusals.ts";
import { Statements, sweepBatch } from "./sql.ts";

/** What a cursor contains: a memory's key, and before it its activity. */
const positions = { stored: /^[1-9]\d{0,14}$/, newest: /^\d{1,15} [1-9]\d{0,14}$/ };

/** A store in SQLite. */
export interface SqliteStore extends ChatMemoryStore {
  /**
   * Creates the tables or brings them up to date. Safe to run twice, and by several processes at once.
   *
   * Errors: `UNSUPPORTED_VERSION` if a later version of this package migrated them; `STORE_NOT_READY` if a name is taken;
   * `STORE_REFUSED`, `STORE_UNAVAILABLE`, `ABORTED`, `CLOSED`.
   */
  migrate(options?: CallOptions): Promise<void>;
}

/**
 * Keeps memories in SQLite, in tables that `migrate()` creates: in a file that any number of processes of one machine use,
 * in Cloudflare D1, or in a Durable Object. A read is one statement, a write one batch, which is one transaction. Creating
 * the store does no I/O.
 *
 * A message may have 16 MiB, in Cloudflare's databases 1,999,000 bytes. `signal` is looked at before each attempt; what the
 * database was already sent may still take effect. A database inside the process holds its event loop for as long as a call
 * works, but not while it waits for another process.
 *
 * Errors: `INVALID_OPTION` at creation, also if `file` is given where Node has no `node:sqlite`; in calls, those of the store
 * contract, `STORE_NOT_READY` before `migrate()`; with the driver's error as `cause`, `STORE_REFUSED` for what the database
 * refuses until it is mended, and `STORE_UNAVAILABLE` for the rest.
 *
 * @example
 * ```ts
 * import { createChatMemory, user } from "@turnkeep/core";
 * import { sqliteStore } from "@turnkeep/store-sqlite";
 *
 * const store = sqliteStore({ file: "chat.db" });
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
  const { connection, durable, maxMessageBytes } = connect(place);
  const definition = {
    name: storeName,
    connection,
    positions,
    capabilities: Object.freeze({
      durable,
      shared: true,
      history: true,
      list: true,
      newest: true,
      ttl: true,
      delta: true,
      readSteps: 1 as const,
      maxMessageBytes,
    }),
  };

  const { store, enter } = defineStore(definition, {
    async read({ run }, memoryId, known) {
      return snapshotOf(await run(sql.read(memoryId, known)), known);
    },

    async update({ batch }, memoryId, update) {
      const answers = await batch(sql.update(memoryId, update));
      // Written, though its life may have ended before the last statement.
      if (answers.slice(0, -1).some((rows) => rows.length > 0)) return;
      const { version, stored } = storedOf(answers.at(-1) as LookRow[]);
      if (isInPlace(memoryId, update, version, stored)) return;
      // What stood in the way has expired between two statements.
      throw conflictError(memoryId, update.expected);
    },

    async remove({ batch }, memoryId, expected) {
      const rows = (await batch([sql.remove(memoryId, expected), sql.look(memoryId, [])])).at(-1);
      if (storedOf(rows as LookRow[]).version !== null && expected !== undefined) {
        throw conflictError(memoryId, expected);
      }
    },

    async history({ run }, memoryId, query) {
      return pageOf(await run(sql.history(memoryId, query)), query.limit);
    },

    async list({ run }, query) {
      return (await run(sql.list(query))).map(listedOf);
    },

    async sweep({ run, pause }) {
      for (let removed = 0; ; ) {
        const batch = await run(sql.sweep());
        removed += batch.length;
        if (batch.length < sweepBatch) return removed;
        await pause();
      }
    },
  });

  return {
    ...store,
    async migrate(callOptions) {
      await migrate(enter(callOptions), identifiers, migrationsOf(identifiers));
    },
  };
}
