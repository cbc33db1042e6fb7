import type { MessageFormat } from "../message-format.ts";
import { type Item, itemsOf, messageOf } from "./item.ts";
import { isSaid } from "./kinds.ts";
import type { Step } from "./step.ts";
import { StepList } from "./step-list.ts";
import { takeOut } from "./take-out.ts";

/**
 * The live messages of one memory in view order, in steps, with running totals: system messages in front, then the
 * derived message, then the others by `seq`.
 */
export class Live<M> extends StepList<M> {
  readonly byId: Map<string, Item<M>> = new Map();
  /** How many items are a provider's compaction. */
  boundaries = 0;
  readonly #isFront: (item: Item<M>) => boolean;

  /** `answers`: whether messages that are one answer, stored one by one, are one step. */
  constructor(
    items: Iterable<Item<M>> = [],
    isFront: (item: Item<M>) => boolean = () => false,
    answers: "joined" | "apart" = "joined",
  ) {
    super(answers);
    this.#isFront = isFront;
    this.#fill(items);
  }

  #fill(items: Iterable<Item<M>>): void {
    const rest: Item<M>[] = [];
    const derived: Item<M>[] = [];
    for (const item of items) {
      if (this.#isFront(item)) this.enter(item, this.items.length);
      else (item.meta.derived === undefined ? rest : derived).push(item);
    }
    this.#enterAll(derived);
    this.#enterAll(rest);
  }

  /** A copy that can change without changing this one; items that had left return, each to its place by `seq`. */
  copy(returning: readonly Item<M>[] = []): Live<M> {
    return new Live(this.#with(returning), this.#isFront, this.answers);
  }

  /** Takes back items that had left, each to its place by `seq`. */
  restore(returning: readonly Item<M>[]): void {
    const all = this.#with(returning);
    this.#cut(0);
    this.#fill(all);
  }

  #with(returning: readonly Item<M>[]): Item<M>[] {
    const all = [...this.items, ...returning];
    return returning.length === 0 ? all : all.sort((a, b) => a.seq - b.seq);
  }

  /**
   * Adds an item where it belongs: a front system message first, a derived message after it, any other last. Returns it
   * as it is held.
   */
  append(item: Item<M>): Item<M> {
    let index = this.items.length;
    if (this.#isFront(item)) index = 0;
    else if (item.meta.derived !== undefined) {
      index = this.items.findIndex((other) => !this.#isFront(other));
      if (index < 0) index = this.items.length;
    }
    return this.enter(item, index);
  }

  /** Removes items, in whatever form they are held. If only part of a step is removed, the rest is regrouped. */
  remove(items: Iterable<Item<M>>): void {
    const victims = new Set<Item<M>>();
    for (const { id } of items) victims.add(this.byId.get(id) as Item<M>);
    if (victims.size === 0) return;
    const leaving = new Set<Step<M>>();
    for (const item of victims) leaving.add(this.stepOf(item));
    const isPart = (step: Step<M>): boolean => step.items.some((item) => !victims.has(item));
    if ([...leaving].some(isPart)) {
      const first = this.items.findIndex((item) => leaving.has(this.stepOf(item)));
      this.#enterAll(this.#cut(first).filter((item) => !victims.has(item)));
      return;
    }
    const seams = takeOut(this.items, victims);
    takeOut(this.steps, leaving);
    for (const step of leaving) this.leave(step);
    this.afterLeaving();
    const moved = this.#firstMoved(seams, leaving);
    if (moved !== undefined) this.#enterAll(this.#cut(moved));
  }

  /** The index from which a new reader may group items otherwise, now that those steps have left. */
  #firstMoved(seams: readonly number[], gone: ReadonlySet<Step<M>>): number | undefined {
    if (!this.inParts && this.loose.size === 0) return undefined;
    const moved = seams.filter((index) => isSaid(this.items[index - 1])).slice(0, 1);
    // In the order of the view, so the first is enough.
    for (const [item, askers] of this.loose) {
      if (!askers.some((step) => step !== undefined && gone.has(step))) continue;
      moved.push(this.items.indexOf(item));
      break;
    }
    return moved.length === 0 ? undefined : Math.min(...moved);
  }

  /** Puts a new form of an item in the place of the old one. */
  replace(old: Item<M>, item: Item<M>): void {
    const [first] = this.stepOf(old).items;
    const after = this.#cut(this.items.lastIndexOf(first as Item<M>));
    this.#enterAll(after.map((other) => (other.seq === old.seq ? item : other)));
  }

  /** Removes the items from that index on, to be grouped anew; all of them if a step reaches across it. */
  #cut(index: number): Item<M>[] {
    const after = this.items.slice(index);
    const steps = new Set(after.map((item) => this.stepOf(item)));
    const size = [...steps].reduce((sum, step) => sum + step.items.length, 0);
    if (size > after.length) return this.#cut(0);
    this.items.length = index;
    this.steps.length -= steps.size;
    for (const step of steps) this.leave(step);
    this.findNewestAnswer();
    return after;
  }

  #enterAll(items: readonly Item<M>[]): void {
    for (const item of items) this.enter(item, this.items.length);
  }

  protected override enter(added: Item<M>, index: number): Item<M> {
    const item = super.enter(added, index);
    this.byId.set(item.id, item);
    if (item.boundary) this.boundaries++;
    return item;
  }

  protected override leave(step: Step<M>): void {
    for (const item of step.items) {
      this.byId.delete(item.id);
      if (item.boundary) this.boundaries--;
    }
    super.leave(step);
  }
}

/**
 * The messages as a memory shows them before all repair: a result that bears no id has that of the call which it answers,
 * and none where that call has none. For authors of profiles and loops.
 *
 * @example
 * ```ts
 * import { modelMessageFormat, user } from "@turnkeep/core";
 * import { withCallIds } from "@turnkeep/core/processors";
 *
 * withCallIds([user("Hello")], { format: modelMessageFormat }); // the same: this format has an id everywhere
 * ```
 */
export function withCallIds<M>(
  messages: readonly M[],
  { format }: { readonly format: MessageFormat<M> },
): readonly M[] {
  return new Live<M>(itemsOf(messages, { format })).items.map(messageOf);
}

/** Messages outside a memory, grouped into steps as a memory groups them; an item's `seq` is its message's index. */
export function stepsOf<M>(messages: readonly M[], format: MessageFormat<M>): readonly Step<M>[] {
  return new Live<M>(itemsOf(messages, { format })).steps;
}
