import type { Item, ItemFacts } from "./item.ts";
import { approvedIn, isAnswer, isAssistants, isDirectlyBehind, isLoose } from "./kinds.ts";
import { Links } from "./links.ts";
import { asAdded, NamedCalls } from "./named-calls.ts";
import { isOpen } from "./pairing.ts";
import { approvedCalls, isSettled, newStep, type Step } from "./step.ts";
import { takeOut } from "./take-out.ts";

// Shared, because most messages have none.
const noIds: ReadonlySet<string> = new Set();

function idsOf(refs: readonly { readonly id: string }[]): ReadonlySet<string> {
  return refs.length === 0 ? noIds : new Set(refs.map(({ id }) => id));
}

/**
 * Messages in order, grouped into steps as they come, at a cost that depends on what comes and not on what is there.
 * Nothing here calls the format or the counter: items carry their answers.
 */
export class StepList<M> {
  readonly items: Item<M>[] = [];
  /** By the place of their first message. */
  readonly steps: Step<M>[] = [];
  tokens = 0;
  /** Steps that a view may show larger than they are: repair answers open calls and moves results after their calls. */
  readonly unsettled: Set<Step<M>> = new Set();
  /**
   * Items that a new reader may group otherwise once others have left, with the steps that asked for their results.
   * Which of these steps an item joined, if any, depends on what preceded it when it came.
   */
  protected readonly loose: Map<Item<M>, readonly (Step<M> | undefined)[]> = new Map();
  /** Whether an item was met that may continue the answer directly before it, as the format's items can. */
  protected inParts = false;
  protected readonly answers: "joined" | "apart";
  /** By `seq`: an item takes another form where its results are found to answer other calls. */
  readonly #stepOf: Map<number, Step<M>> = new Map();
  readonly #links: Links<M> = new Links();
  readonly #named: NamedCalls<M> = new NamedCalls();
  #newestAssistant: Item<M> | undefined;
  /** Of the assistant messages directly after one another at the end, the step that waits for results, if one does. */
  #waiting: Step<M> | undefined;

  /** `answers`: whether messages that are one answer, stored one by one, are one step. */
  constructor(answers: "joined" | "apart" = "joined") {
    this.answers = answers;
  }

  stepOf(item: Item<M>): Step<M> {
    const step = this.#stepOf.get(item.seq);
    if (step === undefined) throw new Error(`message ${item.id} is not live`);
    return step;
  }

  /** Whether a message with that `seq` is live. */
  holds(seq: number): boolean {
    return this.#stepOf.has(seq);
  }

  /** Whether a live message makes such a call. */
  hasCall(callId: string): boolean {
    return this.#links.caller(callId) !== undefined;
  }

  /**
   * The calls of earlier steps that this new item answers too late: the model has gone on since, so it was shown them
   * as interrupted.
   */
  lateCalls(added: ItemFacts<M>): string[] {
    const newest = this.#newestAnswer();
    if (newest === undefined || added.results.length + added.approvals.length === 0) return [];
    const item = this.#answering(added);
    return this.#links
      .answered(item, idsOf(item.calls))
      .flatMap(({ callId, asker }) => (asker === undefined || asker === newest ? [] : callId));
  }

  /**
   * The same for a new form of an item, here or left, that holds its results and approvals beside its calls: the calls that
   * were late before, and those whose results or approvals came after the model had gone on.
   */
  lateAfterReplace(old: Item<M>, facts: Pick<Item<M>, "results" | "calls" | "approvals">): string[] {
    const late = new Set(old.meta.late);
    const newest = this.#newestAnswer();
    if (newest === undefined || newest === this.#stepOf.get(old.seq)) return [...late];
    const own = idsOf(facts.calls);
    const before = idsOf(old.results);
    for (const { id } of facts.results) if (own.has(id) && !before.has(id)) late.add(id);
    const approved = approvedIn(old);
    for (const id of approvedIn(facts)) if (own.has(id) && !approved.has(id)) late.add(id);
    return [...late];
  }

  /**
   * Adds an item at an index: at the end, or a system or derived message, each a step of its own. Returns it as it is
   * held.
   */
  protected enter(added: Item<M>, index: number): Item<M> {
    const item = this.#answering(asAdded(added));
    const last = index === this.items.length;
    if (last) this.items.push(item);
    else this.items.splice(index, 0, item);
    this.tokens += item.tokens;
    const own = idsOf(item.calls);
    const askers = this.#links.askersOf(item, own);
    const sought = this.#sought(askers);
    if (isLoose(item, sought)) this.loose.set(item, sought);
    this.inParts ||= item.part;
    if (last && !isDirectlyBehind(item, this.items.at(-2))) this.#waiting = undefined;
    const step = this.#homeOf(item, askers) ?? this.#newStep(index, last);
    this.#takeIn(step, own);
    this.#stepOf.set(item.seq, step);
    this.#links.join(step, item, own);
    if (item.role === "tool" && step.items.length === 1) this.#links.awaitCalls(step, item);
    if (step.calls.size > 0 && !isSettled(step)) this.unsettled.add(step);
    else this.unsettled.delete(step);
    if (isAssistants(item)) this.#newestAssistant = item;
    if (last && isAnswer(item) && step.unanswered > 0) this.#waiting = step;
    return item;
  }

  /** The item with its results under the ids of their calls, where no call of the newest answer waits for those they have. */
  #answering<T extends ItemFacts<M>>(item: T): T {
    const newest = this.#newestAnswer();
    if (newest === undefined || item.role === "assistant" || item.calls.length > 0) return item;
    if (item.results.every(({ id }) => isOpen(newest, id))) return item;
    return this.#named.answering(item, newest, (id) => this.hasCall(id));
  }

  /** With the newest answer, in which the call of an orphan was looked for by its tool: without it, one before may wait for that. */
  #sought(askers: readonly (Step<M> | undefined)[]): readonly (Step<M> | undefined)[] {
    if (!askers.includes(undefined)) return askers;
    const newest = this.#newestAnswer();
    const mayAnother = this.unsettled.size > (newest !== undefined && this.unsettled.has(newest) ? 1 : 0);
    return mayAnother ? [...askers, newest] : askers;
  }

  #newStep(index: number, last: boolean): Step<M> {
    const step = newStep<M>();
    this.steps.splice(last ? this.steps.length : index, 0, step);
    return step;
  }

  /** Forgets a step that is no longer in the list. */
  protected leave(step: Step<M>): void {
    for (const item of step.items) {
      this.loose.delete(item);
      this.#stepOf.delete(item.seq);
    }
    this.unsettled.delete(step);
    this.#links.leave(step);
    this.tokens -= step.tokens;
  }

  /** The step of the newest message that the model said. */
  #newestAnswer(): Step<M> | undefined {
    return this.#newestAssistant && this.stepOf(this.#newestAssistant);
  }

  /** Looks for the newest answer again if it has left. */
  protected afterLeaving(): void {
    const isGone = (item: Item<M> | undefined): boolean => item !== undefined && !this.#stepOf.has(item.seq);
    if (isGone(this.#newestAssistant)) this.findNewestAnswer();
    if (isGone(this.#waiting?.items[0])) this.#waiting = undefined;
  }

  protected findNewestAnswer(): void {
    this.#newestAssistant = this.items.findLast(isAssistants);
    this.#waiting = undefined;
    for (let at = this.items.length - 1; at >= 0; at--) {
      const item = this.items[at] as Item<M>;
      if (isAnswer(item) && this.stepOf(item).unanswered > 0) this.#waiting = this.stepOf(item);
      if (this.#waiting !== undefined || !isDirectlyBehind(item, this.items[at - 1])) return;
    }
  }

  /**
   * The step that a message joins; `undefined` if it begins one. In time, results can only answer the newest assistant message; later
   * ones belong to the step that asked, and leave memory with it. An assistant message that holds results of its
   * predecessor's calls continues that step only if nothing is between them.
   */
  #homeOf(item: Item<M>, askers: readonly (Step<M> | undefined)[]): Step<M> | undefined {
    const newest = this.#newestAnswer();
    if (item.role === "tool") {
      if (newest !== undefined && askers.includes(newest)) return newest;
      return askers.find((step) => step !== undefined);
    }
    // Its other content must not move to an earlier place, nor be left out with results that nothing waits for.
    if (item.role !== "assistant") return newest !== undefined && awaits(newest, item) ? newest : undefined;
    const before = this.steps.at(-1);
    if (before !== undefined && (askers.includes(before) || this.#continues(item, before))) return before;
    return item.calls.length > 0 && isAnswer(item) ? this.#unfinishedAnswer(item) : undefined;
  }

  /**
   * The step of the calls that wait for their results directly before a new call: nobody asks a model before all of its
   * calls are answered, so the new one is part of the same answer, and with it what stands between.
   */
  #unfinishedAnswer({ calls, results, inPlace }: Item<M>): Step<M> | undefined {
    const step = this.#waiting;
    if (step === undefined || step.unanswered === 0 || this.answers === "apart") return undefined;
    // Results beside their calls must not be taken for those of other calls with the same ids.
    if ((inPlace || results.length > 0) && calls.some(({ id }) => step.calls.has(id))) return undefined;
    const first = this.steps.lastIndexOf(step) + 1;
    if (this.steps.slice(first).some((between) => between.calls.size > 0)) return undefined;
    for (const between of this.steps.splice(first)) {
      this.#links.leave(between);
      for (const item of between.items) {
        this.#links.join(step, item, idsOf(item.calls));
        this.#stepOf.set(item.seq, step);
      }
    }
    return step;
  }

  /**
   * Whether a part of an answer belongs to the step before it. Directly before it must be a part of the same answer, a
   * result that the provider itself produced while answering, or the approval that the answer waited for.
   */
  #continues(item: Item<M>, before: Step<M>): boolean {
    const previous = this.items.at(-2);
    if (!item.part || item.boundary || previous === undefined || this.#stepOf.get(previous.seq) !== before)
      return false;
    if (item.meta.derived !== undefined || previous.meta.derived !== undefined) return false;
    if (previous.role === "assistant" || approvedCalls(before, previous).length > 0) return true;
    const { results } = previous;
    return results.length > 0 && results.every(({ id }) => before.calls.get(id)?.providerExecuted === true);
  }

  /** Results that came before their call belong to the call's step. */
  #takeIn(step: Step<M>, callIds: ReadonlySet<string>): void {
    if (callIds.size === 0) return;
    const orphans = new Set<Step<M>>();
    for (const id of callIds) for (const orphan of this.#links.orphans(id)) orphans.add(orphan);
    if (orphans.size === 0) return;
    for (const orphan of orphans) {
      for (const item of orphan.items) {
        this.#links.join(step, item, noIds);
        this.#stepOf.set(item.seq, step);
      }
      this.#links.dropOrphans(orphan);
    }
    takeOut(this.steps, orphans);
  }
}

/** Whether a step still waits for one of the message's results, or for its approval. */
function awaits<M>(step: Step<M>, item: Item<M>): boolean {
  return item.results.some(({ id }) => isOpen(step, id)) || approvedCalls(step, item).length > 0;
}
