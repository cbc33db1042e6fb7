import { randomBytes } from "node:crypto";
import type {
  ChatMemoryStore,
  MemorySnapshot,
  MemoryUpdate,
  StoreCapabilities,
  StoredMessage,
} from "@turnkeep/core";
import {
  checkUpdate,
  conflictError,
  copyUpdate,
  type FoldedUpdate,
  foldUpdate,
  isInPlace,
  type ListedMemory,
  lifecycle,
  listPage,
  namedSeqs,
  normalizeHistoryQuery,
  normalizeListQuery,
  storeError,
  type TurnkeepError,
} from "@turnkeep/core/store-kit";
import { type Calls, connect, type Run } from "./client.ts";
import { normalizeOptions, type RedisStoreOptions } from "./options.ts";
import {
  type Entry,
  entryOf,
  evictionWarning,
  isUnreadable,
  lostError,
  memberOf,
  pageOf,
  snapshotOf,
  storedOf,
} from "./records.ts";
import { storeName } from "./refusals.ts";
import { entryIsLeftBehindAfter } from "./scripts.ts";
import { type ChangeAnswer, isLean, type PageAnswer, type PolicyAnswer, Statements } from "./statements.ts";

/** A place in the index, which a cursor contains. */
const place = /^[1-9]\d{0,15}$/;

/** How many memories `sweep` checks together, and the fewest that a listing checks together. */
const batch = 100;

/**
 * Keeps memories in Redis or Valkey, over `ioredis` or another client. A read, a write and a page of history are one
 * script each, in one round trip; a write that begins a memory takes one more. All keys of a memory are in one hash
 * slot. Creating the store does no I/O, and there is nothing to migrate.
 *
 * A message may have 16 MiB. `signal` ends the wait at once; what the database was already sent may still take effect.
 * How durable an acknowledged write is depends on the server's settings: see the README.
 *
 * Errors: `INVALID_OPTION` at creation; in calls, those of the store contract. `STORE_REFUSED` and `STORE_UNAVAILABLE` have
 * the driver's error as `cause`, and its `code` is the first word of the server's refusal.
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
  const { connection, prefix, ttlMs, waitReplicas } = normalizeOptions(options);
  const lua = new Statements(prefix, ttlMs);
  const { enter, enterFor, close } = lifecycle(storeName, connect(connection, waitReplicas?.timeoutMs));
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

  async function begin(
    { run, mayHaveRepeated }: Calls,
    memoryId: string,
    update: MemoryUpdate,
    folded: FoldedUpdate,
  ): Promise<ChangeAnswer> {
    const entry = { memoryId, owner: update.owner, life: randomBytes(12).toString("base64url") };
    // The index is in another slot. A surplus entry is recognised by its life; a missing one would be lost.
    const entered = await run(lua.enter(entry));
    const [outcome, life, owner] = await run(lua.begin(entry, entered, update, folded));
    if (outcome === "lost") throw lostError(memoryId);
    // The first of two did begin it: what was written since is no conflict with this call.
    if (outcome === "conflict" && life === entry.life) throw openError();
    const expired = typeof life === "string" ? { memoryId, life, owner: owner ?? undefined } : undefined;
    const stale = outcome === "done" ? expired : entry;
    // If a driver sent the write twice, the second met what the first began: the entry is that memory's. An entry that
    // cannot be removed now shows nowhere, and sweep finds it.
    if (stale !== undefined && life !== entry.life) await run(lua.leave(stale, 0)).catch(() => {});
    if (outcome === "late")
      throw storeError(storeName, new Error("The memory began too late after it was listed"));
    if (outcome === "done" && mayHaveRepeated()) await endUnlessListed(run, entry, Number(entered));
    return outcome;
  }

  /** If somebody deleted the memory between two beginnings by the driver, the second has brought it back. */
  async function endUnlessListed(run: Run, entry: Entry, entered: number): Promise<void> {
    const [listed] = await run(lua.page(entry.owner, `${entered - 1}`, 1));
    if (listed?.[0] === memberOf(entry)) return;
    await run(lua.remove(entry.memoryId, entry.life));
    throw openError();
  }

  /** With the ids of messages whose record is lost or damaged, where the database still knows them. */
  async function named(run: Run, memoryId: string, messages: StoredMessage[]): Promise<StoredMessage[]> {
    const unreadable = messages.filter(isUnreadable);
    if (unreadable.length === 0) return messages;
    const ids = await run(
      lua.idsOf(
        memoryId,
        unreadable.map(({ seq }) => String(seq)),
      ),
    );
    for (const [index, message] of unreadable.entries()) message.id = ids[index] || message.id;
    return messages;
  }

  /** Waits for replicas even if the call found the update in place: another connection may have written it. */
  async function replicated({ runAfter, wait }: Calls, hasWritten: boolean): Promise<void> {
    if (waitReplicas === undefined) return;
    if (!hasWritten) await runAfter(lua.touch());
    await wait(waitReplicas);
  }

  let warning: MemorySnapshot["warning"];
  let hasLooked = false;

  /** Asks once, beside a read, whether the server may evict what the store keeps. One that says nothing is trusted. */
  function lookForEviction(run: Run, memoryId: string): void {
    if (hasLooked) return;
    hasLooked = true;
    const told = (policy: PolicyAnswer): void => {
      warning = evictionWarning(policy, ttlMs !== undefined);
    };
    run(lua.policy(memoryId)).then(told, () => {
      // Nobody answered: the next read asks.
      hasLooked = false;
    });
  }

  return {
    capabilities,

    async getMessages(memoryId, callOptions) {
      const { run } = enterFor(memoryId, callOptions);
      lookForEviction(run, memoryId);
      const answer = await run(lua.read(memoryId, callOptions?.known));
      const snapshot = snapshotOf(memoryId, answer);
      await named(run, memoryId, snapshot.messages);
      if (warning !== undefined) {
        snapshot.warning = warning;
        warning = undefined;
      }
      return snapshot;
    },

    async updateMessages(memoryId, update, callOptions) {
      const calls = enterFor(memoryId, callOptions);
      const { run } = calls;
      checkUpdate(update, capabilities);
      const change = copyUpdate(update);
      const folded = foldUpdate(change);
      const named = namedSeqs(folded);
      let outcome: ChangeAnswer | "other" = "other";
      // Only the look tells what a memory that does not exist yet would have to hold.
      if (change.expected === null && named.length > 0) outcome = "disagrees";
      else if (change.expected === null) outcome = await begin(calls, memoryId, change, folded);
      else if (isLean(folded)) outcome = await run(lua.plain(memoryId, change, folded));
      if (outcome === "other") outcome = await run(lua.change(memoryId, change, folded));
      if (outcome === "disagrees") {
        const found = await run(lua.look(memoryId, named));
        outcome = isInPlace(memoryId, folded, ...storedOf(memoryId, found, change)) ? "replayed" : "conflict";
      }
      if (outcome === "conflict") {
        throw calls.mayHaveRepeated() ? openError() : conflictError(memoryId, change.expected);
      }
      await replicated(calls, outcome === "done");
    },

    async deleteMessages(memoryId, callOptions) {
      const calls = enterFor(memoryId, callOptions);
      const { run, runAfter } = calls;
      const expected = callOptions?.expected;
      // By its life: a delete that is late, or sent twice by the driver, must not hit the next memory of that id.
      const [life = "", owner] = await run(lua.peek(memoryId));
      const removed = await run(lua.remove(memoryId, life, { expected }));
      if (removed === "conflict") throw conflictError(memoryId, expected ?? null);
      if (life !== "") await runAfter(lua.leave({ memoryId, life, owner: owner ?? undefined }, 0));
      await replicated(calls, removed === "removed" && life !== "");
    },

    async getHistory(memoryId, query, callOptions) {
      const { run } = enterFor(memoryId, callOptions);
      const normal = normalizeHistoryQuery(query);
      const page = pageOf(memoryId, await run(lua.history(memoryId, normal)), normal.limit);
      await named(run, memoryId, page.messages);
      return page;
    },

    async listMemories(query, callOptions) {
      const { run } = enter(callOptions);
      const { owner, after: first = "0", limit } = normalizeListQuery(query, place);
      const found: ListedMemory[] = [];
      let after: string | undefined = first;
      while (after !== undefined && found.length <= limit) {
        const size = Math.max(batch, limit + 1 - found.length);
        const page: PageAnswer = await run(lua.page(owner, after, size));
        const listed = page.map(async ([member, position]) => {
          const { memoryId, owner, life } = entryOf(member);
          const [lifeNow, , updated, present] = await run(lua.peek(memoryId));
          if (lifeNow !== life || present !== "yes") return [];
          return [{ memoryId, owner, updatedAt: Number(updated), position }];
        });
        found.push(...(await Promise.all(listed)).flat());
        after = page.length < size ? undefined : page.at(-1)?.[1];
      }
      return listPage(found, limit);
    },

    async sweep(callOptions) {
      const { run, runAfter } = enter(callOptions);
      let removed = 0;
      async function settle(entry: Entry): Promise<void> {
        // Not an entry of this store: nothing is known about it, least of all its keys.
        if (entry.life === "") return;
        const outcome = await run(lua.remove(entry.memoryId, entry.life, { only: "expired" }));
        if (outcome === "present") return;
        // An entry without a memory may be one that is about to begin.
        const left = await runAfter(lua.leave(entry, outcome === "removed" ? 0 : entryIsLeftBehindAfter));
        if (outcome === "removed" || left === "1") removed++;
      }
      for (let after: string | undefined = "0"; after !== undefined; ) {
        const page: PageAnswer = await run(lua.page(undefined, after, batch));
        await Promise.all(page.map(([member]) => settle(entryOf(member))));
        after = page.length < batch ? undefined : page.at(-1)?.[1];
      }
      return { removed };
    },

    close,
    [Symbol.asyncDispose]: close,
  };
}

/** For an update that the driver may have sent twice, and of which the second was refused. */
function openError(): TurnkeepError {
  return storeError(
    storeName,
    new Error("A connection broke, and the driver may have sent the update twice"),
  );
}
