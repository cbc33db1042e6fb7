import type { MemoryListEntry, MemoryListPage, Pruned } from "../chat-memories.ts";
import { isTurnkeepError, unsupportedError } from "../errors.ts";
import type { JsonValue } from "../memory-data.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { parsedJson } from "../parsed-json.ts";
import type { ListPage, ListQuery } from "../store-contract.ts";
import { type Call, persist, repeatUntil, withDeadline } from "./deadline.ts";
import { eraseMemory, isUnreadable } from "./erase.ts";
import { type Pruning, pruneOnce } from "./prune.ts";
import { report } from "./report.ts";
import { type Plan, Session } from "./session.ts";

type Signal = AbortSignal | undefined;

/** The memories of a store, those that nobody has loaded too. */
export class AllMemories<M> {
  /** Those of any memory. */
  readonly #settings: MemorySettings<M>;

  constructor(settings: MemorySettings<M>) {
    this.#settings = settings;
  }

  async list(query: ListQuery, signal: Signal): Promise<MemoryListPage> {
    const page = await this.#ask(signal, ({ signal }) =>
      this.#settings.store.listMemories(query, { signal }),
    );
    return { ...page, memories: page.memories.map(entryOf) };
  }

  /** Deletes all memories of an owner; answers their ids. */
  erase(owner: string, signal: Signal): Promise<string[]> {
    return this.#forAllOf(owner, signal, (memoryId) => this.#erase(memoryId, owner, signal));
  }

  /** Gives an owner's memories, all or these, another owner; answers their ids. */
  async assign(
    from: string,
    to: string,
    ids: readonly string[] | undefined,
    signal: Signal,
  ): Promise<string[]> {
    if (ids === undefined)
      return this.#forAllOf(from, signal, (memoryId) =>
        unlessForeign(() => this.#assign(memoryId, { from, to }, signal), false),
      );
    const assigned: string[] = [];
    for (const memoryId of new Set(ids))
      if (await this.#assign(memoryId, { from, to }, signal)) assigned.push(memoryId);
    return assigned;
  }

  async prune(pruning: Pruning, owner: string | undefined, signal: Signal): Promise<Pruned> {
    if (!this.#settings.store.capabilities.history) throw unsupportedError("The store", "prune()");
    const memories: { memoryId: string; messageIds: string[] }[] = [];
    return pastUnreadable(async (past) => {
      for await (const memoryId of this.#listed(owner, signal)) {
        const messageIds: string[] = [];
        for (let hasMore = true; hasMore; ) {
          const prune = () => this.#change(memoryId, owner, signal, pruneOnce(pruning));
          const pruned = await past(() => unlessForeign(prune, nothing), nothing);
          messageIds.push(...pruned.messageIds);
          hasMore = pruned.hasMore;
        }
        if (messageIds.length > 0) memories.push({ memoryId, messageIds });
      }
      return { memories };
    });
  }

  /**
   * Does something to each memory of an owner, which takes it from him; answers the ids of those for which it answered
   * `true`. If the list is ordered by id, one that began anew can come before those still to come: so until none is left.
   */
  async #forAllOf(
    owner: string,
    signal: Signal,
    act: (memoryId: string) => Promise<boolean>,
  ): Promise<string[]> {
    const done = new Set<string>();
    return pastUnreadable(async (past) => {
      for (let before = -1; before < done.size; ) {
        before = done.size;
        for await (const memoryId of this.#listed(owner, signal)) {
          if (!done.has(memoryId) && (await past(() => act(memoryId), false))) done.add(memoryId);
        }
      }
      return [...done];
    });
  }

  /** The ids of the memories of an owner, or of all, page by page. */
  async *#listed(owner: string | undefined, signal: Signal): AsyncGenerator<string> {
    let cursor: string | undefined;
    do {
      const query = { owner, cursor, limit: 1000 };
      const page = await this.#ask(signal, (call) =>
        persist(call, () => this.#settings.store.listMemories(query, { signal: call.signal })),
      );
      for (const { memoryId } of page.memories) yield memoryId;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  /** Whether it has become the new owner's, if by an attempt whose answer was lost, or by an earlier call. */
  async #assign(
    memoryId: string,
    { from, to }: { readonly from: string; readonly to: string },
    signal: Signal,
  ): Promise<boolean> {
    try {
      return await this.#change(memoryId, from, signal, becomes(to));
    } catch (error) {
      const mayBeTheirs =
        isTurnkeepError(error, "OWNER_MISMATCH") || isTurnkeepError(error, "STORE_UNAVAILABLE");
      if (mayBeTheirs && (await this.#isOf(memoryId, to, signal).catch(() => false))) return true;
      throw error;
    }
  }

  async #isOf(memoryId: string, owner: string, signal: Signal): Promise<boolean> {
    const { store } = this.#settings;
    const stored = await this.#ask(signal, ({ signal }) => store.getMessages(memoryId, { signal }));
    return stored.version !== null && stored.owner === owner;
  }

  /** Changes one memory, on behalf of its owner. */
  #change<T>(memoryId: string, owner: string | undefined, signal: Signal, plan: Plan<M, T>): Promise<T> {
    const session = new Session({ ...this.#settings, memoryId, owner });
    return session.run(signal, (call) => session.commit(call, plan));
  }

  /** Whether it was the owner's, and is gone: meanwhile it may have gone by itself, and another's have begun. */
  #erase(memoryId: string, owner: string, signal: Signal): Promise<boolean> {
    const settings = { ...this.#settings, memoryId, owner };
    return unlessForeign(async () => {
      await this.#ask(signal, (call) => eraseMemory(settings, call, { isListed: true }));
      report(this.#settings.onEvent, { type: "erased", memoryId });
      return true;
    }, false);
  }

  /** A step that no session makes, with a time limit. */
  #ask<T>(signal: Signal, call: (call: Call) => Promise<T>): Promise<T> {
    const { timeoutMs } = this.#settings;
    return withDeadline({ timeoutMs, signal, repeatUntil: repeatUntil(this.#settings) }, call);
  }
}

/** Makes a memory another owner's, if it is there. */
function becomes<M>(owner: string): Plan<M, boolean> {
  return ({ draft }) => {
    if (draft.begins) return false;
    draft.newOwner = owner;
    return true;
  };
}

const nothing = { messageIds: [], hasMore: false };

/** What is done to a listed memory, unless it is not the owner's any more. */
async function unlessForeign<T>(act: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (isTurnkeepError(error, "OWNER_MISMATCH")) return otherwise;
    throw error;
  }
}

/** Runs what is done to many memories. One that cannot be read keeps it from no other, and is told at the end. */
async function pastUnreadable<T>(
  run: (past: <R>(act: () => Promise<R>, otherwise: R) => Promise<R>) => Promise<T>,
): Promise<T> {
  let first: unknown;
  const done = await run((act, otherwise) =>
    act().catch((error: unknown) => {
      if (!isUnreadable(error)) throw error;
      first ??= error;
      return otherwise;
    }),
  );
  if (first !== undefined) throw first;
  return done;
}

/** What stands in a listing of it. Data that somebody damaged hide no other memory. */
function entryOf({ data, ...memory }: ListPage["memories"][number]): MemoryListEntry {
  const said = data === undefined ? undefined : parsedJson(data);
  return said === undefined ? memory : { ...memory, data: said as JsonValue };
}
