import type { ToolCallRef } from "@turnkeep/core";
import type { UIMessageLike } from "./messages.ts";
import { isCall, partsOf, type ToolPart } from "./parts.ts";
import { withoutResult } from "./without.ts";

/** A copy in which those calls are answered with an error of that text; one that the user denied stays denied. */
export function interrupted<M extends UIMessageLike>(
  message: M,
  calls: readonly ToolCallRef[],
  text: string,
): M {
  const ids = new Set(calls.map(({ id }) => id));
  const parts = partsOf(message).map((part) =>
    isCall(part) && ids.has(part.toolCallId) ? interruptedPart(withoutResult(part), text) : part,
  );
  return { ...message, parts };
}

function interruptedPart(part: ToolPart, text: string): ToolPart {
  const { approval, ...call } = part;
  if (approval?.approved === false) return { ...part, state: "output-denied" };
  const granted = approval?.approved === true ? { approval } : {};
  return { ...call, ...granted, state: "output-error", errorText: text } as ToolPart;
}
