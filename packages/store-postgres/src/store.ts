import type { CallOptions, ChatMemoryStore } from "@turnkeep/core";
import { conflictError, defineStore, isInPlace, namedSeqs, show } from "@turnkeep/core/store-kit";
import { connect, isDurable } from "./client.ts";
import { identifiersOf, migrateStatements, migrationsOf, throwMigrationError } from "./migrations.ts";
import { normalizeOptions, type PostgresStoreOptions } from "./options.ts";
import { listedOf, lostAmong, pageOf, removedOf, snapshotOf, storedOf } from "./records.ts";
import { hiddenError, storeName } from "./refusals.ts";
import { Statements, type SweepPlace, type SweepRow, sweepBatch } from "./sql.ts";
import { Updates } from "./updates.ts";

/** What a cursor contains: a memory's key, and its activity in seconds since the epoch, or before all times. */
const positions = {
  stored: /^[1-9]\d{0,17}$/,
  newest: /^[1-9]\d{0,17} (?:-Infinity|\d{1,12}(?:\.\d{1,6})?)$/,
};

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
  const { connection: place, schema, prefix, ttlMs, activityMs } = normalizeOptions(options);
  const identifiers = identifiersOf(schema, prefix);
  const sql = new Statements(identifiers);
  const updates = new Updates(identifiers, ttlMs, activityMs);
  const definition = {
    name: storeName,
    connection: connect(place, `schema ${show(schema)} with prefix ${show(prefix)}`),
    positions,
    capabilities: Object.freeze({
      durable: isDurable(place),
      // A folder is opened by one store at a time.
      shared: place.folder === undefined,
      history: true,
      list: true,
      newest: true,
      ttl: true,
      delta: true,
      readSteps: 1 as const,
      maxMessageBytes: 16 * 1024 * 1024,
    }),
  };

  const { store, enter } = defineStore(definition, {
    async read({ run }, memoryId, known) {
      return snapshotOf(await run(sql.read(memoryId, known)), known);
    },

    async update({ run, write }, memoryId, update) {
      let lost: readonly number[] = [];
      for (const attempt of updates.attempts(memoryId, update)) {
        if (await write(attempt(lost))) return;
        // A statement that waited behind another write saw the state before it: only now the reason shows.
        const looked = storedOf(await run(sql.look(memoryId, namedSeqs(update))));
        if (isInPlace(memoryId, update, looked.version, looked.stored)) return;
        lost = looked.lost;
      }
      // What stood in the way of a beginning has been deleted each time.
      if (update.expected === null) throw conflictError(memoryId, null);
      throw hiddenError(`memory ${show(memoryId)}`);
    },

    async remove({ run }, memoryId, expected) {
      for (let earlier: string | undefined; ; ) {
        const memory = removedOf(await run(sql.remove(memoryId, expected)));
        if (memory === undefined || memory.state === "removed") return;
        if (expected !== undefined && memory.version !== expected) {
          if (memory.state === "expired") return;
          throw conflictError(memoryId, expected);
        }
        // Another version: somebody else's write came first. The same one was there all the time, and was not deleted.
        if (memory.version === earlier) throw hiddenError(`memory ${show(memoryId)}`);
        earlier = memory.version;
      }
    },

    async history({ run }, memoryId, query) {
      const rows = await run(sql.history(memoryId, query));
      const seqs = lostAmong(query);
      // Only by its place can a lost message be found, and nobody asks for one who has not seen it.
      const { lost } = storedOf(seqs.length > 0 ? await run(sql.look(memoryId, seqs)) : []);
      return pageOf(rows, lost, query);
    },

    async list({ run }, query) {
      return (await run(sql.list(query))).map(listedOf);
    },

    async sweep({ run }) {
      let removed = 0;
      for (let after: SweepPlace = { at: "-infinity", key: "0" }; ; ) {
        const [batch]: SweepRow[] = await run(sql.sweep(after));
        removed += Number(batch?.removed);
        if (batch?.found !== batch?.settled) throw hiddenError("a memory whose time to be swept has come");
        if (Number(batch?.found) < sweepBatch) return removed;
        after = batch as SweepPlace;
      }
    },
  });

  return {
    ...store,
    async migrate(callOptions) {
      const { run } = enter(callOptions);
      for (const step of migrateStatements(identifiers, migrationsOf(identifiers))) {
        await run(step).catch(throwMigrationError);
      }
    },
  };
}
