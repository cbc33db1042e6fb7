import { quoted, TurnkeepError } from "../errors.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { type Item, type ItemFacts, type ItemMeta, itemOf, metaText } from "../steps/item.ts";
import type { Live } from "../steps/live.ts";
import type { MemoryUpdate, MessageState } from "../store-contract.ts";
import { encodeHead } from "./head.ts";
import { type Lease, leaseVersion } from "./lease.ts";
import type { Loaded } from "./loaded.ts";
import { randomName, uuidv7 } from "./message-id.ts";
import type { Outcome, StoredRecord } from "./stored-records.ts";

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

const none: readonly never[] = [];

/** Why messages leave memory for history. */
export type EvictionReason = "window" | "compact" | "shrink";

/** The messages that one change moved from memory to history, derived ones apart. */
interface Eviction<M> {
  readonly reason: EvictionReason;
  readonly items: Item<M>[];
}

/** A message that changes its state. */
interface Moved<M> {
  readonly message: Item<M> | StoredRecord;
  /** Its state before the update; `undefined` for one that can never return to it. */
  readonly was: MessageState | undefined;
  readonly to: MessageState | "removed";
}

/**
 * One update of a memory: a change, or several in order, each made on what the one before has left. It applies itself to
 * the live messages at once, and records what to tell the store. Whoever makes a draft must no longer use the state it was
 * made from, unless nothing changed.
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
  readonly #moves: Map<number, Moved<M>> = new Map();
  readonly #evictions: Eviction<M>[] = [];
  /** The eviction of the change that is being made. */
  #eviction: Eviction<M> | undefined;
  /** Why the change that is being made moves messages out of memory. */
  reason: EvictionReason = "window";
  /** The prompts whose place another system message took, although nobody asked for that. */
  readonly replacedPrompts: string[] = [];
  /** The seqs of what was added under the caller's own ids. */
  readonly #ownIds: number[] = [];
  /** The memory that is changed, or the one that this change begins. */
  readonly life: string;
  /** Who holds the turn behind this change. */
  turn: Lease | undefined;
  /** JSON text: see `ChatMemory.update`. */
  data: string | undefined;
  /** Set if the memory becomes somebody else's. */
  newOwner: string | undefined;
  #nextSeq: number;
  /** As it was when the change that is being made began. */
  #epochBefore: number;
  #epoch: number;
  /** See {@link ItemMeta.by}. */
  #by: string | undefined;

  /** `isAlone`: the change must fail if somebody else has made one, be it the same. */
  constructor(from: Loaded<M>, settings: MemorySettings<M>, isAlone = false) {
    this.#from = from;
    this.#settings = settings;
    if (isAlone) this.mark();
    this.life = this.begins ? randomName() : from.life;
    this.turn = from.turn;
    this.data = from.data;
    this.live = from.live;
    this.#nextSeq = from.nextSeq;
    this.#epochBefore = from.epoch;
    this.#epoch = from.epoch;
  }

  /** Makes what the update brings tell it from any other: one that brings the same may do no more than that. */
  mark(): void {
    this.#by ??= randomName();
  }

  /** Ends one change, so that the next one is made as if this one had been committed. */
  nextChange(): void {
    this.#epochBefore = this.#epoch;
    this.#eviction = undefined;
    this.reason = "window";
  }

  /** Whether there was no memory before. */
  get begins(): boolean {
    return this.#from.version === null;
  }

  get changed(): boolean {
    return this.changesMessages || this.#changesTurn || this.saysAnew;
  }

  get adds(): boolean {
    return this.#nextSeq > this.#from.nextSeq;
  }

  /** Whether it changes who holds the turn, and no message. */
  get isOfLease(): boolean {
    return this.#changesTurn && !this.changesMessages && !this.saysAnew;
  }

  /** Whether it changes what is said about the conversation: the data, or whose it is. */
  get saysAnew(): boolean {
    return this.data !== this.#from.data || this.newOwner !== undefined;
  }

  get changesMessages(): boolean {
    return this.adds || this.#replaced.length + this.#moves.size > 0;
  }

  get #changesTurn(): boolean {
    return this.turn !== this.#from.turn;
  }

  /** The ids of the messages that this change has moved to history. */
  get evictedIds(): readonly string[] {
    return this.#eviction?.items.map(({ id }) => id) ?? [];
  }

  get evicts(): boolean {
    return this.#eviction !== undefined;
  }

  /** What all changes together have moved to history. */
  get evictions(): readonly { readonly reason: EvictionReason; readonly messageIds: readonly string[] }[] {
    if (this.#evictions.length === 0) return none;
    const isAway = ({ seq }: Item<M>): boolean => this.#moves.get(seq)?.to === this.#stored("evicted");
    return this.#evictions.flatMap(({ reason, items }) => {
      const messageIds = items.filter(isAway).map(({ id }) => id);
      return messageIds.length === 0 ? [] : { reason, messageIds };
    });
  }

  /**
   * The messages that prove this change was made, by `seq`: one with an id made here, else all that it added, else one that
   * it replaced. `isWhole`: their ids prove nothing, because somebody else may have used them too.
   */
  get witnesses(): { readonly items: readonly Item<M>[]; readonly isWhole: boolean } {
    const ownIds = new Set(this.#ownIds);
    const added = this.#kept(this.#appended);
    const made = added.find(({ seq }) => !ownIds.has(seq));
    if (made !== undefined) return { items: [made], isWhole: false };
    const own = added.length > 0 ? added : this.#kept(this.#replaced).slice(0, 1);
    return { items: own.slice(0, mostWitnesses), isWhole: true };
  }

  append(prepared: Prepared<M>, place: Pick<ItemMeta, "front" | "derived" | "positioned"> = {}): Item<M> {
    const late = this.live.lateCalls(prepared.facts);
    const meta = this.#baseMeta(prepared);
    if (this.#epochBefore > 0) meta.epoch = this.#epochBefore;
    if (place.front === true) meta.front = true;
    if (place.positioned === true) meta.positioned = true;
    if (place.derived !== undefined) meta.derived = place.derived;
    if (prepared.since !== undefined) meta.since = prepared.since;
    if (late.length > 0) meta.late = late;
    if (this.#by !== undefined && prepared.ownId) meta.by = this.#by;
    const item = newItem(prepared, this.#nextSeq++, meta);
    this.#appended.push(item);
    if (prepared.ownId) this.#ownIds.push(item.seq);
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
      if (evicted.has(item)) this.#move(item, "evicted", "live");
      else this.live.append(item);
      this.#nextSeq = Math.max(this.#nextSeq, item.seq + 1);
    }
    this.#epoch = epoch;
  }

  /** Replaces a message, keeping its place and id. `isAlone`: it must fail if somebody else has done the same. */
  replace(old: Item<M>, prepared: Prepared<M>, isAlone = false): void {
    if (this.#moves.get(old.seq)?.was === "evicted") throw this.#isBack(old);
    const { tokens: _, model: __, toolsKey: ___, late: ____, ...kept } = old.meta;
    const late = this.live.lateAfterReplace(old, prepared.facts);
    const by = isAlone || this.#by !== undefined ? { by: this.#by ?? randomName() } : {};
    const meta = { ...this.#baseMeta(prepared), ...kept, ...by, ...(late.length > 0 ? { late } : {}) };
    const item = newItem({ ...prepared, id: old.id, createdAt: old.createdAt }, old.seq, meta);
    const list = this.#isOwn(item) ? this.#appended : this.#replaced;
    const at = list.findLastIndex(({ seq }) => seq === item.seq);
    if (at < 0) list.push(item);
    else list[at] = item;
    if (old !== this.live.items.at(-1)) this.raiseEpoch();
    this.live.replace(old, item);
  }

  /** No store replaces a message that it has not live. */
  #isBack({ id }: Item<M>): TurnkeepError {
    const { memoryId } = this.#settings;
    return new TurnkeepError(
      "UNSUPPORTED",
      `Memory ${quoted(memoryId)}, message ${quoted(id)}: this transaction's rewind brings it back from history, so put ` +
        "cannot replace it in the same one. Nothing was written. Put it in a transaction of its own.",
      { details: { memoryId, messageIds: [id] } },
    );
  }

  /** Takes live messages out of memory. A derived message, or one of a memory without history, is deleted. */
  leave(items: readonly Item<M>[], to: "evicted" | "superseded" | "removed"): void {
    if (items.length === 0) return;
    for (const item of items) {
      const isDerived = item.meta.derived !== undefined;
      this.#move(item, isDerived ? "removed" : this.#stored(to), "live");
      if (to === "evicted" && !isDerived) this.#evict(item);
    }
    this.live.remove(new Set(items));
    this.raiseEpoch();
  }

  /** The state of a live message that leaves. */
  #stored<To extends "evicted" | "superseded" | "removed">(to: To): To | "removed" {
    return this.#settings.keepsHistory ? to : "removed";
  }

  #evict(item: Item<M>): void {
    if (this.#eviction === undefined) {
      this.#eviction = { reason: this.reason, items: [] };
      this.#evictions.push(this.#eviction);
    }
    this.#eviction.items.push(item);
  }

  /** Brings back messages that had left memory. */
  restore(items: readonly Item<M>[]): void {
    if (items.length === 0) return;
    for (const item of items) this.#move(item, "live", "evicted");
    this.live.restore(items);
    this.raiseEpoch();
  }

  /** Changes the state of messages that are not live. */
  move(messages: Iterable<Item<M> | StoredRecord>, to: "superseded" | "removed"): void {
    for (const message of messages) this.#move(message, to, undefined);
  }

  #move(message: Moved<M>["message"], to: Moved<M>["to"], was: Moved<M>["was"]): void {
    const before = this.#moves.get(message.seq);
    this.#moves.set(message.seq, { message, to, was: before === undefined ? was : before.was });
  }

  /** The `seq` of what is appended next. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  get epoch(): number {
    return this.#epoch;
  }

  raiseEpoch(): void {
    this.#epoch = this.#epochBefore + 1;
  }

  toUpdate(owner: string | undefined): MemoryUpdate {
    const { begins } = this;
    const { version: expected } = this.#from;
    return {
      expected,
      version: this.isOfLease ? leaseVersion(expected, randomName()) : uuidv7(),
      nextSeq: this.#nextSeq,
      owner: this.newOwner ?? (begins ? owner : undefined),
      head:
        begins || this.#epoch !== this.#from.epoch || this.#changesTurn
          ? encodeHead({ epoch: this.#epoch, life: this.life, turn: this.turn })
          : undefined,
      data: this.data === this.#from.data ? undefined : this.data,
      ttlMs: this.#settings.ttlMs,
      append: this.#kept(this.#appended).map(storedMessage),
      replace: this.#kept(this.#replaced).map(storedMessage),
      move: this.#storedMoves(),
    };
  }

  #storedMoves(): MemoryUpdate["move"] {
    const moves: MemoryUpdate["move"] = [];
    for (const [seq, { to, was }] of this.#moves) {
      const isNone = to === "removed" ? this.#isOwn({ seq }) : to === was;
      if (!isNone) moves.push({ seq, to });
    }
    return moves;
  }

  /** Those that this update does not remove again. */
  #kept(items: readonly Item<M>[]): readonly Item<M>[] {
    if (this.#moves.size === 0 || items.length === 0) return items;
    return items.filter(({ seq }) => this.#moves.get(seq)?.to !== "removed");
  }

  /** Whether this update adds it. */
  #isOwn({ seq }: { readonly seq: number }): boolean {
    return seq >= this.#from.nextSeq;
  }

  /** By `seq`, every message that this update names, as it will be. */
  outcomes(): ReadonlyMap<number, Outcome> {
    const outcomes = new Map<number, Outcome>();
    for (const item of [...this.#appended, ...this.#replaced])
      outcomes.set(item.seq, { ...storedMessage(item), state: "live" });
    for (const [seq, { message, to }] of this.#moves) {
      const stored = outcomes.get(seq) ?? ("state" in message ? message : storedMessage(message));
      outcomes.set(seq, { ...stored, state: to });
    }
    return outcomes;
  }

  /** The memory once the store has taken the update; until then, what the next change is made on. */
  loaded(version: string | null): Loaded<M> {
    const { data, life, turn, live } = this;
    return { version, nextSeq: this.#nextSeq, data, epoch: this.#epoch, life, turn, live };
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
