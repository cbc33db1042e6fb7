import type { MessageFormat } from "../message-format.ts";
import { type Item, type ItemReader, itemsOf } from "../steps/item.ts";
import { Live } from "../steps/live.ts";
import { pushAll } from "../steps/push-all.ts";
import type { Step } from "../steps/step.ts";
import { beforeBorder } from "./border.ts";
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
  /** In a view, an answer that was stored in several messages is one already. */
  readonly #live: Live<M> = new Live([], undefined, "apart");
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

/** The steps of a growing list that hold messages of some kind. */
export class StepsHolding<M> {
  readonly all: GrowingSteps<M>;
  readonly #messages: number[] = [];
  /** Of the steps, ascending. */
  #places: number[] = [];

  constructor(format: MessageFormat<M>) {
    this.all = new GrowingSteps({ format });
  }

  /** Takes in what is new; returns whether older messages now belong to other steps. */
  grow(messages: readonly M[], isSuch: (grown: Grown<M>) => boolean): boolean {
    const early = this.all.early.length;
    for (const grown of this.all.grow(messages)) {
      if (!isSuch(grown)) continue;
      this.#messages.push(grown.item.seq);
      this.#enter(grown.item.seq);
    }
    if (this.all.early.length === early) return false;
    this.#places = [];
    for (const at of this.#messages) this.#enter(at);
    return true;
  }

  /** The place of the first of the newest `keep` of them, on the border's grid; `undefined` if there are none. */
  newest(keep: number): number | undefined {
    return this.#places[beforeBorder(this.#places.length, keep)];
  }

  #enter(at: number): void {
    const place = this.all.placeOf(at);
    let index = this.#places.length;
    while (index > 0 && (this.#places[index - 1] as number) > place) index--;
    if (this.#places[index - 1] !== place) this.#places.splice(index, 0, place);
  }
}
