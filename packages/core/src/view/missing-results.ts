import type { MessageFormat, ToolCallRef } from "../message-format.ts";
import { approvedInTime, type Step } from "../steps/step.ts";

/** The result shown for a call whose result never came. */
export const interruptedText = "The tool call was interrupted: no result was recorded.";
/** The result shown for a call that the user was asked to approve, and has not answered: it cannot have run. */
const unapprovedText = "The tool call was not carried out: the user has not approved it.";

/** Says of a call whether it may stay unanswered. */
export type MayStayOpen = (callId: string) => boolean;

/** The calls that need an "interrupted" result. */
export function interruptedCalls(
  calls: readonly ToolCallRef[],
  answered: ReadonlySet<ToolCallRef>,
  mayStay: MayStayOpen,
): readonly ToolCallRef[] {
  return calls.filter((call) => !answered.has(call) && call.providerExecuted !== true && !mayStay(call.id));
}

/** The message in which results answer those of its calls, if the format has them there. */
export function answeredInPlace<M>(
  message: M,
  unapproved: ReadonlySet<string>,
  interrupted: readonly ToolCallRef[],
  format: MessageFormat<M>,
): M | undefined {
  if (interrupted.length === 0 || format.interrupted === undefined) return undefined;
  return byText(unapproved, interrupted).reduce(
    (copy, { calls, text }) => format.interrupted?.(copy, calls, text) ?? copy,
    message,
  );
}

/** The messages that answer those calls of a step. */
export function missingResults<M>(
  unapproved: ReadonlySet<string>,
  interrupted: readonly ToolCallRef[],
  format: MessageFormat<M>,
): M[] {
  return byText(unapproved, interrupted).flatMap(({ calls, text }) => format.interruptedResults(calls, text));
}

/** The ids of a step's calls that wait for the user. */
export function unapprovedCalls<M>(step: Step<M>): ReadonlySet<string> {
  const unapproved = new Set(step.approvals.values());
  for (const item of unapproved.size === 0 ? [] : step.items) {
    for (const callId of approvedInTime(step, item)) unapproved.delete(callId);
  }
  return unapproved;
}

/** Which calls are answered by which text. A call that no longer waits for the user may have run. */
function byText(
  unapproved: ReadonlySet<string>,
  interrupted: readonly ToolCallRef[],
): { readonly calls: readonly ToolCallRef[]; readonly text: string }[] {
  return [
    { calls: interrupted.filter(({ id }) => !unapproved.has(id)), text: interruptedText },
    { calls: interrupted.filter(({ id }) => unapproved.has(id)), text: unapprovedText },
  ].filter(({ calls }) => calls.length > 0);
}
