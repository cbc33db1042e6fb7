import type { Item } from "../steps/item.ts";
import type { MemoryUpdate, MessageState, StoredMessage } from "../store-contract.ts";
import type { Outcome, StoredRecord } from "./outcomes.ts";

/** Why messages leave memory for history. */
export type EvictionReason = "window" | "compact" | "shrink";

/** A message that changes its state. */
interface Moved<M> {
  readonly message: Item<M> | StoredRecord;
  /** What the change makes of it. */
  readonly becomes: MessageState | "removed";
  /** What is stored of that: there is no history of a derived message, nor of a memory without history. */
  readonly to: MessageState | "removed";
  /** Its state before the update; `undefined` for one that can never return to it. */
  readonly was: MessageState | undefined;
  readonly reason?: EvictionReason;
}

/**
 * The ids of the moved messages by what becomes of them; of those that are evicted, by the reason. `restored`: from
 * superseded.
 */
export type MovedIds = {
  readonly [Fate in MessageState | "removed" | EvictionReason | "restored"]?: readonly string[];
};

/** As many as one page of history holds. */
const mostWitnesses = 1000;

/** What an update appends, replaces and moves: each message at most once, whatever several changes did to it. */
export class UpdateParts<M> {
  /** The update appends the messages from this seq on. */
  readonly #firstNew: number;
  readonly #keepsHistory: boolean;
  /** Ascending by `seq`. */
  readonly #appended: Item<M>[] = [];
  readonly #replaced: Item<M>[] = [];
  /** The seqs of those of them that were evicted before the update. */
  readonly #corrected: Set<number> = new Set();
  readonly #moves: Map<number, Moved<M>> = new Map();
  /** The seqs of what was appended under the caller's own ids. */
  readonly #ownIds: number[] = [];

  constructor(firstNew: number, keepsHistory: boolean) {
    this.#firstNew = firstNew;
    this.#keepsHistory = keepsHistory;
  }

  get isEmpty(): boolean {
    return this.#appended.length + this.#replaced.length + this.#moves.size === 0;
  }

  append(item: Item<M>, isOwnId: boolean): void {
    this.#appended.push(item);
    if (isOwnId) this.#ownIds.push(item.seq);
  }

  /** `state`: that of the message now. What is superseded, or was when the update began, cannot be replaced. */
  replace(item: Item<M>, state: "live" | "evicted"): void {
    if (this.#stateBefore(item.seq, state) === "evicted") this.#corrected.add(item.seq);
    const list = this.#isNew(item.seq) ? this.#appended : this.#replaced;
    const at = list.findLastIndex(({ seq }) => seq === item.seq);
    if (at < 0) list.push(item);
    else list[at] = item;
  }

  /** Live messages leave memory, for this reason if they are evicted. */
  leave(
    items: readonly Item<M>[],
    becomes: "evicted" | "superseded" | "removed",
    reason: EvictionReason,
  ): void {
    for (const message of items) {
      const isKept = this.#keepsHistory && message.meta.derived === undefined;
      this.#move({ message, becomes, to: isKept ? becomes : "removed", was: "live", reason });
    }
  }

  /** Messages that had left memory become live. */
  restore(items: readonly Item<M>[]): void {
    for (const message of items) this.#move({ message, becomes: "live", to: "live", was: "evicted" });
  }

  /** Messages that are not live change their state. */
  move(
    messages: Iterable<Moved<M>["message"]>,
    becomes: "evicted" | "superseded" | "removed",
    was?: MessageState,
  ): void {
    for (const message of messages) this.#move({ message, becomes, to: becomes, was });
  }

  #move(moved: Moved<M>): void {
    const { seq } = moved.message;
    const before = this.#moves.get(seq);
    this.#moves.set(seq, before === undefined ? moved : { ...moved, was: before.was });
  }

  /** Whether the message is of a branch that this update brings back. No store replaces one that it has as superseded. */
  isRestored({ seq }: Pick<Item<M>, "seq">): boolean {
    return this.#moves.get(seq)?.was === "superseded";
  }

  #stateBefore(seq: number, now: MessageState): MessageState | undefined {
    const moved = this.#moves.get(seq);
    return moved === undefined ? now : moved.was;
  }

  /** What is removed again is not written, and what ends in the state that it had is not moved. */
  stored(): Pick<MemoryUpdate, "append" | "replace" | "move"> {
    const move: MemoryUpdate["move"] = [];
    for (const [seq, { to, was }] of this.#moves) {
      const isNone = to === "removed" ? this.#isNew(seq) : to === was;
      if (!isNone) move.push({ seq, to });
    }
    return {
      append: this.#kept(this.#appended).map(storedMessage),
      replace: this.#kept(this.#replaced).map((item) =>
        this.#corrected.has(item.seq) ? { ...storedMessage(item), state: "evicted" } : storedMessage(item),
      ),
      move,
    };
  }

  /** By `seq`, every message that the update names, as it will be. */
  outcomes(): ReadonlyMap<number, Outcome> {
    const outcomes = new Map<number, Outcome>();
    for (const item of [...this.#appended, ...this.#replaced]) {
      const state = this.#corrected.has(item.seq) ? "evicted" : "live";
      outcomes.set(item.seq, { ...storedMessage(item), state });
    }
    for (const [seq, { message, to }] of this.#moves) {
      const stored = outcomes.get(seq) ?? ("state" in message ? message : storedMessage(message));
      outcomes.set(seq, { ...stored, state: to });
    }
    return outcomes;
  }

  /**
   * The messages that prove this update was made, by `seq`: one with an id made here, else all that it appended, else one
   * that it replaced. `isWhole`: their ids prove nothing, because somebody else may have used them too.
   */
  witnesses(): { readonly items: readonly Item<M>[]; readonly isWhole: boolean } {
    const ownIds = new Set(this.#ownIds);
    const appended = this.#kept(this.#appended);
    const made = appended.find(({ seq }) => !ownIds.has(seq));
    if (made !== undefined) return { items: [made], isWhole: false };
    const own = appended.length > 0 ? appended : this.#kept(this.#replaced).slice(0, 1);
    return { items: own.slice(0, mostWitnesses), isWhole: true };
  }

  /** The ids of what was appended and not removed again. Derived messages are nobody's words, here as in what follows. */
  get addedIds(): string[] {
    const isGone = ({ seq }: Item<M>): boolean => this.#moves.get(seq)?.becomes === "removed";
    return this.#appended.filter((item) => isSaid(item) && !isGone(item)).map(({ id }) => id);
  }

  get replacedIds(): string[] {
    return this.#kept(this.#replaced)
      .filter(isSaid)
      .map(({ id }) => id);
  }

  /** @param states By `seq`, the states that messages have now: what has another than the update gives it is left out. */
  movedIds(states?: ReadonlyMap<number, MessageState>): MovedIds {
    const ids: { [fate: string]: string[] } = {};
    for (const { message, becomes, to, was, reason } of this.#moves.values()) {
      const isGoneAgain = becomes === "removed" && this.#isNew(message.seq);
      // Nor what has the state again that it had.
      if (isGoneAgain || becomes === was || !isSaid(message)) continue;
      const isBack = was === "superseded" && isPartOf(becomes);
      const now = states === undefined ? to : (states.get(message.seq) ?? "removed");
      if (now !== to && !(isBack && isPartOf(now))) continue;
      const fate = isBack ? "restored" : becomes === "evicted" ? (reason ?? becomes) : becomes;
      ids[fate] ??= [];
      ids[fate].push(message.id);
    }
    return ids;
  }

  /** Those that the update does not remove again. */
  #kept(items: readonly Item<M>[]): readonly Item<M>[] {
    if (this.#moves.size === 0 || items.length === 0) return items;
    return items.filter(({ seq }) => this.#moves.get(seq)?.to !== "removed");
  }

  #isNew(seq: number): boolean {
    return seq >= this.#firstNew;
  }
}

/** Of the conversation as it is. */
function isPartOf(state: MessageState | "removed"): boolean {
  return state === "evicted" || state === "live";
}

function isSaid<M>(message: Moved<M>["message"]): boolean {
  return "state" in message || message.meta.derived === undefined;
}

function storedMessage<M>({ id, seq, createdAt, payload, metaText: meta }: Item<M>): StoredMessage {
  return meta === undefined ? { id, seq, createdAt, payload } : { id, seq, createdAt, payload, meta };
}
