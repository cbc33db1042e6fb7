import type { MessageFormat } from "./message-format.ts";

/**
 * A positive integer, or a function of the memory's id that is called at each use. When a limit grows, messages that
 * have left memory stay in history.
 */
export type Limit = number | ((id: string) => number | Promise<number>);

/** Counts the tokens of a message. The store keeps each count with its message, under the counter's `name`. */
export interface TokenCounter {
  /** Identifies the count (`"o200k_base"`): counts stored under another name are not reused. */
  readonly name: string;
  /** Tokens that a list costs beyond its messages. Default 0. */
  readonly base?: number | undefined;
  /** What its user should know: each memory with this counter tells it once, by a `warning` event. Never content. */
  readonly warning?: { readonly code: string; readonly message: string } | undefined;
  /** Returns a non-negative integer. Called once per message. */
  count<M>(message: M, format: MessageFormat<M>): number;
}

/**
 * What is evicted at once: a `step` (an assistant message with all results of its calls; calls added directly after one
 * another that are answered together are one; any other message alone), a
 * `turn` (a user message and all steps up to the next user message), or a `message`, by LangChain4j's algorithm.
 */
export type WindowUnit = "step" | "turn" | "message";

/** What {@link Summarize} is given beside the messages. */
export interface SummarizeContext<M> {
  readonly memoryId: string;
  /** Fires after `timeoutMs`, or when the signal of the waiting call does. Pass it on to the model. */
  readonly signal: AbortSignal;
  /** The message that stands for everything summarized before. It is also the first of `evicted`. */
  readonly previous: M | undefined;
  /** How many tokens the returned message may have by the window's counter; `undefined` without a counter. */
  readonly maxTokens: number | undefined;
  /** How many characters of text it may have; `undefined` with a counter. */
  readonly maxCharacters: number | undefined;
}

/**
 * Summarizes the messages that leave, oldest first, into one message; `undefined` if it cannot. The messages are
 * repaired, and the memory's `eachAlone` processors (such as `redact`) have run over them; others have not. Return a
 * user message or, unless the unit is `turn`, an assistant message, without tool calls.
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
 * | `error` | the function threw, or a processor of its input did |
 * | `timeout` | it took longer than `timeoutMs` |
 * | `aborted` | the signal of the call that waited for it fired |
 * | `empty` | it returned nothing or an empty message, or the processors left nothing to summarize |
 * | `too-long` | its summary is longer than what it stands for, or than the room there is |
 * | `invalid` | its result is not a message of the format, or `compact` would refuse it |
 * | `no-room` | what stays leaves no room for a summary; it was not called |
 * | `boundary` | a provider's compaction stays, and nothing may stand before that; it was not called |
 * | `unreadable` | none of the stored messages could be read; it was not called |
 * | `conflict` | its input was changed in the meantime, for example by another writer; its summary was discarded |
 * | `store` | the store failed, or a limit that is a function did; the next `add` tries again |
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
 * What happens when the newest step does not fit beside what is never evicted. `throw`: it is stored, and `messages()`
 * throws `WINDOW_OVERFLOW`. `keep`: it is shown all the same. `evict`: it is evicted too; if the system and pinned
 * messages still do not fit, `messages()` throws, except that unit `message` shows a system message all the same.
 */
export type WindowOverflow = "throw" | "keep" | "evict";

/**
 * The policy that decides what stays in memory. If you give both limits, both hold.
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
  /** At most this many messages, the system message included. */
  readonly maxMessages?: Limit | undefined;
  /** At most this many tokens by `counter`, as calibrated, its `base` and `reserve` included. */
  readonly maxTokens?: Limit | undefined;
  /** Required with `maxTokens`. */
  readonly counter?: TokenCounter | undefined;
  /** Tokens kept free for everything that is not a message: tool definitions, the answer. Default 0. */
  readonly reserve?: Limit | undefined;
  /** Default `turn` if the memory's `profile` requires the user's message first, else `step`. */
  readonly unit?: WindowUnit | undefined;
  /**
   * 0 < target ≤ 1. Once over a limit, evict down to `target` × that limit, so that the prompt's beginning stays the
   * same for many turns and a provider's prompt cache keeps hitting. Default 0.7 with `maxTokens` or `summarize`, 1
   * with `maxMessages` alone or with unit `message`. With `maxTokens` and `summarize` it must be below 1, since a
   * summary needs room. If the memory's `profile` binds reasoning to the messages before it, a user message already
   * makes room when usage is more than half-way from `target` to the limit.
   */
  readonly target?: number | undefined;
  /**
   * How long a provider's prompt cache keeps an unused entry, in milliseconds, for example 300,000. A message added
   * later than that after the newest one meets an empty cache, so that an eviction costs nothing there: the window then
   * already makes room when usage is more than half-way from `target` to a limit. If the memory's `profile` binds
   * reasoning to the messages before it, a user message does so anyway, and no other message does. Default: none. Needs
   * a `target` below 1; not with unit `message`.
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
   * unless it is the newest turn and too long. A view may then start with an answer, where no question stands before a
   * pinned one; a `profile` that requires the user's message first opens it with one.
   */
  readonly pinned?: ((message: M) => boolean) | undefined;
  /**
   * Summarizes what leaves into one message after the system message, which the next summary replaces. History keeps
   * what was said, never a summary. Messages are stored before this is called, and leave in the change that adds the
   * summary; until then, a view shows as many of them as fit. The memory stays usable: if others change these messages
   * meanwhile, the summary is discarded and this is called again, up to three calls in all.
   *
   * The call that made it due (`add`, `put`, `set`, `compact`, a transaction) waits for it, up to `timeoutMs` more for
   * each attempt, unless {@link WindowOptions.waitUntil} is given. It does not fail if the summary does
   * ({@link SummarizeFailure}): the messages that fit then stay, and the others leave without one. After the second
   * failure in a row the next occasion is skipped, after later ones 3, 7, then 15. Not with unit `message`.
   *
   * It must not wait for an `add` to this memory, which would wait for it. A summary may still mention what you remove
   * later: `remove` the summary too (`summaryId` of the event `summarized`).
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
   * Takes over the wait for a summary, so that no call waits for it. Pass the `waitUntil` of a serverless platform,
   * which keeps the function alive after its response, or `() => {}` in a long-running process. The promise never
   * rejects. If the work is cut off, the next `add` makes up for it. `close` still waits for it.
   */
  readonly waitUntil?: ((work: Promise<void>) => void) | undefined;
}
