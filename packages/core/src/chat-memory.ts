import type { TurnkeepError } from "./errors.ts";
import type { MessageFormat } from "./message-format.ts";
import type { Processor } from "./processors/processor.ts";
import type { ProviderProfile } from "./provider-profile.ts";
import type { ChatMemoryStore, ListPage, MessageState } from "./store-contract.ts";
import type { SummarizeFailure, WindowOptions } from "./window-options.ts";

/** Options of every call that reads or writes. */
export interface MemoryCallOptions {
  /** Ends the call with `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}

declare const entryBrand: unique symbol;

/** A message with the caller's own id, or with the model that made it. Made by {@link entry}. */
export interface Entry<M> {
  readonly [entryBrand]: true;
  readonly message: M;
  readonly id: string | undefined;
  readonly model: string | undefined;
}

/** The system message of a view. */
export type SystemOf<M> = [Extract<M, { role: "system" }>] extends [never]
  ? M
  : Extract<M, { role: "system" }>;

/** The other messages of a view. */
export type NonSystemOf<M> = [Exclude<M, { role: "system" }>] extends [never]
  ? M
  : Exclude<M, { role: "system" }>;

/** A view with the system message apart. */
export interface Prompt<M> {
  readonly system: SystemOf<M> | undefined;
  readonly messages: NonSystemOf<M>[];
}

export interface ViewOptions<M> extends MemoryCallOptions {
  /** Messages for this call only: counted and shown as if they had been added last, never stored. */
  readonly extra?: readonly M[] | undefined;
  /** What the provider of this call accepts. Default: the memory's `profile`. */
  readonly profile?: ProviderProfile | undefined;
  /**
   * The model that the view is for. Reasoning that another model made, by its {@link entry}, is left out, with all
   * before it, where the `profile` says that a provider binds reasoning to what it was made from.
   */
  readonly model?: string | undefined;
}

/** How a question about the view is asked: as `messages` would be, for the same view. */
export interface ExplainOptions<M> extends ViewOptions<M> {
  /** How many of the messages that have left memory are told of, the newest. 0 to 1,000; default 100. */
  readonly evicted?: number | undefined;
}

/** One message, and what became of it in the view. */
export interface ExplainedMessage<M> {
  /** Of the stored message; `undefined` for one that stands in the view alone. */
  readonly id: string | undefined;
  /**
   * `shown` as it is; `evicted`: the window has no place for it; `filtered`: a processor left it out; `cut`: a processor
   * changed it; `repaired`: it was changed, left out or put in so that the provider takes the list.
   */
  readonly state: "shown" | "evicted" | "filtered" | "cut" | "repaired";
  /** `window`, `compact` (a summary stands for it), the processor's name, `repair`, `reasoning` or the profile's rule. */
  readonly by: string | undefined;
  /** As it was added; `undefined` for one that stands in the view alone, and for a record that cannot be read. */
  readonly stored: M | undefined;
  /** As the model is shown it; `undefined` if it is not. */
  readonly shown: M | undefined;
  /** What it takes of the view as the counter counts it; 0 for a message that is not shown, and without a counter. */
  readonly tokens: number;
}

/** What the model sees, and why. */
export interface Explanation<M> {
  /** In the order of the view, what is not shown behind what stood before it. */
  readonly messages: ExplainedMessage<M>[];
  /** What the view takes of the limit, with the counter's base and the reserve, as calibrated; 0 without a counter. */
  readonly tokens: number;
  readonly maxTokens: number | undefined;
  readonly maxMessages: number | undefined;
  /** Set where `messages()` would throw `WINDOW_OVERFLOW`, or shows more than the limit. */
  readonly overflow: { readonly needed: number; readonly limit: number } | undefined;
}

/** What a provider counted for a request. */
export interface CalibrateOptions {
  /** All input tokens, those read from a cache included: some providers report these apart. A positive integer. */
  readonly inputTokens: number;
  /** What of them was no message: tool definitions, say. They are the reserve's. Default 0. */
  readonly otherTokens?: number | undefined;
}

export interface ShrinkOptions extends MemoryCallOptions {
  /** What part of the view shall stay: above 0, below 1. Default 0.7. */
  readonly target?: number | undefined;
}

/** What a {@link ChatMemory.shrink} did. */
export interface Shrunk {
  /** The ids of the messages that left, oldest first. */
  readonly messageIds: readonly string[];
  /** How many messages the window showed, and shows now. */
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  /** Their tokens by the window's counter, nothing added; `undefined` without a counter. */
  readonly tokensBefore: number | undefined;
  readonly tokensAfter: number | undefined;
}

export interface MemoryHistoryQuery extends MemoryCallOptions {
  /** Only messages with a greater `seq`. */
  readonly after?: number | undefined;
  /** Only messages with a smaller `seq`. */
  readonly before?: number | undefined;
  /** Default `ascending`. */
  readonly order?: "ascending" | "descending" | undefined;
  /** 1 to 1,000 a page; default 100. */
  readonly limit?: number | undefined;
  /** Default: all states. */
  readonly states?: readonly MessageState[] | undefined;
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

export interface TransactionOptions extends MemoryCallOptions {
  /**
   * What to do when somebody else wrote meanwhile: `merge` adds to the new state, `throw` reports `VERSION_CONFLICT`.
   * Default: `throw` once the function has read the messages, else `merge`.
   */
  readonly onConflict?: "merge" | "throw" | undefined;
}

/** What a transaction's function works with. */
export interface MemoryTransaction<M> {
  /** Collects; nothing is written before the function returns. Answers the ids. */
  add(...messages: (M | Entry<M>)[]): string[];
  /** The view with what was collected so far. */
  messages(options?: ViewOptions<M>): Promise<M[]>;
}

/** What a memory reports: ids, counts and reasons, never content. */
export type MemoryEvent =
  | {
      readonly type: "evicted";
      readonly memoryId: string;
      readonly messageIds: readonly string[];
      readonly reason: "window" | "compact" | "shrink";
    }
  | {
      readonly type: "summarized";
      readonly memoryId: string;
      /** The messages that have left memory and for which the summary stands, with what an earlier one stood for. */
      readonly messageIds: readonly string[];
      readonly summaryId: string;
    }
  | {
      readonly type: "summarize-failed";
      readonly memoryId: string;
      /** The messages that were to be summarized. */
      readonly messageIds: readonly string[];
      readonly reason: SummarizeFailure;
    }
  | {
      readonly type: "conflict";
      readonly memoryId: string;
      /** 1 for the first conflict of a call. */
      readonly attempt: number;
    }
  | {
      readonly type: "repaired";
      readonly memoryId: string;
      /** The calls that got an "interrupted" result in the view. */
      readonly interruptedCalls: readonly string[];
      /** The messages from which something was left out: results without a call, late or repeated results. */
      readonly leftOut: readonly string[];
      /** The rules of the profile that asked for a change. */
      readonly rules: readonly string[];
    }
  | {
      readonly type: "calibrated";
      readonly memoryId: string;
      /** What the counter says of the view. */
      readonly counted: number;
      /** What the provider counted for it. */
      readonly reported: number;
    }
  | { readonly type: "warning"; readonly memoryId: string; readonly code: string; readonly message: string };

/** The policy of a memory: everything but where it is kept. */
export interface MemoryPolicy<M> {
  /** Without a window everything stays in memory. */
  readonly window?: WindowOptions<M> | undefined;
  /** `false`: what leaves memory is deleted instead of kept. Default `true`. */
  readonly history?: boolean | undefined;
  /** Whether the system message stands first. Default `true`; `false` with unit `message`. */
  readonly systemFirst?: boolean | undefined;
  /** Shape the view, in this order, behind the window; what is stored stays as it is. */
  readonly processors?: readonly Processor<M>[] | undefined;
  /**
   * What the provider accepts: an object of `@turnkeep/formats/profiles`, or of your own. The view is then a list that
   * this provider takes. Default: none.
   */
  readonly profile?: ProviderProfile | undefined;
  /**
   * `false`: the view shows the memory as it is; not together with a `profile`. Default `true`; `false` with unit
   * `message` and no profile.
   */
  readonly repair?: boolean | undefined;
  /** How long one call may take, retries included, in milliseconds; a summary may take as long again. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Called synchronously after the fact; what it throws is ignored. */
  readonly onEvent?: ((event: MemoryEvent) => void) | undefined;
}

/** Where a memory is kept: nowhere but in this process, or in a store under an id. */
export type MemoryPlace =
  | { readonly id?: string | undefined; readonly store?: undefined; readonly owner?: undefined }
  | { readonly id: string; readonly store: ChatMemoryStore; readonly owner?: string | undefined };

export type ChatMemoryOptions<M> = MemoryPolicy<M> & MemoryPlace;

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
   * Equal content writes nothing. Errors: as `add`; `ID_CONFLICT` if the id has left memory, `INVALID_MESSAGE` if a
   * system message would become another, or the other way round.
   */
  put(id: string, message: M | Entry<M>, options?: MemoryCallOptions): Promise<void>;
  /**
   * The view, what the model is shown: the window, then the processors, then repair for the `profile`. Read from the store each time, so that what other
   * processes wrote is there; never writes. The array is the caller's; the messages are frozen, so copy one to change
   * it. Errors: `WINDOW_OVERFLOW` with `details.needed` and `details.limit`, `INVALID_OPTION` for a processor that
   * changes what it is given, and what a processor throws.
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
   * last looked (`messages`, `prompt`), nothing changed; `ID_CONFLICT` for any id that was used before.
   */
  set(messages: readonly (M | Entry<M>)[], options?: MemoryCallOptions): Promise<string[]>;
  /**
   * Puts one derived message, a summary say, in place of everything up to and including `through` and the rest of its
   * step; it stands after the system message. The system message and pinned steps stay, and so does what is added
   * meanwhile. The next `compact` replaces it. History keeps what it stands for, never the derived message. Answers
   * its id.
   *
   * Errors: `INVALID_MESSAGE` (the replacement is a system or tool message, holds calls, or, with unit `turn`, is no user
   * message), `INVALID_OPTION` (no such message), `VERSION_CONFLICT` (a later compact reached further).
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
   * Errors: as `add`; `VERSION_CONFLICT` by {@link TransactionOptions.onConflict}; `CLOSED` for use after its end.
   */
  transaction<T>(
    run: (transaction: MemoryTransaction<M>) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /**
   * That message and all later ones become superseded (to edit, or to have an answer made again); what the window now
   * has room for, up to its `target`, comes back from history. The system message stays, unless it is the one named.
   * Errors: `INVALID_OPTION` if there is no such message or it was superseded before.
   */
  rewind(messageId: string, options?: MemoryCallOptions): Promise<void>;
  /** Deletes a message and the rest of its step, from memory and history. Answers the ids it deleted, perhaps none. */
  remove(messageId: string, options?: MemoryCallOptions): Promise<string[]>;
  /** One page of everything that was said, oldest first by default. `UNSUPPORTED` if the store keeps no history. */
  history(query?: MemoryHistoryQuery): Promise<MemoryHistoryPage<M>>;
  /** Everything that was said, page after page. */
  historyPages(query?: MemoryHistoryQuery): AsyncIterableIterator<MemoryHistoryPage<M>>;
  /**
   * Corrects the counter by what the provider counted for the last view that this instance handed out (`messages`,
   * `prompt`): from now on, a window takes messages at the rate that was reported, so that the same view counts exactly
   * what the provider counted. `base` is a part of the view; `reserve` is not corrected, and counts in the store stay
   * the counter's. The newest call holds; kept in this instance only, so that another instance begins uncorrected.
   *
   * A rate below 0.5 is taken as 0.5. What is beyond four times the view's count is taken as sent beside the messages
   * each time. Both are `warning` events with the code `calibration`.
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
   * text, a medium taken for 4,000. At least one leaves. The system message, the newest step, with unit `turn` the newest question, and what is
   * pinned stay; a derived message leaves when nothing else can. Nothing is summarized: the request waits.
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

/** Where the memories of an application are kept, and the policy that all of them share. */
export type ChatMemoriesOptions<M> = MemoryPolicy<M> & {
  readonly store: ChatMemoryStore;
  /** Whose a memory is when it begins: one owner for all, or a function of the memory's id. */
  readonly owner?: string | ((id: string) => string | undefined) | undefined;
  /** How many memories stay loaded when nobody holds them. Default 1,000. */
  readonly maxLoaded?: number | undefined;
};

export interface MemoryListQuery extends MemoryCallOptions {
  readonly owner?: string | undefined;
  /** The `cursor` of the page before. */
  readonly cursor?: string | undefined;
  /** 1 to 1,000; default 100. */
  readonly limit?: number | undefined;
}

export interface ForkOptions extends MemoryCallOptions {
  /** The last message that the fork takes over. Default: the newest. */
  readonly at?: string | undefined;
}

/** Many conversations in one store. */
export interface ChatMemories<M> {
  /** The memory with that id: the same instance for everybody who holds it. Reads nothing yet. */
  get(id: string): ChatMemory<M>;
  /** One page of the memories in the store, in the store's order. */
  list(query?: MemoryListQuery): Promise<ListPage>;
  /**
   * Copies memory and history, up to and including `at`, into a new memory, with the same message ids and the source's
   * owner. Superseded messages stay behind. Errors: `ID_CONFLICT` if `to` exists, `INVALID_OPTION` if `from` or `at` does not.
   */
  fork(from: string, to: string, options?: ForkOptions): Promise<ChatMemory<M>>;
  /** Deletes all memories of an owner, histories included; answers which. */
  erase(
    request: { readonly owner: string },
    options?: MemoryCallOptions,
  ): Promise<{ readonly erased: string[] }>;
  /** Closes the memories, not the store. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
