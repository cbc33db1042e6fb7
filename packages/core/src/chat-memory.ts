import type { MemoryCallOptions, PutOptions, RemovalOptions } from "./memory-call-options.ts";
import type { MemoryHistoryPage, MemoryHistoryQuery } from "./memory-history.ts";
import type { ExplainOptions, Explanation, Prompt, ViewOptions } from "./memory-view.ts";
import type { MessageFormat } from "./message-format.ts";

declare const entryBrand: unique symbol;

/** A message with what its caller knows of it: an id, the model that made it, when it was said. Made by {@link entry}. */
export interface Entry<M> {
  readonly [entryBrand]: true;
  readonly message: M;
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly createdAt: number | undefined;
}

/** What a provider counted for a request. */
export interface CalibrateOptions {
  /** All input tokens, those read from a cache included: some providers report these apart. A positive integer. */
  readonly inputTokens: number;
  /** What of them was no message: tool definitions, say. They are the reserve's. Default 0. */
  readonly otherTokens?: number | undefined;
}

/** How far {@link ChatMemory.shrink} goes. */
export interface ShrinkOptions extends MemoryCallOptions {
  /** What part of the view shall stay: above 0, below 1. Default 0.7. */
  readonly target?: number | undefined;
}

/** What a {@link ChatMemory.shrink} did. */
export interface Shrunk {
  /** The ids of the messages that left for history, oldest first. A derived message, which history never holds, is not among them. */
  readonly messageIds: readonly string[];
  /** How many messages the window showed, and shows now. */
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  /** Their tokens by the window's counter, nothing added; `undefined` without a counter. */
  readonly tokensBefore: number | undefined;
  readonly tokensAfter: number | undefined;
}

/** What a {@link ChatMemory.transaction} does when it is not alone. */
export interface TransactionOptions extends MemoryCallOptions {
  /**
   * What to do when somebody else wrote meanwhile: `merge` adds to the new state, `throw` reports `VERSION_CONFLICT`.
   * Default: `throw` once the function has read the messages, else `merge`.
   */
  readonly onConflict?: "merge" | "throw" | undefined;
  /**
   * Whether it only adds to a memory that is there: with `true`, one that was deleted, has expired or never began is
   * `INVALID_OPTION`. For work that goes on for long, a turn with tools say, during which somebody may delete the
   * conversation. Default `false`: the memory begins anew.
   */
  readonly mustExist?: boolean | undefined;
}

/** What a transaction's function works with. */
export interface MemoryTransaction<M> {
  /**
   * Collects; nothing is written before the function returns. Answers the ids: of a system message that turns out to be
   * there already, one that no message will have.
   */
  add(...messages: (M | Entry<M>)[]): string[];
  /** The view with what was collected so far. */
  messages(options?: ViewOptions<M>): Promise<M[]>;
}

/**
 * The memory of one conversation. Calls on one memory run in the order in which they were made.
 *
 * Every call that touches the store may fail with `STORE_UNAVAILABLE`, `STORE_NOT_READY`, `ABORTED` (by the caller's
 * signal) and `CLOSED`; a call that reads messages also with `CORRUPT_RECORD` and `UNSUPPORTED_VERSION`, which name the
 * message. What is listed at a call comes on top.
 *
 * @example
 * ```ts
 * import { assistant, createChatMemory, inMemoryStore, user } from "@turnkeep/core";
 *
 * const memory = createChatMemory({ id: "chat-1", store: inMemoryStore(), window: { maxMessages: 20 } });
 * await memory.add(user("Hello"));
 * const prompt = await memory.messages(); // send this to the model
 * await memory.add(assistant("Good morning."));
 * ```
 */
export interface ChatMemory<M> {
  readonly id: string;
  readonly format: MessageFormat<M>;
  /**
   * Adds messages, all or none, and evicts what no longer fits. Answers their ids, in order. Nothing given: nothing
   * happens. Messages are copied. When others write at the same time the add is made again on the new state, until
   * `timeoutMs` ends it; for a signal use {@link ChatMemory.transaction}. With `window.summarize` it waits for the
   * summary that it makes due, whose failure is an event.
   *
   * A system message equal to the present one is ignored (its id is answered); another takes its place. A message with
   * an id of the caller's own ({@link entry}) is ignored if it was added before.
   *
   * Errors: `INVALID_MESSAGE`, `ID_CONFLICT` (that id has other content), `MESSAGE_TOO_LARGE`, `VERSION_CONFLICT` (others
   * wrote faster until the time was up), `INVALID_OPTION` (a limit or counter answered nonsense).
   */
  add(...messages: (M | Entry<M>)[]): Promise<string[]>;
  /**
   * Adds under that id, or replaces the live message that has it, in place: an answer that still streams, an approval.
   * Equal content writes nothing. An id that was removed, cleared or erased meanwhile is free, so that the message is added
   * anew: for an answer that streams, put its beginning, and what follows with `mustExist`.
   *
   * Errors: as `add`; `ID_CONFLICT` if the id has left memory, `INVALID_OPTION` by {@link PutOptions.mustExist},
   * `INVALID_MESSAGE` if a system message would become another, or the other way round, or a derived message what
   * {@link ChatMemory.compact} takes for no replacement.
   */
  put(id: string, message: M | Entry<M>, options?: PutOptions): Promise<void>;
  /**
   * The view, what the model is shown: the window, then the processors, then repair for the `profile`. Read from the
   * store each time, so that what other processes wrote is there; never writes. The array is the caller's; the messages
   * are frozen, so copy one to change it.
   *
   * Errors: `WINDOW_OVERFLOW` with `details.needed` and `details.limit`, `INVALID_OPTION` for a processor that changes
   * what it is given, and what a processor throws.
   */
  messages(options?: ViewOptions<M>): Promise<M[]>;
  /**
   * What the view that `messages` answers is made of, and what became of each message: for whoever asks what the model
   * saw, or why a message is gone. Never writes, and is not a look at the memory (see {@link ChatMemory.set}).
   *
   * Errors: as `messages`, but for `WINDOW_OVERFLOW`, which stands in the answer; `INVALID_OPTION`.
   *
   * @example
   * ```ts
   * import { assistant, createChatMemory, user } from "@turnkeep/core";
   *
   * const memory = createChatMemory({ window: { maxMessages: 2 } });
   * await memory.add(user("One"), assistant("Two"), user("Three"));
   * const { messages } = await memory.explain();
   * console.log(messages.map(({ state, by }) => [state, by])); // [["evicted", "window"], ["shown", undefined], ["shown", undefined]]
   * ```
   */
  explain(options?: ExplainOptions<M>): Promise<Explanation<M>>;
  /** The same view with the system message apart, as AI SDK 7 (`instructions`), Anthropic and Gemini want it. */
  prompt(options?: ViewOptions<M>): Promise<Prompt<M>>;
  /**
   * Replaces the memory in one step; what was there becomes superseded and stays in history. Answers the ids.
   *
   * Errors: as `add`; `INVALID_OPTION` for no messages; `VERSION_CONFLICT` if somebody else wrote since this instance
   * last looked (`messages`, `prompt`) or, before that, made its first change, nothing changed; an instance that has done
   * neither replaces what it finds. `ID_CONFLICT` for any id that was used before.
   */
  set(messages: readonly (M | Entry<M>)[], options?: MemoryCallOptions): Promise<string[]>;
  /**
   * Puts one derived message, a summary say, in place of everything up to and including `through` and the rest of its
   * step; it stands after the system message. The system message and pinned steps stay, and so does what is added
   * meanwhile. The next `compact` replaces it. History keeps what it stands for, never the derived message. Answers
   * its id.
   *
   * Errors: `INVALID_MESSAGE` (the replacement is a system or tool message, holds calls or approvals, or, with unit `turn`,
   * is no user message), `INVALID_OPTION` (no such message), `VERSION_CONFLICT` (a later compact reached further).
   */
  compact(
    request: { readonly through: string; readonly replacement: M },
    options?: MemoryCallOptions,
  ): Promise<string>;
  /** Deletes memory and history. The next `add` begins the memory anew. */
  clear(options?: MemoryCallOptions): Promise<void>;
  /**
   * Collects adds and commits them once. If `run` throws, nothing was written and its error is passed on. Other calls
   * on the memory are not held up while `run` works.
   *
   * Errors: as `add`; `VERSION_CONFLICT` by {@link TransactionOptions.onConflict}; `INVALID_OPTION` by
   * {@link TransactionOptions.mustExist}; `CLOSED` for use after its end.
   */
  transaction<T>(
    run: (transaction: MemoryTransaction<M>) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /**
   * That message and all later ones become superseded (to edit, or to have an answer made again); what the window now
   * has room for, up to its `target`, comes back from history. A system message in front stays, unless it is the one named.
   * Their ids stay taken: an edited question, or the same one asked anew, needs another.
   *
   * Errors: `INVALID_OPTION` if there is no such message or it was superseded before; `VERSION_CONFLICT` by
   * {@link RemovalOptions.onConflict}, for who must take back nothing that it has not seen.
   */
  rewind(messageId: string, options?: RemovalOptions): Promise<void>;
  /**
   * Deletes a message and the rest of its step, from memory and history. Answers the ids it deleted, perhaps none.
   * Errors: `VERSION_CONFLICT` by {@link RemovalOptions.onConflict}.
   */
  remove(messageId: string, options?: RemovalOptions): Promise<string[]>;
  /** One page of everything that was said, oldest first by default. `UNSUPPORTED` if the store keeps no history. */
  history(query?: MemoryHistoryQuery): Promise<MemoryHistoryPage<M>>;
  /**
   * Everything that was said, page after page. `format.encode` makes JSON text of a message, which `format.decode` reads.
   */
  historyPages(query?: MemoryHistoryQuery): AsyncIterableIterator<MemoryHistoryPage<M>>;
  /**
   * Corrects the counter by what the provider counted for the last view that this instance handed out (`messages`,
   * `prompt`): from now on, a window takes messages at the rate that was reported, so that the same view counts exactly
   * what the provider counted. `base` is a part of the view; `reserve` is not corrected, and counts in the store stay
   * the counter's. The newest call holds; kept in this instance only, so that another instance begins uncorrected.
   *
   * A rate below 1 is taken of as many tokens as that view had; what a later one has beyond them counts as the counter
   * says, until it is reported itself. A rate below 0.5 is taken as 0.5. What is beyond four times the view's count is
   * taken as sent beside the messages each time. Both are `warning` events with the code `calibration`, but for a rate
   * below 0.5 of a view under 1,024 tokens, which is short of what providers cache.
   *
   * Errors: `INVALID_OPTION` for numbers of the wrong kind, before the first view, and without a `window.counter`.
   *
   * @example
   * ```ts
   * import { type ChatMemory, type ModelMessage } from "@turnkeep/core";
   *
   * async function answer(memory: ChatMemory<ModelMessage>, ask: (messages: ModelMessage[]) => Promise<number>) {
   *   const inputTokens = await ask(await memory.messages()); // the provider's usage
   *   await memory.calibrate({ inputTokens });
   * }
   * ```
   */
  calibrate(options: CalibrateOptions): Promise<void>;
  /**
   * One step smaller, after a provider found the prompt too long: the oldest steps (turns, with unit `turn`) leave for
   * history until the view has `target` of its size, in tokens if the window has a counter, else in characters of
   * text, a medium taken for 4,000. At least one leaves. The system message, the newest step, with unit `turn` the newest
   * question, and what is pinned stay; a derived message leaves when nothing else can. Nothing is summarized: the
   * request waits.
   *
   * Answers `false`, and changes nothing, when nothing can leave any more, so that a loop of retries ends. The limits
   * stay as they are: give the provider's own count to {@link ChatMemory.calibrate} where its error names one.
   *
   * Errors: `INVALID_OPTION` for a target that is not between 0 and 1.
   *
   * @example
   * ```ts
   * import { type ChatMemory, type ModelMessage } from "@turnkeep/core";
   *
   * declare function isTooLong(error: unknown): boolean; // as your provider says it
   *
   * async function answer(memory: ChatMemory<ModelMessage>, ask: (messages: ModelMessage[]) => Promise<string>) {
   *   for (;;) {
   *     try {
   *       return await ask(await memory.messages());
   *     } catch (error) {
   *       if (!isTooLong(error) || !(await memory.shrink())) throw error;
   *     }
   *   }
   * }
   * ```
   */
  shrink(options?: ShrinkOptions): Promise<Shrunk | false>;
  /** Waits for the calls made so far, summaries included; later ones are `CLOSED`. Idempotent. Closes the store only if the memory made it. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
