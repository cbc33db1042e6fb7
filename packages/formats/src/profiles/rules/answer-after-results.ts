import type { MessageFormat } from "@turnkeep/core";
import { answersCalls } from "../about.ts";
import { methodOf } from "../method-of.ts";
import { type Rule, type RuleKind, where } from "../rule.ts";

/** The model's answer stands between tool results and the user's next message. */
export type AnswerAfterResults = Rule<"answer-after-results">;

/** Stands in for an answer that never came. */
const noAnswer = "(No answer was given.)";

export const answerAfterResults: RuleKind<AnswerAfterResults> = {
  fields: {},
  repair: (messages, format) =>
    messages.flatMap((message, index) =>
      lacksAnswerBefore(messages, index, format)
        ? [methodOf(format, "textMessage")("assistant", noAnswer), message]
        : [message],
    ),
  breaks: (messages, format) =>
    where(
      messages,
      (_, index) => lacksAnswerBefore(messages, index, format),
      "the user's message stands right behind tool results",
    ),
};

/** Whether a provider has been sent results last before the user's message with that index: approvals alone are not sent. */
function lacksAnswerBefore<M>(messages: readonly M[], index: number, format: MessageFormat<M>): boolean {
  const asked = messages[index] as M;
  if (format.role(asked) !== "user" || answersCalls(asked, format)) return false;
  for (let before = index - 1; before >= 0; before--) {
    const message = messages[before] as M;
    if (answersCalls(message, format) || endsInResults(message, format)) return true;
    if (format.role(message) !== "tool") return false;
  }
  return false;
}

/** Whether an answer that holds its calls with their results broke off behind the last of them. */
function endsInResults<M>(message: M, format: MessageFormat<M>): boolean {
  if (format.pieces(message).at(-1)?.of !== "tool-result") return false;
  const last = format.toolResults(message).at(-1)?.id;
  return format
    .toolCalls(message)
    .some(({ id, providerExecuted }) => id === last && providerExecuted !== true);
}
