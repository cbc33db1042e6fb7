import type {
  CalibrateOptions,
  ChatMemory,
  Entry,
  MemoryTransaction,
  ShrinkOptions,
  Shrunk,
  TransactionOptions,
} from "../chat-memory.ts";
import type { ChatMemoryOptions } from "../chat-memory-options.ts";
import { invalidOption, TurnkeepError } from "../errors.ts";
import type { ModelMessage, ModelMessageLike } from "../format/model-message.ts";
import type { Anchor, MemoryCallOptions, PutOptions, RemovalOptions } from "../memory-call-options.ts";
import type { MemoryHistoryPage, MemoryHistoryQuery } from "../memory-history.ts";
import type { MemorySettings } from "../memory-settings.ts";
import type {
  ExplainOptions,
  Explanation,
  NonSystemOf,
  Prompt,
  SystemOf,
  ViewOptions,
} from "../memory-view.ts";
import type { AnyMessage, MessageFormat } from "../message-format.ts";
import { checkObject, checkOptions, wrongOption } from "../option-checks.ts";
import { checkMessageId } from "../stores/checks.ts";
import { quoted } from "../stores/text.ts";
import { addAll, withoutRepeated } from "./add.ts";
import { anchorAt, checkExists, checkMustExist, type MustExist } from "./anchor.ts";
import type { Attempt } from "./attempt.ts";
import { checkReplacement, compactThrough, putMessage, replaceAll } from "./change.ts";
import type { Call } from "./deadline.ts";
import type { Draft, Prepared } from "./draft.ts";
import { copyQuery, following, readHistory } from "./history.ts";
import { type DefaultFormat, type FormatOption, type OwnFormat, settingsOf, sharedNames } from "./options.ts";
import { prepare, prepareAll } from "./prepare.ts";
import { removeStep } from "./remove.ts";
import { rewindTo } from "./rewind.ts";
import { type Base, Session } from "./session.ts";
import { underStoredIds } from "./shown-calls.ts";
import { shrinkOnce, targetOf } from "./shrink.ts";
import { Summarizer, waitFor } from "./summarizer.ts";
import { tellCalls } from "./told.ts";
import { Views } from "./views.ts";

/**
 * Creates a chat memory: one conversation, within a budget, kept in a store. Without a store it lives in this process.
 *
 * Errors: `INVALID_OPTION` for an option of the wrong shape, and for a store without an id, since all users would then
 * share one memory.
 *
 * @example
 * ```ts
 * import { createChatMemory, inMemoryStore, user } from "@turnkeep/core";
 *
 * const store = inMemoryStore();
 * const memory = createChatMemory({ id: "chat-1", store, window: { maxMessages: 20 } });
 * await memory.add(user("Hello"));
 * console.log(await memory.messages()); // [{ role: "user", content: "Hello" }]
 * ```
 */
export function createChatMemory<M extends ModelMessageLike = ModelMessage>(
  options?: ChatMemoryOptions<NoInfer<M>> & DefaultFormat,
): ChatMemory<M>;
export function createChatMemory<M extends AnyMessage>(
  options: ChatMemoryOptions<NoInfer<M>> & OwnFormat<M>,
): ChatMemory<M>;
export function createChatMemory<M>(options: ChatMemoryOptions<M> & FormatOption<M> = {}): ChatMemory<M> {
  checkObject("createChatMemory's argument", options, ["id", ...sharedNames]);
  return new StoredChatMemory(options);
}

interface ChangeOptions {
  /** The state that the change must be based on, if it may be made on no other. */
  readonly base?: ((call: Call) => Base | undefined | Promise<Base>) | undefined;
  /** Why the change moves messages out of memory. */
  readonly reason?: "window" | "compact" | "shrink";
  /** Called once it is made, before the next call of the memory begins. */
  readonly made?: () => void;
}

const queryNames: readonly (keyof MemoryHistoryQuery)[] = [
  "before",
  "after",
  "order",
  "limit",
  "states",
  "ids",
  "signal",
];

function checkOnConflict(value: TransactionOptions["onConflict"]): void {
  if (value !== undefined && value !== "merge" && value !== "throw")
    throw wrongOption("onConflict", value, "merge or throw");
}

/** A memory over a store. */
export class StoredChatMemory<M> implements ChatMemory<M> {
  readonly id: string;
  readonly format: MessageFormat<M>;
  readonly #settings: MemorySettings<M>;
  readonly #session: Session<M>;
  readonly #views: Views<M>;
  readonly #summarizer: Summarizer<M> | undefined;

  constructor(options: ChatMemoryOptions<M> & FormatOption<M>) {
    const settings = settingsOf(options);
    this.id = settings.memoryId;
    this.format = settings.reader.format;
    this.#settings = settings;
    this.#session = new Session(settings);
    this.#views = new Views(settings, this.#session);
    const work = { settings, session: this.#session, limits: () => this.#views.limits() };
    const { summarize } = settings.window;
    this.#summarizer = summarize === undefined ? undefined : new Summarizer(work, summarize);
    this.#warnOfOrder();
  }

  async add(...messages: (M | Entry<M>)[]): Promise<string[]> {
    this.#session.checkOpen();
    const prepared = prepareAll(messages, this.#settings.reader);
    if (prepared.length === 0) return [];
    return this.#addPrepared(prepared);
  }

  async put(id: string, message: M | Entry<M>, options?: PutOptions<M>): Promise<void> {
    checkOptions("put's options", options, ["mustExist", "replaces", "signal"]);
    const { mustExist = false, replaces } = options ?? {};
    checkMustExist(mustExist);
    const replaced = replaces === undefined ? undefined : prepare(replaces, this.#settings.reader);
    checkMessageId(id); // A forgotten one would add the message anew each time.
    const prepared = prepare(message, this.#settings.reader, id);
    const put = async (attempt: Attempt<M>): Promise<void> => {
      if (mustExist !== true) await checkExists(mustExist, attempt);
      const [stored = prepared] = underStoredIds([prepared], attempt.loaded.live, this.#settings);
      const isBehind = this.#views.isBehind(attempt.loaded, [stored]);
      await putMessage(attempt, stored, { mustExist: mustExist === true, replaced });
      this.#partFromView(attempt, [stored], isBehind);
    };
    return this.#change(options?.signal, put, { made: () => this.#views.added([prepared]) });
  }

  async messages(options?: ViewOptions<M>): Promise<M[]> {
    const asked = this.#views.ask(options);
    return this.#session.run(options?.signal, (call) =>
      this.#session.look(call, (loaded) => this.#views.show(loaded, call, asked)),
    );
  }

  async prompt(options?: ViewOptions<M>): Promise<Prompt<M>> {
    const messages = await this.messages(options);
    const index = messages.findIndex((message) => this.format.role(message) === "system");
    const system = index < 0 ? undefined : messages.splice(index, 1)[0];
    return { system: system as SystemOf<M> | undefined, messages: messages as NonSystemOf<M>[] };
  }

  explain(options: ExplainOptions<M> = {}): Promise<Explanation<M>> {
    return this.#views.explain(options);
  }

  async set(messages: readonly (M | Entry<M>)[], options?: MemoryCallOptions): Promise<string[]> {
    if (!Array.isArray(messages) || messages.length === 0) {
      throw invalidOption("set needs an array of at least one message. To delete all, call clear().");
    }
    checkOptions("set's options", options, ["signal"]);
    const prepared = prepareAll(messages, this.#settings.reader);
    const base = this.#baseOf("throw");
    return this.#change(options?.signal, (attempt) => replaceAll(attempt, prepared), { base });
  }

  async compact(
    request: { readonly through: string; readonly replacement: M },
    options?: MemoryCallOptions,
  ): Promise<string> {
    checkObject("compact's argument", request, ["through", "replacement"]);
    checkOptions("compact's options", options, ["signal"]);
    const prepared = prepare(request.replacement, this.#settings.reader);
    checkReplacement(prepared, this.#settings);
    const { through } = request;
    return this.#change(options?.signal, (attempt) => compactThrough(attempt, through, prepared), {
      reason: "compact",
    });
  }

  async clear(options?: MemoryCallOptions): Promise<void> {
    checkOptions("clear's options", options, ["signal"]);
    return this.#session.run(options?.signal, (call) => this.#session.delete(call));
  }

  async transaction<T>(
    run: (transaction: MemoryTransaction<M>) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    const session = this.#session;
    session.checkOpen();
    if (typeof run !== "function") throw wrongOption("transaction's argument", run, "a function");
    checkOptions("transaction's options", options, ["mustExist", "onConflict", "signal"]);
    const { mustExist = false, onConflict, signal } = options ?? {};
    checkMustExist(mustExist);
    checkOnConflict(onConflict);
    const collected: Prepared<M>[] = [];
    let base: Base | undefined;
    let open = true;
    const checkOpen = (): void => {
      if (!open) throw new TurnkeepError("CLOSED", "The transaction has ended; start another one.");
    };
    if (onConflict === "throw")
      base = await session.run(signal, (call) => session.look(call, ({ version }) => ({ version })));
    const transaction: MemoryTransaction<M> = {
      add: (...messages) => {
        checkOpen();
        const prepared = prepareAll(messages, this.#settings.reader);
        collected.push(...prepared);
        return prepared.map((message) => message.id);
      },
      messages: async (view) => {
        const asked = this.#views.ask(view);
        return session.run(view?.signal ?? signal, (call) => {
          checkOpen();
          return session.look(call, (loaded) => {
            base ??= { version: loaded.version };
            return this.#views.show(loaded, call, asked, collected);
          });
        });
      },
    };
    let result: T;
    try {
      result = await run(transaction);
    } finally {
      open = false;
    }
    if (collected.length === 0) return result;
    await this.#addPrepared(collected, {
      signal,
      mustExist,
      base: onConflict === "merge" ? undefined : base,
    });
    return result;
  }

  async rewind(messageId: string, options?: RemovalOptions): Promise<void> {
    const { mustExist, base } = this.#removalOf("rewind's options", options);
    const rewind = async (attempt: Attempt<M>): Promise<void> => {
      await checkExists(mustExist, attempt);
      return rewindTo(attempt, messageId);
    };
    return this.#change(options?.signal, rewind, { base });
  }

  async remove(messageId: string, options?: RemovalOptions): Promise<string[]> {
    const { mustExist, base } = this.#removalOf("remove's options", options);
    const settings = this.#settings;
    let before: string[] = [];
    return this.#session.run(options?.signal, async (call) =>
      this.#session.commit(
        call,
        async (draft, loaded) => {
          const removal = { draft, loaded, settings, call };
          await checkExists(mustExist, removal);
          const ids = await removeStep(removal, messageId);
          // The messages are gone because an earlier attempt, whose answer was lost, deleted them.
          if (ids.length === 0 && call.isOpen) return before;
          before = ids;
          return ids;
        },
        await base?.(call),
      ),
    );
  }

  async anchor(messageId?: string, options?: MemoryCallOptions): Promise<Anchor> {
    checkOptions("anchor's options", options, ["signal"]);
    if (messageId !== undefined) checkMessageId(messageId);
    return this.#session.run(options?.signal, async (call) =>
      anchorAt(messageId, { loaded: await this.#session.lastKnown(call), settings: this.#settings, call }),
    );
  }

  async history(query: MemoryHistoryQuery = {}): Promise<MemoryHistoryPage<M>> {
    checkObject("history's argument", query, queryNames);
    const asked = copyQuery(query);
    return this.#session.run(query.signal, async (call) => {
      const [page] = await Promise.all([
        readHistory(asked, this.#settings, call),
        this.#session.checkOwned(call),
      ]);
      return page;
    });
  }

  async *historyPages(query: MemoryHistoryQuery = {}): AsyncIterableIterator<MemoryHistoryPage<M>> {
    for (let next = query; ; ) {
      const page = await this.history(next);
      yield page;
      if (!page.hasMore) return;
      next = following(next, page.messages.at(-1)?.seq);
    }
  }

  calibrate(options: CalibrateOptions): Promise<void> {
    return this.#views.calibrate(options);
  }

  async shrink(options?: ShrinkOptions): Promise<Shrunk | false> {
    const target = targetOf(options);
    const shrink = shrinkOnce<M>(target, (attempt) => this.#views.hidden(attempt));
    return this.#change(options?.signal, shrink, { reason: "shrink" });
  }

  get closed(): boolean {
    return this.#session.closed;
  }

  close(): Promise<void> {
    return this.#session.close(() => this.#summarizer?.running);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What a change that takes messages away depends on. Errors: `INVALID_OPTION`. */
  #removalOf(
    name: string,
    options: RemovalOptions | undefined,
  ): { readonly mustExist: MustExist; readonly base: ChangeOptions["base"] } {
    checkOptions(name, options, ["mustExist", "onConflict", "signal"]);
    const { mustExist = false, onConflict } = options ?? {};
    checkMustExist(mustExist);
    return { mustExist, base: this.#baseOf(onConflict) };
  }

  /** The base of a change that must not affect what its caller has not seen. Errors: `INVALID_OPTION`. */
  #baseOf(onConflict: RemovalOptions["onConflict"]): ChangeOptions["base"] {
    checkOnConflict(onConflict);
    return onConflict === "throw" ? (call) => this.#session.lookedAt(call) : undefined;
  }

  #addPrepared(
    prepared: readonly Prepared<M>[],
    {
      signal,
      base,
      mustExist,
    }: { signal?: AbortSignal | undefined; base?: Base | undefined; mustExist?: MustExist | undefined } = {},
  ): Promise<string[]> {
    const add = async (attempt: Attempt<M>): Promise<string[]> => {
      if (mustExist !== undefined) await checkExists(mustExist, attempt);
      const stored = underStoredIds(prepared, attempt.loaded.live, this.#settings);
      const fresh = await withoutRepeated(stored, attempt);
      const isBehind = this.#views.isBehind(attempt.loaded, fresh);
      const added = addAll(attempt, fresh);
      this.#partFromView(attempt, fresh, isBehind);
      const ids = new Map(fresh.map((message, index) => [message, added[index]]));
      return stored.map((message) => ids.get(message) ?? message.id);
    };
    return this.#change(signal, add, { base: () => base, made: () => this.#views.added(prepared) });
  }

  /** Reasoning made after something else than what precedes it now is bound to what will not be sent with it. */
  #partFromView({ draft }: Attempt<M>, messages: readonly Prepared<M>[], isBehind: boolean): void {
    if (!isBehind) return;
    const isBound = ({ id, facts }: Prepared<M>): boolean =>
      this.format.hasReasoning(facts.message) && (draft.live.byId.get(id)?.meta.epoch ?? 0) === draft.epoch;
    if (messages.some(isBound)) draft.raiseEpoch();
  }

  /** Makes a change, reports what left memory by it, and waits for a summary that it made due. */
  async #change<T>(
    signal: AbortSignal | undefined,
    plan: (attempt: Attempt<M>) => T | Promise<T>,
    { base, reason = "window", made: whenMade }: ChangeOptions = {},
  ): Promise<T> {
    const settings = this.#settings;
    let work: Promise<void> | undefined;
    const result = await this.#session.run(signal, async (call) => {
      const limits = await this.#views.limits();
      let made: Draft<M> | undefined;
      const planned = await this.#session.commit(
        call,
        (draft, loaded) => {
          made = draft;
          return plan({ draft, loaded, settings, limits, call });
        },
        await base?.(call),
      );
      whenMade?.();
      const { evictedIds = [], awaitsSummary } = made ?? {};
      if (evictedIds.length > 0) this.#session.emit({ type: "evicted", messageIds: evictedIds, reason });
      if (awaitsSummary !== undefined) work = this.#summarizer?.begin(awaitsSummary, signal);
      return planned;
    });
    if (work !== undefined) await waitFor(work, signal);
    return result;
  }

  /** A processor behind one that keeps the view within a limit could break that limit. */
  #warnOfOrder(): void {
    const { processors } = this.#settings;
    const misplaced = processors.slice(0, -1).find((processor) => processor.limitsView === true);
    if (misplaced === undefined) return;
    const message =
      `The processor ${quoted(misplaced.name)} keeps the view within a limit, and others follow it. ` +
      "Put it last, so that what they add counts.";
    this.#session.emit({ type: "warning", code: "processor-order", message });
  }
}

tellCalls(StoredChatMemory.prototype, [
  "add",
  "put",
  "messages",
  "prompt",
  "explain",
  "set",
  "compact",
  "clear",
  "transaction",
  "rewind",
  "remove",
  "anchor",
  "history",
  "calibrate",
  "shrink",
]);
