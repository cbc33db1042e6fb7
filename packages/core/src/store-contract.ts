/**
 * The contract between a memory and a database. A store keeps, for each memory id, a version, the next sequence
 * number, an opaque head, an owner, and the messages with their state. It knows nothing of windows, formats or tokens.
 *
 * How this file may change: a new rule enters these comments and the conformance kit together, and the kit reports
 * its cases as warnings for one minor version before they count.
 */

/** `live`: shown to the model. `evicted`: left memory for history. `superseded`: replaced, edited or regenerated. */
export type MessageState = "live" | "evicted" | "superseded";

export interface StoredMessage {
  /** Unique within its memory: 1 to 256 UTF-8 bytes. Core looks ids up before it commits; a store need not enforce it. */
  id: string;
  /** Position; strictly increasing, never reused within a memory. */
  seq: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
  /** JSON text, opaque to the store; well-formed Unicode without U+0000. */
  payload: string;
  /** JSON text, opaque to the store: token counts, epoch, and the like. */
  meta?: string | undefined;
}

export interface MemorySnapshot {
  /** `null`: no such memory (never was, deleted, or expired); then `nextSeq` is 1 and nothing else is given. */
  version: string | null;
  nextSeq: number;
  owner?: string | undefined;
  /** JSON text, opaque to the store. Core keeps it under 1 KB; 16 KB is the ceiling. */
  head?: string | undefined;
  /** The live ones, by `seq`. */
  messages: StoredMessage[];
  /** The memory is still at {@link ReadOptions.known}, and `messages` was left empty. */
  unchanged?: true | undefined;
}

export interface MemoryUpdate {
  /** The version this change was computed from; `null` begins the memory. */
  expected: string | null;
  /** The version after it; unique, made by core. A text like a message's id: 1 to 256 UTF-8 bytes. */
  version: string;
  nextSeq: number;
  /** Taken when the memory begins, ignored later. */
  owner?: string | undefined;
  /** Absent: as it was. */
  head?: string | undefined;
  /** New messages, live, by ascending `seq`. */
  append: StoredMessage[];
  /** Live messages with a new payload, meta or `createdAt`, all stored as given; same `seq`, same `id`. */
  replace: StoredMessage[];
  /**
   * One per `seq`; may name a message just appended or replaced. `removed` deletes it. Back to `live` happens only
   * after a rewind or in a fork, so it may cost more.
   */
  move: { seq: number; to: MessageState | "removed" }[];
}

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

export interface HistoryPage {
  messages: (StoredMessage & { state: MessageState })[];
  hasMore: boolean;
}

export interface ListQuery {
  /** Only memories of this owner. */
  owner?: string | undefined;
  /** The `cursor` of the page before. */
  cursor?: string | undefined;
  /** 1 to 1,000; default 100. */
  limit?: number | undefined;
}

export interface ListPage {
  /** `updatedAt`: milliseconds since the epoch. The order is the store's. */
  memories: { memoryId: string; owner?: string | undefined; updatedAt: number }[];
  /** Given while there is more. */
  cursor?: string | undefined;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface ReadOptions extends CallOptions {
  /**
   * The version that the caller has read or written, and still has. Where it is the present one, a store may leave
   * the messages out and say `unchanged: true`; where it is not, the answer is as without it. A store need not look at it.
   */
  known?: string | undefined;
}

/**
 * What a store declares of itself. The conformance kit holds it to what it declares and skips what it does not; `delta`
 * and `readSteps` it cannot see.
 */
export interface StoreCapabilities {
  /** What was acknowledged survives the process. */
  readonly durable: boolean;
  /** Several clients see the same data. */
  readonly shared: boolean;
  /** What leaves memory is kept, and `getHistory` reads it. */
  readonly history: boolean;
  /** `listMemories` works. */
  readonly list: boolean;
  /** The option `ttlMs` works. */
  readonly ttl: boolean;
  /** An append writes only what it names. */
  readonly delta: boolean;
  /** Dependent round trips of a read. */
  readonly readSteps: 1 | 2;
  /** The largest message, as UTF-8 bytes of `payload` and `meta` together. */
  readonly maxMessageBytes: number;
}

/**
 * A database as a memory sees it. Every method exists in every store; one that a store cannot serve is declared so in
 * `capabilities` and answers `UNSUPPORTED`.
 *
 * - `updateMessages` is atomic: readers see all of it or none. It applies only if the stored version is `expected`,
 *   otherwise it throws `VERSION_CONFLICT` and nothing has changed. The same update sent twice is one update: while
 *   its `version` is in place, the second call succeeds; after another commit it is a `VERSION_CONFLICT`.
 * - `getMessages` is strongly consistent and a consistent snapshot. Order is `seq`, never time.
 * - A history page is not a snapshot; but a message that is not removed while a reader pages appears exactly once.
 * - Memory ids and owners are 1 to 512 UTF-8 bytes, message ids 1 to 256, of well-formed Unicode without U+0000;
 *   anything else is `INVALID_OPTION`. Two ids never share data.
 * - A message above `maxMessageBytes` is `MESSAGE_TOO_LARGE` before anything is written. A message of 1 MB
 *   (1,048,576 bytes) works in every store, and a hundred of them live at once.
 * - An update that is not as described is `INVALID_OPTION` before anything is written. So is one that contradicts what is
 *   stored: `nextSeq` never goes back, no `seq` is used again, what is replaced is live and keeps its id, what is moved
 *   is there.
 * - Versions are unique, so a memory that was deleted and began again never passes for the old one, and only an update
 *   that expects `null` begins a memory.
 * - With `ttlMs`, a memory untouched by writes for so long is absent in every method at once. Each write prolongs the
 *   life of the whole memory. What belonged to an earlier life of an id never shows in a later one.
 * - Reads return fresh objects. Updates are not changed, and what a caller does to an argument after the call, or to
 *   what was returned, changes nothing stored.
 * - Every call takes a `signal`: one that has fired before the call ends it with `ABORTED` and nothing is written; one
 *   that fires during an update leaves all of it or none.
 * - One corrupt record does not hide the others: `CORRUPT_RECORD` names its id.
 * - Errors are `TurnkeepError`s with the driver's error as `cause`, and never hold content, passwords or keys.
 */
export interface ChatMemoryStore {
  readonly capabilities: StoreCapabilities;
  /** The live messages of one memory with its version and head. An unknown id is an empty snapshot, not an error. */
  getMessages(memoryId: string, options?: ReadOptions): Promise<MemorySnapshot>;
  /** Applies one change, all or none. Errors: `VERSION_CONFLICT`, `MESSAGE_TOO_LARGE`, `INVALID_OPTION`. */
  updateMessages(memoryId: string, update: MemoryUpdate, options?: CallOptions): Promise<void>;
  /** Deletes the memory and its history. Deleting what is not there succeeds. */
  deleteMessages(memoryId: string, options?: CallOptions): Promise<void>;
  /** One page of everything that is kept, by `seq`. */
  getHistory(memoryId: string, query: HistoryQuery, options?: CallOptions): Promise<HistoryPage>;
  /** Misses no memory whose creation was acknowledged before the call. The cursor is stable. */
  listMemories(query: ListQuery, options?: CallOptions): Promise<ListPage>;
  /** Removes what interrupted updates and expiry left behind; answers how many memories or records it removed. */
  sweep(options?: CallOptions): Promise<{ removed: number }>;
  /** Idempotent. Closes only what the store opened; every later call is `CLOSED`. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
