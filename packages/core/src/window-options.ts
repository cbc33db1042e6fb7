import type { MessageFormat } from "./message-format.ts";

/**
 * A positive integer, or a function of the memory's id that is asked at each use. What has left memory stays in history
 * when a limit grows.
 */
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

/** What {@link Summarize} is told beside the messages. */
export interface SummarizeContext<M> {
  readonly memoryId: string;
  /** Fires when `timeoutMs` is over, or when the signal of the call that waits does. Hand it on to the model. */
  readonly signal: AbortSignal;
  /** The message that stood for what was summarized before: also the first of `evicted`. */
  readonly previous: M | undefined;
  /** How many tokens the answer may have by the window's counter, as a message; `undefined` without a counter. */
  readonly maxTokens: number | undefined;
  /** How many characters of text it may have; `undefined` with a counter. */
  readonly maxCharacters: number | undefined;
}

/**
 * Makes one message of those that leave, oldest first; `undefined` if it cannot. They are repaired, and such processors
 * of the memory as are `eachAlone` (`redact`, say) have run over them; other processors have not. The answer is a user
 * message, or, but for unit `turn`, an assistant's, without tool calls. Written in place as an object, it needs its type
 * said: `async (evicted): Promise<MyMessage> => …`, or `createChatMemory<MyMessage>(…)`.
 */
export type Summarize<M> = (
  evicted: readonly M[],
  context: SummarizeContext<M>,
) => M | undefined | Promise<M | undefined>;

/**
 * Why messages were not summarized.
 *
 * | reason | what happened |
 * |---|---|
 * | `error` | the function threw, or a processor of what it is given |
 * | `timeout` | it took longer than `timeoutMs` |
 * | `aborted` | the signal of the call that waited for it fired |
 * | `empty` | it answered nothing, or a message that holds nothing; or the processors left nothing to ask it about |
 * | `too-long` | its answer is longer than what it stands for, or than the room there is |
 * | `invalid` | its answer is no message of the format, or none that `compact` would take |
 * | `no-room` | what stays leaves no room for a summary; it was not asked |
 * | `boundary` | a provider's compaction stays, and nothing may stand before that; it was not asked |
 * | `unreadable` | none of the stored messages could be read; it was not asked |
 * | `conflict` | what it was asked about was changed meanwhile, by another writer say; its answer was left unused |
 * | `store` | the store, or a limit that is a function, failed; the next `add` tries again |
 */
export type SummarizeFailure =
  | "error"
  | "timeout"
  | "aborted"
  | "empty"
  | "too-long"
  | "invalid"
  | "no-room"
  | "boundary"
  | "unreadable"
  | "conflict"
  | "store";

/**
 * What happens when the newest step does not fit with what never leaves. `throw`: it is stored, and `messages()` is
 * `WINDOW_OVERFLOW`. `keep`: it is shown all the same. `evict`: it leaves too; where the system message and what is pinned
 * do not fit even so, `messages()` is `WINDOW_OVERFLOW`, but with unit `message` a system message is shown all the same.
 */
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
   * same for many turns and a provider's prompt cache keeps hitting. Default 0.7 with `maxTokens` or `summarize`, 1
   * with `maxMessages` alone or with unit `message`. Below 1 with `maxTokens` and `summarize`: a summary needs room.
   * Where the memory's `profile` binds reasoning to what stands before it, a user's message makes room already when more
   * than half-way from `target` to the limit is used.
   */
  readonly target?: number | undefined;
  /**
   * How long a provider's prompt cache keeps what is not used, in milliseconds: 300,000, say. A message that is added
   * later than that behind the newest one meets an empty cache, so that an eviction costs nothing there: the window then
   * makes room already when more than half-way from `target` to a limit is used. Where the memory's `profile` binds
   * reasoning to what stands before it, a user's message does so anyway, and no other. Default: none. Needs a `target`
   * below 1; not with unit `message`.
   *
   * @example
   * ```ts
   * import { createChatMemory, type TokenCounter } from "@turnkeep/core";
   *
   * declare const counter: TokenCounter;
   *
   * const memory = createChatMemory({ window: { maxTokens: 32_000, counter, cacheTtlMs: 5 * 60_000 } });
   * ```
   */
  readonly cacheTtlMs?: number | undefined;
  /** Default `throw`; `evict` with unit `message`. */
  readonly overflow?: WindowOverflow | undefined;
  /**
   * Messages that are never evicted, nor is the rest of their step. With unit `turn` the rest of their turn stays too,
   * unless it is the newest and too long.
   */
  readonly pinned?: ((message: M) => boolean) | undefined;
  /**
   * What leaves is summarized into one message after the system message, which the next summary replaces. History keeps
   * what was said, never a summary. The messages are stored before it is asked, and leave in one step with its answer
   * being put in their place; until then, a view shows as many of them as fit. Meanwhile the memory can be used, also by
   * others: an answer about what they changed is left unused, and it is asked again, three times at most.
   *
   * The call that made it due (`add`, `put`, `set`, `compact`, a transaction) waits for it, for as long as `timeoutMs`
   * again each time that it is asked, unless {@link WindowOptions.waitUntil} is given; it does not fail with it. If no summary comes
   * ({@link SummarizeFailure}), the messages stay as long as they fit, and what does not fit leaves as without it. After
   * its second failure in a row it is not asked at the next occasion, then not at 3, at 7, at 15. Not with unit `message`.
   *
   * It must not wait for an `add` to this memory, which would wait for it. What is removed later may still be told of in a
   * summary: `remove` that one too (`summaryId` of the event `summarized`).
   *
   * @example
   * ```ts
   * import { createChatMemory, modelMessageFormat, user } from "@turnkeep/core";
   *
   * declare function ask(prompt: string, signal: AbortSignal): Promise<string>; // your model
   *
   * const memory = createChatMemory({
   *   window: {
   *     maxMessages: 40,
   *     unit: "turn",
   *     summarize: async (evicted, { signal, maxCharacters }) => {
   *       const pieces = evicted.flatMap((message) => modelMessageFormat.pieces(message));
   *       const said = pieces.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n");
   *       return user(await ask(`Sum up in less than ${maxCharacters} characters:\n${said}`, signal));
   *     },
   *   },
   * });
   * ```
   */
  readonly summarize?: Summarize<M> | undefined;
  /**
   * Takes over the wait for a summary, so that no call waits for it: the `waitUntil` of a serverless platform, which
   * keeps the function alive after its answer, or `() => {}` in a process that lives on. The promise never rejects. What
   * is cut off is made up for by the next `add`. `close` waits for it all the same.
   */
  readonly waitUntil?: ((work: Promise<void>) => void) | undefined;
}
