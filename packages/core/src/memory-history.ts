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
}

/** One message of the history. */
export interface HistoryMessage<M> {
  readonly id: string;
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly state: MessageState;
  readonly message: M;
}

/** One page of the history. */
export interface MemoryHistoryPage<M> {
  readonly messages: HistoryMessage<M>[];
  readonly hasMore: boolean;
  /** `CORRUPT_RECORD` or `UNSUPPORTED_VERSION`, one for each record of the page that cannot be read. */
  readonly errors: TurnkeepError[];
}
