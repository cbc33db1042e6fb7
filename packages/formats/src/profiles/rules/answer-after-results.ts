import type { MessageFormat } from "@turnkeep/core";
import { oneOf, optional } from "@turnkeep/core/store-kit";
import { answersCalls } from "../about.ts";
import { methodOf } from "../method-of.ts";
import { PartsAlone } from "../parts-alone.ts";
import { type Rule, type RuleKind, where } from "../rule.ts";

/**
 * The model's answer stands between tool results and the user's next message. With `apart`, also where one message holds
 * results and what the user says beside them.
 */
export type AnswerAfterResults = Rule<"answer-after-results", { readonly apart?: boolean | undefined }>;

/** Stands in for an answer that never came. */
const noAnswer = "(No answer was given.)";

export const answerAfterResults: RuleKind<AnswerAfterResults> = {
  fields: { apart: optional(oneOf(true, false)) },
  repair(messages, format, { apart }) {
    const parted = apart === true ? messages.flatMap((message) => takenApart(message, format)) : messages;
    return parted.flatMap((message, index) =>
      lacksAnswerBefore(parted, index, format)
        ? [methodOf(format, "textMessage")("assistant", noAnswer), message]
        : [message],
    );
  },
  breaks: (messages, format, { apart }) =>
    where(
      messages,
      (message, index) =>
        lacksAnswerBefore(messages, index, format) ||
        (apart === true && takenApart(message, format).length > 1),
      "the user's message stands right behind tool results",
    ),
};

/** Results, and what the user says beside them. */
function takenApart<M>(message: M, format: MessageFormat<M>): M[] {
  if (format.role(message) !== "user" || format.toolResults(message).length === 0) return [message];
  const said = format.without(message, { toolResults: () => true });
  const results = methodOf(format, "visit")(message, new PartsAlone({ results: () => true }));
  return said === undefined || results === undefined ? [message] : [results, said];
}

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
