import type { Role } from "../message-format.ts";
import type { ItemReader } from "../steps/item.ts";
import { pushAll } from "../steps/push-all.ts";
import type { Step } from "../steps/step.ts";
import { GrowingSteps } from "./growing-steps.ts";
import type { Bond } from "./pairs.ts";

/** The messages of one step, or of several steps that one message with results for all of them holds together. */
export class Group<M> {
  /** Its place among the groups: the index of the first message of its oldest step. */
  readonly at: number;
  readonly steps: Step<M>[];

  constructor(at: number, step: Step<M>) {
    this.at = at;
    this.steps = [step];
  }

  get tokens(): number {
    return this.steps.reduce((sum, step) => sum + step.tokens, 0);
  }

  /** Of its first message. */
  get role(): Role | undefined {
    return this.steps[0]?.items[0]?.role;
  }

  /** Where its messages stand in the list. */
  get indices(): number[] {
    return this.steps.flatMap(({ items }) => items.map(({ seq }) => seq));
  }
}

/**
 * A list of messages in groups, none of which can be left out without breaking a pair. The list grows at its end; of
 * the earlier groups, only those that a new message joins are looked at again.
 */
export class Grouping<M> {
  readonly #steps: GrowingSteps<M>;
  readonly #groupOf: WeakMap<Step<M>, Group<M>> = new WeakMap();
  /** By place. */
  readonly #groups: (Group<M> | undefined)[] = [];
  /** By place: the tokens of the groups before it, without system messages. Valid up to `#summed`. */
  readonly #tokensBefore: number[] = [0];
  #summed = 0;
  readonly #systems: number[] = [];
  readonly #boundaries: number[] = [];

  constructor(reader: ItemReader<M>) {
    this.#steps = new GrowingSteps(reader);
  }

  /** All tokens, those of system messages included. */
  get tokens(): number {
    return this.#steps.tokens;
  }

  /** Takes in what stands behind the messages that it has taken in so far. */
  grow(messages: readonly M[]): void {
    for (const { item, pairs } of this.#steps.grow(messages)) {
      const { seq: at, role, boundary } = item;
      if (role === "system") this.#systems.push(at);
      if (boundary) this.#boundaries.push(at);
      this.#found(at);
      for (const bond of pairs.bonds) this.#join(bond);
    }
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

  /** The newest message's group: an existing one, or a new one. */
  #found(at: number): void {
    const step = this.#steps.stepWith(at);
    const older = this.#groupOf.get(step);
    const group = older ?? new Group(at, step);
    this.#groups.push(older === undefined ? group : undefined);
    this.#groupOf.set(step, group);
    this.#changed(group.at);
  }

  #join(bond: Bond): void {
    for (const at of bond) {
      // A result that stood alone until its call came has joined the call's step.
      if (this.#groups[at] === undefined || this.#groups[at] === this.#groupWith(at)) continue;
      this.#groups[at] = undefined;
      this.#changed(at);
    }
    const [one, other] = bond.map((at) => this.#groupWith(at)) as [Group<M>, Group<M>];
    if (one === other) return;
    const [older, newer] = one.at < other.at ? [one, other] : [other, one];
    for (const step of newer.steps) this.#groupOf.set(step, older);
    pushAll(older.steps, newer.steps);
    this.#groups[newer.at] = undefined;
    this.#changed(older.at);
  }

  #changed(at: number): void {
    this.#summed = Math.min(this.#summed, at);
  }

  #groupWith(at: number): Group<M> {
    return this.#groupOf.get(this.#steps.stepWith(at)) as Group<M>;
  }
}
