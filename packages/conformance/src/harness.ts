import type { ChatMemoryStore } from "@turnkeep/core";

/** What a store is to be made with. */
export interface HarnessCreateOptions {
  /** To be handed on as the store's option `ttlMs`. Given only if the store declares `ttl: true`. */
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
   * A new client, ready for use: tables made, indexes built. Each call answers another client of the same data, if the
   * store declares `shared: true`: races run between two of them. The kit closes each.
   */
  create(options: HarnessCreateOptions): ChatMemoryStore | Promise<ChatMemoryStore>;
  /** Ends what `create` made beyond what `close()` of a store ends: tables, pools, servers. Called once, at the end. */
  destroy?: (() => void | Promise<void>) | undefined;
  /**
   * Restarts what lies beneath the stores, so that the next `create` finds only what has been made durable. Without it
   * the kit closes a client and creates another.
   */
  reopen?: (() => void | Promise<void>) | undefined;
  /**
   * Moves the clock of all clients ahead. For stores with a clock of their own; without it the cases of the group
   * `ttl` wait for short, real time.
   */
  advance?: ((ms: number) => void | Promise<void>) | undefined;
  /**
   * Everything that the database holds for a memory, as text: rows, values, documents. With it the kit sees that what
   * was deleted is gone from the database too, not only from the answers.
   */
  rawRead?: ((memoryId: string) => readonly string[] | Promise<readonly string[]>) | undefined;
  /**
   * Damages a memory in the database: puts these texts in place of those that `rawRead` answers, in the same order, and
   * past every check of the store. With it, and `rawRead`, the kit sees what a corrupt record does to the others.
   */
  rawWrite?: ((memoryId: string, texts: readonly string[]) => void | Promise<void>) | undefined;
  /**
   * A client of the same data that dies, as a process does: its `step`-th write to the database (from 1) does not take
   * place, and neither does anything after it. What it held, a lock or an open transaction, ends with it, as a process's
   * does. The call that meets it may reject with any error. The kit closes it.
   */
  fault?: ((options: { readonly step: number }) => ChatMemoryStore | Promise<ChatMemoryStore>) | undefined;
  /**
   * A store made over a client, pool or connection that it was given, and whether that is still open. With it the kit
   * sees that a store closes only what it opened.
   */
  given?: (() => GivenClient | Promise<GivenClient>) | undefined;
}

/** A store over somebody else's client. The harness ends the client itself, in `destroy`. */
export interface GivenClient {
  readonly store: ChatMemoryStore;
  /** Asks the client, not the store. */
  isOpen(): boolean | Promise<boolean>;
}
