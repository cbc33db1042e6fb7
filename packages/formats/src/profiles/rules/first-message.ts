import type { MessageFormat } from "@turnkeep/core";
import { oneOf, optional } from "@turnkeep/core/store-kit";
import { isSystem } from "../about.ts";
import { methodOf } from "../method-of.ts";
import { type Rule, type RuleKind, type Unshaped, where } from "../rule.ts";

/**
 * The first message after the system message is the user's. With `calls`, it may also be the model's, but the first
 * message of all makes no call.
 */
export type FirstMessage = Rule<"first-message", { readonly which?: "calls" | undefined }>;

/** Opens a view that would start with the model's message, if the provider requires the user's. */
const opening = "Here is our conversation so far.";

export const firstMessage: RuleKind<FirstMessage> = {
  fields: { which: optional(oneOf("calls")) },
  repair<M>(messages: readonly M[], format: MessageFormat<M>, rule: FirstMessage, unshaped: Unshaped<M>) {
    const isSaid = (message: M): boolean => !isSystem(message, format);
    const begun = unshaped.messages.find(isSaid);
    // Nothing was said. An instruction behind the prompt needs somebody to speak to, as it will once there is an answer.
    if (begun === undefined && messages.filter((message) => !isSaid(message)).length < 2) return messages;
    const index = messages.findIndex(isSaid);
    const first = messages[index];
    if (first !== undefined && !mayNotBeFirst(first, index, format, rule)) {
      const opens = format.role(first) === "user" || format.isBoundary(first);
      // A view that was opened because nothing of it was left stays opened when the model's answer stands there.
      if (opens || begun === undefined || !unshaped.isLeftOut(begun)) return messages;
    }
    const at = first === undefined ? messages.length : index;
    return messages.toSpliced(at, 0, methodOf(format, "textMessage")("user", opening));
  },
  breaks(messages, format, rule) {
    const index = messages.findIndex((message) => !isSystem(message, format));
    const problem =
      rule.which === "calls" ? "the first message makes calls" : "the first message is not the user's";
    return where(
      messages,
      (message, at) => at === index && mayNotBeFirst(message, index, format, rule),
      problem,
    );
  },
};

/** Whether the first message that was said, at that index, cannot stand first. */
function mayNotBeFirst<M>(
  message: M,
  index: number,
  format: MessageFormat<M>,
  { which }: FirstMessage,
): boolean {
  // Nothing stands before a provider's own compaction.
  if (format.role(message) === "user" || format.isBoundary(message)) return false;
  return which !== "calls" || (index === 0 && format.toolCalls(message).length > 0);
}
