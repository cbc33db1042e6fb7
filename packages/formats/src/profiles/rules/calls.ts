import { type LimitRule, limitPerMessage } from "../limit.ts";
import type { RuleKind } from "../rule.ts";

/** At most this many calls in a message. */
export type CallLimit = LimitRule<"calls">;

export const calls: RuleKind<CallLimit> = limitPerMessage({
  counted: "tool calls in a message",
  remedy: "Remove the message, or take its calls apart.",
  count: (message, format) => format.toolCalls(message).length,
});
