import type { ChatMemory } from "../chat-memory.ts";
import { onlySets } from "../format/only-sets.ts";
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
} from "../memory-call-options.ts";
import type { DataChange, JsonValue } from "../memory-data.ts";
import type { Each, Entry } from "../memory-entry.ts";
import type { HistoryMessage, MemoryHistoryPage, MemoryHistoryQuery } from "../memory-history.ts";
import type { MemorySettings } from "../memory-settings.ts";
import type { MemoryTransaction } from "../memory-transaction.ts";
import type {
  ExplainOptions,
  Explanation,
  NonSystemOf,
  Prompt,
  SystemOf,
  ViewOptions,
} from "../memory-view.ts";
import type { MessageFormat } from "../message-format.ts";
import { checkMessageId } from "../stores/checks.ts";
import { anchorAt } from "./anchor.ts";
import { takeConflictOptions, takePutOptions, takeRemoveOptions, takeSignal } from "./call-options.ts";
import { Changes, type CompactRequest } from "./changes.ts";
import { decodeData } from "./data.ts";
import { keepHiding } from "./hiding.ts";
import { following, liveMessage, readHistory, takeQuery } from "./history.ts";
import { Session } from "./session.ts";
import { shrinkOnce, takeShrinkOptions } from "./shrink.ts";
import { tellCalls } from "./told.ts";
import { transact } from "./transaction.ts";
import { Turns } from "./turns.ts";
import { versionsOf } from "./versions.ts";
import { Views } from "./views.ts";
import { Writer } from "./writer.ts";

class StoredChatMemory<M> implements ChatMemory<M> {
  readonly id: string;
  readonly format: MessageFormat<M>;
  readonly #settings: MemorySettings<M>;
  readonly #session: Session<M>;
  readonly #views: Views<M>;
  readonly #changes: Changes<M>;
  readonly #writer: Writer<M>;
  readonly #turns: Turns<M>;

  constructor(settings: MemorySettings<M>) {
    this.id = settings.memoryId;
    this.format = settings.reader.format;
    this.#settings = settings;
    this.#session = new Session(settings);
    this.#views = new Views(settings, this.#session);
    this.#changes = new Changes(settings, this.#views);
    this.#writer = new Writer(settings, this.#session, this.#views);
    this.#turns = new Turns(settings, this.#session);
    keepHiding(this, settings.processors);
    const warning = settings.reader.counter?.warning;
    if (warning !== undefined) this.#session.emit({ type: "warning", ...warning });
  }

  add<Messages extends unknown[]>(...messages: Each<Messages, M | Entry<M>>): Promise<Each<Messages, string>>;
  add(...messages: (M | Entry<M>)[]): Promise<string[]>;
  add(...messages: (M | Entry<M>)[]): Promise<string[]> {
    this.#session.checkOpen();
    const prepared = this.#changes.prepare(messages);
    return prepared.length === 0 ? Promise.resolve([]) : this.#writer.commit(this.#changes.add(prepared));
  }

  async instruct(message: M | Entry<M>, options?: MemoryCallOptions): Promise<string> {
    const signal = takeSignal("instruct", options);
    const change = this.#changes.add(this.#changes.prepareInstruction(message));
    const [id] = await this.#writer.commit(change, { signal });
    return id as string;
  }

  async put(id: string, message: M | Entry<M>, options?: PutOptions<M>): Promise<void> {
    const { signal, ...rules } = takePutOptions(options);
    return this.#writer.commit(this.#changes.put(id, message, rules), { signal });
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
    const signal = takeSignal("set", options);
    return this.#writer.commit(this.#changes.set(messages), { signal, base: "looked" });
  }

  async compact(request: CompactRequest<M>, options?: MemoryCallOptions): Promise<string> {
    const signal = takeSignal("compact", options);
    return this.#writer.commit(this.#changes.compact(request), { signal });
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
      changes: this.#changes,
      writer: this.#writer,
    };
    return transact(parts, run, options);
  }

  async rewind(messageId: string, options?: RemovalOptions): Promise<void> {
    const { onConflict, ...bound } = takeConflictOptions("rewind", options);
    return this.#writer.commit(this.#changes.rewind(messageId), { ...bound, base: baseOf(onConflict) });
  }

  async restore(messageId: string, options?: RemovalOptions): Promise<void> {
    const { onConflict, ...bound } = takeConflictOptions("restore", options);
    return this.#writer.commit(this.#changes.restore(messageId), { ...bound, base: baseOf(onConflict) });
  }

  async versions(messageId: string, options?: MemoryCallOptions): Promise<HistoryMessage<M>[]> {
    const signal = takeSignal("versions", options);
    return this.#session.run(signal, async (call) => {
      const loaded = await this.#session.load(call);
      return versionsOf(messageId, { loaded, settings: this.#settings, call });
    });
  }

  async remove(messageId: string, options?: RemoveOptions): Promise<string[]> {
    const { onConflict, only, ...bound } = takeRemoveOptions(options);
    return this.#writer.commit(this.#changes.remove(messageId, only), { ...bound, base: baseOf(onConflict) });
  }

  async data(options?: MemoryCallOptions): Promise<JsonValue | undefined> {
    const signal = takeSignal("data", options);
    const { data } = await this.#session.run(signal, (call) => this.#session.load(call));
    return decodeData(this.id, data);
  }

  async update(data: DataChange, options?: RemovalOptions): Promise<void> {
    const { onConflict, ...bound } = takeConflictOptions("update", options);
    return this.#writer.commit(this.#changes.update(data), { ...bound, base: baseOf(onConflict) });
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
    const { signal, branches, ...asked } = takeQuery(query);
    return this.#session.run(signal, async (call) => {
      const reading = { settings: this.#settings, call };
      if (branches) return readHistory(asked, reading, (await this.#session.load(call)).lost);
      const [page] = await Promise.all([readHistory(asked, reading), this.#session.checkOwned(call)]);
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
    const plan = shrinkOnce<M>(target, (attempt) => this.#views.hidden(attempt));
    return this.#writer.commit({ plan }, { signal });
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

function baseOf(onConflict: RemovalOptions["onConflict"]): "looked" | undefined {
  return onConflict === "throw" ? "looked" : undefined;
}

export type ToldChatMemory<M> = StoredChatMemory<M>;

/** A memory over a store, whose errors name it and the call. */
export const ToldChatMemory: typeof StoredChatMemory = tellCalls(StoredChatMemory, [
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
  "restore",
  "versions",
  "remove",
  "data",
  "update",
  "anchor",
  "history",
  "calibrate",
  "shrink",
  "turn",
  "requestStop",
  "running",
]);
