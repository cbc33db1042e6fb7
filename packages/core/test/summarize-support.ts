import { modelMessageFormat as format } from "../src/format/model-message-format.ts";
import {
  type ChatMemory,
  type ChatMemoryOptions,
  type ChatMemoryStore,
  createChatMemory,
  inMemoryStore,
  type MemoryEvent,
  type MemoryUpdate,
  type ModelMessageLike,
  type Summarize,
  type SummarizeContext,
  user,
  type WindowOptions,
} from "../src/index.ts";
import { besideChanges } from "./events.ts";

const mark = "§";

/** What a user or the assistant said, with everything else that tells one message from another. */
export function textOf(message: ModelMessageLike): string {
  return typeof message.content === "string" ? message.content : JSON.stringify(message.content);
}

/** Its parts, each as a text: an answer that was stored in several messages is summarized as one, its texts as parts. */
export function partsIn(text: string): string[] {
  if (!text.startsWith("[")) return [JSON.stringify({ type: "text", text })];
  return (JSON.parse(text) as unknown[]).map((part) => JSON.stringify(part));
}

export const texts = async (memory: ChatMemory<ModelMessageLike>): Promise<string[]> =>
  (await memory.messages()).map(textOf);

/** `text state`, of everything that was said. */
export const states = async (memory: ChatMemory<ModelMessageLike>): Promise<string[]> =>
  (await memory.history({ limit: 1000 })).messages.map(({ message, state }) => `${textOf(message)} ${state}`);

/**
 * A summarizer whose answers are short, and which remembers what each of them stands for, so that a test can ask a view
 * for every message that it shows or stands for.
 */
export class Ledger {
  readonly calls: {
    readonly texts: readonly string[];
    readonly context: SummarizeContext<ModelMessageLike>;
  }[] = [];
  readonly #stoodFor: string[][] = [];

  readonly summarize: Summarize<ModelMessageLike> = (evicted, context) => {
    this.calls.push({ texts: evicted.map(textOf), context });
    return this.answerFor(evicted);
  };

  answerFor(evicted: readonly ModelMessageLike[]): ModelMessageLike {
    return user(`${mark}${this.#stoodFor.push(this.expand(evicted.map(textOf))) - 1}`);
  }

  /** The texts with what each summary among them stands for in its place. */
  expand(shown: readonly string[]): string[] {
    return shown.flatMap((text) => {
      const place = text.startsWith(mark) ? Number(text.slice(mark.length)) : -1;
      return this.#stoodFor[place] ?? [text];
    });
  }
}

export const isSummary = (text: string): boolean => text.startsWith(mark);

/**
 * The store, which holds each change that brings a summary to what must be true of it: what leaves in that change, with
 * what the summary before stood for, is what it stands for; the summary before goes; there is none but the new one.
 */
export function audited(
  store: ChatMemoryStore,
  ledger: Ledger,
  compare: (text: string) => boolean = () => true,
): ChatMemoryStore & { readonly faults: string[]; readonly summaries: MemoryUpdate[] } {
  const faults: string[] = [];
  const summaries: MemoryUpdate[] = [];
  const isDerived = (meta: string | undefined): boolean => JSON.parse(meta ?? "{}").derived !== undefined;
  const audit = async (id: string, update: MemoryUpdate): Promise<void> => {
    const derived = update.append.filter(({ meta }) => isDerived(meta));
    const [summary] = derived.map(({ payload }) => textOf(format.decode(payload)));
    const before = await store.getMessages(id);
    if (summary === undefined || !isSummary(summary) || before.version !== update.expected) return;
    summaries.push(update);
    const moved = new Map(update.move.map(({ seq, to }) => [seq, to]));
    const leaving = before.messages.filter(({ seq }) => moved.has(seq));
    const said = (payload: string): string => textOf(format.decode(payload));
    const expected = ledger.expand(leaving.map(({ payload }) => said(payload))).filter(compare);
    const stoodFor = ledger.expand([summary]).filter(compare);
    const partsOf = (texts: readonly string[]): string => JSON.stringify(texts.flatMap(partsIn).sort());
    if (partsOf(expected) !== partsOf(stoodFor))
      faults.push(`${summary} stands for ${stoodFor}; what leaves is ${expected}`);
    const left = before.messages.filter(({ meta, seq }) => isDerived(meta) && moved.get(seq) !== "removed");
    if (derived.length !== 1 || left.length > 0) faults.push(`${summary} is not the only one`);
    for (const { seq, meta } of leaving)
      if (!isDerived(meta) && moved.get(seq) !== "evicted") faults.push(`${seq} is ${moved.get(seq)}`);
  };
  return {
    ...store,
    faults,
    summaries,
    updateMessages: async (id, update, options) => {
      await audit(id, update);
      await store.updateMessages(id, update, options);
    },
  };
}

/** The store as another client sees it: each call waits before it acts and before its answer comes back. */
export function delayed(store: ChatMemoryStore, wait: (label: string) => Promise<void>): ChatMemoryStore {
  return {
    ...store,
    getMessages: async (id, options) => {
      await wait("read asked");
      const snapshot = await store.getMessages(id, options);
      await wait("read answered");
      return snapshot;
    },
    updateMessages: async (id, update, options) => {
      await wait("write asked");
      await store.updateMessages(id, update, options);
      await wait("write answered");
    },
  };
}

export const say = (memory: ChatMemory<ModelMessageLike>, ...words: string[]): Promise<string[]> =>
  memory.add(...words.map((word) => user(word)));
export const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `word ${from + index}`);

export interface Setting {
  readonly memory: ChatMemory<ModelMessageLike>;
  readonly ledger: Ledger;
  readonly events: MemoryEvent[];
  readonly store: ReturnType<typeof audited>;
  readonly another: (options?: Partial<ChatMemoryOptions<ModelMessageLike>>) => ChatMemory<ModelMessageLike>;
}

/** A memory with a ledger for its summarizer, or with one that the ledger hands on to. */
export function setUp(
  window: WindowOptions<ModelMessageLike> = { maxMessages: 6, target: 0.5 },
  summarize?: (ledger: Ledger) => Summarize<ModelMessageLike>,
  raw: ChatMemoryStore = inMemoryStore(),
): Setting {
  const ledger = new Ledger();
  const events: MemoryEvent[] = [];
  const store = audited(raw, ledger);
  const another: Setting["another"] = (options) =>
    createChatMemory<ModelMessageLike>({
      id: "m",
      store,
      window: { summarize: summarize?.(ledger) ?? ledger.summarize, ...window },
      onEvent: besideChanges(events),
      ...options,
    } as ChatMemoryOptions<ModelMessageLike> & { format?: undefined });
  return { memory: another(), ledger, events, store, another };
}

export const ofType = <T extends MemoryEvent["type"]>(
  events: readonly MemoryEvent[],
  type: T,
): Extract<MemoryEvent, { type: T }>[] =>
  events.filter((event): event is Extract<MemoryEvent, { type: T }> => event.type === type);

/** A memory of six messages, three of which stay when a summary is made. */
export function summarizing(
  store: ChatMemoryStore,
  summarize: Summarize<ModelMessageLike>,
  onEvent?: (event: MemoryEvent) => void,
  timeoutMs?: number,
): ChatMemory<ModelMessageLike> {
  return createChatMemory<ModelMessageLike>({
    id: "m",
    store,
    window: { maxMessages: 6, target: 0.5, summarize },
    onEvent,
    timeoutMs,
  });
}
