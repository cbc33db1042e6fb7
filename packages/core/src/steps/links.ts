import type { ApprovalRef } from "../message-format.ts";
import type { Item } from "./item.ts";
import type { Step } from "./step.ts";
import { StepsById } from "./steps-by-id.ts";

/** Links messages by ids: who made a call, who asked for an approval, whose result has no call yet. */
export class Links<M> {
  /** By call id, the steps that make such a call: some providers reuse ids in every step. */
  readonly #callers: StepsById<M> = new StepsById();
  /** By call id, the steps of results whose call has not come yet. */
  readonly #orphans: StepsById<M> = new StepsById();
  /** By approval id, the steps that ask for such an approval. */
  readonly #requests: StepsById<M> = new StepsById();

  /** The step that a result belongs to: the newest that still waits for it, else the newest that made the call. */
  caller(callId: string): Step<M> | undefined {
    const callers = this.#callers.get(callId);
    return callers.findLast((step) => step.calls.get(callId)?.answered === false) ?? callers.at(-1);
  }

  /** The newest step that asked for an approval. */
  asker({ approvalId }: ApprovalRef): Step<M> | undefined {
    return this.#requests.get(approvalId).at(-1);
  }

  /**
   * The steps that asked for a message's results and approvals, its own calls excluded; `undefined` where none did. A
   * request that stands apart from its call belongs to the call's step.
   */
  askersOf(item: Item<M>, own: ReadonlySet<string>): (Step<M> | undefined)[] {
    const askers = item.results.filter(({ id }) => !own.has(id)).map(({ id }) => this.caller(id));
    for (const approval of foreignResponses(item)) askers.push(this.asker(approval));
    for (const approval of item.approvals) {
      if (approval.kind !== "request" || own.has(approval.toolCallId)) continue;
      const caller = this.caller(approval.toolCallId);
      if (caller !== undefined) askers.push(caller);
    }
    return askers;
  }

  /** The steps of results that came before their call. */
  orphans(callId: string): readonly Step<M>[] {
    return this.#orphans.get(callId);
  }

  /** Records what a message that has joined a step calls, answers and asks; `own` are the ids of its calls. */
  enter(item: Item<M>, step: Step<M>, own: ReadonlySet<string>): void {
    if (own.size > 0) {
      const calls = new Map(step.calls);
      for (const { id } of item.calls) {
        calls.set(id, { made: (calls.get(id)?.made ?? 0) + 1, results: 0, answered: false });
      }
      step.calls = calls;
    }
    for (const call of step.calls.values()) call.results = 0;
    for (const id of own) this.#callers.add(id, step);
    for (const member of step.items) {
      for (const result of member.results) {
        const call = step.calls.get(result.id);
        if (call !== undefined) call.answered = ++call.results >= call.made;
        else if (item.role === "tool" && step.items.length === 1 && this.caller(result.id) === undefined)
          this.#orphans.add(result.id, step);
      }
    }
    const requests = item.approvals.filter((approval) => approval.kind === "request");
    if (requests.length === 0) return;
    const approvals = new Map(step.approvals);
    for (const { approvalId, toolCallId } of requests) {
      approvals.set(approvalId, toolCallId);
      this.#requests.add(approvalId, step);
    }
    step.approvals = approvals;
  }

  /** Forgets a step's orphan results: they have found their call, or leave. */
  dropOrphans(step: Step<M>): void {
    for (const item of step.items) for (const { id } of item.results) this.#orphans.delete(id, step);
  }

  leave(step: Step<M>): void {
    this.dropOrphans(step);
    for (const id of step.calls.keys()) this.#callers.delete(id, step);
    for (const id of step.approvals.keys()) this.#requests.delete(id, step);
  }
}

/** Responses to requests in other messages: a message that holds calls with their results holds both. */
export function foreignResponses<M>({ approvals }: Pick<Item<M>, "approvals">): readonly ApprovalRef[] {
  if (approvals.length === 0) return approvals;
  const own = new Set<string>();
  for (const approval of approvals) if (approval.kind === "request") own.add(approval.approvalId);
  return approvals.filter((approval) => approval.kind === "response" && !own.has(approval.approvalId));
}
