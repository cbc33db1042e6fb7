import type { ChatMemory } from "./chat-memory.ts";
import type { MemoryPolicy } from "./chat-memory-options.ts";
import type { MemoryCallOptions } from "./memory-call-options.ts";
import type { ChatMemoryStore, ListPage } from "./store-contract.ts";

/** Where the memories of an application are kept, and the policy that all of them share. */
export type ChatMemoriesOptions<M> = MemoryPolicy<M> & {
  readonly store: ChatMemoryStore;
  /** Whose a memory is when it begins: one owner for all, or a function of the memory's id. */
  readonly owner?: string | ((id: string) => string | undefined) | undefined;
  /** How many memories stay loaded when nobody holds them. Default 1,000. */
  readonly maxLoaded?: number | undefined;
};

/** Which memories of a store, and how many of them at once. */
export interface MemoryListQuery extends MemoryCallOptions {
  readonly owner?: string | undefined;
  /** The `cursor` of the page before. */
  readonly cursor?: string | undefined;
  /** 1 to 1,000; default 100. */
  readonly limit?: number | undefined;
}

/** How much of a memory its fork takes over. */
export interface ForkOptions extends MemoryCallOptions {
  /** The last message that the fork takes over, beside the system message that stands first. Default: the newest. */
  readonly at?: string | undefined;
}

/** Many conversations in one store. */
export interface ChatMemories<M> {
  /** The memory with that id: the same instance for everybody who holds it. Reads nothing yet. */
  get(id: string): ChatMemory<M>;
  /** One page of the memories in the store, in the store's order. `UNSUPPORTED` if the store lists none. */
  list(query?: MemoryListQuery): Promise<ListPage>;
  /**
   * Copies memory and history, up to and including `at`, into a new memory, with the same message ids and the source's
   * owner. Superseded messages stay behind. Errors: `ID_CONFLICT` if `to` exists, `INVALID_OPTION` if `from` or `at` does
   * not, `CORRUPT_RECORD` and `UNSUPPORTED_VERSION` if what stands beside the source's messages cannot be read.
   */
  fork(from: string, to: string, options?: ForkOptions): Promise<ChatMemory<M>>;
  /**
   * Deletes all memories of an owner, histories included; answers which. What is written later, by an answer that still
   * streams say, begins a memory anew: end such work first, or have it write with `mustExist` (`put`, `transaction`). Ids must not pass from one owner
   * to another meanwhile. Each step, a page or a memory, may take `timeoutMs`. `UNSUPPORTED` if the store lists none.
   */
  erase(
    request: { readonly owner: string },
    options?: MemoryCallOptions,
  ): Promise<{ readonly erased: string[] }>;
  /** Closes the memories, not the store. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
