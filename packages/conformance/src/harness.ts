import type { ChatMemoryStore } from "@turnkeep/core";

/** Options for a new store. */
export interface HarnessCreateOptions {
  /** Pass it on as the store's option `ttlMs`. Set only if the store declares `ttl: true`. */
  readonly ttlMs?: number | undefined;
}

/**
 * How the kit gets at a store. Only `create` is required.
 *
 * @example
 * ```ts
 * import type { ConformanceHarness } from "@turnkeep/conformance";
 * import { inMemoryStore } from "@turnkeep/core";
 *
 * let offset = 0;
 * const harness: ConformanceHarness = {
 *   create: ({ ttlMs }) => inMemoryStore({ ttlMs, now: () => Date.now() + offset }),
 *   advance: (ms) => {
 *     offset += ms;
 *   },
 * };
 * ```
 */
export interface ConformanceHarness {
  /**
   * Returns a new client, ready for use: tables created, indexes built. If the store declares `shared: true`, each call
   * must return another client of the same data: races run between two of them. The kit closes each.
   */
  create(options: HarnessCreateOptions): ChatMemoryStore | Promise<ChatMemoryStore>;
  /** Ends whatever `create` made that a store's `close()` does not: tables, pools, servers. Called once, at the end. */
  destroy?: (() => void | Promise<void>) | undefined;
  /**
   * Restarts the database beneath the stores, so that the next `create` finds only durable data. Without it, the kit
   * closes a client and creates another.
   */
  reopen?: (() => void | Promise<void>) | undefined;
  /**
   * Moves the clock of all clients ahead, for stores with a clock of their own. Without it, the cases of the group
   * `ttl` wait for short, real times.
   */
  advance?: ((ms: number) => void | Promise<void>) | undefined;
  /**
   * Returns everything that the database holds for a memory, as text: rows, values, documents. It shows the kit that
   * deleted data is gone from the database too, not only from the answers.
   */
  rawRead?: ((memoryId: string) => readonly string[] | Promise<readonly string[]>) | undefined;
  /**
   * Damages a memory in the database: replaces the texts that `rawRead` returns by these, in the same order, bypassing
   * every check of the store. With it and `rawRead`, the kit tests what a corrupt record does to others.
   */
  rawWrite?: ((memoryId: string, texts: readonly string[]) => void | Promise<void>) | undefined;
  /**
   * Removes from the database the record (row, item, document, field) that holds the text at this index of what
   * `rawRead` returns, bypassing every check of the store. With it and `rawRead`, the kit tests what becomes of a memory
   * of which somebody else has removed a part.
   */
  rawRemove?: ((memoryId: string, index: number) => void | Promise<void>) | undefined;
  /**
   * Returns a client of the same data that dies like a process: its `step`-th write to the database (from 1), and
   * everything after it, does not take place. Locks and open transactions that it held end with it. The call that meets
   * its death may reject with any error. The kit closes it.
   */
  fault?: ((options: { readonly step: number }) => ChatMemoryStore | Promise<ChatMemoryStore>) | undefined;
  /**
   * Returns a store over an existing client, pool or connection, and whether that is still open. It shows the kit that
   * a store closes only what it opened.
   */
  given?: (() => GivenClient | Promise<GivenClient>) | undefined;
}

/** A store over a client that the harness made and ends itself, in `destroy`. */
export interface GivenClient {
  readonly store: ChatMemoryStore;
  /** Asks the client, not the store. */
  isOpen(): boolean | Promise<boolean>;
}
