import type { MessageFormat } from "../message-format.ts";
import { type Item, itemsOf } from "../steps/item.ts";
import { Live } from "../steps/live.ts";
import type { Step } from "../steps/step.ts";
import type { MessageList } from "./message-list.ts";
import { type Bond, type MessagePairs, Pairing } from "./pairs.ts";

/**
 * The messages of a list in steps, grouped as in a memory. A step's place is that of its first message, not counting
 * results that came before their call.
 */
export class ListSteps<M> {
  readonly #format: MessageFormat<M>;
  /** In a view, an answer that was stored in several messages is one already. */
  readonly #live: Live<M> = new Live([], undefined, "apart");
  readonly #pairing = new Pairing();
  readonly #placeOf: WeakMap<Step<M>, number> = new WeakMap();
  /** By message: the first message with which it shares a step or a pair. */
  readonly #reach: number[] = [];
  /** By message. */
  readonly pairs: MessagePairs[] = [];
  /** The places of the steps that begin with a user message. */
  readonly questions: number[] = [];
  /** Results that came before their call; they changed their step when the call came. */
  readonly early: Bond[] = [];

  constructor(format: MessageFormat<M>) {
    this.#format = format;
  }

  /** By message; an item's `seq` is its message's index. */
  get items(): readonly Item<M>[] {
    return this.#live.items;
  }

  get newest(): Step<M> | undefined {
    return this.#live.steps.at(-1);
  }

  /** Takes in the messages after those taken in so far. */
  grow(messages: readonly M[]): void {
    const known = this.items.length;
    if (known === messages.length) return;
    for (const added of itemsOf(messages.slice(known), { format: this.#format }, known)) {
      const { seq: at } = added;
      const item = this.#live.append(added);
      const step = this.#live.stepOf(item);
      if (!this.#placeOf.has(step)) {
        this.#placeOf.set(step, at);
        if (step.items[0]?.role === "user") this.questions.push(at);
      }
      const pairs = this.#pairing.enter(item);
      this.pairs.push(pairs);
      let reach = (step.items[0] as Item<M>).seq;
      for (const bond of pairs.bonds) {
        const [one, callAt] = bond;
        if (callAt === at && one < at) this.early.push(bond);
        reach = Math.min(reach, one, callAt);
      }
      this.#reach.push(reach);
    }
  }

  /** Forgets the messages from an index on, and with them those that they belong to; returns how many it still knows. */
  cut(length: number): number {
    let left = Math.min(length, this.items.length);
    for (let at = this.items.length - 1; at >= left; at--) left = Math.min(left, this.#reach[at] as number);
    // With nothing left, it is thrown away.
    if (left === 0) return left;
    for (let at = this.items.length - 1; at >= left; at--)
      this.#pairing.leave(this.items[at] as Item<M>, this.pairs[at] as MessagePairs);
    this.#live.remove(this.items.slice(left));
    this.pairs.length = left;
    this.#reach.length = left;
    dropFrom(this.questions, left);
    while ((this.early.at(-1)?.[1] ?? -1) >= left) this.early.pop();
    return left;
  }

  stepWith(at: number): Step<M> {
    return this.#live.stepOf(this.items[at] as Item<M>);
  }

  /** The place of the step that a message belongs to. */
  placeOf(at: number): number {
    return this.#placeOf.get(this.stepWith(at)) as number;
  }

  /** How many of the oldest messages have nothing to do with steps from a place on. */
  before(place: number): number {
    let before = place;
    for (const [at, callAt] of this.early) if (at < before && this.placeOf(callAt) >= place) before = at;
    return before;
  }
}

/** The steps of a list. */
export function listSteps<M>(list: MessageList<M>): ListSteps<M> {
  return list.steps((format) => new ListSteps(format));
}

/** Takes the indices from `from` on out of an ascending list. */
export function dropFrom(indices: number[], from: number): void {
  while ((indices.at(-1) ?? -1) >= from) indices.pop();
}
