import type {
  CallOptions,
  ChatMemoryStore,
  HistoryPage,
  MessageState,
  StoreCapabilities,
  StoredMessage,
} from "@turnkeep/core";
import {
  checkMemoryId,
  checkUpdate,
  closedError,
  copyUpdate,
  corruptError,
  decodeCursor,
  encodeCursor,
  normalizeHistoryQuery,
  normalizeListQuery,
  notReadyError,
  throwIfAborted,
} from "@turnkeep/core/store-kit";
import { Changes } from "./changes.ts";
import { connect, storeName } from "./client.ts";
import { batch, type MemoryDocument, type RowDocument } from "./documents.ts";
import { migrate, migrated } from "./migrations.ts";
import { type MongoStoreOptions, normalizeOptions } from "./options.ts";
import {
  entriesOf,
  isAsked,
  merged,
  messageFrom,
  messageOf,
  type PlacedEntry,
  snapshotOf,
} from "./records.ts";
import { type Run, rowsOf, settle, trashOf } from "./staging.ts";
import { Statements } from "./statements.ts";
import { Updates } from "./updates.ts";

/** A store in MongoDB. */
export interface MongoStore extends ChatMemoryStore {
  /**
   * Makes the collections' indexes or brings them up to date. Safe to run twice, and by several processes at once.
   * Needs the right to create indexes; when all is in place, only to read.
   *
   * Errors: `UNSUPPORTED_VERSION` if a later version of this package migrated them; `STORE_NOT_READY` if somebody made
   * a collection with a collation of his own; `STORE_UNAVAILABLE`, `ABORTED`, `CLOSED`.
   */
  migrate(options?: CallOptions): Promise<void>;
}

/**
 * Keeps memories in MongoDB, over `mongodb`, in collections that `migrate()` prepares. A memory is one document, which
 * one conditional command changes; messages above 16 KB and what has left memory long ago stand beside it. It needs no
 * transactions, so a standalone server will do. Writes wait for a majority, reads go to the primary, whatever the
 * client's own settings are. The factory does no I/O.
 *
 * A message may have 15 MiB. `signal` ends the wait at once; what the database was already sent may still take effect.
 *
 * Errors: `INVALID_OPTION` from the factory; in calls what the store contract names, `STORE_NOT_READY` before
 * `migrate()`, and `STORE_UNAVAILABLE` with the driver's error as `cause`.
 *
 * @example
 * ```ts
 * import { createChatMemory, user } from "@turnkeep/core";
 * import { mongoStore } from "@turnkeep/store-mongo";
 *
 * const store = mongoStore({ url: "mongodb://localhost:27017/chat" });
 * await store.migrate();
 * const memory = createChatMemory({ id: "user-1/chat-1", store });
 * await memory.add(user("Hello"));
 * await store.close();
 * ```
 */
export function mongoStore(options: MongoStoreOptions): MongoStore {
  const { connection: place, database, prefix, ttlMs } = normalizeOptions(options);
  const docs = new Statements();
  const updates = new Updates(docs, new Changes(ttlMs));
  const connection = connect(place, database, prefix);
  const capabilities: StoreCapabilities = Object.freeze({
    durable: true,
    shared: true,
    history: true,
    list: true,
    ttl: true,
    delta: true,
    readSteps: 2,
    maxMessageBytes: 15 * 1024 * 1024,
  });
  let isReady = false;
  let closing: Promise<void> | undefined;

  function enter(callOptions: CallOptions | undefined): Run {
    if (closing !== undefined) throw closedError(storeName);
    throwIfAborted(callOptions?.signal);
    return async (statement) => {
      isReady ||= await connection.run(migrated, callOptions?.signal);
      if (!isReady) throw notReadyError(storeName, `an index of the collections ${prefix}…`);
      return connection.run(statement, callOptions?.signal);
    };
  }

  const store: MongoStore = {
    capabilities,

    async migrate(callOptions) {
      if (closing !== undefined) throw closedError(storeName);
      throwIfAborted(callOptions?.signal);
      await connection.run(migrate, callOptions?.signal);
    },

    async getMessages(memoryId, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      const known = callOptions?.known;
      for (let missing: string | undefined; ; ) {
        const memory = await run(docs.read(memoryId, known));
        if (memory === null) return { version: null, nextSeq: 1, messages: [] };
        if (memory.version === known) return { ...snapshotOf(memory, []), unchanged: true };
        const messages = await contentsOf(run, memory, entriesOf(memory, ["live"]));
        if (messages !== undefined) return snapshotOf(memory, messages);
        // A write has deleted the row since; unless nobody wrote.
        if (missing === memory.version) throw corruptError(memoryId, "the content of a message is missing");
        missing = memory.version;
      }
    },

    async updateMessages(memoryId, update, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      checkUpdate(update, capabilities);
      await updates.apply(run, memoryId, copyUpdate(update));
    },

    async deleteMessages(memoryId, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      // By its life: a delete that is late must not meet the next memory of that id.
      const memory = await run(docs.peek(memoryId));
      if (memory === null) return;
      await run(docs.remove(memory));
      const lives = livesOf(memory);
      if (memory.apart !== false || lives.length > 1) await run(docs.bury(lives));
    },

    async getHistory(memoryId, query, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      const normal = normalizeHistoryQuery(query);
      for (let missing: string | undefined; ; ) {
        const memory = await run(docs.ledger(memoryId));
        if (memory === null) return { messages: [], hasMore: false };
        const entries = entriesOf(memory, ["live", "left"]);
        const asked = entries.filter(isAsked(normal));
        const except = [...rowsOf(memory), ...trashOf(memory)];
        const life = memory.apart === false ? undefined : memory.life;
        const rows = typeof life === "string" ? await run(docs.history(life, normal, except)) : [];
        const found = merged(asked, rows, normal);
        const page = await pageOf(run, memory, found.slice(0, normal.limit));
        const mark = life === undefined ? memory : await run(docs.mark(memoryId, memory.life ?? ""));
        // Rows were deleted meanwhile, and a message may have been passed by: read again.
        if (page !== undefined && mark?.dropped === memory.dropped && mark !== null) {
          return { messages: page, hasMore: found.length > normal.limit || rows.length > normal.limit };
        }
        if (page === undefined && missing === memory.version) {
          throw corruptError(memoryId, "the content of a message is missing");
        }
        missing = memory.version;
      }
    },

    async listMemories(query, callOptions) {
      const run = enter(callOptions);
      const { owner, cursor, limit } = normalizeListQuery(query);
      const found = await run(docs.list(owner, cursor === undefined ? "" : decodeCursor(cursor), limit));
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return {
        memories: page.map(({ _id, owner, updatedAt }) => ({
          memoryId: _id,
          ...(typeof owner === "string" ? { owner } : {}),
          updatedAt: updatedAt instanceof Date ? updatedAt.getTime() : 0,
        })),
        ...(found.length > limit && last !== undefined ? { cursor: encodeCursor(last._id) } : {}),
      };
    },

    async sweep(callOptions) {
      const run = enter(callOptions);
      let removed = 0;
      for (let after: string | undefined = ""; after !== undefined; ) {
        const page: MemoryDocument[] = await run(docs.overdue(after));
        for (const memory of page) {
          if ((await run(docs.remove(memory, "expired"))) === null) continue;
          const lives = livesOf(memory);
          if (lives.length > 0) await run(docs.bury(lives));
          removed++;
        }
        after = page.length < batch ? undefined : page.at(-1)?._id;
      }
      for (let life = ""; ; ) {
        const next = await run(docs.lifeAfter(life));
        if (next === undefined) return { removed };
        life = next.life;
        const staged = await run(docs.staged(life));
        const memory = await run(
          docs.revoke(next.memory, [life, ...new Set(staged.map(({ attempt }) => attempt))]),
        );
        if (memory?.life !== life) {
          removed += await run(docs.bury([life]));
          continue;
        }
        const counted = new Set(rowsOf(memory));
        const lost = staged.map(({ _id }) => _id).filter((row) => !counted.has(row));
        if (lost.length > 0) removed += await run(docs.discard(lost));
        if (trashOf(memory).length > 0) await settle(run, docs, next.memory, life);
      }
    },

    close() {
      closing ??= connection.close();
      return closing;
    },

    [Symbol.asyncDispose]: () => store.close(),
  };

  /** The messages of entries. `undefined`: a row is missing. */
  async function contentsOf(
    run: Run,
    { _id }: MemoryDocument,
    entries: readonly PlacedEntry[],
  ): Promise<StoredMessage[] | undefined> {
    const ids = entries.flatMap(({ entry }) => (entry.r === undefined ? [] : [entry.r]));
    const rows = ids.length === 0 ? [] : await run(docs.rows(ids));
    const byId = new Map(rows.map((row) => [row._id, row]));
    const messages = entries.map((entry) => messageOf(_id, entry, byId));
    return messages.every((message) => message !== undefined) ? messages : undefined;
  }

  async function pageOf(
    run: Run,
    memory: MemoryDocument,
    found: readonly (PlacedEntry | RowDocument)[],
  ): Promise<HistoryPage["messages"] | undefined> {
    const entries = found.filter((one) => "entry" in one);
    const contents = await contentsOf(run, memory, entries);
    if (contents === undefined) return undefined;
    const bySeq = new Map(contents.map((message) => [message.seq, message]));
    return found.map((one) => ({
      ...(bySeq.get(one.seq) ?? messageFrom(memory._id, one as RowDocument)),
      state: one.state as MessageState,
    }));
  }

  return store;
}

function livesOf({ life, former }: MemoryDocument): string[] {
  const lives: unknown[] = [life, ...(Array.isArray(former) ? former : [])];
  return lives.filter((one) => typeof one === "string");
}
