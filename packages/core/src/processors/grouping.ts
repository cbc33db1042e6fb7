import type { Role } from "../message-format.ts";
import { pushAll } from "../steps/push-all.ts";
import type { Step } from "../steps/step.ts";
import { dropFrom, type ListSteps } from "./list-steps.ts";
import type { ListState } from "./message-list.ts";
import type { Bond } from "./pairs.ts";

/** The messages of one step, or of several steps that one message with results for all of them holds together. */
export class Group<M> {
  /** Its place among the groups: that of its oldest step. */
  at: number;
  /** In any order. */
  readonly steps: Step<M>[];
  tokens = 0;
  #oldest: Step<M>;

  constructor(at: number, step: Step<M>) {
    this.at = at;
    this.steps = [step];
    this.#oldest = step;
  }

  /** Of its first message. */
  get role(): Role | undefined {
    return this.#oldest.items[0]?.role;
  }

  takeIn(other: Group<M>): void {
    if (other.at < this.at) {
      this.at = other.at;
      this.#oldest = other.#oldest;
    }
    pushAll(this.steps, other.steps);
    this.tokens += other.tokens;
  }

  /** Where its messages stand in the list. */
  get indices(): number[] {
    return this.steps.flatMap(({ items }) => items.map(({ seq }) => seq));
  }
}

/**
 * The steps of a list in groups, none of which can be left out without breaking a pair. When the list grows, only those
 * of the earlier groups that a new message joins are looked at again.
 */
export class Grouping<M> implements ListState {
  readonly #steps: ListSteps<M>;
  readonly #tokensOf: (message: M) => number;
  readonly #groupOf: WeakMap<Step<M>, Group<M>> = new WeakMap();
  /** By place. */
  readonly #groups: (Group<M> | undefined)[] = [];
  /** By message: the tokens of all before it. */
  readonly #allBefore: number[] = [0];
  /** By place: the tokens of the groups before it, without system messages. Valid up to `#summed`. */
  readonly #tokensBefore: number[] = [0];
  #summed = 0;
  readonly #systems: number[] = [];
  readonly #boundaries: number[] = [];

  constructor(steps: ListSteps<M>, tokensOf: (message: M) => number) {
    this.#steps = steps;
    this.#tokensOf = tokensOf;
  }

  /** All tokens, those of system messages included. */
  get tokens(): number {
    return this.#allBefore.at(-1) as number;
  }

  /** Takes in what is new. */
  grow(): void {
    const { items, pairs } = this.#steps;
    for (let at = this.#allBefore.length - 1; at < items.length; at++) {
      const { role, boundary, message } = items[at] as (typeof items)[number];
      // First, because a counter may throw.
      this.#enter(at, this.#tokensOf(message as M));
      if (role === "system") this.#systems.push(at);
      if (boundary) this.#boundaries.push(at);
      for (const bond of pairs[at]?.bonds ?? []) this.#join(bond);
    }
  }

  cut(length: number): void {
    if (this.#allBefore.length > length + 1) this.#allBefore.length = length + 1;
    if (this.#groups.length > length) this.#groups.length = length;
    this.#changed(length);
    dropFrom(this.#systems, length);
    dropFrom(this.#boundaries, length);
  }

  /** The groups of system messages, oldest first. */
  get systems(): Group<M>[] {
    return this.#systems.flatMap((at) => {
      const group = this.#groups[at];
      return group?.role === "system" ? [group] : [];
    });
  }

  /** The last group that holds a provider's compaction. */
  get boundary(): Group<M> | undefined {
    let last: Group<M> | undefined;
    for (const at of this.#boundaries) {
      const group = this.#groupWith(at);
      if (last === undefined || group.at > last.at) last = group;
    }
    return last;
  }

  /** The last group that begins with a user message. */
  get question(): Group<M> | undefined {
    const at = this.#steps.questions.findLast((question) => this.#groups[question]?.role === "user");
    return at === undefined ? undefined : this.#groups[at];
  }

  /** The groups from a place on, newest first, without system messages. */
  *newestFirst(from: number): Generator<Group<M>, undefined> {
    for (let at = this.#groups.length - 1; at >= from; at--) {
      const group = this.#groups[at];
      if (group !== undefined && group.role !== "system") yield group;
    }
  }

  /** The tokens of the groups from a place on, without system messages. */
  tokensFrom(from: number): number {
    for (; this.#summed < this.#groups.length; this.#summed++) {
      const group = this.#groups[this.#summed];
      const tokens = group === undefined || group.role === "system" ? 0 : group.tokens;
      this.#tokensBefore[this.#summed + 1] = (this.#tokensBefore[this.#summed] as number) + tokens;
    }
    return (this.#tokensBefore[this.#summed] as number) - (this.#tokensBefore[from] as number);
  }

  #enter(at: number, tokens: number): void {
    this.#allBefore.push(this.tokens + tokens);
    const step = this.#steps.stepWith(at);
    let group = this.#groupOf.get(step);
    if (group === undefined) {
      group = new Group(this.#steps.placeOf(at), step);
      this.#groupOf.set(step, group);
      this.#groups[group.at] = group;
    }
    group.tokens += tokens;
    this.#changed(group.at);
  }

  #join(bond: Bond): void {
    for (const at of bond) {
      const alone = this.#groups[at];
      const group = this.#groupWith(at);
      // A result that stood alone until its call came has joined the call's step.
      if (alone === undefined || alone === group) continue;
      group.tokens += alone.tokens;
      this.#groups[at] = undefined;
      this.#changed(at);
    }
    const [one, other] = bond.map((at) => this.#groupWith(at)) as [Group<M>, Group<M>];
    if (one === other) return;
    // The smaller joins the larger, so that a step changes its group few times, however many messages join one by one.
    const [larger, smaller] = one.steps.length < other.steps.length ? [other, one] : [one, other];
    for (const group of [larger, smaller]) this.#groups[group.at] = undefined;
    for (const step of smaller.steps) this.#groupOf.set(step, larger);
    larger.takeIn(smaller);
    this.#groups[larger.at] = larger;
    this.#changed(larger.at);
  }

  #changed(at: number): void {
    this.#summed = Math.min(this.#summed, at);
  }

  #groupWith(at: number): Group<M> {
    return this.#groupOf.get(this.#steps.stepWith(at)) as Group<M>;
  }
}
