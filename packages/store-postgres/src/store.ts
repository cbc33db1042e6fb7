import type { CallOptions, ChatMemoryStore, StoreCapabilities } from "@turnkeep/core";
import {
  checkUpdate,
  conflictError,
  copyUpdate,
  foldUpdate,
  isInPlace,
  lifecycle,
  listPage,
  namedSeqs,
  normalizeHistoryQuery,
  normalizeListQuery,
  show,
} from "@turnkeep/core/store-kit";

import { connect, isDurable, storeName } from "./client.ts";
import { migrateStatements, migrationsOf, namesOf, throwMigrationError } from "./migrations.ts";
import { normalizeOptions, type PostgresStoreOptions } from "./options.ts";
import { listedOf, lostAmong, pageOf, removedOf, snapshotOf, storedOf } from "./records.ts";
import { hiddenError } from "./refusals.ts";
import { Statements, type SweepRow } from "./sql.ts";
import { Updates } from "./updates.ts";

/** A memory's key, which a cursor contains. */
const key = /^[1-9]\d{0,17}$/;

/** A store in Postgres. */
export interface PostgresStore extends ChatMemoryStore {
  /**
   * Creates the tables or brings them up to date. Safe to run twice, and by several processes at once. Needs permission
   * to create tables in the schema (and the schema, if it is missing); if everything is in place, only to read.
   *
   * Errors: `UNSUPPORTED_VERSION` if a later version of this package migrated them; `STORE_NOT_READY` if the database's
   * encoding is not UTF8, if the server is older than Postgres 14 or lacks something of it, if a name is taken, or if the
   * role lacks the permission or may not see all rows; `STORE_REFUSED`, `STORE_UNAVAILABLE`, `ABORTED`, `CLOSED`.
   */
  migrate(options?: CallOptions): Promise<void>;
}

/**
 * Keeps memories in Postgres, over `pg` or PGlite, in tables that `migrate()` creates. Every call is one statement, so
 * it works behind PgBouncer in transaction mode, and in a transaction of the caller's; only a write that met another
 * write, or came twice, takes a second one. Creating the store does no I/O.
 *
 * A message may have 16 MiB. `signal` ends the wait at once; what the database was already sent may still take effect.
 * A pool then drops that connection, and others that have been silent for longer.
 *
 * Errors: `INVALID_OPTION` at creation; in calls, those of the store contract, `STORE_NOT_READY` before `migrate()`;
 * with the driver's error as `cause`, `STORE_REFUSED` for what the database refuses until it is mended, and
 * `STORE_UNAVAILABLE` for the rest.
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
  const sql = new Statements(names);
  const updates = new Updates(names, ttlMs);
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
      for (const step of migrateStatements(names, migrationsOf(names))) {
        await run(step).catch(throwMigrationError);
      }
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
      let lost: readonly number[] = [];
      for (const statement of updates.of(memoryId, change, folded)) {
        if (await write(statement(lost))) return;
        // A statement that waited behind another write saw the state before it: only now the reason shows.
        const found = storedOf(await run(sql.look(memoryId, namedSeqs(folded))));
        if (isInPlace(memoryId, folded, found.version, found.stored)) return;
        lost = found.lost;
      }
      // What stood in the way of a beginning has been deleted each time.
      if (change.expected === null) throw conflictError(memoryId, null);
      throw hiddenError(storeName, `memory ${show(memoryId)}`);
    },

    async deleteMessages(memoryId, callOptions) {
      const { run } = enterFor(memoryId, callOptions);
      const expected = callOptions?.expected;
      for (let before: string | undefined; ; ) {
        const found = removedOf(await run(sql.remove(memoryId, expected)));
        if (found === undefined || found.state === "removed") return;
        if (expected !== undefined && found.version !== expected) {
          if (found.state === "expired") return;
          throw conflictError(memoryId, expected);
        }
        // Another version: somebody else's write came first. The same one was there all the time, and was not deleted.
        if (found.version === before) throw hiddenError(storeName, `memory ${show(memoryId)}`);
        before = found.version;
      }
    },

    async getHistory(memoryId, query, callOptions) {
      const { run } = enterFor(memoryId, callOptions);
      const normal = normalizeHistoryQuery(query);
      const rows = await run(sql.history(memoryId, normal));
      const seqs = lostAmong(normal);
      // Only by its place can a lost message be found, and nobody asks for one who has not seen it.
      const { lost } = storedOf(seqs.length > 0 ? await run(sql.look(memoryId, seqs)) : []);
      return pageOf(rows, lost, normal);
    },

    async listMemories(query, callOptions) {
      const { run } = enter(callOptions);
      const { owner, after = "0", limit } = normalizeListQuery(query, key);
      const rows = await run(sql.list(owner, after, limit));
      return listPage(rows.map(listedOf), limit);
    },

    async sweep(callOptions) {
      const { run } = enter(callOptions);
      let removed = 0;
      for (let after: string | null = "0"; after !== null; ) {
        const [batch]: SweepRow[] = await run(sql.sweep(after));
        removed += Number(batch?.removed);
        if (batch?.found !== batch?.removed) throw hiddenError(storeName, "an expired memory");
        after = batch?.last ?? null;
      }
      return { removed };
    },

    close,
    [Symbol.asyncDispose]: close,
  };
}
