import { setImmediate } from "node:timers/promises";
import type {
  CallOptions,
  ChatMemoryStore,
  MemorySnapshot,
  StoreCapabilities,
  StoredMessage,
} from "@turnkeep/core";
import {
  checkUpdate,
  conflictError,
  copyUpdate,
  foldUpdate,
  isInPlace,
  lifecycle,
  listPage,
  memorySnapshot,
  namedSeqs,
  normalizeHistoryQuery,
  normalizeListQuery,
  type StoredRows,
  storedRows,
  unreadableMessage,
} from "@turnkeep/core/store-kit";
import { connect, isDurable, storeName } from "./client.ts";
import { migrate, migrationsOf, namesOf } from "./migrations.ts";
import { normalizeOptions, type SqliteStoreOptions } from "./options.ts";
import {
  type LookRow,
  type LostRow,
  type MessageRow,
  type SnapshotRow,
  Statements,
  sweepBatch,
} from "./sql.ts";

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

/** A memory's key, which stands in a cursor. */
const key = /^[1-9]\d{0,14}$/;

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
  const { connection: place, prefix, ttlMs } = normalizeOptions(options);
  const names = namesOf(prefix);
  const sql = new Statements(names, ttlMs);
  const { enter, enterFor, close } = lifecycle(storeName, connect(place));
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

  return {
    capabilities,

    async migrate(callOptions) {
      const { transaction } = enter(callOptions);
      await transaction((run) => migrate(run, names, migrationsOf(names)));
    },

    async getMessages(memoryId, callOptions) {
      const { run } = enterFor(memoryId, callOptions);
      return snapshotOf(await run(sql.read(memoryId)));
    },

    async updateMessages(memoryId, update, callOptions) {
      const { transaction } = enterFor(memoryId, callOptions);
      checkUpdate(update, capabilities);
      const change = copyUpdate(update);
      const folded = foldUpdate(change);
      await transaction((run) => {
        const [version, stored] = storedOf(run(sql.look(memoryId, namedSeqs(folded))));
        if (isInPlace(memoryId, folded, version, stored)) return;
        const begins = change.expected === null;
        for (const statement of begins
          ? sql.begin(memoryId, change, folded.insert)
          : sql.change(memoryId, change, folded)) {
          run(statement);
        }
      });
    },

    async deleteMessages(memoryId, callOptions) {
      const { transaction } = enterFor(memoryId, callOptions);
      const expected = callOptions?.expected;
      await transaction((run) => {
        const [version] = expected === undefined ? [] : storedOf(run(sql.look(memoryId, [])));
        if (expected !== undefined && (version ?? expected) !== expected)
          throw conflictError(memoryId, expected);
        sql.remove(memoryId).forEach(run);
      });
    },

    async getHistory(memoryId, query, callOptions) {
      const { run } = enterFor(memoryId, callOptions);
      const normal = normalizeHistoryQuery(query);
      const rows = await run(sql.history(memoryId, normal));
      return {
        messages: rows.slice(0, normal.limit).map((row) => ({ ...messageOf(row), state: row.state })),
        hasMore: rows.length > normal.limit,
      };
    },

    async listMemories(query, callOptions) {
      const { run } = enter(callOptions);
      const { owner, after = "0", limit } = normalizeListQuery(query, key);
      const rows = await run(sql.list(owner, Number(after), limit));
      return listPage(
        rows.map(({ key, id, owner, updated }) => ({
          memoryId: id,
          owner: owner ?? undefined,
          updatedAt: updated,
          position: String(key),
        })),
        limit,
      );
    },

    async sweep(callOptions) {
      const { transaction } = enter(callOptions);
      for (let removed = 0; ; ) {
        const batch = await transaction((run) => {
          const keys = run(sql.expired()).map(({ key }) => key);
          sql.sweep(keys).forEach(run);
          return keys.length;
        });
        removed += batch;
        if (batch < sweepBatch) return { removed };
        // Whatever else the process has to do comes between two batches.
        await setImmediate();
      }
    },

    close,
    [Symbol.asyncDispose]: close,
  };
}

function snapshotOf(rows: readonly SnapshotRow[]): MemorySnapshot {
  const head = rows.find((row) => row.seq === null);
  if (head === undefined) return { version: null, nextSeq: 1, messages: [] };
  const messages = rows.flatMap((row) => (row.seq === null ? [] : [messageOf(row)]));
  // They come from an index in this order; only the statement does not promise it.
  messages.sort((a, b) => a.seq - b.seq);
  const { version, next: nextSeq, owner, head: text } = head;
  return memorySnapshot({ version, nextSeq, owner, head: text }, messages);
}

function messageOf(row: MessageRow | LostRow): StoredMessage {
  if (row.payload === null) return unreadableMessage(row.seq);
  const { seq, id, created, payload, meta } = row;
  const message = { id, seq, createdAt: created, payload };
  return meta === null ? message : { ...message, meta };
}

function storedOf(rows: readonly LookRow[]): [version: string | null, stored: StoredRows] {
  const [head] = rows;
  const found = rows.flatMap((row) =>
    row.state === null ? [] : [{ ...row, id: row.id ?? unreadableMessage(row.seq).id }],
  );
  return [head?.version ?? null, storedRows(head?.next ?? 1, found)];
}
