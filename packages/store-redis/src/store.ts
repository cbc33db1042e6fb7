import type { ChatMemoryStore, MemorySnapshot } from "@turnkeep/core";
import {
  conflictError,
  defineStore,
  type FoldedUpdate,
  isInPlace,
  type ListedMemory,
  type NormalHistoryQuery,
  type NormalListQuery,
  namedSeqs,
  storeError,
  type TurnkeepError,
} from "@turnkeep/core/store-kit";
import { type Calls, connect, type Run } from "./client.ts";
import { entryIsLeftBehindAfter } from "./lists.ts";
import { normalizeOptions, type RedisStoreOptions } from "./options.ts";
import {
  entryOf,
  evictionWarning,
  type IndexEntry,
  isSameLife,
  lifeAfter,
  lostError,
  memberOf,
  mendedOf,
  newLife,
  pageOf,
  snapshotOf,
  storedOf,
  timeOf,
} from "./records.ts";
import { storeName } from "./refusals.ts";
import { type Answers, type Due, isLean, type Outcome, Statements } from "./scripts.ts";

const capabilities = Object.freeze({
  durable: true,
  shared: true,
  history: true,
  list: true,
  newest: true,
  ttl: true,
  delta: true,
  readSteps: 1,
  maxMessageBytes: 16 * 1024 * 1024,
});

/** A position in the index, in either order, which a cursor contains. */
const position = /^[1-9]\d{0,15}$/;

/** For a read of a memory that has lost some of its records. */
const allLive: NormalHistoryQuery = {
  ...{ after: 0, before: Number.MAX_SAFE_INTEGER, order: "ascending" },
  ...{ limit: Number.MAX_SAFE_INTEGER - 1, states: ["live"], ids: undefined },
};

/** How many memories `sweep` checks together, and the fewest that a listing reads at once. */
const batch = 100;

/** What a sweep looks at. */
const everything: NormalListQuery = { owner: undefined, order: "stored", after: undefined, limit: batch };

/**
 * Keeps memories in Redis or Valkey, over `ioredis` or another client. A read, a write and a page of history are one round
 * trip each; a write that begins a memory takes one more, and so does one that is the first for `activityMs`. All keys of a memory are in one hash slot. Creating the store
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
  const normal = normalizeOptions(options);
  const { connection: place, ttlMs, waitReplicas } = normal;
  const lua = new Statements(normal);

  async function begin(calls: Calls, memoryId: string, update: FoldedUpdate): Promise<Outcome> {
    const { run, mayHaveRepeated } = calls;
    const entry = { memoryId, owner: update.owner, life: newLife() };
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
    if (outcome === "late") throw lateError();
    if (outcome === "done" && mayHaveRepeated()) await endUnlessListed(run, entry, Number(entered));
    return outcome;
  }

  /** If somebody deleted the memory between two beginnings by the driver, the second has brought it back. */
  async function endUnlessListed(run: Run, entry: IndexEntry, entered: number): Promise<void> {
    const after = `${entered - 1}`;
    const [listed] = await run(lua.page({ owner: entry.owner, order: "stored", after, limit: 1 }));
    if (listed?.[0] === memberOf(entry)) return;
    await run(lua.remove(entry.memoryId, entry.life));
    throw openError();
  }

  /** A change of owner: as a beginning does, it lists the memory anew first. */
  async function assign({ run }: Calls, memoryId: string, update: FoldedUpdate): Promise<Outcome | "same"> {
    const [life, owner, version] = await run(lua.peek(memoryId));
    if (life === null || version !== update.expected) {
      return version === update.version ? "replayed" : "conflict";
    }
    if (owner === update.owner) return "same";
    const held = { memoryId, life, owner: owner ?? undefined };
    const entry = { memoryId, life: lifeAfter(life), owner: update.owner };
    const entered = await run(lua.enter(entry, held));
    const answer = await run(lua.assign(entry, entered, update));
    const outcome = isDue(answer) ? "done" : answer;
    // If a driver sent the change twice, the second met what the first did.
    const has = outcome === "done" || (await run(lua.peek(memoryId)))[0] === entry.life;
    // What cannot be removed now shows nowhere, and sweep finds it.
    await run(lua.leave(has ? held : entry, 0)).catch(() => {});
    if (outcome === "late") throw lateError();
    return outcome;
  }

  /** Notes a memory's activity where that is due. If it fails, so it stays until it is due again: the write is done. */
  async function noted<A>({ run }: Calls, memoryId: string, answer: A | Due): Promise<A | "done"> {
    if (!isDue(answer)) return answer;
    const [, life, owner] = answer;
    await run(lua.note({ memoryId, life: life ?? "", owner: owner ?? undefined })).catch(() => {});
    return "done";
  }

  /** Waits for replicas even if the call found the update in place: another connection may have written it. */
  async function replicated({ runAfter, wait }: Calls, hasWritten: boolean): Promise<void> {
    if (waitReplicas === undefined) return;
    if (!hasWritten) await runAfter(lua.touch());
    await wait(waitReplicas);
  }

  async function change(calls: Calls, memoryId: string, update: FoldedUpdate): Promise<Outcome> {
    const assigned = update.owner === undefined ? "same" : await assign(calls, memoryId, update);
    if (assigned !== "same") return assigned;
    const lean = isLean(update) ? await calls.run(lua.plain(memoryId, update)) : "other";
    return noted(calls, memoryId, lean === "other" ? await calls.run(lua.change(memoryId, update)) : lean);
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

  /** Reads the index from a place on. */
  async function* pages(run: Run, { owner, order, after, limit }: NormalListQuery) {
    for (let next = after ?? (order === "newest" ? "+inf" : "0"), isLast = false; !isLast; ) {
      const page: Answers["page"] = await run(lua.page({ owner, order, after: next, limit }));
      yield page;
      isLast = page.length < limit;
      next = page.at(-1)?.[1] ?? next;
    }
  }

  /**
   * What a listing shows of entries: those that their memories have. A memory that becomes another owner's between the page and
   * the look at it must not be missed among all: there its entries, before and after, have one place, and any of them will do.
   */
  async function listed(run: Run, page: Answers["page"], isAll: boolean): Promise<ListedMemory[]> {
    const looks = new Map<string, Promise<Answers["peek"]>>();
    const shown = page.map(async ([member, position]): Promise<ListedMemory[]> => {
      const { memoryId, life } = entryOf(member);
      const look = looks.get(memoryId) ?? run(lua.peek(memoryId));
      looks.set(memoryId, look);
      const [lifeNow, owner, , updated, data] = await look;
      if (lifeNow === null || !(isAll ? isSameLife(lifeNow, life) : lifeNow === life)) return [];
      return [{ memoryId, owner: owner ?? undefined, updatedAt: timeOf(updated), data, position }];
    });
    const byId = new Map((await Promise.all(shown)).flat().map((memory) => [memory.memoryId, memory]));
    return [...byId.values()];
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
    positions: { stored: position, newest: position },
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
      let outcome: Outcome;
      // Only the look tells what a memory that does not exist yet would have to hold.
      if (update.expected === null && named.length > 0) outcome = "disagrees";
      else if (update.expected === null) outcome = await begin(calls, memoryId, update);
      else outcome = await change(calls, memoryId, update);
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
      let [life, owner] = await run(lua.peek(memoryId));
      let removed = await run(lua.remove(memoryId, life ?? "", expected));
      while (removed === "absent" && life !== null) {
        const [now, ownerNow] = await run(lua.peek(memoryId));
        if (now === null || now === life || !isSameLife(now, life)) break;
        // It has become another owner's in between.
        [life, owner] = [now, ownerNow];
        removed = await run(lua.remove(memoryId, life, expected));
      }
      if (removed === "conflict") throw conflictError(memoryId, expected ?? null);
      if (life !== null) await runAfter(lua.leave({ memoryId, life, owner: owner ?? undefined }, 0));
      await replicated(calls, removed === "removed" && life !== null);
    },

    async history({ run }, memoryId, query) {
      return pageOf(memoryId, await run(lua.history(memoryId, query)), query.limit);
    },

    async list({ run }, query) {
      const memories: ListedMemory[] = [];
      const isAll = query.owner === undefined && query.order === "stored";
      for await (const page of pages(run, { ...query, limit: Math.max(batch, query.limit + 1) })) {
        memories.push(...(await listed(run, page, isAll)));
        if (memories.length > query.limit) break;
      }
      return memories;
    },

    async sweep(calls) {
      let removed = 0;
      for await (const page of pages(calls.run, everything)) {
        const answers = await Promise.all(page.map(([member]) => swept(calls, entryOf(member))));
        removed += answers.filter(Boolean).length;
      }
      return removed;
    },
  }).store;
}

function isDue<A>(answer: A | Due): answer is Due {
  return Array.isArray(answer);
}

/** For an entry that a sweep may have removed meanwhile. */
function lateError(): TurnkeepError {
  return storeError(storeName, new Error("The memory was written too late after it was listed"));
}

/** For an update that the driver may have sent twice, and of which the second was refused. */
function openError(): TurnkeepError {
  const cause = new Error("A connection broke, and the driver may have sent the update twice");
  return storeError(storeName, cause);
}
