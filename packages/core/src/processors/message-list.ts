import type { MessageFormat } from "../message-format.ts";
import type { ListSteps } from "./list-steps.ts";

/** Something that a processor knows of a list. It takes in what the list has grown by, whenever it is asked. */
export interface ListState {
  /** Forgets all but the first `length` messages. */
  cut(length: number): void;
}

type ListStates = Readonly<Record<string, ListState | undefined>>;

interface Known {
  readonly states: ListStates;
  /** How often the list had been cut when they were asked last. */
  cuts: number;
}

/**
 * A list of frozen messages that is seen again and again, grown or with another end, and all that is known of it: so the
 * work for a list that has grown by one message does not grow with the list. What a processor answered for a list
 * belongs to it and is such a list too, so that a chain keeps one list a processor, however often it runs.
 */
export class MessageList<M> {
  readonly format: MessageFormat<M>;
  /** Not a frozen array, because V8 reads those ten times slower. */
  readonly messages: M[] = [];
  #steps: ListSteps<M> | undefined;
  readonly #known: WeakMap<object, Known> = new WeakMap();
  readonly #answers: WeakMap<object, MessageList<M>> = new WeakMap();
  /** Of each cut, how many messages stayed and were not paired with one that left. */
  readonly #cuts: number[] = [];

  constructor(format: MessageFormat<M>) {
    this.format = format;
  }

  /** Its steps, which all processors share: see `listSteps`. Made by who needs them, as most memories need none. */
  steps(make: (format: MessageFormat<M>) => ListSteps<M>): ListSteps<M> {
    this.#steps ??= make(this.format);
    this.#steps.grow(this.messages);
    return this.#steps;
  }

  /** What a processor knows of it. */
  states<States extends ListStates>(processor: object, begin: () => States): States {
    const known = this.#known.get(processor);
    const left = known === undefined ? 0 : this.#leftSince(known.cuts);
    if (known === undefined || left === 0) {
      const states = begin();
      this.#known.set(processor, { states, cuts: this.#cuts.length });
      return states;
    }
    if (known.cuts < this.#cuts.length) for (const state of Object.values(known.states)) state?.cut(left);
    known.cuts = this.#cuts.length;
    return known.states as States;
  }

  /** How many of its first messages have been the same since there were that many cuts. */
  #leftSince(cuts: number): number {
    let left = this.messages.length;
    for (let cut = cuts; cut < this.#cuts.length; cut++) left = Math.min(left, this.#cuts[cut] as number);
    return left;
  }

  /** What a processor answers for it. */
  answerOf(processor: object): MessageList<M> {
    let answer = this.#answers.get(processor);
    if (answer === undefined) {
      answer = new MessageList(this.format);
      this.#answers.set(processor, answer);
    }
    return answer;
  }

  /**
   * Makes it a list of these messages, in the form that `frozen` gives those that are new. What is known of its
   * beginning stays, as far as that is the same. Returns the messages in a frozen array.
   */
  become(messages: readonly M[], frozen: (message: M, index: number) => M): readonly M[] {
    const { messages: known } = this;
    const both = Math.min(messages.length, known.length);
    let at = 0;
    while (at < both && messages[at] === known[at]) at++;
    for (; at < messages.length; at++) {
      // An unchanged message gives the same copy again.
      const copy = frozen(messages[at] as M, at);
      if (at < known.length && copy === known[at]) continue;
      this.#cut(at);
      known.push(copy);
    }
    this.#cut(messages.length);
    const array = Object.freeze(known.slice());
    this.note(array, shown);
    return array;
  }

  /** Notes that an array holds its messages as they are by now. */
  note(array: readonly M[], arrays: ListsByArray): void {
    arrays.set(array, { list: this as MessageList<unknown>, cuts: this.#cuts.length, length: array.length });
  }

  /** Whether it is as it was then. */
  isStill({ cuts, length }: Noted): boolean {
    return cuts === this.#cuts.length && length === this.messages.length;
  }

  #cut(length: number): void {
    if (length >= this.messages.length) return;
    this.messages.length = length;
    const left = this.#steps?.cut(length) ?? length;
    if (left === 0) this.#steps = undefined;
    this.#cuts.push(left);
  }
}

interface Noted {
  readonly list: MessageList<unknown>;
  readonly cuts: number;
  readonly length: number;
}

export type ListsByArray = WeakMap<readonly unknown[], Noted>;

/** The lists that frozen arrays show. */
const shown: ListsByArray = new WeakMap();

/** The list whose messages an array holds, unless it has changed since. */
export function listIn<M>(
  arrays: ListsByArray,
  array: readonly M[],
  format: MessageFormat<M>,
): MessageList<M> | undefined {
  const noted = arrays.get(array);
  if (noted === undefined || noted.list.format !== format || !noted.list.isStill(noted)) return undefined;
  return noted.list as MessageList<M>;
}

/** The list that a frozen array shows; one of its own for any other array. */
export function listOf<M>(messages: readonly M[], format: MessageFormat<M>): MessageList<M> {
  const known = listIn(shown, messages, format);
  if (known !== undefined) return known;
  const list = new MessageList(format);
  list.become(messages, (message) => message);
  return list;
}
