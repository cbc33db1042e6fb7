import type {
  CalibrateOptions,
  ChatMemory,
  Entry,
  MemoryTransaction,
  ShrinkOptions,
  Shrunk,
  TransactionOptions,
} from "../chat-memory.ts";
import { invalidOption } from "../errors.ts";
import { onlySets } from "../format/only-sets.ts";
import type {
  Anchor,
  MemoryCallOptions,
  PutOptions,
  RemovalOptions,
  RemoveOptions,
  TurnOptions,
} from "../memory-call-options.ts";
import type { HistoryMessage, MemoryHistoryPage, MemoryHistoryQuery } from "../memory-history.ts";
import type { MemorySettings } from "../memory-settings.ts";
import type {
  ExplainOptions,
  Explanation,
  NonSystemOf,
  Prompt,
  SystemOf,
  ViewOptions,
} from "../memory-view.ts";
import type { MessageFormat } from "../message-format.ts";
import { elsewhere } from "../option-checks.ts";
import { type Fields, takeOptions } from "../option-fields.ts";
import { checkMessageId } from "../stores/checks.ts";
import { anchorAt, checkExists } from "./anchor.ts";
import { takeConflictOptions, takePutOptions, takeRemoveOptions, takeSignal } from "./call-options.ts";
import { checkReplacement, compactThrough, replaceAll } from "./change.ts";
import { following, liveMessage, readHistory, takeQuery } from "./history.ts";
import { prepare, prepareAll, prepareInstruction } from "./prepare.ts";
import { removal } from "./remove.ts";
import { rewindTo } from "./rewind.ts";
import { Session } from "./session.ts";
import { shrinkOnce, takeShrinkOptions } from "./shrink.ts";
import { tellCalls } from "./told.ts";
import { transact } from "./transaction.ts";
import { Turns } from "./turns.ts";
import { Views } from "./views.ts";
import { Writer } from "./writer.ts";

/** What `compact` is asked for. */
type CompactRequest<M> = Parameters<ChatMemory<M>["compact"]>[0];

const compactFields = {
  through: elsewhere,
  replacement: elsewhere,
} satisfies Fields<CompactRequest<never>>;

/** A memory over a store. */
export class StoredChatMemory<M> implements ChatMemory<M> {
  readonly id: string;
  readonly format: MessageFormat<M>;
  readonly #settings: MemorySettings<M>;
  readonly #session: Session<M>;
  readonly #views: Views<M>;
  readonly #writer: Writer<M>;
  readonly #turns: Turns<M>;

  constructor(settings: MemorySettings<M>) {
    this.id = settings.memoryId;
    this.format = settings.reader.format;
    this.#settings = settings;
    this.#session = new Session(settings);
    this.#views = new Views(settings, this.#session);
    this.#writer = new Writer(settings, this.#session, this.#views);
    this.#turns = new Turns(settings, this.#session);
    const warning = settings.reader.counter?.warning;
    if (warning !== undefined) this.#session.emit({ type: "warning", ...warning });
  }

  add(...messages: (M | Entry<M>)[]): Promise<string[]> {
    this.#session.checkOpen();
    const prepared = prepareAll(messages, this.#settings.reader);
    return prepared.length === 0 ? Promise.resolve([]) : this.#writer.add(prepared);
  }

  async instruct(message: M | Entry<M>, options?: MemoryCallOptions): Promise<string> {
    const signal = takeSignal("instruct", options);
    const prepared = prepareInstruction(message, this.#settings.reader);
    const [id] = await this.#writer.add([prepared], { signal });
    return id as string;
  }

  async put(id: string, message: M | Entry<M>, options?: PutOptions<M>): Promise<void> {
    const { mustExist, replaces, signal } = takePutOptions(options);
    const { reader } = this.#settings;
    const replaced = replaces === undefined ? undefined : prepare(replaces, reader);
    checkMessageId(id); // A forgotten one would add the message anew each time.
    return this.#writer.put(prepare(message, reader, id), { signal, mustExist, replaced });
  }

  messages(options?: ViewOptions<M>): Promise<M[]> {
    const asked = this.#views.ask(options);
    return this.#session.run(asked.signal, (call) =>
      this.#session.look(call, (reading) => this.#views.show(reading, asked)),
    );
  }

  async entries(options?: MemoryCallOptions): Promise<HistoryMessage<M>[]> {
    const signal = takeSignal("entries", options);
    return this.#session.run(signal, (call) =>
      this.#session.look(call, ({ loaded }) => loaded.live.items.map(liveMessage)),
    );
  }

  async prompt(options?: ViewOptions<M>): Promise<Prompt<M>> {
    const messages = await this.messages(options);
    const isPrompt = (message: M): boolean =>
      this.format.role(message) === "system" && !onlySets(message, this.format);
    const first = messages.findIndex(isPrompt);
    // Behind others it is one that stays where it was said.
    const isApart = this.#settings.systemMessages === "one" ? first >= 0 : first === 0;
    const [system] = isApart ? messages.splice(first, 1) : [];
    return { system: system as SystemOf<M> | undefined, messages: messages as NonSystemOf<M>[] };
  }

  explain(options?: ExplainOptions<M>): Promise<Explanation<M>> {
    return this.#views.explain(options);
  }

  async set(messages: readonly (M | Entry<M>)[], options?: MemoryCallOptions): Promise<string[]> {
    if (!Array.isArray(messages) || messages.length === 0) {
      throw invalidOption("set needs an array of at least one message. To delete all, call clear().");
    }
    const signal = takeSignal("set", options);
    const prepared = prepareAll(messages, this.#settings.reader);
    return this.#writer.change(signal, (attempt) => replaceAll(attempt, prepared), {
      base: (call) => this.#session.lookedAt(call),
    });
  }

  async compact(request: CompactRequest<M>, options?: MemoryCallOptions): Promise<string> {
    takeOptions("compact's argument", compactFields, request as CompactRequest<never>);
    const { through, replacement } = request;
    const signal = takeSignal("compact", options);
    const prepared = prepare(replacement, this.#settings.reader);
    checkReplacement(prepared, this.#settings);
    return this.#writer.change(signal, (attempt) => compactThrough(attempt, through, prepared), {
      reason: "compact",
    });
  }

  async clear(options?: MemoryCallOptions): Promise<void> {
    const signal = takeSignal("clear", options);
    return this.#session.run(signal, (call) => this.#session.delete(call));
  }

  async transaction<T>(
    run: (transaction: MemoryTransaction<M>) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    const parts = {
      settings: this.#settings,
      session: this.#session,
      views: this.#views,
      writer: this.#writer,
    };
    return transact(parts, run, options);
  }

  async rewind(messageId: string, options?: RemovalOptions): Promise<void> {
    const { mustExist, onConflict, signal } = takeConflictOptions("rewind", options);
    return this.#writer.change(
      signal,
      async (attempt) => {
        await checkExists(mustExist, attempt);
        return rewindTo(attempt, messageId);
      },
      { base: onConflict === "throw" ? (call) => this.#session.lookedAt(call) : undefined },
    );
  }

  async remove(messageId: string, options?: RemoveOptions): Promise<string[]> {
    const { mustExist, onConflict, only, signal } = takeRemoveOptions(options);
    const remove = removal<M>(messageId, only);
    return this.#session.run(signal, async (call) => {
      const base = onConflict === "throw" ? await this.#session.lookedAt(call) : undefined;
      return this.#session.commit(
        call,
        async (attempt) => {
          await checkExists(mustExist, attempt);
          return remove(attempt);
        },
        { base },
      );
    });
  }

  async anchor(messageId?: string, options?: MemoryCallOptions): Promise<Anchor> {
    const signal = takeSignal("anchor", options);
    if (messageId !== undefined) checkMessageId(messageId);
    return this.#session.run(signal, async (call) => {
      const loaded = await this.#session.lastKnown(call);
      return anchorAt(messageId, { loaded, settings: this.#settings, call });
    });
  }

  async history(query: MemoryHistoryQuery = {}): Promise<MemoryHistoryPage<M>> {
    const { signal, ...asked } = takeQuery(query);
    return this.#session.run(signal, async (call) => {
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
    const { target, signal } = takeShrinkOptions(options);
    const shrink = shrinkOnce<M>(target, (attempt) => this.#views.hidden(attempt));
    return this.#writer.change(signal, shrink, { reason: "shrink" });
  }

  turn<T>(
    run: (turn: { readonly signal: AbortSignal }) => T | Promise<T>,
    options?: TurnOptions,
  ): Promise<T> {
    return this.#turns.run(run, options);
  }

  requestStop(options?: MemoryCallOptions): Promise<boolean> {
    return this.#turns.requestStop(options);
  }

  running(options?: MemoryCallOptions): Promise<boolean> {
    return this.#turns.running(options);
  }

  get closed(): boolean {
    return this.#session.closed;
  }

  close(): Promise<void> {
    // Among the calls that the session waits for is the one that releases the lease.
    this.#turns.close();
    return this.#session.close(() => this.#writer.summary);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

tellCalls(StoredChatMemory.prototype, [
  "add",
  "instruct",
  "put",
  "messages",
  "entries",
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
  "turn",
  "requestStop",
  "running",
]);
