import { randomBytes } from "node:crypto";
import type {
  CallOptions,
  ChatMemoryStore,
  HistoryPage,
  ListPage,
  MemorySnapshot,
  MemoryUpdate,
  MessageState,
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
  type FoldedUpdate,
  foldUpdate,
  invalidOption,
  normalizeHistoryQuery,
  normalizeListQuery,
  type StoredRows,
  show,
  storeError,
  throwIfAborted,
} from "@turnkeep/core/store-kit";
import { connect, storeName } from "./client.ts";
import {
  type BeginAnswer,
  type ChangeAnswer,
  type HistoryAnswer,
  isPlain,
  type LookAnswer,
  type PageAnswer,
  type SnapshotAnswer,
  type Statement,
  Statements,
} from "./lua.ts";
import { normalizeOptions, type RedisStoreOptions } from "./options.ts";
import { type Entry, entryOf, messagesOf } from "./records.ts";
import { entryIsLeftBehindAfter } from "./scripts.ts";

const noNextSeq = "its head has no next seq";

type Run = <A>(statement: Statement<A>) => Promise<A>;

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

  function enter(callOptions: CallOptions | undefined): Run {
    if (closing !== undefined) throw closedError(storeName);
    throwIfAborted(callOptions?.signal);
    return (statement) => connection.run(statement, callOptions?.signal);
  }

  async function replicated(callOptions: CallOptions | undefined): Promise<void> {
    if (waitReplicas !== undefined) await connection.wait(waitReplicas, callOptions?.signal);
  }

  async function apply(
    run: Run,
    memoryId: string,
    update: MemoryUpdate,
    folded: FoldedUpdate,
    namesOthers: boolean,
  ): Promise<ChangeAnswer | "late"> {
    if (update.expected === null) {
      // Nobody but the look says what a memory that is not there yet would have to hold.
      return namesOthers ? "disagrees" : begin(run, memoryId, update, folded);
    }
    const outcome = isPlain(update, folded) ? await run(lua.plain(memoryId, update, folded)) : "other";
    return outcome === "other" ? run(lua.change(memoryId, update, folded)) : outcome;
  }

  async function begin(
    run: Run,
    memoryId: string,
    update: MemoryUpdate,
    { insert }: FoldedUpdate,
  ): Promise<BeginAnswer[0]> {
    const entry = { memoryId, owner: update.owner, life: randomBytes(12).toString("base64url") };
    // The index lies in another slot. What it lists too early is told apart by its life; what it lacked would be lost.
    const entered = await run(lua.enter(entry));
    const [outcome, life, owner] = await run(lua.begin(entry, entered, update, insert));
    const expired = life === undefined ? undefined : { memoryId, life, owner: owner ?? undefined };
    const stale = outcome === "done" ? expired : entry;
    // An entry that is not taken off now shows nowhere, and sweep finds it.
    if (stale !== undefined) await run(lua.leave(stale, 0)).catch(() => {});
    return outcome;
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
      const folded = foldUpdate(change);
      const named = [...folded.rewrite, ...folded.setState].map(({ seq }) => seq).concat(folded.remove);
      const outcome = await apply(run, memoryId, change, folded, named.length > 0);
      if (outcome === "done" || outcome === "replayed") return replicated(callOptions);
      if (outcome === "corrupt") throw corruptError(memoryId, noNextSeq);
      if (outcome === "late")
        throw storeError(storeName, new Error("The memory began too late after it was listed"));
      if (outcome === "disagrees") {
        const stored = storedOf(await run(lua.look(memoryId, named)));
        if (stored.version === change.expected) checkAgainstStored(memoryId, change, stored);
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
      return pageOf(memoryId, await run(lua.history(memoryId, normal)), normal.limit);
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
  const [head, seqs, ...records] = answer;
  if (head === undefined) return snapshot;
  const [version, next, owner, text] = head;
  snapshot.version = version;
  snapshot.nextSeq = Number(next);
  if (!Number.isSafeInteger(snapshot.nextSeq) || next === "") throw corruptError(memoryId, noNextSeq);
  if (owner !== null) snapshot.owner = owner;
  if (text !== null) snapshot.head = text;
  if (seqs === undefined) snapshot.unchanged = true;
  else snapshot.messages = messagesOf(memoryId, seqs, records);
  return snapshot;
}

function pageOf(memoryId: string, answer: HistoryAnswer, limit: number): HistoryPage {
  const [states = [], seqs = [], ...records] = answer;
  const messages = messagesOf(memoryId, seqs.slice(0, limit), records);
  return {
    messages: messages.map((message, index) => ({ ...message, state: states[index] as MessageState })),
    hasMore: seqs.length > limit,
  };
}

function storedOf(answer: LookAnswer): StoredRows & { readonly version: string | null } {
  const [version, next, rows] = answer.length === 0 ? [null, "1", []] : answer;
  const found = new Map(rows.map(([seq, state, id]) => [Number(seq), { id, state }]));
  return { version, nextSeq: Number(next), find: (seq) => found.get(seq) };
}

/** The place of the last memory of a page. */
function placeOf(cursor: string): string {
  const place = decodeCursor(cursor);
  if (/^[1-9]\d{0,15}$/.test(place)) return place;
  throw invalidOption(`cursor must be the cursor of an earlier page of this store, not ${show(cursor)}`);
}
