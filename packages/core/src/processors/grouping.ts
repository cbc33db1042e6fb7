import { type Item, type ItemReader, itemsOf } from "../memory/item.ts";
import { Live, type Step } from "../memory/live.ts";
import { type Bond, Pairing } from "./pairs.ts";

/** The messages of one step, or of several that one message with results of all of them holds together. */
export interface Group<M> {
  /** An item's `seq` is its message's index. */
  readonly items: readonly Item<M>[];
  readonly tokens: number;
}

/** A list of messages in groups, of which none can go without breaking a pair; it grows at its end. */
export class Grouping<M> {
  readonly #reader: ItemReader<M>;
  readonly #live: Live<M> = new Live([], () => false);
  readonly #items: Item<M>[] = [];
  readonly #pairing = new Pairing();
  /** Those between messages that were not of one step when they became known. */
  readonly #bonds: Bond[] = [];
  /** Whether no message can change. */
  isFixed = true;

  constructor(reader: ItemReader<M>) {
    this.#reader = reader;
  }

  get tokens(): number {
    return this.#live.tokens;
  }

  /** Takes in what the list has grown by; `false`: it is another list, or begins in another way. */
  follow(messages: readonly M[]): boolean {
    const known = this.#items.length;
    if (known > messages.length) return false;
    if (this.#items.some(({ message }, index) => message !== messages[index])) return false;
    for (const item of itemsOf(messages.slice(known), this.#reader, known)) this.#enter(item);
    return true;
  }

  /** In the order of their first messages. Valid until the list grows. */
  groups(): readonly Group<M>[] {
    const bonds = this.#bonds.filter((bond) => this.#isAcross(bond));
    return bonds.length === 0 ? this.#live.steps : this.#joined(bonds);
  }

  #enter(item: Item<M>): void {
    const { message } = item;
    if (typeof message !== "object" || message === null || !Object.isFrozen(message)) this.isFixed = false;
    this.#items.push(item);
    this.#live.append(item);
    const { bonds } = this.#pairing.enter(item.seq, item.message as M, this.#reader.format);
    this.#bonds.push(...bonds.filter((bond) => this.#isAcross(bond)));
  }

  #isAcross([at, callAt]: Bond): boolean {
    return this.#stepAt(at) !== this.#stepAt(callAt);
  }

  #stepAt(index: number): Step<M> {
    return this.#live.stepOf(this.#items[index] as Item<M>);
  }

  #joined(bonds: readonly Bond[]): Group<M>[] {
    const { steps } = this.#live;
    const placeOf = new Map(steps.map((step, place) => [step, place]));
    /** Of each step the first that it is joined with, or one on the way there. */
    const joinedWith = steps.map((_, place) => place);
    const firstOf = (place: number): number => {
      let first = place;
      while (joinedWith[first] !== first) first = joinedWith[first] as number;
      return first;
    };
    for (const bond of bonds) {
      const [one = 0, other = 0] = bond.map((at) => firstOf(placeOf.get(this.#stepAt(at)) as number));
      joinedWith[Math.max(one, other)] = Math.min(one, other);
    }
    const groups = new Map<number, { items: Item<M>[]; tokens: number }>();
    for (const [place, { items, tokens }] of steps.entries()) {
      const group = groups.get(firstOf(place));
      if (group === undefined) groups.set(place, { items: [...items], tokens });
      else {
        group.items.push(...items);
        group.tokens += tokens;
      }
    }
    return [...groups.values()];
  }
}

/**
 * Groups lists of messages, and remembers by its first message how a list was grouped: of one that has only grown since, as
 * a conversation does, only what is new is asked about and grouped. A message that is not frozen may change, so that its list is not remembered.
 */
export function grouper(): <M>(messages: readonly M[], reader: ItemReader<M>) => Grouping<M> {
  const known = new WeakMap<object, WeakMap<object, unknown>>();
  return <M>(messages: readonly M[], reader: ItemReader<M>): Grouping<M> => {
    const ofFormat = known.get(reader.format) ?? new WeakMap<object, unknown>();
    known.set(reader.format, ofFormat);
    const [first] = messages;
    const before = ofFormat.get(first as object) as Grouping<M> | undefined;
    const grouping = before?.follow(messages) ? before : new Grouping(reader);
    if (grouping !== before) grouping.follow(messages);
    if (grouping.isFixed && first !== undefined) ofFormat.set(first as object, grouping);
    else ofFormat.delete(first as object);
    return grouping;
  };
}
