import type { ToolCallRef } from "@turnkeep/core";
import { CallsById } from "@turnkeep/core/processors";
import type { UIMessageLike } from "./messages.ts";
import { type AnyUIPart, isAnswered, isCall, partsOf, type ToolPart, withoutResult } from "./parts.ts";

/** A copy in which those calls are answered with an error of that text; one that the user denied stays denied. */
export function interrupted<M extends UIMessageLike>(
  message: M,
  calls: readonly ToolCallRef[],
  text: string,
): M {
  const interruptedCalls = new CallsById<ToolCallRef>();
  interruptedCalls.askTogether(calls.map((call) => [call.id, call]));
  const all = partsOf(message).filter(isCall);
  // Calls may share an id: then those without a result, or the last.
  const candidates = [...all.filter((part) => !isAnswered(part)), ...all.filter(isAnswered).reverse()];
  const open = new Set(candidates.filter(({ toolCallId }) => interruptedCalls.take(toolCallId)));
  const isOpen = (part: AnyUIPart): part is ToolPart => open.has(part as ToolPart);
  const parts = partsOf(message).map((part) =>
    isOpen(part) ? interruptedPart(withoutResult(part), text) : part,
  );
  return { ...message, parts };
}

function interruptedPart(part: ToolPart, text: string): ToolPart {
  const { approval, ...call } = part;
  if (approval?.approved === false) return { ...part, state: "output-denied" };
  const granted = approval?.approved === true ? { approval } : {};
  return { ...call, ...granted, state: "output-error", errorText: text } as ToolPart;
}
