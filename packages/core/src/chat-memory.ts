import type {
  Anchor,
  CalibrateOptions,
  MemoryCallOptions,
  PutOptions,
  RemovalOptions,
  RemoveOptions,
  ShrinkOptions,
  Shrunk,
  TransactionOptions,
  TurnOptions,
} from "./memory-call-options.ts";
import type { DataChange, JsonValue } from "./memory-data.ts";
import type { Each, Entry } from "./memory-entry.ts";
import type { HistoryMessage, MemoryHistoryPage, MemoryHistoryQuery } from "./memory-history.ts";
import type { MemoryTransaction } from "./memory-transaction.ts";
import type { ExplainOptions, Explanation, Prompt, ViewOptions } from "./memory-view.ts";
import type { MessageFormat } from "./message-format.ts";

/**
 * The memory of one conversation. Calls on one memory run in the order in which they were made.
 *
 * Every call that touches the store may fail with `STORE_UNAVAILABLE`, `STORE_REFUSED`, `STORE_NOT_READY`, `ABORTED` (your
 * signal fired), `CLOSED`, of a memory with an `owner` `OWNER_MISMATCH`, and a change within a turn with `TURN_LOST`. A call
 * that reads messages may also fail with `CORRUPT_RECORD` or `UNSUPPORTED_VERSION`, which name the message. The errors listed
 * at a call come on top.
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
  /** The id in the store; `"default"` if none was given. */
  readonly id: string;
  /** How the messages are read and stored; `modelMessageFormat` if none was given. */
  readonly format: MessageFormat<M>;
  /**
   * Adds messages, all or none, and evicts what no longer fits. Returns their ids, in order and one for each: of
   * `const [id] = await memory.add(message)`, `id` is a string. Without arguments it does nothing. Messages are copied. If
   * others write at the same time, the add is repeated on the new state until `timeoutMs` is over; to pass a signal, use
   * {@link ChatMemory.transaction}. If the add makes a summary due (`window.summarize`), it waits for that summary; a
   * summary that fails is an event, not an error.
   *
   * A system message equal to the prompt is ignored and returns its id; what a different one does is `systemMessages`: it
   * takes the prompt's place, or stays where it was said. To replace the prompt on purpose, call
   * {@link ChatMemory.instruct}. A message with an id of your own ({@link entry}) is ignored if it was added before and is still kept, in memory or in history;
   * an id that was removed, cleared or erased is free again.
   *
   * Errors: `INVALID_MESSAGE`, `ID_CONFLICT` (the id has other content), `MESSAGE_TOO_LARGE`, `MEMORY_FULL`,
   * `VERSION_CONFLICT` (others kept writing until the time was up), `INVALID_OPTION` (a limit or counter returned an
   * invalid number).
   */
  add<Messages extends unknown[]>(...messages: Each<Messages, M | Entry<M>>): Promise<Each<Messages, string>>;
  // For lists of which only the program knows how many they hold: `...(isNew ? [prompt] : [])`.
  add(...messages: (M | Entry<M>)[]): Promise<string[]>;
  /**
   * Makes a system message the prompt, whatever `systemMessages` says: the one before is superseded, and the view begins
   * with this one. One equal to the prompt is ignored. Returns the prompt's id. Other changes may stand beside it in a
   * {@link ChatMemory.transaction}.
   *
   * Errors: as `add`; `INVALID_MESSAGE` for a message of another role, and for one without text.
   *
   * @example
   * ```ts
   * import { createChatMemory, system, user } from "@turnkeep/core";
   *
   * const memory = createChatMemory({ systemMessages: "positioned" });
   * await memory.add(system("Be brief."), user("Hello"), system("It is 17:05."));
   * await memory.instruct(system("Be polite."));
   * console.log(await memory.messages()); // "Be polite.", then "Hello", then "It is 17:05."
   * ```
   */
  instruct(message: M | Entry<M>, options?: MemoryCallOptions): Promise<string>;
  /**
   * Adds the message under this id, or replaces the one with this id in place: an answer that still streams, an approval,
   * feedback. One that has left memory is replaced in history, and the view stays as it is; a summary made of it too. Equal
   * content writes nothing. An id that was removed, cleared or erased is free again, and so is one that left where no
   * history is kept: the message is added anew. So for a streaming answer, put the beginning first, and every later version
   * with `mustExist`.
   *
   * Errors: as `add`; `ID_CONFLICT` if the message was superseded, `NOT_FOUND` by {@link PutOptions.mustExist},
   * `VERSION_CONFLICT` by {@link PutOptions.replaces},
   * `INVALID_MESSAGE` if it would turn a system message into another role or the reverse, or a derived message into one
   * that {@link ChatMemory.compact} refuses as a replacement.
   */
  put(id: string, message: M | Entry<M>, options?: PutOptions<M>): Promise<void>;
  /**
   * The view, which is what the model is shown: what the window leaves, repaired (no result without its call; no call left
   * open before the last step, nor in it with a `profile` or {@link ViewOptions.openCalls}), then the processors, then the
   * shape that the `profile` asks for. Reads the store each time, so it includes what other processes wrote. Never writes. The
   * array is yours; the messages are frozen, so copy one to change it.
   *
   * Errors: `WINDOW_OVERFLOW` with `details.needed` and `details.limit`, `INVALID_OPTION` for a processor that changes
   * what it is given, and whatever a processor throws.
   */
  messages(options?: ViewOptions<M>): Promise<M[]>;
  /**
   * The live messages, each with its id, place, time and state, oldest first; the system message of `systemFirst` stands
   * in front. Nothing is evicted for a limit that has shrunk, repaired or processed; a summary is among them. As cheap
   * as `messages`, and counts as a look at the memory (see {@link ChatMemory.set}).
   *
   * Errors: `INVALID_OPTION`.
   *
   * @example
   * ```ts
   * import { createChatMemory, user } from "@turnkeep/core";
   *
   * const memory = createChatMemory();
   * await memory.add(user("Hello"));
   * console.log((await memory.entries()).map(({ seq, message }) => [seq, message.role])); // [[1, "user"]]
   * ```
   */
  entries(options?: MemoryCallOptions): Promise<HistoryMessage<M>[]>;
  /**
   * What the view that `messages` returns is made of, and what became of each message, shown or not: use it to find out
   * what the model saw, or why a message is missing. Never writes, and does not count as a look at the memory (see
   * {@link ChatMemory.set}).
   *
   * Errors: as `messages`, except that `WINDOW_OVERFLOW` is part of the result; `INVALID_OPTION`.
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
  /** The same view with the prompt apart, as AI SDK 7 (`instructions`), Anthropic and Gemini want it. */
  prompt(options?: ViewOptions<M>): Promise<Prompt<M>>;
  /**
   * Replaces the memory in one step. What was there becomes superseded and stays in history. Returns the ids.
   *
   * A provider's compaction among the messages hides none of them: the window that a provider returns from compacting
   * may hold messages that the compaction does not stand for.
   *
   * Errors: as `add`; `INVALID_OPTION` for no messages; `ID_CONFLICT` for an id used before; `VERSION_CONFLICT`, with
   * nothing changed, if somebody else wrote since this instance last looked (`messages`, `prompt`) or, if it never did,
   * since its first change. An instance that has done neither replaces whatever it finds.
   */
  set(messages: readonly (M | Entry<M>)[], options?: MemoryCallOptions): Promise<string[]>;
  /**
   * Replaces everything up to and including `through`, with the rest of its step, by one derived message (a summary),
   * which stands after the system message, until the next `compact` replaces it. The system message, pinned steps and
   * messages added meanwhile stay. History keeps what the derived message stands for, never that message itself.
   * Returns its id.
   *
   * Errors: `INVALID_MESSAGE` (the replacement is a system or tool message, holds calls or approvals, or, with unit
   * `turn`, is not a user message), `NOT_FOUND` (no such message), `INVALID_OPTION` (it cannot end there),
   * `VERSION_CONFLICT` (a later compact reached further).
   */
  compact(
    request: { readonly through: string; readonly replacement: M },
    options?: MemoryCallOptions,
  ): Promise<string>;
  /**
   * Deletes memory and history, with what others add meanwhile, and never a memory that begins after it. The next `add`
   * begins the memory anew.
   */
  clear(options?: MemoryCallOptions): Promise<void>;
  /**
   * Collects changes of any kind and commits them once, in their order: all or none, wherever the process dies, and no
   * reader sees the half. If `run` throws, nothing is written and its error is passed on. Other calls on the memory go on
   * while `run` works. Messages added directly one after the other are as of one `add`, also to the window, which evicts
   * once for them.
   *
   * Errors: those of the collected changes; `VERSION_CONFLICT` by {@link TransactionOptions.onConflict}; `NOT_FOUND` by
   * {@link TransactionOptions.mustExist}; `CLOSED` for use after its end.
   *
   * @example
   * ```ts
   * import { createChatMemory, user } from "@turnkeep/core";
   *
   * const memory = createChatMemory();
   * const [questionId] = await memory.add(user("What is a fjrod?"));
   * await memory.transaction((edit) => {
   *   edit.rewind(questionId);
   *   edit.add(user("What is a fjord?"));
   * });
   * console.log(await memory.messages()); // the question as it was edited
   * ```
   */
  transaction<T>(
    run: (transaction: MemoryTransaction<M>) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /**
   * Marks this message and all later ones as superseded, to edit a question or regenerate an answer. What the window
   * then has room for, up to its `target`, comes back from history. The system message in front stays, unless you name
   * it. The ids stay taken: an edited question, or the same one asked again, needs a new id.
   *
   * Errors: `NOT_FOUND` if there is no such message, it is superseded already, or by {@link RemovalOptions.mustExist};
   * `VERSION_CONFLICT` by {@link RemovalOptions.onConflict}, for callers that must not take back messages they have not seen.
   */
  rewind(messageId: string, options?: RemovalOptions): Promise<void>;
  /**
   * The other versions of a message, in the order in which they were said: those that stood in its place before it was
   * edited or generated again (`rewind`, `set`), or that took it. None for a system message in front, which `instruct`
   * replaces, and of what was removed or pruned. Reads what was superseded since.
   *
   * Errors: `NOT_FOUND` if there is no such message; `UNSUPPORTED` if the store keeps no history.
   *
   * @example
   * ```ts
   * import { createChatMemory, user } from "@turnkeep/core";
   *
   * const memory = createChatMemory();
   * const [first] = await memory.add(user("What is a fjrod?"));
   * await memory.rewind(first);
   * const [second] = await memory.add(user("What is a fjord?"));
   * console.log((await memory.versions(second)).map(({ id }) => id === first)); // [true]
   * await memory.restore(first);
   * console.log(await memory.messages()); // the question as it was at first
   * ```
   */
  versions(messageId: string, options?: MemoryCallOptions): Promise<HistoryMessage<M>[]>;
  /**
   * Goes back to another version of a message ({@link ChatMemory.versions}), or to any superseded message: what was said on
   * its branch is in the conversation again, and what was said in place of it is superseded. Where others begin behind it, the
   * branch is the one on which something was said last. What the window has room for becomes live, the rest is evicted; a
   * derived message that stands for what was superseded leaves, and system messages in front stay as they are. For a message
   * that is live or evicted, nothing is changed.
   *
   * What was removed or pruned stays away: of a branch that has lost its beginning the rest comes back, behind what that
   * followed.
   *
   * Errors: `NOT_FOUND` if there is no such message, or by {@link RemovalOptions.mustExist}; `INVALID_OPTION` for a system
   * message whose place another took (`instruct`); `UNSUPPORTED` if the store keeps no history; `VERSION_CONFLICT` by
   * {@link RemovalOptions.onConflict}.
   */
  restore(messageId: string, options?: RemovalOptions): Promise<void>;
  /**
   * Deletes a message and the rest of its step ({@link RemoveOptions.only}: the message alone), from memory and history.
   * Returns the ids it deleted, perhaps none; if an attempt's outcome stayed unknown, the ids it was to delete that are gone.
   * Errors: `VERSION_CONFLICT` by {@link RemovalOptions.onConflict}, `NOT_FOUND` by {@link RemovalOptions.mustExist}.
   */
  remove(messageId: string, options?: RemoveOptions): Promise<string[]>;
  /**
   * What the application says about the conversation ({@link ChatMemory.update}); `undefined` if it has said nothing.
   * Reads the store, and does not count as a look at the memory. Errors: `CORRUPT_RECORD` if it cannot be read.
   */
  data(options?: MemoryCallOptions): Promise<JsonValue | undefined>;
  /**
   * Says something about the conversation, such as its title, which `list` of `createChatMemories` shows: any JSON of
   * 8 KB (8,192 UTF-8 bytes) at most, in place of what was said before. Given a function, makes it of what is there, and
   * again after a conflict, so that two who change it at once both have their part. A conversation may begin with it.
   * The model is not shown it. With {@link RemovalOptions.mustExist}, only while the conversation is there.
   *
   * Errors: `INVALID_OPTION` for what is no JSON or too large, whatever a function throws, `VERSION_CONFLICT` and
   * `NOT_FOUND` by the options.
   *
   * @example
   * ```ts
   * import { createChatMemories, inMemoryStore, user } from "@turnkeep/core";
   *
   * const memories = createChatMemories({ store: inMemoryStore() });
   * const memory = memories.get("chat-1");
   * await memory.add(user("What is a fjord?"));
   * await memory.update({ title: "Fjords" });
   * await memory.update((before) => ({ ...(before as object), tags: ["norway"] }));
   * console.log((await memories.list({ order: "newest" })).memories[0]?.data); // { title: "Fjords", tags: ["norway"] }
   * ```
   */
  update(data: DataChange, options?: RemovalOptions): Promise<void>;
  /**
   * Holds on to the conversation as this instance last knew it, and to a message in it, live or evicted. Pass the result
   * as `mustExist` of what you write later: after `clear` or `erase`, also if the conversation has begun anew, and after
   * `rewind`, `remove` or `set` of that message, it is `NOT_FOUND`, and nothing is written. Where the store keeps no
   * history, a message that is no longer live is not looked for. Reads only what this instance does not know yet.
   *
   * Errors: `NOT_FOUND` if there is no such memory or message.
   *
   * @example
   * ```ts
   * import { assistant, type ChatMemory, type ModelMessage, user } from "@turnkeep/core";
   *
   * async function answer(memory: ChatMemory<ModelMessage>, ask: (messages: ModelMessage[]) => Promise<string>) {
   *   const [question] = await memory.add(user("What is a fjord?"));
   *   const mustExist = await memory.anchor(question);
   *   const text = await ask(await memory.messages()); // may take minutes
   *   await memory.transaction((transaction) => transaction.add(assistant(text)), { mustExist });
   * }
   * ```
   */
  anchor(messageId?: string, options?: MemoryCallOptions): Promise<Anchor>;
  /**
   * One page of everything that was said: the oldest 100 messages, unless the query says otherwise. A record that cannot be
   * read is not thrown: it is missing in `messages`, and named in `errors`.
   *
   * Errors: `UNSUPPORTED` if the store keeps no history; `INVALID_OPTION`.
   *
   * @example
   * ```ts
   * import { createChatMemory, user } from "@turnkeep/core";
   *
   * const memory = createChatMemory();
   * await memory.add(user("Hello"));
   * const { messages, hasMore, errors } = await memory.history({ order: "descending", limit: 50 });
   * console.log(messages.map(({ state }) => state), hasMore, errors.length); // ["live"] false 0
   * // The page before: memory.history({ order: "descending", limit: 50, before: messages.at(-1)?.seq })
   * ```
   */
  history(query?: MemoryHistoryQuery): Promise<MemoryHistoryPage<M>>;
  /** Everything that was said, page by page. `format.encode` makes JSON text of a message; `format.decode` reads it. */
  historyPages(query?: MemoryHistoryQuery): AsyncIterableIterator<MemoryHistoryPage<M>>;
  /**
   * Corrects token counts by what the provider counted for the last view that this instance returned (`messages`,
   * `prompt`). From then on the window scales its counts, so that the same view counts exactly what the provider
   * counted. `base` is part of the view; `reserve` is not corrected, and counts in the store stay the counter's. The
   * latest call applies. The correction lives in this instance only; another instance starts uncorrected.
   *
   * A rate below 1 applies to as many tokens as that view had; tokens beyond them count in full until you report them.
   * A rate below 0.5 is taken as 0.5. Whatever exceeds four times the view's count is treated as a constant sent beside
   * the messages each time. The last two raise a `warning` event with the code `calibration`, except for a rate below
   * 0.5 of a view under 1,024 tokens, which is too short for providers to cache.
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
   * Makes the view one step smaller, after a provider found the prompt too long. The oldest steps (turns, with unit
   * `turn`) leave for history until the view has `target` of its size: in tokens if the window has a counter, else in
   * characters of text, with 4,000 for each medium. At least one leaves. The system message, the newest step, with unit
   * `turn` the newest question, and pinned messages stay; a derived message leaves only when nothing else can. Nothing
   * is summarized, because the request waits.
   *
   * Returns `false`, and changes nothing, when nothing more can leave, so that a retry loop ends. The limits stay as
   * they are: if the provider's error names its own count, pass it to {@link ChatMemory.calibrate}.
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
  /**
   * Runs one turn at a time on this conversation, in whatever process: a question, the model's answer, its tools. The
   * turn is held by a lease, which stands in the memory itself, so it works over every store. It is renewed while `run`
   * works, and released when that ends, with what it returns or throws. Who waits has no place in a line.
   *
   * Whatever is written by this memory object meanwhile belongs to the turn. Once the lease is lost, each such write is
   * `TURN_LOST`, and nothing is written: because the memory was cleared, or because others took the turn over, which they
   * may once the lease was not renewed for {@link TurnOptions.leaseMs}. So a process that stood still cannot write as if the turn were
   * still its own. What others write, such as the user's next message, no lease holds up.
   *
   * The turn's `signal` fires at once for the caller's `signal`, with its reason, and for {@link ChatMemory.close}
   * (`CLOSED`); for {@link ChatMemory.requestStop} (`ABORTED`) and a lost lease (`TURN_LOST`) at the next read or
   * write of the memory, at the latest after a second. `run` then decides how it ends. A turn asked for within another one of
   * the same object waits for ever: it is `BUSY` where that can be told, because it is asked for at once, or with the
   * turn's own signal.
   *
   * It costs one commit at the beginning and one at the end; while it runs, a read that finds nothing new each second,
   * and a commit each third of `leaseMs` unless the turn writes. Over a memory that does not exist yet, it begins it,
   * unless it must exist ({@link TurnOptions.mustExist}): who waits for the turn of a conversation that is deleted meanwhile
   * gets `NOT_FOUND`.
   *
   * Errors: `BUSY` by {@link TurnOptions.busy}; `NOT_FOUND` by {@link TurnOptions.mustExist}; `ABORTED` by the signal while it
   * waits; `INVALID_OPTION`; and what `run` throws.
   *
   * @example
   * ```ts
   * import { assistant, type ChatMemory, type ModelMessage, user } from "@turnkeep/core";
   *
   * type Ask = (messages: ModelMessage[], signal: AbortSignal) => Promise<string>;
   *
   * async function answer(memory: ChatMemory<ModelMessage>, question: string, ask: Ask): Promise<string> {
   *   return memory.turn(async ({ signal }) => {
   *     await memory.add(user(question));
   *     const text = await ask(await memory.messages(), signal);
   *     await memory.add(assistant(text));
   *     return text;
   *   });
   * }
   * ```
   */
  turn<T>(run: (turn: { readonly signal: AbortSignal }) => T | Promise<T>, options?: TurnOptions): Promise<T>;
  /**
   * Asks the turn that runs on this conversation, in whatever process, to end: its signal fires within a second (see
   * {@link ChatMemory.turn}). Returns whether there was one, as {@link ChatMemory.running} does. Does not wait for its end.
   *
   * @example
   * ```ts
   * import type { ChatMemory, ModelMessage } from "@turnkeep/core";
   *
   * async function onStopButton(memory: ChatMemory<ModelMessage>): Promise<string> {
   *   return (await memory.requestStop()) ? "Stopping." : "There is nothing to stop.";
   * }
   * ```
   */
  requestStop(options?: MemoryCallOptions): Promise<boolean>;
  /**
   * Whether somebody holds the turn of this conversation. The turn of a process that has died counts until its `leaseMs`
   * are over, by the clock of who asks: from the first call that saw it as it is.
   */
  running(options?: MemoryCallOptions): Promise<boolean>;
  /**
   * Waits for the calls made so far, summaries included; later calls are `CLOSED`. Ends a turn that runs over this memory
   * object: its signal fires, and its lease is released. Idempotent. Closes the store only if the memory made it.
   */
  close(): Promise<void>;
  /** Calls `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
