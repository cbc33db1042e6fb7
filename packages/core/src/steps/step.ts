import type { Item } from "./item.ts";
import { isPrompt, isSetting } from "./kinds.ts";
import { grown, noAnswers, noCalls, type Tally, tallyCalls, tallyResults } from "./pairing.ts";

/**
 * An assistant message, or the messages that are one answer, together with all results that answer their calls, wherever
 * they stand. A message of another role is a step of its own.
 */
export interface Step<M> extends Tally {
  /** In the order of the view; results that stand before their call come first. */
  items: Item<M>[];
  /** Approval request id → call id. */
  approvals: ReadonlyMap<string, string>;
  tokens: number;
  /** How many of its messages make calls. */
  callers: number;
  /** Whether one of its messages is pinned. */
  pinned: boolean;
}

// Shared, because most steps have none, and a memory may hold many steps.
const noApprovals: Step<never>["approvals"] = new Map();

export function newStep<M>(): Step<M> {
  return {
    items: [],
    calls: noCalls,
    answers: noAnswers,
    approvals: noApprovals,
    tokens: 0,
    unanswered: 0,
    callers: 0,
    pinned: false,
  };
}

/** A step of messages that one step holds. */
export function stepWith<M>(items: readonly Item<M>[]): Step<M> {
  const step = newStep<M>();
  for (const item of items) joinStep(step, item);
  return step;
}

/** Adds a message to a step. Costs what the message holds, never what the step holds. */
export function joinStep<M>(step: Step<M>, item: Item<M>): void {
  // Most steps hold one message, and a list that grows from nothing takes room for 17.
  if (step.items.length === 0) step.items = [item];
  else step.items.push(item);
  step.tokens += item.tokens;
  if (item.calls.length > 0) step.callers++;
  step.pinned ||= item.pinned;
  tallyCalls(step, item.calls);
  tallyResults(step, item.results, item.meta.late);
  for (const approval of item.approvals) {
    if (approval.kind !== "request") continue;
    const approvals = grown(step.approvals);
    approvals.set(approval.approvalId, approval.toolCallId);
    step.approvals = approvals;
  }
}

export function isSystem<M>(step: Step<M>): boolean {
  return step.items[0]?.role === "system";
}

/** The last step that is no system message: those are nobody's turn. */
export function lastSaid<M>(steps: readonly Step<M>[]): Step<M> | undefined {
  return steps.findLast((step) => !isSystem(step));
}

/** Whether it is the prompt: see {@link isPrompt}. */
export function isPromptStep<M>({ items: [item] }: Step<M>): boolean {
  return item !== undefined && isPrompt(item);
}

/** Whether no window evicts it: the prompt, or a message that sets what holds from there on. */
export function isStanding<M>({ items: [item] }: Step<M>): boolean {
  return item !== undefined && (isPrompt(item) || isSetting(item));
}

/** Whether it is a system message that stays where it was said: it belongs to the step behind it. */
export function isInstruction<M>(step: Step<M>): boolean {
  return isSystem(step) && !isStanding(step);
}

export function isDerived<M>(step: Step<M>): boolean {
  return step.items[0]?.meta.derived !== undefined;
}

export function isUser<M>(step: Step<M> | undefined): boolean {
  return step?.items[0]?.role === "user";
}

export function isPinned<M>(step: Step<M>): boolean {
  return step.pinned;
}

/** Whether a step is shown as it is: at most one message has calls or answer parts, and each call is answered. */
export function isSettled<M>(step: Step<M>): boolean {
  return step.unanswered === 0 && isOneAnswer(step);
}

/** Whether its calls are in one message, or in several that are parts of one answer. */
export function isOneAnswer<M>({ callers, items }: Step<M>): boolean {
  return callers <= 1 || items[0]?.part === true;
}

/** The calls of a step whose requests for an approval a message answers. */
export function approvedCalls<M>(step: Step<M>, { approvals }: Pick<Item<M>, "approvals">): string[] {
  return approvals.flatMap(
    ({ kind, approvalId }) => (kind === "response" ? step.approvals.get(approvalId) : undefined) ?? [],
  );
}

/** The same without those that it answers too late: the model has been shown them as interrupted. */
export function approvedInTime<M>(step: Step<M>, item: Item<M>): string[] {
  const approved = approvedCalls(step, item);
  if (approved.length === 0 || item.meta.late === undefined) return approved;
  const late = new Set(item.meta.late);
  return approved.filter((callId) => !late.has(callId));
}

/** Whether a message approves one of these calls in time. */
export function approvesOneOf<M>(
  calls: { has(callId: string): boolean },
  step: Step<M>,
  item: Item<M>,
): boolean {
  return approvedInTime(step, item).some((callId) => calls.has(callId));
}
