import { type Item, type ItemReader, itemsOf } from "../steps/item.ts";
import { Live } from "../steps/live.ts";
import { pushAll } from "../steps/push-all.ts";
import type { Step } from "../steps/step.ts";
import { type Bond, Pairing, type Pairs } from "./pairs.ts";

/** A message that a list has grown by. */
export interface Grown<M> {
  /** Its `seq` is its message's index. */
  readonly item: Item<M>;
  readonly pairs: Pairs & { readonly bonds: readonly Bond[] };
}

/**
 * A growing list of messages in steps, grouped as in a memory. A step's place is that of its first message, not
 * counting results that came before their call.
 */
export class GrowingSteps<M> {
  readonly #reader: ItemReader<M>;
  readonly #live: Live<M> = new Live();
  readonly #pairing = new Pairing();
  readonly #placeOf: WeakMap<Step<M>, number> = new WeakMap();
  /** The places of the steps that begin with a user message. */
  readonly questions: number[] = [];
  /** Results that came before their call; they changed their step when the call came. */
  readonly early: Bond[] = [];

  constructor(reader: ItemReader<M>) {
    this.#reader = reader;
  }

  get tokens(): number {
    return this.#live.tokens;
  }

  get newest(): Step<M> | undefined {
    return this.#live.steps.at(-1);
  }

  /** Takes in the messages after those taken in so far, and yields each. */
  *grow(messages: readonly M[]): Generator<Grown<M>, undefined> {
    const known = this.#live.items.length;
    for (const item of itemsOf(messages.slice(known), this.#reader, known)) {
      const { seq: at } = item;
      this.#live.append(item);
      const step = this.#live.stepOf(item);
      if (!this.#placeOf.has(step)) {
        this.#placeOf.set(step, at);
        if (step.items[0]?.role === "user") this.questions.push(at);
      }
      const pairs = this.#pairing.enter(item);
      pushAll(
        this.early,
        pairs.bonds.filter(([one, callAt]) => callAt === at && one < at),
      );
      yield { item, pairs };
    }
  }

  stepWith(at: number): Step<M> {
    return this.#live.stepOf(this.#live.items[at] as Item<M>);
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

/** The places of the steps with some of the messages, in their order. */
export class Places<M> {
  readonly #steps: GrowingSteps<M>;
  readonly #messages: number[] = [];
  #places: number[] = [];
  #early = 0;

  constructor(steps: GrowingSteps<M>) {
    this.#steps = steps;
  }

  /** Takes in a message that is newer than those before. */
  add(at: number): void {
    this.#messages.push(at);
    this.#insert(this.#steps.placeOf(at));
  }

  /** One of them, by how many there are. */
  at(index: (count: number) => number): number | undefined {
    if (this.#early !== this.#steps.early.length) {
      this.#early = this.#steps.early.length;
      this.#places = [];
      for (const at of this.#messages) this.#insert(this.#steps.placeOf(at));
    }
    return this.#places[index(this.#places.length)];
  }

  #insert(place: number): void {
    let index = this.#places.length;
    while (index > 0 && (this.#places[index - 1] as number) > place) index--;
    if (this.#places[index - 1] !== place) this.#places.splice(index, 0, place);
  }
}
