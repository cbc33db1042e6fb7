import type { AgentInputItem, RunContext } from "@openai/agents-core";
import type { Anchor } from "@turnkeep/core";
import { append } from "@turnkeep/core/format-kit";
import { isMarked, isOpen, isPrompt, isQuestion, keyOf, textOf } from "./items.ts";
import type { Recorded } from "./record.ts";

// biome-ignore lint/suspicious/noExplicitAny: a run's context is of whatever type the application's is
export type AnyContext = RunContext<any>;

interface Known {
  readonly id: string;
  readonly key: string;
  /** Whether the runner drops it where nothing answers it. */
  readonly isOpen: boolean;
}

/** What is new in the input of a model call. */
interface Fresh {
  readonly said: AgentInputItem[];
  /** For the model alone. */
  readonly made: AgentInputItem[];
}

/** What is handed over at the end of a run, against what is stored already. */
export interface Handed {
  readonly added: readonly AgentInputItem[];
  /** What was stored in other words, such as a result that a guardrail has replaced since. */
  readonly changed: ReadonlyMap<string, AgentInputItem>;
  /** Once the change is made: what was handed over is no longer awaited, and what was added has these ids. */
  readonly settle: (ids: readonly string[]) => void;
}

/** One run of the SDK: what of its items is stored. */
export class Run {
  /** What its calls of the session carry, as far as it is known. */
  readonly context: AnyContext | undefined;
  /** Whether it has read without a context, as where a session around this one passes none on. */
  readonly isBare: boolean;
  /** Bound to the conversation that the run began in. */
  anchor: Anchor | undefined;
  /** The question that is being answered. */
  questionId: string | undefined;
  /** The place in the record up to which the run had read when it began. */
  readThrough: number | undefined;
  /** Items as the runner holds them, by the id that they are stored under. */
  readonly held: Map<string, AgentInputItem> = new Map();
  /** What the run began with, and what it has stored since. */
  #past: Known[] = [];
  #places: Map<string, number> = new Map();
  /** The ids that the runner's own objects are stored under. */
  readonly #ids: WeakMap<AgentInputItem, string> = new WeakMap();
  /** By id, the keys of what the run has stored itself. */
  readonly #own: Map<string, string> = new Map();
  /** The ids under which that stands now, where others have put it elsewhere since. */
  readonly #moved: Map<string, string> = new Map();
  /** The agent that was asked last, and what handoffs have made for the model alone. */
  #agent: string | undefined;
  readonly #made: WeakSet<AgentInputItem> = new WeakSet();
  /** What was stored before a model call, and is not handed over yet. */
  readonly #kept: Map<string, { readonly id: string; readonly text: string }[]> = new Map();
  /** What was handed over, and may yet come in the input of a model call. */
  readonly #given: Map<string, string[]> = new Map();

  constructor(context?: AnyContext, isBare = false) {
    this.context = context;
    this.isBare = isBare;
  }

  /** How many of these were stored before a model call of the run, and are handed over now. */
  awaits(items: readonly AgentInputItem[]): number {
    return items.filter((item) => this.#kept.has(keyOf(item))).length;
  }

  /** Whether the run itself has stored what has this id. */
  hasStored(id: string): boolean {
    return this.#own.has(id);
  }

  /** What the runner was given as the past, or what is now the record; `items` are its objects. */
  read(record: readonly Recorded[], items: readonly AgentInputItem[] = []): void {
    // A run begins, perhaps of another agent under the same context.
    this.#agent = undefined;
    this.#past = record.map(({ id, message }) => ({ id, key: keyOf(message), isOpen: isOpen(message) }));
    this.#places = new Map(record.map(({ id }, place) => [id, place]));
    for (const [place, item] of items.entries()) this.#ids.set(item, record[place]?.id as string);
    this.readThrough ??= record.at(-1)?.seq ?? 0;
  }

  /** The id that this very object is stored under. */
  idOf(item: AgentInputItem): string | undefined {
    const id = this.#ids.get(item);
    return id && this.now(id);
  }

  /** The id under which it stands now: see {@link follow}. */
  now(id: string): string {
    let now = id;
    for (let next = this.#moved.get(now); next !== undefined; next = this.#moved.get(now)) now = next;
    return now;
  }

  /** Where another run has put a compaction in place of the record, what this one had said stands behind it once more. */
  follow(record: readonly Recorded[]): void {
    const ids = new Set(record.map(({ id }) => id));
    /** What was said since, by key, the newest first. */
    const anew = new Map<string, string[]>();
    for (const { id, seq, message } of [...record].reverse()) {
      if (seq > (this.readThrough ?? seq) && !this.#own.has(id)) append(anew, keyOf(message), id);
    }
    for (const [id, key] of [...this.#own]) {
      const again = ids.has(id) ? undefined : anew.get(key)?.pop();
      if (again !== undefined) this.#move(id, again);
    }
  }

  /**
   * What of the input of an agent's model call is not stored yet. Where another agent was asked before, a handoff's filter
   * has made the messages in it that no model says: the runner does not store them either.
   */
  fresh(input: readonly AgentInputItem[], agent: string): Fresh {
    this.#recognize(input);
    const isHandedOver = this.#agent !== undefined && this.#agent !== agent;
    this.#agent = agent;
    const fresh = input.filter((item) => !this.#ids.has(item) && !this.#wasGiven(item));
    if (isHandedOver) for (const item of fresh.filter(isPrompt)) this.#made.add(item);
    const isMade = (item: AgentInputItem): boolean => this.#made.has(item);
    return { said: fresh.filter((item) => !isMade(item)), made: fresh.filter(isMade) };
  }

  /** Remembers what was stored before a model call. */
  keep(items: readonly AgentInputItem[], ids: readonly string[]): void {
    items.forEach((item, at) => {
      const id = ids[at] as string;
      const key = keyOf(item);
      this.#ids.set(item, id);
      this.#own.set(id, key);
      this.#places.set(id, this.#past.push({ id, key, isOpen: isOpen(item) }) - 1);
      this.held.set(id, item);
      append(this.#kept, key, { id, text: textOf(item) });
    });
  }

  /** Remembers what was handed over, which the next model call's input may hold. */
  give(items: readonly AgentInputItem[], ids: readonly string[]): void {
    items.forEach((item, at) => {
      const id = ids[at] as string;
      const key = keyOf(item);
      this.#own.set(id, key);
      append(this.#given, key, id);
    });
  }

  /** The runner hands over all of a run, and with its input what the model was shown that the runner did not know. */
  handed(items: readonly AgentInputItem[]): Handed {
    const added: AgentInputItem[] = [];
    const changed = new Map<string, AgentInputItem>();
    const used = new Map<string, number>();
    for (const item of items) {
      if (isMarked(item)) continue;
      const key = keyOf(item);
      const kept = this.#kept.get(key)?.[used.get(key) ?? 0];
      if (kept !== undefined) {
        used.set(key, (used.get(key) ?? 0) + 1);
        if (kept.text !== textOf(item)) changed.set(kept.id, item);
      } else added.push(item);
    }
    const settle = (ids: readonly string[]): void => {
      this.give(added, ids);
      for (const [key, count] of used) {
        const left = this.#kept.get(key)?.slice(count) ?? [];
        if (left.length === 0) this.#kept.delete(key);
        else this.#kept.set(key, left);
      }
    };
    return { added, changed, settle };
  }

  /** The conversation was made anew by the run itself. */
  forget(): void {
    this.anchor = undefined;
    this.questionId = undefined;
    this.#kept.clear();
  }

  #move(id: string, now: string): void {
    this.#moved.set(id, now);
    this.#own.set(now, this.#own.get(id) as string);
    this.#own.delete(id);
    const held = this.held.get(id);
    if (held !== undefined) this.held.set(now, held);
    this.held.delete(id);
    const place = this.#places.get(id);
    if (place !== undefined) this.#places.set(now, place);
  }

  /**
   * Of what the runner copied, reasoning without its id is found behind what stands before it. If it copied everything, or
   * a state was read from JSON, the input is laid over the past, of which others may have said some.
   */
  #recognize(input: readonly AgentInputItem[]): void {
    const isCopied = !input.some((item) => this.#ids.has(item));
    const found: [AgentInputItem, Known][] = [];
    let after = 0;
    for (const item of input) {
      const id = this.idOf(item);
      const isSought = id === undefined && (isCopied || item.type === "reasoning");
      const place = isSought ? this.#find(item, after) : (this.#places.get(id ?? "") ?? -1);
      if (place < 0) continue;
      after = place + 1;
      found.push([item, this.#past[place] as Known]);
    }
    // A question alone may be an old one that is asked again.
    const isPast =
      found.some(([item]) => !isQuestion(item)) || this.#past.slice(after).every(({ isOpen }) => isOpen);
    if (isCopied && !isPast) return;
    for (const [item, { id }] of found) this.#ids.set(item, id);
  }

  #find(item: AgentInputItem, from: number): number {
    const key = keyOf(item);
    return this.#past.findIndex((known, at) => at >= from && known.key === key);
  }

  #wasGiven(item: AgentInputItem): boolean {
    const id = this.#given.get(keyOf(item))?.shift();
    if (id === undefined) return false;
    this.#ids.set(item, id);
    return true;
  }
}
