import type { MessageFormat } from "@turnkeep/core";
import { changedBy, type Rule, type RuleKind } from "../rule.ts";

/** A result that reports a failed tool also says something. */
export type ErrorText = Rule<"error-text">;

/** Goes into a result that reports a failed tool and says nothing else. */
const failedSilently = "The tool failed and said nothing.";

const withText = <M>(messages: readonly M[], format: MessageFormat<M>): readonly M[] =>
  messages.map((message) => format.withErrorText?.(message, failedSilently) ?? message);

export const errorText: RuleKind<ErrorText> = {
  fields: {},
  repair: withText,
  breaks: changedBy(withText, "a result says that its tool failed, and no more"),
};
