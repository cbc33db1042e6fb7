import type { CallOptions, ChatMemoryStore, MemoryUpdate, StoreCapabilities } from "@turnkeep/core";
import {
  checkAgainstStored,
  checkMemoryId,
  checkUpdate,
  closedError,
  conflictError,
  copyUpdate,
  decodeCursor,
  encodeCursor,
  type FoldedUpdate,
  foldUpdate,
  invalidOption,
  normalizeHistoryQuery,
  normalizeListQuery,
  show,
  throwIfAborted,
} from "@turnkeep/core/store-kit";
import { connect, isDurable, storeName } from "./client.ts";
import { migrateStatement, migrationError, migrationsOf, namesOf } from "./migrations.ts";
import { normalizeOptions, type PostgresStoreOptions } from "./options.ts";
import { messageOf, snapshotOf, storedOf, unmarked } from "./records.ts";
import { type Statement, Statements, type SweepRow } from "./sql.ts";

/** A store in Postgres. */
export interface PostgresStore extends ChatMemoryStore {
  /**
   * Creates the tables or brings them up to date. Safe to run twice, and by several processes at once. Needs the right
   * to create tables in the schema (and the schema, if it is missing); when all is in place, only to read.
   *
   * Errors: `UNSUPPORTED_VERSION` if a later version of this package migrated them; `STORE_NOT_READY` if the
   * database's encoding is not UTF8; `STORE_UNAVAILABLE`, `ABORTED`, `CLOSED`.
   */
  migrate(options?: CallOptions): Promise<void>;
}

/**
 * Keeps memories in Postgres, over `pg` or over PGlite, in tables that `migrate()` creates. Every call is one
 * statement, so it works behind PgBouncer in transaction mode; only a write that met another write, or came twice,
 * takes a second one. The factory does no I/O.
 *
 * A message may have 16 MiB. `signal` ends the wait at once; what the database was already sent may still take effect.
 * A pool that the store opened then drops that connection.
 *
 * Errors: `INVALID_OPTION` from the factory; in calls what the store contract names, `STORE_NOT_READY` before
 * `migrate()`, and `STORE_UNAVAILABLE` with the driver's error as `cause`.
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
  const connection = connect(place);
  const capabilities: StoreCapabilities = Object.freeze({
    durable: isDurable(place),
    shared: true,
    history: true,
    list: true,
    ttl: true,
    delta: true,
    readSteps: 1,
    maxMessageBytes: 16 * 1024 * 1024,
  });
  let closing: Promise<void> | undefined;

  function enter(callOptions: CallOptions | undefined): <R>(statement: Statement<R>) => Promise<R[]> {
    if (closing !== undefined) throw closedError(storeName);
    throwIfAborted(callOptions?.signal);
    return (statement) => connection.run(statement, callOptions?.signal);
  }

  const store: PostgresStore = {
    capabilities,

    async migrate(callOptions) {
      const run = enter(callOptions);
      try {
        await run(migrateStatement(names, migrationsOf(names)));
      } catch (error) {
        throw migrationError(error);
      }
    },

    async getMessages(memoryId, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      return snapshotOf(await run(sql.read(memoryId, callOptions?.known)), callOptions?.known);
    },

    async updateMessages(memoryId, update, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      checkUpdate(update, capabilities);
      const change = copyUpdate(update);
      const folded = foldUpdate(change);
      const named = [...folded.rewrite, ...folded.setState].map(({ seq }) => seq).concat(folded.remove);
      for (const statement of writesOf(sql, memoryId, change, folded)) {
        if (await connection.write(statement, callOptions?.signal)) return;
        // A statement that waited behind another write saw the state before it: why nothing was changed shows only now.
        const stored = storedOf(await run(sql.look(memoryId, named)));
        if (stored.version === change.version) return;
        if (stored.version !== change.expected) break;
        checkAgainstStored(memoryId, change, stored);
      }
      throw conflictError(memoryId, change.expected);
    },

    async deleteMessages(memoryId, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      await run(sql.remove(memoryId));
    },

    async getHistory(memoryId, query, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      const normal = normalizeHistoryQuery(query);
      const rows = await run(sql.history(memoryId, normal));
      return {
        messages: rows
          .slice(0, normal.limit)
          .map((row) => Object.assign(messageOf(row), { state: row.state })),
        hasMore: rows.length > normal.limit,
      };
    },

    async listMemories(query, callOptions) {
      const run = enter(callOptions);
      const { owner, cursor, limit } = normalizeListQuery(query);
      const rows = await run(sql.list(owner, cursor === undefined ? "0" : keyOf(cursor), limit));
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        memories: page.map(({ id, owner, updated }) => ({
          memoryId: unmarked(id),
          ...(owner === null ? {} : { owner: unmarked(owner) }),
          updatedAt: Number(updated),
        })),
        ...(rows.length > limit && last !== undefined ? { cursor: encodeCursor(last.key) } : {}),
      };
    },

    async sweep(callOptions) {
      const run = enter(callOptions);
      let removed = 0;
      for (let after: string | null = "0"; after !== null; ) {
        const [batch]: SweepRow[] = await run(sql.sweep(after));
        removed += Number(batch?.removed);
        after = batch?.last ?? null;
      }
      return { removed };
    },

    close() {
      closing ??= connection.close();
      return closing;
    },

    [Symbol.asyncDispose]: () => store.close(),
  };
  return store;
}

/** The statements of which one does it, the next only where the one before has changed nothing. */
function* writesOf(
  sql: Statements,
  memoryId: string,
  update: MemoryUpdate,
  folded: FoldedUpdate,
): Generator<Statement<unknown>> {
  const { insert, rewrite, setState, remove } = folded;
  const others = rewrite.length + remove.length;
  if (update.expected === null && others + setState.length === 0) {
    return yield sql.begin(memoryId, update, insert);
  }
  const isPlain = others === 0 && setState.every(({ state }) => state === "evicted");
  if (isPlain) yield sql.append(memoryId, update, folded);
  // What is evicted may be there without being live.
  if (!isPlain || setState.length > 0) yield sql.change(memoryId, update, folded);
}

/** The key of the last memory of a page. */
function keyOf(cursor: string): string {
  const key = decodeCursor(cursor);
  if (/^[1-9]\d{0,17}$/.test(key)) return key;
  throw invalidOption(`cursor must be the cursor of an earlier page of this store, not ${show(cursor)}`);
}
