import type { CallOptions, ChatMemoryStore, StoreCapabilities } from "@turnkeep/core";
import {
  checkUpdate,
  conflictError,
  copyUpdate,
  decodeCursor,
  foldUpdate,
  isInPlace,
  lifecycle,
  listPage,
  namedSeqs,
  normalizeHistoryQuery,
  normalizeListQuery,
  show,
  withState,
} from "@turnkeep/core/store-kit";
import { connect, isDurable, storeName } from "./client.ts";
import { migrateStatement, migrationsOf, namesOf, throwMigrationError } from "./migrations.ts";
import { normalizeOptions, type PostgresStoreOptions } from "./options.ts";
import { listedOf, messageOf, snapshotOf, storedOf } from "./records.ts";
import { Statements, type SweepRow } from "./sql.ts";

/** A memory's key, which a cursor contains. */
const key = /^[1-9]\d{0,17}$/;

/** A store in Postgres. */
export interface PostgresStore extends ChatMemoryStore {
  /**
   * Creates the tables or brings them up to date. Safe to run twice, and by several processes at once. Needs permission
   * to create tables in the schema (and the schema, if it is missing); if everything is in place, only to read.
   *
   * Errors: `UNSUPPORTED_VERSION` if a later version of this package migrated them; `STORE_NOT_READY` if the database's
   * encoding is not UTF8, if the server is older than Postgres 14 or lacks something of it, or if the role lacks the
   * permission; `STORE_UNAVAILABLE`, `ABORTED`, `CLOSED`.
   */
  migrate(options?: CallOptions): Promise<void>;
}

/**
 * Keeps memories in Postgres, over `pg` or PGlite, in tables that `migrate()` creates. Every call is one statement, so
 * it works behind PgBouncer in transaction mode; only a write that met another write, or came twice, takes a second
 * one. Creating the store does no I/O.
 *
 * A message may have 16 MiB. `signal` ends the wait at once; what the database was already sent may still take effect.
 * A pool that the store opened then drops that connection.
 *
 * Errors: `INVALID_OPTION` at creation; in calls, those of the store contract, `STORE_NOT_READY` before `migrate()`,
 * and `STORE_UNAVAILABLE` with the driver's error as `cause`.
 *
 * @example
 * ```ts
 * import { createChatMemory, user } from "@turnkeep/core";
 * import { postgresStore } from "@turnkeep/store-postgres";
 *
 * const store = postgresStore({ url: "postgres://app@localhost:5432/chat" });
 * await store.migrate();
 * const memory = createChatMemory({ id: "user-1/chat-1", store });
 * await memory.add(user("Hello"));
 * await store.close();
 * ```
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  const { connection: place, schema, prefix, ttlMs } = normalizeOptions(options);
  const names = namesOf(schema, prefix);
  const sql = new Statements(names, ttlMs);
  const { enter, enterFor, close } = lifecycle(
    storeName,
    connect(place, `schema ${show(schema)} with prefix ${show(prefix)}`),
  );
  const capabilities: StoreCapabilities = Object.freeze({
    durable: isDurable(place),
    // A folder is opened by one store at a time.
    shared: place.folder === undefined,
    history: true,
    list: true,
    ttl: true,
    delta: true,
    readSteps: 1,
    maxMessageBytes: 16 * 1024 * 1024,
  });

  return {
    capabilities,

    async migrate(callOptions) {
      const { run } = enter(callOptions);
      await run(migrateStatement(names, migrationsOf(names))).catch(throwMigrationError);
    },

    async getMessages(memoryId, callOptions) {
      const { run } = enterFor(memoryId, callOptions);
      return snapshotOf(await run(sql.read(memoryId, callOptions?.known)), callOptions?.known);
    },

    async updateMessages(memoryId, update, callOptions) {
      const { run, write } = enterFor(memoryId, callOptions);
      checkUpdate(update, capabilities);
      const change = copyUpdate(update);
      const folded = foldUpdate(change);
      for (const statement of sql.update(memoryId, change, folded)) {
        if (await write(statement)) return;
        // A statement that waited behind another write saw the state before it: only now the reason shows.
        const found = await run(sql.look(memoryId, namedSeqs(folded)));
        if (isInPlace(memoryId, change, ...storedOf(found))) return;
      }
      throw conflictError(memoryId, change.expected);
    },

    async deleteMessages(memoryId, callOptions) {
      const { run } = enterFor(memoryId, callOptions);
      await run(sql.remove(memoryId));
    },

    async getHistory(memoryId, query, callOptions) {
      const { run } = enterFor(memoryId, callOptions);
      const normal = normalizeHistoryQuery(query);
      const rows = await run(sql.history(memoryId, normal));
      return {
        messages: rows.slice(0, normal.limit).map((row) => withState(messageOf(row), row.state)),
        hasMore: rows.length > normal.limit,
      };
    },

    async listMemories(query, callOptions) {
      const { run } = enter(callOptions);
      const { owner, cursor, limit } = normalizeListQuery(query);
      const rows = await run(sql.list(owner, cursor === undefined ? "0" : decodeCursor(cursor, key), limit));
      return listPage(rows.map(listedOf), limit);
    },

    async sweep(callOptions) {
      const { run } = enter(callOptions);
      let removed = 0;
      for (let after: string | null = "0"; after !== null; ) {
        const [batch]: SweepRow[] = await run(sql.sweep(after));
        removed += Number(batch?.removed);
        after = batch?.last ?? null;
      }
      return { removed };
    },

    close,
    [Symbol.asyncDispose]: close,
  };
}
