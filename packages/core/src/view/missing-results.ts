import type { MessageFormat, ToolCallRef } from "../message-format.ts";
import { approvedInTime, type Step } from "../steps/step.ts";

/** The result shown for a call whose result never came. */
export const interruptedText = "The tool call was interrupted: no result was recorded.";
/** The result shown for a call that the user was asked to approve, and has not answered: it cannot have run. */
const unapprovedText = "The tool call was not carried out: the user has not approved it.";

/** The message in which results answer those of its calls, if the format has them there. */
export function answeredInPlace<M>(
  message: M,
  step: Step<M>,
  open: readonly ToolCallRef[],
  format: MessageFormat<M>,
): M | undefined {
  if (open.length === 0 || format.interrupted === undefined) return undefined;
  return told(step, open).reduce(
    (copy, { calls, text }) => format.interrupted?.(copy, calls, text) ?? copy,
    message,
  );
}

/** The messages that answer those calls of a step. */
export function resultsOf<M>(step: Step<M>, open: readonly ToolCallRef[], format: MessageFormat<M>): M[] {
  return told(step, open).flatMap(({ calls, text }) => format.interruptedResults(calls, text));
}

/** Which calls are shown as what. A call that no longer waits for the user may have run. */
function told<M>(
  step: Step<M>,
  open: readonly ToolCallRef[],
): { readonly calls: readonly ToolCallRef[]; readonly text: string }[] {
  const waiting = new Set(step.approvals.values());
  for (const item of waiting.size === 0 ? [] : step.items) {
    for (const callId of approvedInTime(step, item)) waiting.delete(callId);
  }
  return [
    { calls: open.filter(({ id }) => !waiting.has(id)), text: interruptedText },
    { calls: open.filter(({ id }) => waiting.has(id)), text: unapprovedText },
  ].filter(({ calls }) => calls.length > 0);
}
