/**
 * The contract between a memory and a database. A store keeps, for each memory id, a version, the next sequence
 * number, an opaque head, an owner, and the messages with their state. It knows nothing of windows, formats or tokens.
 *
 * How this file may change: a new rule enters these comments and the conformance kit together, and the kit reports
 * its cases as warnings for one minor version before they count.
 */

/** `live`: shown to the model. `evicted`: left memory for history. `superseded`: replaced, edited or regenerated. */
export type MessageState = "live" | "evicted" | "superseded";

/** A message as a store keeps it: ids, times and text, whatever the format. */
export interface StoredMessage {
  /** Unique within its memory: 1 to 256 UTF-8 bytes. Core looks ids up before it commits; a store need not enforce it. */
  id: string;
  /** Position: strictly increasing, never reused within a memory. */
  seq: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
  /** JSON text, opaque to the store; well-formed Unicode without U+0000. */
  payload: string;
  /** JSON text, opaque to the store: token counts, epoch, and the like. */
  meta?: string | undefined;
}

/** What `getMessages` returns: one memory as it was at one moment. */
export interface MemorySnapshot {
  /** `null`: no such memory (never was, deleted, or expired); then `nextSeq` is 1 and nothing else is set. */
  version: string | null;
  nextSeq: number;
  owner?: string | undefined;
  /** JSON text, opaque to the store. Core keeps it under 1 KB; 16 KB is the ceiling. */
  head?: string | undefined;
  /** JSON text, opaque to the store: what the application says about the conversation, 8 KB at most. */
  data?: string | undefined;
  /** The live messages, by `seq`. One whose record is lost or damaged stands in its place: see `unreadableMessage`. */
  messages: StoredMessage[];
  /** Set only if the memory is still at {@link ReadOptions.known}; `messages` is then empty. */
  unchanged?: true | undefined;
  /**
   * What the operator of the database must know, such as that it may evict records. At most once in the life of a store,
   * with the first answer that can tell; core reports it as a `warning` event. Never content.
   */
  warning?: { readonly code: string; readonly message: string } | undefined;
}

/** One change of a memory, which applies as a whole or not at all. */
export interface MemoryUpdate {
  /** The version this change was computed from; `null` begins the memory. */
  expected: string | null;
  /** The version after the change: unique, made by core, 1 to 256 UTF-8 bytes like a message id. */
  version: string;
  nextSeq: number;
  /** The owner from now on. Absent: unchanged; none, for a memory that begins. */
  owner?: string | undefined;
  /** Absent: unchanged. */
  head?: string | undefined;
  /** Absent: unchanged. 8 KB (8,192 UTF-8 bytes) at most. */
  data?: string | undefined;
  /**
   * How long the memory lives from this write on, in milliseconds, unless it is written to again; `null`: for ever.
   * Absent: the `ttlMs` of the store. `UNSUPPORTED` without the capability `ttl`.
   */
  ttlMs?: number | null | undefined;
  /** New messages, live, by ascending `seq`. */
  append: StoredMessage[];
  /**
   * Live or evicted messages with a new payload, meta or `createdAt`, all stored as given; same `seq`, same `id`, and the
   * state as it was. `state` says which are evicted; absent: live.
   */
  replace: (StoredMessage & { state?: "evicted" | undefined })[];
  /**
   * At most one per `seq`; may name a message that this update appends or replaces. `removed` deletes it. Moves back to
   * `live` happen only after a rewind or in a fork, so they may cost more.
   */
  move: { seq: number; to: MessageState | "removed" }[];
}

/** Which messages `getHistory` returns. */
export interface HistoryQuery {
  /** Only messages with a greater `seq`. */
  after?: number | undefined;
  /** Only messages with a smaller `seq`. */
  before?: number | undefined;
  /** Default `ascending`. */
  order?: "ascending" | "descending" | undefined;
  /** 1 to 1,000; default 100. */
  limit?: number | undefined;
  /** Default: all. */
  states?: MessageState[] | undefined;
  /** Only these message ids; up to 1,000. */
  ids?: string[] | undefined;
}

/** One page of a memory's messages, live ones included, in the order that was asked for. */
export interface HistoryPage {
  messages: (StoredMessage & { state: MessageState })[];
  hasMore: boolean;
}

/** Which memories `listMemories` returns. */
export interface ListQuery {
  /** Only memories of this owner. */
  owner?: string | undefined;
  /**
   * `newest`: by the last activity, newest first; `UNSUPPORTED` without the capability `newest`. Default `stored`: the
   * store's own order, in which the cursor is stable.
   */
  order?: "stored" | "newest" | undefined;
  /** The `cursor` of the previous page, in the same order. */
  cursor?: string | undefined;
  /** 1 to 1,000; default 100. */
  limit?: number | undefined;
}

/** One page of the memories in a store. */
export interface ListPage {
  /** `updatedAt`: milliseconds since the epoch. */
  memories: {
    memoryId: string;
    owner?: string | undefined;
    updatedAt: number;
    data?: string | undefined;
  }[];
  /** Set while there are more pages. */
  cursor?: string | undefined;
}

/** Options of every call to a store. */
export interface CallOptions {
  /** Ends the call with `ABORTED`. */
  signal?: AbortSignal | undefined;
}

/** Options of `getMessages`. */
export interface ReadOptions extends CallOptions {
  /**
   * The version that the caller has read or written, and still holds. If it is current, a store may leave the messages
   * out and return `unchanged: true`; else the result is the same as without it. A store may ignore it.
   */
  known?: string | undefined;
}

/** Options of `deleteMessages`. */
export interface DeleteOptions extends CallOptions {
  /**
   * Deletes the memory only if this is its version. Another version is `VERSION_CONFLICT`, and nothing has changed; a
   * memory that is not there is deleted already. Absent: whatever is there. What is no version, such as `""` or `null`, is
   * `INVALID_OPTION`.
   */
  expected?: string | undefined;
}

/**
 * What a store declares about itself. The conformance kit tests what is declared and skips what is not; it observes
 * `delta` and `readSteps` where its harness counts what is sent.
 */
export interface StoreCapabilities {
  /** Acknowledged writes survive the process. */
  readonly durable: boolean;
  /** Several clients see the same data, in whatever process they are. */
  readonly shared: boolean;
  /** Messages that leave memory are kept, and `getHistory` reads them. */
  readonly history: boolean;
  /** `listMemories` works. */
  readonly list: boolean;
  /** `listMemories` knows the order `newest`. */
  readonly newest: boolean;
  /** The option `ttlMs` works, and that of an update. */
  readonly ttl: boolean;
  /** An append writes only the messages that it names. */
  readonly delta: boolean;
  /** The number of dependent round trips in a read. */
  readonly readSteps: 1 | 2;
  /** The largest message, as UTF-8 bytes of `payload` and `meta` together. */
  readonly maxMessageBytes: number;
  /**
   * The largest memory, in UTF-8 bytes as the store keeps it: its live messages, and its history where that stands with
   * them. Absent: as much as the database takes.
   */
  readonly maxMemoryBytes?: number | undefined;
}

/**
 * A database as a memory sees it. Every store has every method; one that it cannot serve is declared so in
 * `capabilities` and throws `UNSUPPORTED`.
 *
 * - `updateMessages` is atomic: readers see all of it or none. It applies only if the stored version is `expected`;
 *   otherwise it throws `VERSION_CONFLICT` and nothing has changed. The same update sent twice is one update: while its
 *   `version` is in place, the second call succeeds; after another commit it is a `VERSION_CONFLICT`.
 * - A `VERSION_CONFLICT` is certain: this call changed nothing. Where a driver or SDK may have sent the update twice by
 *   itself, a refusal of the repeat proves nothing about the first, and is `STORE_UNAVAILABLE` unless the store can tell.
 * - `getMessages` is strongly consistent and a consistent snapshot. Order is `seq`, never time.
 * - A history page is not a snapshot, but a message that is not removed while a reader pages appears exactly once.
 * - Memory ids and owners are 1 to 512 UTF-8 bytes, message ids 1 to 256, of well-formed Unicode without U+0000;
 *   anything else is `INVALID_OPTION`. Two ids never share data.
 * - A message above `maxMessageBytes` is `MESSAGE_TOO_LARGE` before anything is written. A message of 1 MB
 *   (1,048,576 bytes) works, and a hundred of them live at once, in every store that does not declare less. A store may
 *   declare a `maxMessageBytes` of 512 KB or more, and a `maxMemoryBytes` of 1 MB or more. An update that would exceed
 *   `maxMemoryBytes` is `MEMORY_FULL` before anything is written; one that makes enough room applies.
 *   Numbers have no limit: not those of live messages, of changes in one update, of memories in a list, of what one sweep
 *   removes. The kit tries 12,000 messages, 1,100 memories of one owner, and 150 that have expired.
 * - An update that breaks the rules described here is `INVALID_OPTION` before anything is written. So is one that
 *   contradicts what is stored: `nextSeq` never decreases, no `seq` is reused, a replaced message has the state
 *   that the update says (live, or evicted) and keeps its id, a moved message exists.
 * - Versions are unique, so a memory that was deleted and begun again never passes for the old one. Only an update that
 *   expects `null` begins a memory.
 * - With `ttlMs`, a memory that nobody has written to for that long is absent from every method at once. Each write
 *   extends the life of the whole memory. Each write sets the expiry anew, by its own `ttlMs`, else by that of the client
 *   that makes it: none, if neither has one. The database's clock decides, where it has one. What belonged to an earlier life of an
 *   id never shows in a later one. What looks at an expired memory, or removes it, spares the one that has begun in its
 *   place. An update that came before the end, and waited for others past it, may still apply, though readers were told
 *   meanwhile that the memory is gone, or be `VERSION_CONFLICT`.
 * - An update may change the owner: from then on the memory is in the new owner's listing, and in the old one's no more.
 * - The order `newest` is by the last activity: writes of every kind. A store may note it at a granularity (its option
 *   `activityMs`, 60,000 by default), so that an append costs no more than without; a memory that begins, or whose last
 *   noted activity is older than that, comes first at once. What is written while somebody pages may show twice or not.
 * - Reads return new objects. A store does not change updates, and what a caller does to an argument after the call, or
 *   to a returned object, changes nothing stored.
 * - A call says what stands in its way in one order, before the database is asked: `CLOSED`, `ABORTED`, a wrong memory id,
 *   other wrong arguments, `UNSUPPORTED`.
 * - Every call takes a `signal`: one that fired before the call ends it with `ABORTED`, and nothing is written; one
 *   that fires during an update leaves all of it or none. A call that has ended leaves no listener on its `signal`, and
 *   one that failed no lock.
 * - One corrupt record does not hide the others. Where the record of a live message is gone or damaged, the message comes
 *   back in its place with an empty payload (`unreadableMessage` of the store kit), in `getMessages` and `getHistory`
 *   alike, and can be moved and replaced like any other. What cannot be read of the memory itself is `CORRUPT_RECORD`
 *   with its id, and can be deleted.
 * - A refusal that is certain is `STORE_REFUSED` (missing rights, a read-only server, a wrong password, no such database
 *   or host), or `STORE_NOT_READY` where `migrate()` helps. `STORE_UNAVAILABLE` is only what is open, and may be repeated.
 *   After a fault that passes, the client goes on as before; one that does not pass ends each call with an error.
 * - Errors are `TurnkeepError`s with the driver's error as `cause`, and never contain content, passwords or keys.
 */
export interface ChatMemoryStore {
  readonly capabilities: StoreCapabilities;
  /** The live messages of one memory, its version and head. An unknown id gives an empty snapshot, no error. */
  getMessages(memoryId: string, options?: ReadOptions): Promise<MemorySnapshot>;
  /**
   * Applies one change, all or none. Errors: `VERSION_CONFLICT`, `MESSAGE_TOO_LARGE`, `MEMORY_FULL`, `INVALID_OPTION`.
   */
  updateMessages(memoryId: string, update: MemoryUpdate, options?: CallOptions): Promise<void>;
  /**
   * Deletes the memory and its history. Succeeds if there is none. Errors: `VERSION_CONFLICT` and `INVALID_OPTION` by
   * {@link DeleteOptions.expected}.
   */
  deleteMessages(memoryId: string, options?: DeleteOptions): Promise<void>;
  /** One page of everything that is kept, by `seq`. */
  getHistory(memoryId: string, query: HistoryQuery, options?: CallOptions): Promise<HistoryPage>;
  /**
   * One page of the listing. The listing misses no memory whose creation was acknowledged before the call. The cursor
   * of the order `stored` is stable. A cursor that no page of this order gave is `INVALID_OPTION`, or another place than the start.
   */
  listMemories(query: ListQuery, options?: CallOptions): Promise<ListPage>;
  /** Removes what interrupted updates and expiry left behind; returns how many memories or records it removed. */
  sweep(options?: CallOptions): Promise<{ removed: number }>;
  /**
   * Idempotent. Closes what the store opened, all of it and nothing else; later calls are `CLOSED`. A client that it was
   * given keeps its settings.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
