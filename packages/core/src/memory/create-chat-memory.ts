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
import { TurnkeepError } from "../errors.ts";
import type { ModelMessage, ModelMessageLike } from "../format/model-message.ts";
import { modelMessageFormat } from "../format/model-message-format.ts";
import type { MemoryCallOptions } from "../memory-call-options.ts";
import type { MemoryHistoryPage, MemoryHistoryQuery } from "../memory-history.ts";
import type {
  ExplainOptions,
  Explanation,
  NonSystemOf,
  Prompt,
  SystemOf,
  ViewOptions,
} from "../memory-view.ts";
import type { MessageFormat } from "../message-format.ts";
import type { Item } from "../steps/item.ts";
import { addAll, withoutRepeated } from "./add.ts";
import { checkReplacement, compactThrough, putMessage, replaceAll } from "./change.ts";
import type { Call } from "./deadline.ts";
import type { Loaded, Prepared } from "./draft.ts";
import { following, readHistory } from "./history.ts";
import { normalizeOptions } from "./options.ts";
import type { Policy } from "./policy.ts";
import { prepare, prepareAll } from "./prepare.ts";
import { removeStep } from "./remove.ts";
import { rewindTo } from "./rewind.ts";
import { type Base, type Plan, Session } from "./session.ts";
import { shrinkOnce, targetOf } from "./shrink.ts";
import { Summarizer, waitFor } from "./summarizer.ts";
import { Views } from "./views.ts";

/**
 * A chat memory: one conversation, within a budget, kept in a store. Without a store it lives in this process alone.
 *
 * Errors: `INVALID_OPTION` for an option of the wrong shape, and for a store without an id: a forgotten id would give
 * every user the same memory.
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
  options?: ChatMemoryOptions<NoInfer<M>> & { readonly format?: undefined },
): ChatMemory<M>;
export function createChatMemory<M>(
  options: ChatMemoryOptions<NoInfer<M>> & { readonly format: MessageFormat<M> },
): ChatMemory<M>;
export function createChatMemory<M>(
  options: ChatMemoryOptions<M> & { readonly format?: MessageFormat<M> | undefined } = {},
): ChatMemory<M> {
  return new StoredChatMemory(options, options.format ?? (modelMessageFormat as unknown as MessageFormat<M>));
}

/** A memory over a store. */
export class StoredChatMemory<M> implements ChatMemory<M> {
  readonly id: string;
  readonly format: MessageFormat<M>;
  readonly #policy: Policy<M>;
  readonly #session: Session<M>;
  readonly #views: Views<M>;
  readonly #summarizer: Summarizer<M> | undefined;

  constructor(options: ChatMemoryOptions<M>, format: MessageFormat<M>) {
    const { policy, session } = normalizeOptions(options, format);
    this.id = policy.memoryId;
    this.format = format;
    this.#policy = policy;
    this.#session = new Session(session);
    this.#views = new Views(policy, this.#session);
    const work = {
      policy,
      session: this.#session,
      timeoutMs: session.timeoutMs,
      limits: () => this.#views.limits(),
    };
    const { summarize } = policy.window;
    this.#summarizer = summarize === undefined ? undefined : new Summarizer(work, summarize);
    this.#warnOfOrder();
  }

  async add(...messages: (M | Entry<M>)[]): Promise<string[]> {
    this.#session.checkOpen();
    const prepared = prepareAll(messages, this.#policy.reader);
    if (prepared.length === 0) return [];
    return this.#change(undefined, (call) => this.#addPrepared(prepared, call));
  }

  async put(id: string, message: M | Entry<M>, options?: MemoryCallOptions): Promise<void> {
    const prepared = prepare(message, this.#policy.reader, id);
    return this.#change(options?.signal, async (call) => {
      const limits = await this.#views.limits();
      await this.#commit(call, (draft, loaded) =>
        putMessage(draft, loaded, prepared, this.#policy, limits, call),
      );
    });
  }

  messages(options?: ViewOptions<M>): Promise<M[]> {
    return this.#session.run(options?.signal, (call) =>
      this.#session.look(call, (loaded) => this.#views.show(loaded, call, options)),
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
      throw new TurnkeepError(
        "INVALID_OPTION",
        "set needs an array of at least one message. To delete all, call clear().",
      );
    }
    const prepared = prepareAll(messages, this.#policy.reader);
    return this.#change(options?.signal, async (call) => {
      const limits = await this.#views.limits();
      return this.#commit(
        call,
        (draft, loaded) => replaceAll(draft, loaded, prepared, this.#policy, limits, call),
        await this.#session.lookedAt(call),
      );
    });
  }

  async compact(
    request: { readonly through: string; readonly replacement: M },
    options?: MemoryCallOptions,
  ): Promise<string> {
    const prepared = prepare(request.replacement, this.#policy.reader);
    checkReplacement(prepared, this.#policy);
    return this.#change(options?.signal, async (call) => {
      const limits = await this.#views.limits();
      return this.#commit(
        call,
        (draft, loaded) =>
          compactThrough(draft, loaded, request.through, prepared, this.#policy, limits, call),
        undefined,
        "compact",
      );
    });
  }

  clear(options?: MemoryCallOptions): Promise<void> {
    return this.#session.run(options?.signal, (call) => this.#session.delete(call));
  }

  async transaction<T>(
    run: (transaction: MemoryTransaction<M>) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    const session = this.#session;
    session.checkOpen();
    const collected: Prepared<M>[] = [];
    let base: Base | undefined;
    let open = true;
    const checkOpen = (): void => {
      if (!open) throw new TurnkeepError("CLOSED", "The transaction has ended; start another one.");
    };
    if (options?.onConflict === "throw")
      base = await session.run(options.signal, (call) => session.look(call, ({ version }) => ({ version })));
    const transaction: MemoryTransaction<M> = {
      add: (...messages) => {
        checkOpen();
        const prepared = prepareAll(messages, this.#policy.reader);
        collected.push(...prepared);
        return prepared.map((message) => message.id);
      },
      messages: (view) =>
        session.run(view?.signal ?? options?.signal, (call) => {
          checkOpen();
          return session.look(call, (loaded) => {
            base ??= { version: loaded.version };
            return this.#views.show(loaded, call, view, collected);
          });
        }),
    };
    try {
      const result = await run(transaction);
      open = false;
      if (collected.length === 0) return result;
      const isMerge = (options?.onConflict ?? (base === undefined ? "merge" : "throw")) === "merge";
      await this.#change(options?.signal, (call) =>
        this.#addPrepared(collected, call, isMerge ? undefined : base),
      );
      return result;
    } finally {
      open = false;
    }
  }

  rewind(messageId: string, options?: MemoryCallOptions): Promise<void> {
    return this.#session.run(options?.signal, async (call) => {
      const limits = await this.#views.limits();
      await this.#session.commit(call, (draft, loaded) =>
        rewindTo(draft, loaded, messageId, this.#policy, limits, call),
      );
    });
  }

  remove(messageId: string, options?: MemoryCallOptions): Promise<string[]> {
    return this.#session.run(options?.signal, (call) =>
      this.#session.commit(call, (draft, loaded) => removeStep(draft, loaded, messageId, this.#policy, call)),
    );
  }

  history(query: MemoryHistoryQuery = {}): Promise<MemoryHistoryPage<M>> {
    return this.#session.run(query.signal, (call) => readHistory(query, this.#policy, call));
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
    return this.#session.run(options?.signal, (call) => {
      const hidden = (loaded: Loaded<M>): Promise<readonly Item<M>[]> => this.#views.hidden(loaded, call);
      return this.#commit(call, shrinkOnce(this.#policy, target, hidden), undefined, "shrink");
    });
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

  /** Runs a call that may add, then waits for the summary that is due because of it. */
  async #change<T>(signal: AbortSignal | undefined, change: (call: Call) => Promise<T>): Promise<T> {
    let work: Promise<void> | undefined;
    const result = await this.#session.run(signal, async (call) => {
      const changed = await change(call);
      if (call.awaitsSummary !== undefined) work = this.#summarizer?.begin(call.awaitsSummary, signal);
      return changed;
    });
    if (work !== undefined) await waitFor(work, signal);
    return result;
  }

  async #addPrepared(prepared: readonly Prepared<M>[], call: Call, base?: Base): Promise<string[]> {
    const limits = await this.#views.limits();
    return this.#commit(
      call,
      async (draft, loaded) => {
        const fresh = await withoutRepeated(prepared, loaded, this.#policy, call);
        const added = addAll(draft, fresh, this.#policy, limits);
        // What the model reasoned with an extra message in sight is bound to it, and it will not be shown again.
        if (this.#views.hadExtra && fresh.some(({ facts }) => this.format.hasReasoning(facts.message)))
          draft.raiseEpoch();
        const ids = new Map(fresh.map((message, index) => [message, added[index]]));
        return prepared.map((message) => ids.get(message) ?? message.id);
      },
      base,
    );
  }

  /** Commits and reports what left memory. */
  async #commit<T>(
    call: Call,
    plan: Plan<M, T>,
    base?: Base,
    reason: "window" | "compact" | "shrink" = "window",
  ): Promise<T> {
    let messageIds: readonly string[] = [];
    const result = await this.#session.commit(
      call,
      async (draft, loaded) => {
        const planned = await plan(draft, loaded);
        messageIds = draft.evictedIds;
        call.awaitsSummary = draft.awaitsSummary;
        return planned;
      },
      base,
    );
    if (messageIds.length > 0) this.#session.emit({ type: "evicted", memoryId: this.id, messageIds, reason });
    return result;
  }

  /** A processor behind one that keeps the view within a limit could break that limit. */
  #warnOfOrder(): void {
    const { processors } = this.#policy;
    const misplaced = processors.slice(0, -1).find((processor) => processor.limitsView === true);
    if (misplaced === undefined) return;
    const message =
      `The processor ${JSON.stringify(misplaced.name)} keeps the view within a limit, and others follow it. ` +
      "Put it last, so that what they add counts.";
    this.#session.emit({ type: "warning", memoryId: this.id, code: "processor-order", message });
  }
}
