import { quoted, TurnkeepError } from "../errors.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { randomName, uuidv7 } from "../message-id.ts";
import { type Item, type ItemFacts, type ItemMeta, itemOf, metaText } from "../steps/item.ts";
import type { Live } from "../steps/live.ts";
import type { MemoryUpdate } from "../store-contract.ts";
import { type BranchStart, encodeHead, type Gap } from "./head.ts";
import { type Lease, leaseVersion } from "./lease.ts";
import type { Loaded } from "./loaded.ts";
import type { StoredRecord } from "./outcomes.ts";
import { type EvictionReason, UpdateParts } from "./update-parts.ts";

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
  readonly parts: UpdateParts<M>;
  /** Why the change that is being made evicts messages, and whether it has. */
  reason: EvictionReason = "window";
  evicts = false;
  /** The prompts whose place another system message took, although nobody asked for that. */
  readonly replacedPrompts: string[] = [];
  /** The memory that is changed, or the one that this change begins. */
  readonly life: string;
  /** Who holds the turn behind this change. */
  turn: Lease | undefined;
  /** JSON text: see `ChatMemory.update`. */
  data: string | undefined;
  /** Set if the memory becomes somebody else's. */
  newOwner: string | undefined;
  #branch: BranchStart | undefined;
  /** See {@link Head.lost}. */
  lost: readonly Gap[];
  #said: string | undefined;
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
    this.#branch = from.branch;
    this.lost = from.lost;
    this.data = from.data;
    this.live = from.live;
    this.parts = new UpdateParts(from.nextSeq, settings.keepsHistory);
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
    this.reason = "window";
    this.evicts = false;
  }

  /** Whether there was no memory before. */
  get begins(): boolean {
    return this.#from.version === null;
  }

  get changed(): boolean {
    return this.#changesContent || this.#changesTurn;
  }

  get adds(): boolean {
    return this.#nextSeq > this.#from.nextSeq;
  }

  /** Whether it changes who holds the turn, and nothing else. */
  get isOfLease(): boolean {
    return this.#changesTurn && !this.#changesContent;
  }

  /** Whether it changes what is said about the conversation: the data, or whose it is. */
  get saysAnew(): boolean {
    return this.data !== this.#from.data || this.newOwner !== undefined;
  }

  /** See {@link Head.said}. */
  get said(): string | undefined {
    if (!this.saysAnew) return this.#from.said;
    this.#said ??= randomName();
    return this.#said;
  }

  /** Whether others have said something about the conversation since this change was made. */
  isSaidSince({ said }: Loaded<M>): boolean {
    return said !== this.#from.said;
  }

  get #changesContent(): boolean {
    return this.adds || !this.parts.isEmpty || this.saysAnew;
  }

  get #changesHead(): boolean {
    if (this.begins || this.#changesTurn || this.saysAnew) return true;
    const { epoch, branch, lost } = this.#from;
    return this.#epoch !== epoch || this.#branch !== branch || this.lost !== lost;
  }

  get #changesTurn(): boolean {
    return this.turn !== this.#from.turn;
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
    const parent = this.#parentOfNext(place);
    if (parent !== undefined) meta.parent = parent;
    if (this.#by !== undefined && prepared.ownId) meta.by = this.#by;
    const added = newItem(prepared, this.#nextSeq++, meta);
    this.parts.append(added, prepared.ownId);
    const item = this.live.append(added);
    // A timely result for a step that is not the last replaces what was shown in its place.
    const joins = late.length === 0 && this.live.stepOf(item) !== this.live.steps.at(-1);
    if (joins || this.live.items.at(-1) !== item) this.raiseEpoch();
    return item;
  }

  /** Begins a branch: what is appended next follows the message at that `seq`. */
  continueAfter(parent: number): void {
    this.raiseEpoch();
    if (this.#settings.keepsHistory) this.#branch = { seq: this.#nextSeq, parent };
  }

  /**
   * What the message appended next follows, where it is not the one before. A message that stands apart follows none, and
   * the one behind it what was said before.
   */
  #parentOfNext({ front, derived }: Pick<ItemMeta, "front" | "derived">): number | undefined {
    const seq = this.#nextSeq;
    const parent = this.#branch?.seq === seq ? this.#branch.parent : seq - 1;
    if (front !== true && derived === undefined) return parent === seq - 1 ? undefined : parent;
    if (seq > 1 && this.#settings.keepsHistory) this.#branch = { seq: seq + 1, parent };
    return undefined;
  }

  /** Takes over another memory's messages with their ids and `seq`s; those in `evicted` do not become live. */
  adopt(messages: readonly Item<M>[], evicted: ReadonlySet<Item<M>>, epoch: number): void {
    for (const item of messages) {
      this.parts.append(item, true);
      if (evicted.has(item)) this.parts.move([item], "evicted", "live");
      else this.live.append(item);
      this.#nextSeq = Math.max(this.#nextSeq, item.seq + 1);
    }
    this.#epoch = epoch;
  }

  /** Replaces a message, keeping its place and id. `isAlone`: it must fail if somebody else has done the same. */
  replace(old: Item<M>, prepared: Prepared<M>, isAlone = false): void {
    const item = this.#inPlaceOf(old, prepared, isAlone);
    this.parts.replace(item, "live");
    if (old !== this.live.items.at(-1)) this.raiseEpoch();
    this.live.replace(old, item);
  }

  /** The same for one that has left memory: what is live, and so the view, stays as it is. */
  correct(old: Item<M>, prepared: Prepared<M>, isAlone = false): void {
    this.parts.replace(this.#inPlaceOf(old, prepared, isAlone), "evicted");
  }

  #inPlaceOf(old: Item<M>, prepared: Prepared<M>, isAlone: boolean): Item<M> {
    if (this.parts.isRestored(old)) throw this.#isBack(old);
    const { tokens: _, model: __, toolsKey: ___, late: ____, ...kept } = old.meta;
    const late = this.live.lateAfterReplace(old, prepared.facts);
    const by = isAlone || this.#by !== undefined ? { by: this.#by ?? randomName() } : {};
    const meta = { ...this.#baseMeta(prepared), ...kept, ...by, ...(late.length > 0 ? { late } : {}) };
    return newItem({ ...prepared, id: old.id, createdAt: old.createdAt }, old.seq, meta);
  }

  #isBack({ id }: Item<M>): TurnkeepError {
    const { memoryId } = this.#settings;
    return new TurnkeepError(
      "UNSUPPORTED",
      `Memory ${quoted(memoryId)}, message ${quoted(id)}: this transaction brings it back with its branch, so put ` +
        "cannot replace it in the same one. Nothing was written. Put it in a transaction of its own.",
      { details: { memoryId, messageIds: [id] } },
    );
  }

  /** Takes live messages out of memory. */
  leave(items: readonly Item<M>[], becomes: "evicted" | "superseded" | "removed"): void {
    if (items.length === 0) return;
    this.parts.leave(items, becomes, this.reason);
    this.evicts ||= becomes === "evicted" && items.some(({ meta }) => meta.derived === undefined);
    this.live.remove(items);
    this.raiseEpoch();
  }

  /** Deletes messages, live or not. */
  delete(messages: readonly (Item<M> | StoredRecord)[]): void {
    this.parts.move(messages, "removed");
    this.leave(
      messages.flatMap(({ id }) => this.live.byId.get(id) ?? []),
      "removed",
    );
  }

  /** Brings back messages that had left memory. */
  restore(items: readonly Item<M>[]): void {
    if (items.length === 0) return;
    this.parts.restore(items);
    this.live.restore(items);
    this.raiseEpoch();
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
    const { begins, life, turn, said } = this;
    const { version: expected } = this.#from;
    return {
      expected,
      version: this.isOfLease ? leaseVersion(expected, randomName()) : uuidv7(),
      nextSeq: this.#nextSeq,
      owner: this.newOwner ?? (begins ? owner : undefined),
      head: this.#changesHead
        ? encodeHead({ epoch: this.#epoch, life, turn, branch: this.#branch, lost: this.lost, said })
        : undefined,
      data: this.data === this.#from.data ? undefined : this.data,
      ttlMs: this.#settings.ttlMs,
      ...this.parts.stored(),
    };
  }

  /** The memory once the store has taken the update; until then, what the next change is made on. */
  loaded(version: string | null): Loaded<M> {
    const { data, life, turn, lost, said, live } = this;
    const [nextSeq, epoch, branch] = [this.#nextSeq, this.#epoch, this.#branch];
    return { version, nextSeq, data, epoch, life, turn, branch, lost, said, live };
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
