import type { Item } from "./item.ts";

/**
 * An assistant message, or the messages that are the parts of one answer, together with all results that answer their
 * calls, wherever they stand. A message of another role is a step of its own.
 */
export interface Step<M> {
  /** In the order of the view; results that stand before their call come first. */
  readonly items: Item<M>[];
  /** By id, how many calls of the step bear it, how many results have come, and whether those are enough. */
  calls: ReadonlyMap<string, { readonly made: number; results: number; answered: boolean }>;
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
  if (!inOrder) return false;
  const answers = answersInTime(step);
  for (const [id, { made }] of step.calls) if ((answers.get(id) ?? 0) < made) return false;
  return true;
}

/** By id of a step's calls, how many results answer them in time. */
export function answersInTime<M>(step: Step<M>): Map<string, number> {
  const answers = new Map<string, number>();
  for (const item of step.items) {
    for (const { id } of item.results) {
      if (!step.calls.has(id) || item.meta.late?.includes(id) === true) continue;
      answers.set(id, (answers.get(id) ?? 0) + 1);
    }
  }
  return answers;
}
