import type { Item } from "./item.ts";

/**
 * An assistant message together with all results that answer its calls, wherever they stand. A message of another
 * role is a step of its own.
 */
export interface Step<M> {
  /** In the order of the view; results that stand before their call come first. */
  readonly items: Item<M>[];
  /** Each call of the step, and whether a result for it has come. */
  readonly calls: Map<string, { answered: boolean }>;
  /** Approval request id → call id. */
  readonly approvals: Map<string, string>;
  tokens: number;
}

/**
 * The live messages of one memory, in the order of the view, grouped into steps, with running totals. Nothing here
 * asks the format or the counter: an item carries their answers.
 */
export class Live<M> {
  /** System messages in front, then the derived message, then the others by `seq`. */
  readonly items: Item<M>[] = [];
  /** By the place of their first message. */
  readonly steps: Step<M>[] = [];
  readonly byId: Map<string, Item<M>> = new Map();
  tokens = 0;
  readonly #isFront: (item: Item<M>) => boolean;
  readonly #stepOf: Map<Item<M>, Step<M>> = new Map();
  /** Call id → the steps that make such a call, oldest first: some providers use an id again in every step. */
  readonly #callers: Map<string, Step<M>[]> = new Map();
  /** Call id → the steps of results that no call has asked for yet. */
  readonly #orphans: Map<string, Step<M>[]> = new Map();
  readonly #requests: Map<string, Step<M>> = new Map();
  #newestAssistant: Item<M> | undefined;

  constructor(items: Iterable<Item<M>>, isFront: (item: Item<M>) => boolean) {
    this.#isFront = isFront;
    this.#fill(items);
  }

  #fill(items: Iterable<Item<M>>): void {
    const rest: Item<M>[] = [];
    const derived: Item<M>[] = [];
    for (const item of items) {
      if (this.#isFront(item)) this.#enter(item, this.items.length);
      else (item.meta.derived === undefined ? rest : derived).push(item);
    }
    for (const item of derived) this.#enter(item, this.items.length);
    for (const item of rest) this.#enter(item, this.items.length);
  }

  /** A copy that can change without changing this one. */
  copy(): Live<M> {
    return new Live(this.items, this.#isFront);
  }

  /** Takes items in that had left, each in its place by `seq`. */
  restore(items: readonly Item<M>[]): void {
    const all = [...this.items, ...items].sort((a, b) => a.seq - b.seq);
    this.#clear();
    this.#fill(all);
  }

  stepOf(item: Item<M>): Step<M> {
    const step = this.#stepOf.get(item);
    if (step === undefined) throw new Error(`message ${item.id} is not live`);
    return step;
  }

  /** Adds an item where it belongs: a front system message first, a derived one after it, any other last. */
  append(item: Item<M>): void {
    let index = this.items.length;
    if (this.#isFront(item)) index = 0;
    else if (item.meta.derived !== undefined) {
      index = this.items.findIndex((other) => !this.#isFront(other));
      if (index < 0) index = this.items.length;
    }
    this.#enter(item, index);
  }

  /**
   * The calls of earlier steps that this new item answers too late: the model has gone on since, so it was shown them
   * as interrupted.
   */
  lateCalls(item: Pick<Item<M>, "results" | "approvals" | "calls">): string[] {
    const late: string[] = [];
    const check = (step: Step<M> | undefined, callId: string): void => {
      const newest = this.#newestAssistant;
      if (step !== undefined && newest !== undefined && this.stepOf(newest) !== step) late.push(callId);
    };
    const own = new Set(item.calls.map((call) => call.id));
    for (const result of item.results) if (!own.has(result.id)) check(this.#caller(result.id), result.id);
    for (const approval of item.approvals) {
      if (approval.kind !== "response") continue;
      const step = this.#requests.get(approval.approvalId);
      check(step, step?.approvals.get(approval.approvalId) ?? approval.approvalId);
    }
    return late;
  }

  /** Takes items out. Taking out a part of a step regroups what is left. */
  remove(victims: ReadonlySet<Item<M>>): void {
    if (victims.size === 0) return;
    const kept = this.items.filter((item) => !victims.has(item));
    const whole = this.steps.every((step) => {
      const gone = step.items.filter((item) => victims.has(item)).length;
      return gone === 0 || gone === step.items.length;
    });
    if (!whole) {
      this.#clear();
      for (const item of kept) this.#enter(item, this.items.length);
      return;
    }
    this.items.splice(0, this.items.length, ...kept);
    const steps = this.steps.filter((step) => !victims.has(step.items[0] as Item<M>));
    const left = this.steps.filter((step) => victims.has(step.items[0] as Item<M>));
    this.steps.splice(0, this.steps.length, ...steps);
    for (const step of left) this.#leave(step);
    if (this.#newestAssistant !== undefined && victims.has(this.#newestAssistant)) {
      this.#newestAssistant = this.items.findLast(
        (item) => item.role === "assistant" && item.meta.derived === undefined,
      );
    }
  }

  /** Puts a new form of an item in the place of the old one. */
  replace(old: Item<M>, item: Item<M>): void {
    const items = this.items.map((other) => (other === old ? item : other));
    this.#clear();
    for (const other of items) this.#enter(other, this.items.length);
  }

  #clear(): void {
    this.items.length = 0;
    this.steps.length = 0;
    this.byId.clear();
    this.#stepOf.clear();
    this.#callers.clear();
    this.#orphans.clear();
    this.#requests.clear();
    this.#newestAssistant = undefined;
    this.tokens = 0;
  }

  #enter(item: Item<M>, index: number): void {
    const last = index === this.items.length;
    if (last) this.items.push(item);
    else this.items.splice(index, 0, item);
    this.byId.set(item.id, item);
    this.tokens += item.tokens;
    const own = new Set(item.calls.map((call) => call.id));
    const joined = new Set<Step<M>>();
    for (const result of item.results) {
      const step = own.has(result.id) ? undefined : this.#caller(result.id);
      if (step !== undefined) joined.add(step);
    }
    for (const approval of item.approvals) {
      const step = approval.kind === "response" ? this.#requests.get(approval.approvalId) : undefined;
      if (step !== undefined) joined.add(step);
    }
    for (const id of own) for (const step of this.#orphans.get(id) ?? []) joined.add(step);
    const [first, ...others] = [...joined].sort((a, b) => this.#place(a) - this.#place(b));
    const step = first ?? this.#newStep(index, last);
    for (const other of others) this.#merge(step, other);
    step.items.push(item);
    step.tokens += item.tokens;
    this.#stepOf.set(item, step);
    this.#register(item, step, own);
    if (item.role === "assistant" && item.meta.derived === undefined) this.#newestAssistant = item;
  }

  #newStep(index: number, last: boolean): Step<M> {
    const step: Step<M> = { items: [], calls: new Map(), approvals: new Map(), tokens: 0 };
    if (last) this.steps.push(step);
    else {
      const follower = this.items[index + 1];
      const place = follower === undefined ? this.steps.length : this.steps.indexOf(this.stepOf(follower));
      this.steps.splice(place, 0, step);
    }
    return step;
  }

  #register(item: Item<M>, step: Step<M>, own: ReadonlySet<string>): void {
    for (const id of own) {
      if (!step.calls.has(id)) step.calls.set(id, { answered: false });
      const callers = this.#callers.get(id);
      if (callers === undefined) this.#callers.set(id, [step]);
      else if (!callers.includes(step)) callers.push(step);
      this.#orphans.delete(id);
    }
    for (const member of step.items) {
      for (const result of member.results) {
        const call = step.calls.get(result.id);
        if (call !== undefined) call.answered = true;
        else if (member === item && this.#caller(result.id) === undefined) {
          this.#orphans.set(result.id, [...(this.#orphans.get(result.id) ?? []), step]);
        }
      }
    }
    for (const approval of item.approvals) {
      if (approval.kind !== "request") continue;
      step.approvals.set(approval.approvalId, approval.toolCallId);
      this.#requests.set(approval.approvalId, step);
    }
  }

  /** The step that a result belongs to: the newest that still waits for it, else the newest that ever asked. */
  #caller(callId: string): Step<M> | undefined {
    const callers = this.#callers.get(callId);
    return callers?.findLast((step) => step.calls.get(callId)?.answered === false) ?? callers?.at(-1);
  }

  #place(step: Step<M>): number {
    return this.steps.indexOf(step);
  }

  #merge(into: Step<M>, other: Step<M>): void {
    for (const item of other.items) {
      into.items.push(item);
      this.#stepOf.set(item, into);
    }
    into.items.sort((a, b) => a.seq - b.seq);
    into.tokens += other.tokens;
    for (const [id, call] of other.calls) into.calls.set(id, call);
    for (const [id, callId] of other.approvals) {
      into.approvals.set(id, callId);
      this.#requests.set(id, into);
    }
    for (const index of [this.#callers, this.#orphans]) {
      for (const [id, steps] of index) {
        if (steps.includes(other))
          index.set(id, [...new Set(steps.map((step) => (step === other ? into : step)))]);
      }
    }
    this.steps.splice(this.steps.indexOf(other), 1);
  }

  #leave(step: Step<M>): void {
    for (const item of step.items) {
      this.byId.delete(item.id);
      this.#stepOf.delete(item);
      for (const result of item.results) this.#forget(this.#orphans, result.id, step);
    }
    for (const id of step.calls.keys()) this.#forget(this.#callers, id, step);
    for (const id of step.approvals.keys()) this.#requests.delete(id);
    this.tokens -= step.tokens;
  }

  #forget(index: Map<string, Step<M>[]>, id: string, step: Step<M>): void {
    const rest = index.get(id)?.filter((other) => other !== step);
    if (rest === undefined || rest.length === 0) index.delete(id);
    else index.set(id, rest);
  }
}
