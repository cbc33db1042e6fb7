import type { MessageFormat } from "../message-format.ts";
import { messageOf } from "../steps/item.ts";
import { pushAll } from "../steps/push-all.ts";
import type { Step } from "../steps/step.ts";
import { resultsOf } from "./missing-results.ts";
import type { Repaired } from "./repair.ts";
import {
  add,
  type Counts,
  type MayStayOpen,
  resultsInTime,
  take,
  timelyAnswers,
  unanswered,
  wantedOf,
  withOnly,
} from "./step-results.ts";

/**
 * A step whose answer may have several parts keeps their order and that of the results. Only a result that came before
 * its call moves: after the last part, where inserted results go too.
 */
export function repairParts<M>(
  step: Step<M>,
  mayStay: MayStayOpen,
  format: MessageFormat<M>,
  repaired: Repaired<M>,
): void {
  const parts = step.items.filter((item) => item.role === "assistant");
  const callIds = new Set(step.calls.keys());
  const calls = parts.flatMap((part) => part.calls);
  const wanted = wantedOf(parts);
  add(wanted.results, calls);
  const made: Counts = new Map();
  const early: M[] = [];
  const earlyIds = new Set<string>();
  for (const item of step.items) {
    if (item.role === "assistant") {
      add(made, item.calls);
      repaired.messages.push(messageOf(item));
      continue;
    }
    const timely = timelyAnswers(item, step, callIds, wanted);
    if (timely.results.size < item.results.length || timely.count === 0) repaired.leftOut.push(item.id);
    const message = timely.count === 0 ? undefined : withOnly(item, timely.results, format);
    if (message === undefined) continue;
    const ids = [...timely.results].map((result) => result.id);
    // Results of one id keep their order.
    const isEarly = ids.filter((id) => !take(made, id) || earlyIds.has(id)).length > 0;
    if (isEarly) for (const id of ids) earlyIds.add(id);
    (isEarly ? early : repaired.messages).push(message);
  }
  pushAll(repaired.messages, early);
  const open = unanswered(calls, resultsInTime(step), mayStay);
  if (open.length === 0) return;
  pushAll(repaired.messages, resultsOf(step, open, format));
  pushAll(
    repaired.interruptedCalls,
    open.map((call) => call.id),
  );
}
