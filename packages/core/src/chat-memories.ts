import type { ChatMemory } from "./chat-memory.ts";
import type { MemoryPolicy } from "./chat-memory-options.ts";
import type { MemoryCallOptions } from "./memory-call-options.ts";
import type { ChatMemoryStore, ListPage } from "./store-contract.ts";

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
  /** The `cursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** 1 to 1,000; default 100. */
  readonly limit?: number | undefined;
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
  /** One page of the memories in the store, in the store's order. `UNSUPPORTED` if the store lists none. */
  list(query?: MemoryListQuery): Promise<ListPage>;
  /**
   * Copies memory and history, up to and including `at`, into a new memory with the same message ids and owner.
   * Superseded messages are not copied. Errors: `ID_CONFLICT` if `to` exists, `INVALID_OPTION` if `from` or `at` does
   * not, `OWNER_MISMATCH` if `from` is not the owner's, or `to` is to be somebody else's, `CORRUPT_RECORD` and
   * `UNSUPPORTED_VERSION` if what is stored beside the source's messages cannot be read.
   */
  fork(from: string, to: string, options?: ForkOptions): Promise<ChatMemory<M>>;
  /**
   * Deletes all memories of an owner with their histories, and returns which. A later write, such as that of a
   * streaming answer, begins a memory anew: end such work first, or let it write with `mustExist` (`put`,
   * `transaction`). Ids must not change owner meanwhile. Each step (a page, a memory) may take `timeoutMs`.
   * `UNSUPPORTED` if the store lists none.
   */
  erase(
    request: { readonly owner: string },
    options?: MemoryCallOptions,
  ): Promise<{ readonly erased: string[] }>;
  /** Closes the memories, not the store. Idempotent. */
  close(): Promise<void>;
  /** Calls `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
