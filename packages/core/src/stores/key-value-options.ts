/** What a hook is called with beside its arguments. */
export interface KeyValueCall {
  /** Fires when the caller no longer waits. A hook may ignore it: the store's call ends all the same. */
  readonly signal?: AbortSignal | undefined;
}

/** A value with the mark by which {@link KeyValueStoreOptions.compareAndSet} tells whether it has changed. */
export interface KeyValueEntry<R> {
  readonly value: string;
  /**
   * Must never be the same for two values that a key has had, not even after it was deleted and written again: an
   * ETag of the content, a global counter, or `value` itself (no two states of a memory have equal values). A counter
   * that begins again with each key is not enough.
   */
  readonly revision: R;
}

/**
 * A database that can swap one value if it has not changed. A hook may answer at once or with a promise; what it
 * throws becomes the `cause` of `STORE_UNAVAILABLE`.
 *
 * Keys are memory ids as they are: 1 to 512 UTF-8 bytes of any Unicode but U+0000 and lone surrogates, so with `/`,
 * `:`, `*`, quotes, control characters, trailing blanks, upper and lower case apart. A database whose keys allow less
 * must encode them reversibly. Values are well-formed text without U+0000.
 */
export interface KeyValueStoreOptions<R extends {}> {
  /** The value under `key`, strongly consistent; `undefined` if there is none. */
  get(key: string, call: KeyValueCall): MaybePromise<KeyValueEntry<R> | undefined>;
  /**
   * Writes `value` if the entry under `key` still has that revision, or, with `undefined`, if there is none. Answers
   * whether it wrote. The comparison and the write are one atomic operation of the database.
   */
  compareAndSet(
    key: string,
    value: string,
    revision: R | undefined,
    call: KeyValueCall,
  ): MaybePromise<boolean>;
  /** Deletes whatever is under `key`; nothing there is no error. */
  delete(key: string, call: KeyValueCall): MaybePromise<void>;
  /**
   * Deletes the entry under `key` if it still has that revision; answers whether it did. Without it `sweep` leaves a
   * value of some thirty bytes in place of an expired memory.
   */
  deleteIfUnchanged?: ((key: string, revision: R, call: KeyValueCall) => MaybePromise<boolean>) | undefined;
  /**
   * Up to `limit` keys that come after the key `after`, which may have been deleted since, or the first; in an order
   * of the database's own that never changes. None: the end. Without it `listMemories` is `UNSUPPORTED` and `sweep`
   * removes nothing.
   */
  list?: ((page: KeyValuePage, call: KeyValueCall) => MaybePromise<readonly string[]>) | undefined;
  /** Closes what the hooks hold. Called once. */
  close?: (() => MaybePromise<void>) | undefined;
  /** The values survive the process. Default `false`. */
  readonly durable?: boolean | undefined;
  /** Several clients see the same data. Default `false`. */
  readonly shared?: boolean | undefined;
  /**
   * The largest message, in UTF-8 bytes of payload and meta. Default 16 MiB. All messages of a memory share one
   * value, which is some 10 % larger than they are, more if they hold many quotes.
   */
  readonly maxMessageBytes?: number | undefined;
  /** A memory untouched by writes for so many milliseconds is gone. Default: never. Kept in the value, by `now`. */
  readonly ttlMs?: number | undefined;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

export interface KeyValuePage {
  readonly after: string | undefined;
  readonly limit: number;
}

type MaybePromise<T> = T | Promise<T>;
