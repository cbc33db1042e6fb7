/** What a hook is given beside its arguments. */
export interface KeyValueCall {
  /** Fires when the caller no longer waits. A hook may ignore it; the store's call still ends. */
  readonly signal?: AbortSignal | undefined;
}

/** A value with the revision that {@link KeyValueStoreOptions.compareAndSet} compares. */
export interface KeyValueEntry<R> {
  readonly value: string;
  /**
   * Must never repeat for two values of one key, even if the key was deleted and written again in between: an ETag of
   * the content, a global counter, or `value` itself (no two states of a memory have equal values). A counter that
   * restarts with each key is not enough.
   */
  readonly revision: R;
}

/**
 * A database that can swap one value if it has not changed. A hook may return a value or a promise; if it throws, the
 * error becomes the `cause` of `STORE_UNAVAILABLE`.
 *
 * Keys are memory ids as they are: 1 to 512 UTF-8 bytes of any Unicode except U+0000 and lone surrogates. They may hold
 * `/`, `:`, `*`, quotes, control characters and trailing blanks, and they are case-sensitive. An id that begins with `~`
 * gets a second one in front; with `list`, `~:` and the id begin the keys under which its history is kept. For a database
 * that restricts its keys, set `keys: "hex"`. Values are well-formed text without U+0000.
 */
export interface KeyValueStoreOptions<R extends {}> {
  /** Returns the value under `key`, strongly consistent; `undefined` if there is none. */
  get(key: string, call: KeyValueCall): MaybePromise<KeyValueEntry<R> | undefined>;
  /**
   * Writes `value` if the entry under `key` still has that revision or, for `undefined`, if there is no entry. Returns
   * `true` if it wrote, else `false`; anything else, such as a count of rows, is `INVALID_OPTION`. The comparison and the
   * write must be one atomic operation of the database.
   */
  compareAndSet(
    key: string,
    value: string,
    revision: R | undefined,
    call: KeyValueCall,
  ): MaybePromise<boolean>;
  /**
   * Deletes the entry under `key` if it still has that revision or, for `undefined`, whatever it is. Returns `true` if it
   * deleted something, else `false`, as above. The comparison and the deletion must be one atomic operation of the database.
   */
  delete(key: string, revision: R | undefined, call: KeyValueCall): MaybePromise<boolean>;
  /**
   * Returns up to `limit` keys after the key `after` (which may have been deleted since), or the first keys, in an
   * order that the database never changes. An empty list is the end. Without this hook, `listMemories` is `UNSUPPORTED`,
   * `sweep` removes nothing, and the history of a memory stands in one value with its live messages. All clients of the
   * data have it, or none.
   */
  list?: ((page: KeyValuePage, call: KeyValueCall) => MaybePromise<readonly string[]>) | undefined;
  /** Closes whatever the hooks hold. Called once. */
  close?: (() => MaybePromise<void>) | undefined;
  /** The values survive the process. Default `false`. */
  readonly durable?: boolean | undefined;
  /** Several clients see the same data. Default `false`. */
  readonly shared?: boolean | undefined;
  /**
   * What the hooks get as keys. `"id"`: the memory's id as it is. `"hex"`: its UTF-8 bytes in lower-case hexadecimal
   * digits, 2 to 1,024 of `0-9a-f`, for names of files, paths and databases that fold case or forbid characters; the
   * order stays that of the bytes, keys of history begin with `ff`, and keys of `list` that are none of these are not
   * memories. Default `"id"`. It must stay the same for data that is there.
   */
  readonly keys?: "id" | "hex" | undefined;
  /**
   * The largest message, in UTF-8 bytes of payload and meta. Default 16 MiB, or half of `maxMemoryBytes` if that is less.
   * All live messages of a memory share one value, which is some 10 % larger than they are, or more if they hold many
   * quotes.
   */
  readonly maxMessageBytes?: number | undefined;
  /**
   * The largest value that the database takes, in UTF-8 bytes, the key not counted: 1,500,000 leaves room for it in etcd
   * as it comes. A change that would exceed it is `MEMORY_FULL`, and nothing is written: with `list`, the live messages
   * alone must fit, so a smaller window helps; without it their history too. Default: no limit; what the database then
   * refuses is `STORE_UNAVAILABLE` unless the hook throws another error.
   */
  readonly maxMemoryBytes?: number | undefined;
  /** A memory expires after this many milliseconds without a write, measured by `now`. Default: never. */
  readonly ttlMs?: number | undefined;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** Which keys to list: up to `limit` after the key `after`, or the first ones. */
export interface KeyValuePage {
  readonly after: string | undefined;
  readonly limit: number;
}

type MaybePromise<T> = T | Promise<T>;
