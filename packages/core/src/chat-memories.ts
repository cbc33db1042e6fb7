import type { ChatMemory } from "./chat-memory.ts";
import type { MemoryPolicy } from "./chat-memory-options.ts";
import type { MemoryCallOptions } from "./memory-call-options.ts";
import type { JsonValue } from "./memory-data.ts";
import type { ChatMemoryStore } from "./store-contract.ts";

/** Where an application keeps its memories, and the policy that all of them share. */
export type ChatMemoriesOptions<M> = MemoryPolicy<M> & {
  /** Where the memories are kept. */
  readonly store: ChatMemoryStore;
  /**
   * The owner that a memory gets when it begins, and must have if it exists: one for all, or a function of the memory's
   * id. `undefined`: none, and whose it is does not matter.
   */
  readonly owner?: string | ((id: string) => string | undefined) | undefined;
  /** How many memories stay loaded when nothing else references them. Default 1,000. */
  readonly maxLoaded?: number | undefined;
};

/** Which memories to list, and how many per page. */
export interface MemoryListQuery extends MemoryCallOptions {
  /** Only memories of this owner. */
  readonly owner?: string | undefined;
  /**
   * `newest`: by the last activity, newest first, for a sidebar; `UNSUPPORTED` by a store without the capability. Default
   * `stored`: the store's own order, which no write changes.
   */
  readonly order?: "stored" | "newest" | undefined;
  /** The `cursor` of the previous page, in the same order. */
  readonly cursor?: string | undefined;
  /** 1 to 1,000; default 100. */
  readonly limit?: number | undefined;
}

/** One page of the memories in a store. */
export interface MemoryListPage {
  readonly memories: readonly MemoryListEntry[];
  /** Set while there are more pages. */
  readonly cursor?: string | undefined;
}

/** A memory in a listing. */
export interface MemoryListEntry {
  readonly memoryId: string;
  readonly owner?: string | undefined;
  /** The last write, in milliseconds since the epoch. */
  readonly updatedAt: number;
  /** What `update` has said of it; absent if nothing, or if that cannot be read any more. */
  readonly data?: JsonValue | undefined;
}

/** Which memories become another owner's. */
export interface AssignRequest {
  /** Whose they are. */
  readonly from: string;
  /** Whose they become. */
  readonly to: string;
  /** Only these. Default: all of them. */
  readonly ids?: readonly string[] | undefined;
}

/** Which messages leave the histories of living memories for good. */
export interface PruneRequest {
  /** Only messages that were made longer ago than this, in milliseconds. */
  readonly olderThanMs: number;
  /** What has left the view, or was edited and regenerated. Default: both. What is live always stays. */
  readonly states?: readonly ("evicted" | "superseded")[] | undefined;
  /** Only in memories of this owner. Default: in all. */
  readonly owner?: string | undefined;
  /** `true`: says what would be removed, and removes nothing. Default `false`. */
  readonly dryRun?: boolean | undefined;
}

/** What `prune` has removed, or would. */
export interface Pruned {
  /** Only memories that lost messages. */
  readonly memories: readonly { readonly memoryId: string; readonly messageIds: readonly string[] }[];
}

/** On whose behalf a memory is asked for, in place of the `owner` of `createChatMemories`. */
export interface MemoryOwner {
  /** Must not be `undefined`, so that a forgotten user does not have everybody's memories. */
  readonly owner: string;
}

/** How much of a memory a fork takes over, and on whose behalf. */
export interface ForkOptions extends MemoryCallOptions, Partial<MemoryOwner> {
  /** The last message to copy; the system message in front is copied in any case. Default: the newest message. */
  readonly at?: string | undefined;
}

/** Many conversations in one store. */
export interface ChatMemories<M> {
  /**
   * The memory with this id: the same instance for everybody who holds it and asks on behalf of the same owner. Reads
   * nothing yet. With `{ owner }`, such as the user of a request that names the id, its calls are `OWNER_MISMATCH` if
   * the memory exists and has another owner or none.
   */
  get(id: string, options?: MemoryOwner): ChatMemory<M>;
  /** One page of the memories in the store, with their data. `UNSUPPORTED` if the store lists none. */
  list(query?: MemoryListQuery): Promise<MemoryListPage>;
  /**
   * Copies memory and history, up to and including `at`, into a new memory with the same message ids and owner.
   * Superseded messages are not copied. Errors: `ID_CONFLICT` if `to` exists, `NOT_FOUND` if `from` or `at` does
   * not, `OWNER_MISMATCH` if `from` is not the owner's, or `to` is to be somebody else's, `CORRUPT_RECORD` and
   * `UNSUPPORTED_VERSION` if what is stored beside the source's messages cannot be read.
   */
  fork(from: string, to: string, options?: ForkOptions): Promise<ChatMemory<M>>;
  /**
   * Deletes all memories of an owner with their histories, and returns which. A later write, such as that of a
   * streaming answer, begins a memory anew: end such work first, or let it write with `mustExist` (`put`,
   * `transaction`). Ids must not change owner meanwhile. Each step (a page, a memory) may take `timeoutMs`. Repeat the call
   * after an error: the memory that it stopped at may be listed no more, and what is left of it then goes with the store's
   * `sweep()`, or with `clear()` of that memory.
   * `UNSUPPORTED` if the store lists none.
   */
  erase(
    request: { readonly owner: string },
    options?: MemoryCallOptions,
  ): Promise<{ readonly erased: string[] }>;
  /**
   * Gives memories another owner, such as those of a guest who signs in, and returns which. Their messages stay as they
   * are; calls on behalf of the owner before are `OWNER_MISMATCH` from then on. Each memory changes at once; repeat the
   * call after an error: of the `ids`, those that are the new owner's already are among the answer. Errors:
   * `OWNER_MISMATCH` for an id that is somebody else's; without `ids`, `UNSUPPORTED` if the store lists none, and, once all
   * others are assigned, `CORRUPT_RECORD` or `UNSUPPORTED_VERSION` of the first that cannot be read.
   *
   * @example
   * ```ts
   * import { createChatMemories, inMemoryStore, user } from "@turnkeep/core";
   *
   * const memories = createChatMemories({ store: inMemoryStore() });
   * await memories.get("chat-1", { owner: "guest-7" }).add(user("Hello"));
   * console.log(await memories.assign({ from: "guest-7", to: "ann" })); // { assigned: ["chat-1"] }
   * ```
   */
  assign(request: AssignRequest, options?: MemoryCallOptions): Promise<{ readonly assigned: string[] }>;
  /**
   * Removes old messages from the histories of memories that live on, and returns which: what has left the view, and
   * what was edited or regenerated. The view stays as it is. Each step (a page, a thousand messages) may take `timeoutMs`.
   * Errors: `INVALID_OPTION`; `UNSUPPORTED` if the store lists none or keeps no history; once all others are pruned,
   * `CORRUPT_RECORD` or `UNSUPPORTED_VERSION` of the first memory that cannot be read.
   *
   * @example
   * ```ts
   * import { createChatMemories, inMemoryStore } from "@turnkeep/core";
   *
   * const memories = createChatMemories({ store: inMemoryStore(), window: { maxMessages: 20 } });
   * const year = 365 * 24 * 60 * 60 * 1000;
   * const { memories: found } = await memories.prune({ olderThanMs: year, dryRun: true });
   * console.log(found.length); // 0
   * ```
   */
  prune(request: PruneRequest, options?: MemoryCallOptions): Promise<Pruned>;
  /** Closes the memories, not the store. Idempotent. */
  close(): Promise<void>;
  /** Calls `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
