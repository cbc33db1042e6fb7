import type {
  CallOptions,
  ChatMemoryStore,
  HistoryPage,
  MessageState,
  StoreCapabilities,
  StoredMessage,
} from "@turnkeep/core";
import {
  checkAgainstStored,
  checkMemoryId,
  checkUpdate,
  closedError,
  conflictError,
  copyUpdate,
  corruptError,
  decodeCursor,
  encodeCursor,
  foldUpdate,
  normalizeHistoryQuery,
  normalizeListQuery,
  notReadyError,
  storeError,
  throwIfAborted,
} from "@turnkeep/core/store-kit";
import { connect, storeName } from "./client.ts";
import {
  batch,
  type FoundRow,
  isApart,
  isAppend,
  type MemoryDocument,
  type RowDocument,
  Statements,
  type Written,
} from "./documents.ts";
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
import { bytesOf, freshId, type Run, rowsOf, settle } from "./staging.ts";

/** How often a write is tried again at the same version: others may settle or sweep meanwhile. */
const maxAttempts = 20;

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
  const docs = new Statements(ttlMs);
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

  /** The update is in place. What is not settled now shows nowhere, and the next write or `sweep` settles it. */
  async function settleQuietly(run: Run, memoryId: string, { life, unsettled }: Written): Promise<void> {
    if (unsettled && life !== undefined) await settle(run, docs, memoryId, life).catch(() => {});
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
      const change = copyUpdate(update);
      const folded = foldUpdate(change);
      const named = [...folded.setState.map(({ seq }) => seq), ...folded.remove];
      // A memory that begins has nothing that could be changed.
      const canBegin = named.length === 0 && folded.rewrite.length === 0;
      const contents = [...folded.insert, ...folded.rewrite];
      const apart = isApart(contents.map(({ payload, meta }) => bytesOf(payload, meta)));
      let life = "";
      let found: ReadonlyMap<number, FoundRow> = new Map();
      for (let tries = 1; tries <= maxAttempts; tries++) {
        const attempt = apart.includes(true) ? freshId() : undefined;
        if (change.expected === null) life = attempt ?? freshId();
        else if (attempt !== undefined) life ||= (await run(docs.peek(memoryId)))?.life ?? "";
        const rows = new Map<number, RowDocument>();
        for (const [index, { seq, id, createdAt: at, payload, meta }] of contents.entries()) {
          if (attempt === undefined || !apart[index]) continue;
          const content = { seq, id, at, payload, ...(meta === undefined ? {} : { meta }) };
          rows.set(seq, {
            _id: freshId(),
            memory: memoryId,
            life,
            attempt,
            ...content,
            state: "staged",
            gen: 0,
          });
        }
        const entryOf = ({ seq, id, createdAt, payload, meta }: StoredMessage) => {
          const row = rows.get(seq);
          if (row !== undefined) return { i: id, a: createdAt, r: row._id };
          return { i: id, a: createdAt, p: payload, ...(meta === undefined ? {} : { m: meta }) };
        };
        const lean = tries === 1 && change.expected !== null && attempt === undefined && isAppend(folded);
        if (lean && (await run(docs.append(memoryId, change, folded, entryOf)))) return;
        let written: Written | null = null;
        const possible = !lean && (change.expected !== null || canBegin);
        const opens = async () =>
          attempt === undefined || (await run(docs.open(memoryId, change.expected, attempt)));
        if (possible && (await opens())) {
          if (rows.size > 0) await run(docs.insert([...rows.values()]));
          written = await run(
            change.expected === null
              ? docs.begin(memoryId, change, folded.insert, entryOf, life, attempt)
              : docs.change(memoryId, change, folded, entryOf, found, attempt),
          );
          if (written?.version === change.version) return settleQuietly(run, memoryId, written);
          // Nobody has seen them; the next write or sweep deletes what is not deleted now.
          if (rows.size > 0)
            await run(docs.discard([...rows.values()].map(({ _id }) => _id))).catch(() => {});
        }
        const memory = await run(docs.ledger(memoryId));
        if (memory !== null && memory.version === change.version) return;
        if ((memory?.version ?? null) !== change.expected) throw conflictError(memoryId, change.expected);
        found = await checkedRows(run, memory, change, named);
      }
      throw storeError(storeName, new Error("Sweeps undid the update each time before it was written"));
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

  /** The rows of messages that a move names and the document does not have. `INVALID_OPTION` if there are none. */
  async function checkedRows(
    run: Run,
    memory: MemoryDocument | null,
    change: Parameters<ChatMemoryStore["updateMessages"]>[1],
    named: readonly number[],
  ): Promise<ReadonlyMap<number, FoundRow>> {
    const entries = new Map<number, { id: string; state: MessageState }>();
    const rows = new Map<number, FoundRow>();
    if (memory !== null) {
      for (const { seq, state, entry } of entriesOf(memory, ["live", "left"]))
        entries.set(seq, { id: entry.i, state });
      const absent = named.filter((seq) => !entries.has(seq));
      const except = [...rowsOf(memory), ...trashOf(memory)];
      const found = absent.length === 0 ? [] : await run(docs.find(memory.life ?? "", absent, except));
      for (const row of found) rows.set(row.seq, row);
    }
    checkAgainstStored(memory?._id ?? "", change, {
      nextSeq: memory?.next ?? 1,
      find: (seq) => entries.get(seq) ?? rows.get(seq),
    });
    return rows;
  }

  return store;
}

function livesOf({ life, former }: MemoryDocument): string[] {
  const lives: unknown[] = [life, ...(Array.isArray(former) ? former : [])];
  return lives.filter((one) => typeof one === "string");
}

function trashOf({ trash }: MemoryDocument): readonly string[] {
  return Array.isArray(trash) ? trash : [];
}
