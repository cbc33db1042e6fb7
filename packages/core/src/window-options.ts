import type { MessageFormat } from "./message-format.ts";

/** A positive integer, or a function of the memory's id that is asked at each use. */
export type Limit = number | ((id: string) => number | Promise<number>);

/** Counts what a message costs a model. Counts are kept with the message in the store, under `name`. */
export interface TokenCounter {
  /** Names what is counted (`"o200k_base"`): counts of another name are not reused. */
  readonly name: string;
  /** What a list costs beyond its messages. Default 0. */
  readonly base?: number | undefined;
  /** A non-negative integer. Called once per message. */
  count<M>(message: M, format: MessageFormat<M>): number;
}

/**
 * What is evicted at once: a `step` (an assistant message with all results of its calls; any other message alone), a
 * `turn` (a user message and all steps up to the next), or a `message` by LangChain4j's algorithm.
 */
export type WindowUnit = "step" | "turn" | "message";

/** What happens when the newest step alone does not fit. */
export type WindowOverflow = "throw" | "keep" | "evict";

/**
 * The policy that decides what stays in memory. Both limits may be given, and both hold.
 *
 * @example
 * ```ts
 * import { createChatMemory, user } from "@turnkeep/core";
 *
 * const memory = createChatMemory({ window: { maxMessages: 20 } });
 * await memory.add(user("Hello"));
 * ```
 */
export interface WindowOptions<M> {
  /** At most so many messages, the system message included. */
  readonly maxMessages?: Limit | undefined;
  /** At most so many tokens by `counter`, as calibrated, its `base` and `reserve` included. */
  readonly maxTokens?: Limit | undefined;
  /** Required with `maxTokens`. */
  readonly counter?: TokenCounter | undefined;
  /** Tokens kept free for what is no message: tool definitions, the answer. Default 0. */
  readonly reserve?: Limit | undefined;
  /** Default `turn` for a memory whose `profile` wants the user's message first, else `step`. */
  readonly unit?: WindowUnit | undefined;
  /**
   * 0 < target ≤ 1. Once over a limit, evict down to `target` × that limit, so that the prompt's beginning stays the
   * same for many turns and a provider's prompt cache keeps hitting. Default 0.7 with `maxTokens`, 1 with
   * `maxMessages` alone or with unit `message`. Where the memory's `profile` binds reasoning to what stands before it, a
   * user's message makes room already when more than half-way from `target` to the limit is used.
   */
  readonly target?: number | undefined;
  /** Default `throw`; `evict` with unit `message`. */
  readonly overflow?: WindowOverflow | undefined;
  /** Messages that are never evicted, nor is the rest of their step (with unit `turn`: of their turn). */
  readonly pinned?: ((message: M) => boolean) | undefined;
}
