import type { TurnkeepError } from "./errors.ts";
import type { MemoryCallOptions } from "./memory-call-options.ts";
import type { MessageState } from "./store-contract.ts";

/** Which messages of the history to read, and how many per page. */
export interface MemoryHistoryQuery extends MemoryCallOptions {
  /** Only messages with a greater `seq`. */
  readonly after?: number | undefined;
  /** Only messages with a smaller `seq`. */
  readonly before?: number | undefined;
  /** Default `ascending`. */
  readonly order?: "ascending" | "descending" | undefined;
  /** 1 to 1,000 per page; default 100. */
  readonly limit?: number | undefined;
  /** Default: all states. */
  readonly states?: readonly MessageState[] | undefined;
  /** Only messages with one of these ids, at most 1,000. Ids that no message has are ignored. */
  readonly ids?: readonly string[] | undefined;
  /** Whether each message says which one it follows ({@link HistoryMessage.parent}). Default `false`. */
  readonly branches?: boolean | undefined;
}

/** One message of the history. */
export interface HistoryMessage<M> {
  readonly id: string;
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly state: MessageState;
  readonly message: M;
  /**
   * With {@link MemoryHistoryQuery.branches}, and from `versions`: the `seq` of the message that this one follows; 0 if it
   * is the first. Messages with the same `parent` are versions of one another. The message with that `seq` may have been
   * removed: then this one follows the last that is left before it. Absent for a system message in front, which stands apart.
   */
  readonly parent?: number | undefined;
}

/** One page of the history. */
export interface MemoryHistoryPage<M> {
  readonly messages: HistoryMessage<M>[];
  readonly hasMore: boolean;
  /** `CORRUPT_RECORD` or `UNSUPPORTED_VERSION`, one for each record of the page that cannot be read. */
  readonly errors: TurnkeepError[];
}
