import type { MemorySettings } from "../memory-settings.ts";
import { type Item, type ItemFacts, type ItemMeta, itemOf, metaText } from "../steps/item.ts";
import type { Live } from "../steps/live.ts";
import type { MemoryUpdate, MessageState } from "../store-contract.ts";
import { encodeHead } from "./head.ts";
import { type Lease, leaseVersion } from "./lease.ts";
import type { Loaded } from "./loaded.ts";
import { randomName, uuidv7 } from "./message-id.ts";

/** A message that was checked, copied and counted, but has no place yet. */
export interface Prepared<M> {
  readonly id: string;
  /** Whether the id is the caller's own and may have been used before. */
  readonly ownId: boolean;
  readonly createdAt: number;
  readonly payload: string;
  readonly model: string | undefined;
  readonly toolsKey: string | undefined;
  readonly facts: ItemFacts<M> & { readonly message: M };
  /** Set for a system message that takes the prompt's place on purpose. */
  readonly instructs?: true;
  /** Set for a provider's compaction that came in one list with what belongs beside it. */
  readonly since?: ItemMeta["since"];
}

/** As many as one page of history holds. */
const mostWitnesses = 1000;

/**
 * One change to a memory. It applies itself to the live messages at once, and records what to tell the store. Whoever
 * makes a draft must no longer use the state it was made from, unless nothing changed.
 */
export class Draft<M> {
  readonly live: Live<M>;
  /** Set if live messages are to be summarized: `now`, because they do not fit, or `early`. */
  awaitsSummary: "now" | "early" | undefined;
  readonly #from: Loaded<M>;
  readonly #settings: MemorySettings<M>;
  /** Ascending by `seq`. */
  readonly #appended: Item<M>[] = [];
  readonly #replaced: Item<M>[] = [];
  readonly #moves: Map<number, MessageState | "removed"> = new Map();
  /** The messages that left memory for history, derived ones apart. */
  readonly evictedIds: string[] = [];
  /** The prompts whose place another system message took, although nobody asked for that. */
  readonly replacedPrompts: string[] = [];
  /** What was added, with whether the id is the caller's own. */
  readonly #made: Item<M>[] = [];
  readonly #own: Item<M>[] = [];
  /** The memory that is changed, or the one that this change begins. */
  readonly life: string;
  /** Who holds the turn behind this change. */
  turn: Lease | undefined;
  #nextSeq: number;
  #epoch: number;
  /** See {@link ItemMeta.by}. */
  readonly #by: string | undefined;

  /** `isAlone`: the change must fail if somebody else has made one, be it the same. */
  constructor(from: Loaded<M>, settings: MemorySettings<M>, isAlone = false) {
    this.#from = from;
    this.#settings = settings;
    this.#by = isAlone ? randomName() : undefined;
    this.life = this.begins ? randomName() : from.life;
    this.turn = from.turn;
    this.live = from.live;
    this.#nextSeq = from.nextSeq;
    this.#epoch = from.epoch;
  }

  /** Whether there was no memory before. */
  get begins(): boolean {
    return this.#from.version === null;
  }

  get changed(): boolean {
    return this.#changesMessages || this.#changesTurn;
  }

  /** Whether it changes who holds the turn, and no message. */
  get isOfLease(): boolean {
    return this.#changesTurn && !this.#changesMessages;
  }

  get #changesMessages(): boolean {
    return this.#appended.length + this.#replaced.length + this.#moves.size > 0;
  }

  get #changesTurn(): boolean {
    return this.turn !== this.#from.turn;
  }

  /** The messages that prove this change was made: one with an id made here, else all that it added or replaced. */
  get witnesses(): readonly Item<M>[] {
    if (!this.ownIds) return this.#made.slice(0, 1);
    return (this.#own.length > 0 ? this.#own : this.#replaced).slice(0, mostWitnesses);
  }

  /** Whether it added no message with an id made here, which nobody else can have added. */
  get ownIds(): boolean {
    return this.#made.length === 0;
  }

  append(prepared: Prepared<M>, place: Pick<ItemMeta, "front" | "derived" | "positioned"> = {}): Item<M> {
    const late = this.live.lateCalls(prepared.facts);
    const meta = this.#baseMeta(prepared);
    if (this.#from.epoch > 0) meta.epoch = this.#from.epoch;
    if (place.front === true) meta.front = true;
    if (place.positioned === true) meta.positioned = true;
    if (place.derived !== undefined) meta.derived = place.derived;
    if (prepared.since !== undefined) meta.since = prepared.since;
    if (late.length > 0) meta.late = late;
    if (this.#by !== undefined && prepared.ownId) meta.by = this.#by;
    const item = newItem(prepared, this.#nextSeq++, meta);
    this.#appended.push(item);
    (prepared.ownId ? this.#own : this.#made).push(item);
    this.live.append(item);
    // A timely result for a step that is not the last replaces what was shown in its place.
    const joins = late.length === 0 && this.live.stepOf(item) !== this.live.steps.at(-1);
    if (joins || this.live.items.at(-1) !== item) this.raiseEpoch();
    return item;
  }

  /** Takes over another memory's messages with their ids and `seq`s; those in `evicted` do not become live. */
  adopt(messages: readonly Item<M>[], evicted: ReadonlySet<Item<M>>, epoch: number): void {
    for (const item of messages) {
      this.#appended.push(item);
      if (evicted.has(item)) this.#moves.set(item.seq, "evicted");
      else this.live.append(item);
      this.#nextSeq = Math.max(this.#nextSeq, item.seq + 1);
    }
    this.#epoch = epoch;
  }

  /**
   * Replaces a message, keeping its place and id. A message that was there before may be replaced once. `isAlone`: it
   * must fail if somebody else has done the same.
   */
  replace(old: Item<M>, prepared: Prepared<M>, isAlone = false): void {
    const { tokens: _, model: __, toolsKey: ___, late: ____, ...kept } = old.meta;
    const late = this.live.lateAfterReplace(old, prepared.facts);
    const by = isAlone ? { by: randomName() } : {};
    const meta = { ...this.#baseMeta(prepared), ...kept, ...by, ...(late.length > 0 ? { late } : {}) };
    const item = newItem({ ...prepared, id: old.id, createdAt: old.createdAt }, old.seq, meta);
    this.#replaced.push(item);
    if (old !== this.live.items.at(-1)) this.raiseEpoch();
    this.live.replace(old, item);
  }

  /** Takes live messages out of memory. A derived message, or one of a memory without history, is deleted. */
  leave(items: readonly Item<M>[], to: "evicted" | "superseded" | "removed"): void {
    if (items.length === 0) return;
    for (const item of items) {
      if (to === "evicted" && item.meta.derived === undefined) this.evictedIds.push(item.id);
      this.#moves.set(
        item.seq,
        this.#settings.keepsHistory && item.meta.derived === undefined ? to : "removed",
      );
    }
    this.live.remove(new Set(items));
    this.raiseEpoch();
  }

  /** Brings back messages that had left memory. */
  restore(items: readonly Item<M>[]): void {
    if (items.length === 0) return;
    for (const item of items) this.#moves.set(item.seq, "live");
    this.live.restore(items);
    this.raiseEpoch();
  }

  /** Changes the state of messages that are not live. */
  move(seqs: Iterable<number>, to: "superseded" | "removed"): void {
    for (const seq of seqs) this.#moves.set(seq, to);
  }

  /** The `seq` of what is appended next. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  get epoch(): number {
    return this.#epoch;
  }

  raiseEpoch(): void {
    this.#epoch = this.#from.epoch + 1;
  }

  toUpdate(owner: string | undefined): MemoryUpdate {
    const { begins } = this;
    const { version: expected } = this.#from;
    return {
      expected,
      version: this.isOfLease ? leaseVersion(expected, randomName()) : uuidv7(),
      nextSeq: this.#nextSeq,
      owner: begins ? owner : undefined,
      head:
        begins || this.#epoch !== this.#from.epoch || this.#changesTurn
          ? encodeHead({ epoch: this.#epoch, life: this.life, turn: this.turn })
          : undefined,
      append: this.#appended.map(storedMessage),
      replace: this.#replaced.map(storedMessage),
      move: [...this.#moves].map(([seq, to]) => ({ seq, to })),
    };
  }

  /** The memory once the store has taken the update. */
  loaded(version: string): Loaded<M> {
    const { life, turn, live } = this;
    return { version, nextSeq: this.#nextSeq, epoch: this.#epoch, life, turn, live };
  }

  #baseMeta({ model, toolsKey, facts }: Prepared<M>): NewMeta {
    const { counter } = this.#settings.reader;
    const meta: NewMeta = {};
    if (counter !== undefined) meta.tokens = { [counter.name]: facts.tokens };
    if (model !== undefined) meta.model = model;
    if (toolsKey !== undefined) meta.toolsKey = toolsKey;
    return meta;
  }
}

/** What is stored beside a message, while it is being built. */
type NewMeta = { -readonly [Member in keyof ItemMeta]: ItemMeta[Member] };

function newItem<M>(prepared: Prepared<M>, seq: number, meta: ItemMeta): Item<M> {
  const { id, createdAt, payload, facts } = prepared;
  return itemOf({ id, seq, createdAt, payload, meta, metaText: metaText(meta) }, facts);
}

function storedMessage<M>({
  id,
  seq,
  createdAt,
  payload,
  metaText: meta,
}: Item<M>): MemoryUpdate["append"][number] {
  return meta === undefined ? { id, seq, createdAt, payload } : { id, seq, createdAt, payload, meta };
}
