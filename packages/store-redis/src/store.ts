import { randomBytes } from "node:crypto";
import type {
  CallOptions,
  ChatMemoryStore,
  ListPage,
  MemorySnapshot,
  StoreCapabilities,
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
  invalidOption,
  normalizeHistoryQuery,
  normalizeListQuery,
  show,
  storeError,
  throwIfAborted,
} from "@turnkeep/core/store-kit";
import { connect, storeName } from "./client.ts";
import {
  type Entry,
  entryIsLeftBehindAfter,
  entryOf,
  messageOf,
  type PageAnswer,
  rowsOf,
  type SnapshotAnswer,
  type Statement,
  Statements,
} from "./lua.ts";
import { normalizeOptions, type RedisStoreOptions } from "./options.ts";

const noNextSeq = "its head has no next seq";

/** How many memories `sweep` looks at together, and how many a listing at least. */
const batch = 100;

/**
 * Keeps memories in Redis or Valkey, over `ioredis`. A read, a write and a page of history are one script each, in one
 * round trip; a write that begins a memory takes one more. All keys of a memory lie in one hash slot. The factory does
 * no I/O, and there is nothing to migrate.
 *
 * A message may have 16 MiB. `signal` ends the wait at once; what the database was already sent may still take effect.
 * How durable an acknowledged write is depends on the server's settings: see the README.
 *
 * Errors: `INVALID_OPTION` from the factory; in calls what the store contract names, and `STORE_UNAVAILABLE` with the
 * driver's error as `cause`.
 *
 * @example
 * ```ts
 * import { createChatMemory, user } from "@turnkeep/core";
 * import { redisStore } from "@turnkeep/store-redis";
 *
 * const store = redisStore({ url: "redis://localhost:6379" });
 * const memory = createChatMemory({ id: "user-1/chat-1", store });
 * await memory.add(user("Hello"));
 * await store.close();
 * ```
 */
export function redisStore(options: RedisStoreOptions): ChatMemoryStore {
  const { connection: place, prefix, ttlMs, waitReplicas } = normalizeOptions(options);
  const lua = new Statements(prefix, ttlMs);
  const connection = connect(place);
  const capabilities: StoreCapabilities = Object.freeze({
    durable: true,
    shared: true,
    history: true,
    list: true,
    ttl: true,
    delta: true,
    readSteps: 1,
    maxMessageBytes: 16 * 1024 * 1024,
  });
  let closing: Promise<void> | undefined;

  function enter(callOptions: CallOptions | undefined): <A>(statement: Statement<A>) => Promise<A> {
    if (closing !== undefined) throw closedError(storeName);
    throwIfAborted(callOptions?.signal);
    return (statement) => connection.run(statement, callOptions?.signal);
  }

  async function replicated(callOptions: CallOptions | undefined): Promise<void> {
    if (waitReplicas !== undefined) await connection.wait(waitReplicas, callOptions?.signal);
  }

  const store: ChatMemoryStore = {
    capabilities,

    async getMessages(memoryId, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      return snapshotOf(memoryId, await run(lua.read(memoryId, callOptions?.known)));
    },

    async updateMessages(memoryId, update, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      checkUpdate(update, capabilities);
      const change = copyUpdate(update);
      const entry = { memoryId, owner: change.owner, life: randomBytes(12).toString("base64url") };
      // The index lies in another slot. What it lists too early is told apart by its life; what it lacked would be lost.
      const entered = change.expected === null ? await run(lua.enter(entry)) : "";
      const [outcome, ...rest] = await run(lua.write(memoryId, change, foldUpdate(change), entry, entered));
      const done = outcome === "done";
      const stale =
        done && typeof rest[0] === "string"
          ? { memoryId, life: rest[0], owner: rest[1] ?? undefined }
          : entry;
      // An entry that is not taken off now shows nowhere, and sweep finds it.
      if (entered !== "" && stale !== (done ? entry : undefined))
        await run(lua.leave(stale, 0)).catch(() => {});
      if (done || outcome === "replayed") return replicated(callOptions);
      if (outcome === "corrupt") throw corruptError(memoryId, noNextSeq);
      if (outcome === "late")
        throw storeError(storeName, new Error("The memory began too late after it was listed"));
      if (outcome === "disagrees") {
        const [next, ...rows] = rest as [string, ...string[]];
        const found = rowsOf(rows);
        checkAgainstStored(memoryId, change, { nextSeq: Number(next), find: (seq) => found.get(seq) });
      }
      throw conflictError(memoryId, change.expected);
    },

    async deleteMessages(memoryId, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      // By its life: a delete that is late, or sent twice by the driver, must not meet the next memory of that id.
      const [life = "", owner] = await run(lua.peek(memoryId));
      await run(lua.remove(memoryId, life));
      if (life !== "") await run(lua.leave({ memoryId, life, owner: owner ?? undefined }, 0));
      await replicated(callOptions);
    },

    async getHistory(memoryId, query, callOptions) {
      const run = enter(callOptions);
      checkMemoryId(memoryId);
      const normal = normalizeHistoryQuery(query);
      const rows = await run(lua.history(memoryId, normal));
      const messages = [];
      for (const [seq, state, record] of rows.slice(0, normal.limit)) {
        messages.push({ ...messageOf(memoryId, seq, record), state });
      }
      return { messages, hasMore: rows.length > normal.limit };
    },

    async listMemories(query, callOptions) {
      const run = enter(callOptions);
      const { owner, cursor, limit } = normalizeListQuery(query);
      const memories: ListPage["memories"] = [];
      let last = "";
      for (
        let after: string | undefined = cursor === undefined ? "0" : placeOf(cursor);
        after !== undefined;
      ) {
        const size = Math.max(batch, limit + 1 - memories.length);
        const page: PageAnswer = await run(lua.page(owner, after, size));
        const entries = page.map(([member]) => entryOf(member));
        const heads = await Promise.all(entries.map(({ memoryId }) => run(lua.peek(memoryId))));
        for (const [index, entry] of entries.entries()) {
          const [life, , updated, present] = heads[index] ?? [];
          if (life !== entry.life || present !== "yes") continue;
          if (memories.length === limit) return { memories, cursor: encodeCursor(last) };
          memories.push({
            memoryId: entry.memoryId,
            ...(entry.owner === undefined ? {} : { owner: entry.owner }),
            updatedAt: Number(updated),
          });
          last = page[index]?.[1] ?? "";
        }
        after = page.length < size ? undefined : page.at(-1)?.[1];
      }
      return { memories };
    },

    async sweep(callOptions) {
      const run = enter(callOptions);
      let removed = 0;
      async function settle(entry: Entry): Promise<void> {
        // No entry of this store: nothing can be said of it, least of all which keys it has.
        if (entry.life === "") return;
        const outcome = await run(lua.remove(entry.memoryId, entry.life, "expired"));
        if (outcome === "present") return;
        // What no memory answers for may be about to begin one.
        const left = await run(lua.leave(entry, outcome === "removed" ? 0 : entryIsLeftBehindAfter));
        if (outcome === "removed" || left === "1") removed++;
      }
      for (let after: string | undefined = "0"; after !== undefined; ) {
        const page: PageAnswer = await run(lua.page(undefined, after, batch));
        await Promise.all(page.map(([member]) => settle(entryOf(member))));
        after = page.length < batch ? undefined : page.at(-1)?.[1];
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

function snapshotOf(memoryId: string, answer: SnapshotAnswer): MemorySnapshot {
  const snapshot: MemorySnapshot = { version: null, nextSeq: 1, messages: [] };
  if (answer.length === 0) return snapshot;
  const [head, rows] = answer;
  const [version, next, owner, text] = head;
  snapshot.version = version;
  snapshot.nextSeq = Number(next);
  if (!Number.isSafeInteger(snapshot.nextSeq) || next === "") throw corruptError(memoryId, noNextSeq);
  if (owner !== null) snapshot.owner = owner;
  if (text !== null) snapshot.head = text;
  if (rows === undefined) snapshot.unchanged = true;
  else snapshot.messages = rows.map(([seq, record]) => messageOf(memoryId, seq, record));
  return snapshot;
}

/** The place of the last memory of a page. */
function placeOf(cursor: string): string {
  const place = decodeCursor(cursor);
  if (/^[1-9]\d{0,15}$/.test(place)) return place;
  throw invalidOption(`cursor must be the cursor of an earlier page of this store, not ${show(cursor)}`);
}
