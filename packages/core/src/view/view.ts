import { TurnkeepError } from "../errors.ts";
import { messageOf } from "../memory/item.ts";
import type { Live, Step } from "../memory/live.ts";
import type { Policy } from "../memory/policy.ts";
import { planWindow } from "../window/plan.ts";
import type { Limits } from "../window/policy.ts";
import { isDerived, isSystem, isUser } from "../window/room.ts";
import { type Repaired, repairSteps } from "./repair.ts";

/**
 * What the model is shown: the window, then the repair. Leaves `live` as it is.
 * Throws `WINDOW_OVERFLOW`, and what made a shown record unreadable.
 */
export function buildView<M>(live: Live<M>, policy: Policy<M>, limits: Limits): Repaired<M> {
  const { window, memoryId } = policy;
  const plan = planWindow(live, policy, limits);
  if (plan.overflow !== undefined && window.overflow !== "keep") {
    const { unit, needed, limit } = plan.overflow;
    throw new TurnkeepError(
      "WINDOW_OVERFLOW",
      `The newest step of memory ${JSON.stringify(memoryId)} with what is never evicted needs ${needed} ${unit}; the limit is ${limit}. ` +
        'Raise the limit, shorten the messages, or set window.overflow to "keep" or "evict". Nothing is lost.',
      { details: { memoryId, needed, limit } },
    );
  }
  const hidden = new Set(plan.evict);
  const isShown = (step: Step<M>): boolean => step.items.some((item) => !hidden.has(item));
  const steps = live.steps.filter(isShown);
  const unopened = window.unit === "turn" ? stepsBeforeFirstUser(steps) : new Set<Step<M>>();
  if (policy.repair) {
    const shown = steps.filter((step) => !unopened.has(step));
    return repairSteps(
      hidden.size === 0 ? shown : shown.map((step) => without(step, hidden)),
      policy.reader.format,
    );
  }
  const items = live.items.filter((item) => !hidden.has(item) && !unopened.has(live.stepOf(item)));
  return { messages: items.map(messageOf), interruptedCalls: [], leftOut: [] };
}

/** With unit `turn` a view starts with a user message after the system message. */
function stepsBeforeFirstUser<M>(steps: readonly Step<M>[]): ReadonlySet<Step<M>> {
  const unopened = new Set<Step<M>>();
  for (const step of steps) {
    if (isUser(step) || isDerived(step)) break;
    if (!isSystem(step)) unopened.add(step);
  }
  return unopened;
}

/** Unit `message` may evict a part of a step. */
function without<M>(step: Step<M>, hidden: ReadonlySet<unknown>): Step<M> {
  const items = step.items.filter((item) => !hidden.has(item));
  if (items.length === step.items.length) return step;
  const ids = new Set(items.flatMap((item) => item.calls.map((call) => call.id)));
  return { ...step, items, calls: new Map([...step.calls].filter(([id]) => ids.has(id))) };
}
