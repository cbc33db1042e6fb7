import type { Item } from "./item.ts";

/**
 * An assistant message, or the messages that are one answer, together with all results that answer their calls, wherever
 * they stand. A message of another role is a step of its own.
 */
export interface Step<M> {
  /** In the order of the view; results that stand before their call come first. */
  readonly items: Item<M>[];
  /** Its calls by id: several may bear the same one. */
  calls: ReadonlyMap<string, StepCalls>;
  /** By call id, how many results the step holds, whether it makes such a call or not. */
  answers: ReadonlyMap<string, Answers>;
  /** Approval request id → call id. */
  approvals: ReadonlyMap<string, string>;
  tokens: number;
  /** How many of its calls no result answers in time, apart from those that the provider runs itself. */
  unanswered: number;
  /** How many of its messages make calls. */
  callers: number;
}

interface StepCalls {
  made: number;
  /** Whether the provider runs one of them itself. */
  providerExecuted: boolean;
}

interface Answers {
  results: number;
  inTime: number;
}

// Shared, because most steps have none, and a memory may hold many steps.
const noCalls: Step<never>["calls"] = new Map();
const noAnswers: Step<never>["answers"] = new Map();
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
  step.items.push(item);
  step.tokens += item.tokens;
  joinCalls(step, item);
  joinResults(step, item);
  const requests = item.approvals.filter((approval) => approval.kind === "request");
  if (requests.length === 0) return;
  const approvals = grown(step.approvals, noApprovals);
  for (const { approvalId, toolCallId } of requests) approvals.set(approvalId, toolCallId);
  step.approvals = approvals;
}

function joinCalls<M>(step: Step<M>, { calls: made }: Item<M>): void {
  if (made.length === 0) return;
  step.callers++;
  const calls = grown(step.calls, noCalls);
  for (const { id, providerExecuted } of made) {
    const before = calls.get(id) ?? { made: 0, providerExecuted: false };
    before.made++;
    before.providerExecuted ||= providerExecuted === true;
    calls.set(id, before);
    const isOurs = providerExecuted !== true;
    if (isOurs && before.made > (step.answers.get(id)?.inTime ?? 0)) step.unanswered++;
  }
  step.calls = calls;
}

function joinResults<M>(step: Step<M>, { results, meta }: Item<M>): void {
  if (results.length === 0) return;
  const late = new Set(meta.late);
  const answers = grown(step.answers, noAnswers);
  for (const { id } of results) {
    const before = answers.get(id) ?? { results: 0, inTime: 0 };
    before.results++;
    if (!late.has(id)) {
      const asked = step.calls.get(id);
      if (asked?.providerExecuted === false && before.inTime < asked.made) step.unanswered--;
      before.inTime++;
    }
    answers.set(id, before);
  }
  step.answers = answers;
}

function grown<T>(map: ReadonlyMap<string, T>, none: ReadonlyMap<string, T>): Map<string, T> {
  return map === none ? new Map() : (map as Map<string, T>);
}

/** Whether a step makes such a call that still waits for its result. */
export function isOpen<M>({ calls, answers }: Step<M>, callId: string): boolean {
  return (answers.get(callId)?.results ?? 0) < (calls.get(callId)?.made ?? 0);
}

export function isSystem<M>(step: Step<M>): boolean {
  return step.items[0]?.role === "system";
}

export function isDerived<M>(step: Step<M>): boolean {
  return step.items[0]?.meta.derived !== undefined;
}

export function isUser<M>(step: Step<M> | undefined): boolean {
  return step?.items[0]?.role === "user";
}

export function isPinned<M>(step: Step<M>): boolean {
  return step.items.some((item) => item.pinned);
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
  return approvedCalls(step, item).filter((callId) => item.meta.late?.includes(callId) !== true);
}
