import type { MessageFormat } from "../message-format.ts";
import { messageOf } from "../steps/item.ts";
import { IdCounts } from "../steps/pairing.ts";
import { pushAll } from "../steps/push-all.ts";
import { approvesOneOf, type Step } from "../steps/step.ts";
import { interruptedCalls, type MayStayOpen, missingResults, unapprovedCalls } from "./missing-results.ts";
import { pairedResults } from "./paired-results.ts";
import type { Repaired } from "./repair.ts";
import { withOnly } from "./with-only.ts";

/**
 * A step whose answer may have several parts keeps their order and that of the results. Only a result that came before
 * its call moves: after the last part, where inserted results go too.
 */
export function repairAnswerParts<M>(
  step: Step<M>,
  mayStay: MayStayOpen,
  format: MessageFormat<M>,
  repaired: Repaired<M>,
): void {
  const parts = step.items.filter((item) => item.role === "assistant");
  const calls = parts.flatMap((part) => part.calls);
  const paired = pairedResults(step, parts, format);
  const made = new IdCounts();
  const early: M[] = [];
  const earlyIds = new Set<string>();
  for (const item of step.items) {
    if (item.role === "assistant") {
      made.add(item.calls);
      repaired.messages.push(messageOf(item));
      continue;
    }
    const results = new Set(item.results.filter((result) => paired.has(result)));
    const isShown = results.size > 0 || approvesOneOf(step.calls, step, item);
    if (!isShown || results.size < item.results.length) repaired.leftOut.push(item.id);
    const message = isShown ? withOnly(item, results, format) : undefined;
    if (message === undefined) continue;
    const ids = [...results].map((result) => result.id);
    // Results of one id keep their order.
    const isEarly = ids.filter((id) => !made.take(id) || earlyIds.has(id)).length > 0;
    if (isEarly) for (const id of ids) earlyIds.add(id);
    (isEarly ? early : repaired.messages).push(message);
  }
  pushAll(repaired.messages, early);
  const interrupted = interruptedCalls(calls, new Set(paired.values()), mayStay);
  if (interrupted.length === 0) return;
  pushAll(repaired.messages, missingResults(unapprovedCalls(step), interrupted, format));
  for (const { id } of interrupted) repaired.interruptedCalls.push(id);
}
