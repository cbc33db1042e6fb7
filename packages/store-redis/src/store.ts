import { randomBytes } from "node:crypto";
import type { ChatMemoryStore, MemorySnapshot } from "@turnkeep/core";
import {
  conflictError,
  defineStore,
  type FoldedUpdate,
  isInPlace,
  type ListedMemory,
  type NormalHistoryQuery,
  namedSeqs,
  storeError,
  type TurnkeepError,
} from "@turnkeep/core/store-kit";
import { type Calls, connect, type Run } from "./client.ts";
import { entryIsLeftBehindAfter } from "./lua.ts";
import { normalizeOptions, type RedisStoreOptions } from "./options.ts";
import {
  entryOf,
  evictionWarning,
  type IndexEntry,
  lostError,
  memberOf,
  mendedOf,
  pageOf,
  snapshotOf,
  storedOf,
  timeOf,
} from "./records.ts";
import { storeName } from "./refusals.ts";
import { type Answers, isLean, type Outcome, Statements } from "./scripts.ts";

const capabilities = Object.freeze({
  durable: true,
  shared: true,
  history: true,
  list: true,
  ttl: true,
  delta: true,
  readSteps: 1,
  maxMessageBytes: 16 * 1024 * 1024,
});

/** A position in the index, which a cursor contains. */
const position = /^[1-9]\d{0,15}$/;

/** For a read of a memory that has lost some of its records. */
const allLive: NormalHistoryQuery = {
  ...{ after: 0, before: Number.MAX_SAFE_INTEGER, order: "ascending" },
  ...{ limit: Number.MAX_SAFE_INTEGER - 1, states: ["live"], ids: undefined },
};

/** How many memories `sweep` checks together, and the fewest that a listing reads at once. */
const batch = 100;

/**
 * Keeps memories in Redis or Valkey, over `ioredis` or another client. A read, a write and a page of history are one round
 * trip each; a write that begins a memory takes one more. All keys of a memory are in one hash slot. Creating the store
 * does no I/O, and there is nothing to migrate.
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
  const { connection: place, prefix, ttlMs, waitReplicas } = normalizeOptions(options);
  const lua = new Statements(prefix, ttlMs);

  async function begin(calls: Calls, memoryId: string, update: FoldedUpdate): Promise<Outcome> {
    const { run, mayHaveRepeated } = calls;
    const entry = { memoryId, owner: update.owner, life: randomBytes(12).toString("base64url") };
    // The index is in another slot. A surplus entry is recognised by its life; a missing one would be lost.
    const entered = await run(lua.enter(entry));
    const outcome = await run(lua.begin(entry, entered, update));
    if (outcome === "lost") throw lostError(memoryId);
    // The first of two did begin it: what was written since is no conflict with this call.
    if (outcome === "open") throw openError();
    // If a driver sent the write twice, the second met what the first began: the entry is that memory's.
    if (outcome === "again") return "replayed";
    // An entry that cannot be removed now shows nowhere, and sweep finds it.
    if (outcome !== "done") await run(lua.leave(entry, 0)).catch(() => {});
    if (outcome === "late") {
      throw storeError(storeName, new Error("The memory began too late after it was listed"));
    }
    if (outcome === "done" && mayHaveRepeated()) await endUnlessListed(run, entry, Number(entered));
    return outcome;
  }

  /** If somebody deleted the memory between two beginnings by the driver, the second has brought it back. */
  async function endUnlessListed(run: Run, entry: IndexEntry, entered: number): Promise<void> {
    const [listed] = await run(lua.page(entry.owner, `${entered - 1}`, 1));
    if (listed?.[0] === memberOf(entry)) return;
    await run(lua.remove(entry.memoryId, entry.life));
    throw openError();
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
    run(lua.policy(memoryId)).then(
      (policy) => (warning = evictionWarning(policy, ttlMs !== undefined)),
      // Nobody answered: the next read asks.
      () => (hasLooked = false),
    );
  }

  /** Reads the index in the order in which the memories began. */
  async function* pages(run: Run, owner: string | undefined, first: string, size: number) {
    for (let after: string | undefined = first; after !== undefined; ) {
      const page: Answers["page"] = await run(lua.page(owner, after, size));
      yield page;
      after = page.length < size ? undefined : page.at(-1)?.[1];
    }
  }

  /** What a listing shows of an entry: nothing if its memory has ended. */
  async function listed(run: Run, member: string, position: string): Promise<ListedMemory[]> {
    const { memoryId, owner, life } = entryOf(member);
    const [lifeNow, , updated] = await run(lua.peek(memoryId));
    if (lifeNow !== life) return [];
    return [{ memoryId, owner, updatedAt: timeOf(updated), position }];
  }

  /** Whether an entry was removed that was left behind; the memories themselves are removed by the server. */
  async function swept({ run }: Calls, entry: IndexEntry): Promise<boolean> {
    // Not an entry of this store: nothing is known about it, least of all its keys.
    if (entry.life === "") return false;
    const [life] = await run(lua.peek(entry.memoryId));
    // An entry without a memory may be one that is about to begin.
    return life !== entry.life && (await run(lua.leave(entry, entryIsLeftBehindAfter))) === "1";
  }

  const definition = {
    name: storeName,
    capabilities,
    connection: connect(place, waitReplicas?.timeoutMs),
    position,
  };
  return defineStore<Calls>(definition, {
    async read({ run }, memoryId, known) {
      lookForEviction(run, memoryId);
      const read = snapshotOf(memoryId, await run(lua.read(memoryId, known)));
      const snapshot = read ?? mendedOf(memoryId, await run(lua.history(memoryId, allLive)));
      if (warning !== undefined) {
        snapshot.warning = warning;
        warning = undefined;
      }
      return snapshot;
    },

    async update(calls, memoryId, update) {
      const { run, mayHaveRepeated } = calls;
      const named = namedSeqs(update);
      let outcome: Outcome | "other" = "other";
      // Only the look tells what a memory that does not exist yet would have to hold.
      if (update.expected === null && named.length > 0) outcome = "disagrees";
      else if (update.expected === null) outcome = await begin(calls, memoryId, update);
      else if (isLean(update)) outcome = await run(lua.plain(memoryId, update));
      if (outcome === "other") outcome = await run(lua.change(memoryId, update));
      if (outcome === "disagrees") {
        const stored = storedOf(memoryId, await run(lua.look(memoryId, named)), update);
        outcome = isInPlace(memoryId, update, ...stored) ? "replayed" : "conflict";
      }
      if (outcome === "conflict") {
        throw mayHaveRepeated() ? openError() : conflictError(memoryId, update.expected);
      }
      await replicated(calls, outcome === "done");
    },

    async remove(calls, memoryId, expected) {
      const { run, runAfter } = calls;
      // By its life: a delete that is late, or sent twice by the driver, must not hit the next memory of that id.
      const [life, owner] = await run(lua.peek(memoryId));
      const removed = await run(lua.remove(memoryId, life ?? "", expected));
      if (removed === "conflict") throw conflictError(memoryId, expected ?? null);
      if (life !== null) await runAfter(lua.leave({ memoryId, life, owner: owner ?? undefined }, 0));
      await replicated(calls, removed === "removed" && life !== null);
    },

    async history({ run }, memoryId, query) {
      return pageOf(memoryId, await run(lua.history(memoryId, query)), query.limit);
    },

    async list({ run }, { owner, after = "0", limit }) {
      const memories: ListedMemory[] = [];
      for await (const page of pages(run, owner, after, Math.max(batch, limit + 1))) {
        const answers = page.map(([member, position]) => listed(run, member, position));
        memories.push(...(await Promise.all(answers)).flat());
        if (memories.length > limit) break;
      }
      return memories;
    },

    async sweep(calls) {
      let removed = 0;
      for await (const page of pages(calls.run, undefined, "0", batch)) {
        const answers = await Promise.all(page.map(([member]) => swept(calls, entryOf(member))));
        removed += answers.filter(Boolean).length;
      }
      return removed;
    },
  }).store;
}

/** For an update that the driver may have sent twice, and of which the second was refused. */
function openError(): TurnkeepError {
  const cause = new Error("A connection broke, and the driver may have sent the update twice");
  return storeError(storeName, cause);
}
