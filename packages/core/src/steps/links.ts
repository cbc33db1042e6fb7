import { ById } from "./by-id.ts";
import type { Item } from "./item.ts";
import { CallsById, isOpen } from "./pairing.ts";
import { joinStep, type Step } from "./step.ts";

/** What a message answers: a call, or a request to approve one. */
interface Answered<M> {
  /** For a request that nobody made, its own id. */
  readonly callId: string;
  readonly asker: Step<M> | undefined;
}

type Facts = Pick<Item<never>, "results" | "approvals">;

// Shared, because most messages answer nothing.
const none: readonly never[] = [];

/** Links messages by ids: who made a call, who asked for an approval, whose result has no call yet. */
export class Links<M> {
  /** The steps that make calls; each stands for all of its calls of an id. */
  readonly #callers: CallsById<Step<M>> = new CallsById();
  /** By call id, the steps of results whose call has not come yet. */
  readonly #orphans: ById<Step<M>> = new ById();
  /** By approval id, the steps that ask for such an approval. */
  readonly #requests: ById<Step<M>> = new ById();

  /** The step that a result belongs to: the newest that still waits for it, else the newest that made the call. */
  caller(callId: string): Step<M> | undefined {
    return this.#callers.callOf(callId);
  }

  /** What a message answers that others asked, with the steps that did; `undefined` where none did. */
  answered({ results, approvals }: Facts, own: ReadonlySet<string>): Answered<M>[] {
    const answered: Answered<M>[] = [];
    for (const { id } of results) if (!own.has(id)) answered.push({ callId: id, asker: this.caller(id) });
    if (approvals.length === 0) return answered;
    // A message that holds calls with their results holds both halves of their approvals.
    const asked = new Set(approvals.flatMap((each) => (each.kind === "request" ? each.approvalId : [])));
    for (const { kind, approvalId } of approvals) {
      if (kind === "request" || asked.has(approvalId)) continue;
      const asker = this.#requests.newest(approvalId);
      answered.push({ callId: asker?.approvals.get(approvalId) ?? approvalId, asker });
    }
    return answered;
  }

  /**
   * The steps that a message may belong to, `undefined` where what it answers was not asked. A request that stands apart
   * from its call belongs to the call's step.
   */
  askersOf(item: Item<M>, own: ReadonlySet<string>): readonly (Step<M> | undefined)[] {
    if (item.results.length + item.approvals.length === 0) return none;
    const askers = this.answered(item, own).map(({ asker }) => asker);
    for (const approval of item.approvals) {
      if (approval.kind !== "request" || own.has(approval.toolCallId)) continue;
      const caller = this.caller(approval.toolCallId);
      if (caller !== undefined) askers.push(caller);
    }
    return askers;
  }

  /** The steps of results that came before their call. */
  orphans(callId: string): Iterable<Step<M>> {
    return this.#orphans.all(callId);
  }

  /** Adds a message to a step, and records what it calls, answers and asks; `own` are the ids of its calls. */
  join(step: Step<M>, item: Item<M>, own: ReadonlySet<string>): void {
    for (const id of own) if (!isOpen(step, id)) this.#callers.ask(id, step);
    if (own.size + item.results.length + item.approvals.length === 0) {
      joinStep(step, item);
      return;
    }
    const waiting = [...own];
    for (const { id } of item.results) if (isOpen(step, id)) waiting.push(id);
    for (const { kind, approvalId } of item.approvals)
      if (kind === "request" && !step.approvals.has(approvalId)) this.#requests.add(approvalId, step);
    joinStep(step, item);
    for (const id of waiting) if (!isOpen(step, id)) this.#callers.settle(id, step);
  }

  /** Records that a step is a message with results, none of whose calls has come yet. */
  awaitCalls(step: Step<M>, { results }: Item<M>): void {
    for (const { id } of results) this.#orphans.add(id, step);
  }

  /** Forgets a step's orphan results: they have found their call, or leave. */
  dropOrphans(step: Step<M>): void {
    for (const item of step.items) for (const { id } of item.results) this.#orphans.delete(id, step);
  }

  leave(step: Step<M>): void {
    this.dropOrphans(step);
    for (const id of step.calls.keys()) this.#callers.forget(id, step);
    for (const id of step.approvals.keys()) this.#requests.delete(id, step);
  }
}
