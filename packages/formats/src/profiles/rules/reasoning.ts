import type { MessageFormat } from "@turnkeep/core";
import { oneOf } from "@turnkeep/core/store-kit";
import { withoutOrphanApprovals } from "../about.ts";
import { type Rule, type RuleKind, where } from "../rule.ts";

/** `none`: no reasoning is sent back. `bound`: only what was made when everything before it was as it is now. */
export type Reasoning = Rule<"reasoning", { readonly kept: "none" | "bound" }>;

/** What binds reasoning to its beginning is no property of a list: core leaves out what is not `bound` any more. */
export const reasoning: RuleKind<Reasoning> = {
  fields: { kept: oneOf("none", "bound") },
  leavesOut: true,
  repair: (messages, format, { kept }) => (kept === "none" ? withoutReasoning(messages, format) : messages),
  breaks: (messages, format, { kept }) =>
    kept === "none"
      ? where(messages, (message) => format.hasReasoning(message), "the message holds reasoning")
      : [],
};

function withoutReasoning<M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] {
  const left = messages.flatMap((message) => {
    // A part of an answer may be bound to the reasoning in another one.
    const isPart = format.answersInParts === true && format.role(message) === "assistant";
    if (!isPart && !format.hasReasoning(message)) return [message];
    return format.without(message, { reasoning: true }) ?? [];
  });
  return withoutOrphanApprovals(left, format);
}
