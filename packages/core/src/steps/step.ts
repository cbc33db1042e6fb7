import type { Item } from "./item.ts";

/**
 * An assistant message, or the messages that are the parts of one answer, together with all results that answer their
 * calls, wherever they stand. A message of another role is a step of its own.
 */
export interface Step<M> {
  /** In the order of the view; results that stand before their call come first. */
  readonly items: Item<M>[];
  /** Each call of the step, and whether a result for it has come. */
  calls: ReadonlyMap<string, { answered: boolean }>;
  /** Approval request id → call id. */
  approvals: ReadonlyMap<string, string>;
  tokens: number;
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
  if (step.items.some((item) => item.error !== undefined)) return true;
  const callers = step.items.filter((item) => item.calls.length > 0);
  const inOrder = callers.length === 1 || callers.every((item) => item.part);
  return inOrder && answeredInTime(step).size === step.calls.size;
}

/** The ids of a step's calls that a result answers in time. */
export function answeredInTime<M>(step: Step<M>): Set<string> {
  const answered = new Set<string>();
  for (const item of step.items) {
    for (const { id } of item.results) {
      if (step.calls.has(id) && item.meta.late?.includes(id) !== true) answered.add(id);
    }
  }
  return answered;
}
