import type { ChatMemoryStore } from "@turnkeep/core";

/** Options for a new store. */
export interface HarnessCreateOptions {
  /** Pass it on as the store's option `ttlMs`. Set only if the store declares `ttl: true`. */
  readonly ttlMs?: number | undefined;
  /**
   * Pass it on as the store's option `activityMs`, if it has one. Set only if the store declares `newest: true`, for the
   * cases that write twice to a memory and look which is the newest.
   */
  readonly activityMs?: number | undefined;
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
   * Returns everything that the database holds for a memory, as text: rows, values, documents, in every table; decoded, if
   * the store compresses or encrypts payloads, as the kit looks for them there before it deletes them, and after. It shows
   * the kit that deleted data is gone from the database too, not only from the answers.
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
   * Returns a client of the same data that fails as {@link FaultOptions} say: without more than a `step` it dies like a
   * process. Locks and open transactions that it held end with the write that fails. The call that meets it may reject
   * with any error. The kit closes the client.
   */
  fault?: ((options: FaultOptions) => ChatMemoryStore | Promise<ChatMemoryStore>) | undefined;
  /**
   * Returns a store over an existing client, pool or connection, and whether that is still open. It shows the kit that
   * a store closes only what it opened.
   */
  given?: (() => GivenClient | Promise<GivenClient>) | undefined;
  /**
   * Names a module that makes a client of the same data anew, in a thread with a module state of its own. With it the kit
   * sees a lock or a cache that ends with the process, and races of a driver that never waits.
   */
  elsewhere?: (() => ElsewhereModule | Promise<ElsewhereModule>) | undefined;
  /**
   * Returns a client whose address holds a secret, such as a password, and where nothing listens. It shows the kit that
   * no error tells the secret.
   */
  unreachable?: (() => UnreachableClient | Promise<UnreachableClient>) | undefined;
  /**
   * Returns a client whose calls of the database are counted. With it the kit tests `delta` and `readSteps`. The kit closes
   * the client.
   */
  counted?: (() => CountedClient | Promise<CountedClient>) | undefined;
  /**
   * Returns the database's clock, in milliseconds since the epoch, where memories expire by it. With it the kit moves
   * this process's `Date`, and sees whether that moves the end of a life.
   */
  databaseNow?: (() => number | Promise<number>) | undefined;
}

/** How a client of `fault` fails. */
export interface FaultOptions {
  /** Its write to the database of this number, from 1, fails. */
  readonly step: number;
  /** Whether that write takes place, and only its answer is lost. */
  readonly after?: boolean | undefined;
  /** Whether what comes after that write goes on as usual. Without it, nothing after it takes place. */
  readonly passes?: boolean | undefined;
  /** The message of the error that the driver throws; default: any. A real one may quote what was sent. */
  readonly saying?: string | undefined;
}

/** A store over a client that the harness made and ends itself, in `destroy`. */
export interface GivenClient {
  readonly store: ChatMemoryStore;
  /** Asks the client, not the store. */
  isOpen(): boolean | Promise<boolean>;
  /**
   * What the client's user could see of its settings (parsers, time-outs, a current schema), as plain data. It is compared
   * before and after the store has used it.
   */
  settings?: (() => unknown) | undefined;
}

/** A module that makes clients, and what it needs to know. */
export interface ElsewhereModule {
  /** Its default export is a function from `data` to a store, or a promise of one. TypeScript or JavaScript. */
  readonly module: URL | string;
  /** Where the database is, such as its URL: what can be copied to another thread. */
  readonly data?: unknown;
}

/** A store that cannot reach its database. */
export interface UnreachableClient {
  readonly store: ChatMemoryStore;
  /** A text that stands in its address, and in nothing else. */
  readonly secret: string;
}

/** A store of which is counted what it sends. */
export interface CountedClient {
  readonly store: ChatMemoryStore;
  /**
   * Since it was made: `steps`, the round trips to the database, of which those that are under way at once count as one,
   * and `bytes`, the size of all that was sent, names and statements included.
   */
  count(): { readonly steps: number; readonly bytes: number };
}
