import type { MessageFormat } from "@turnkeep/core";
import { oneOf } from "@turnkeep/core/store-kit";
import { changedBy, type Rule, type RuleKind } from "../rule.ts";

/**
 * A result that reports a failed tool also says something, and no part of a result is a blank text; with `any`, no text of any
 * result is blank.
 */
export type ResultText = Rule<"result-text", { readonly which: "failed" | "any" }>;

/** Goes into a result that reports a failed tool and says nothing else. */
const failedSilently = "The tool failed and said nothing.";
/** Goes into any other. */
const silent = "The tool said nothing.";

const withText = <M>(messages: readonly M[], format: MessageFormat<M>, { which }: ResultText): readonly M[] =>
  messages.map(
    (message) =>
      format.withResultText?.(message, failedSilently, which === "any" ? silent : undefined, silent) ??
      message,
  );

export const resultText: RuleKind<ResultText> = {
  fields: { which: oneOf("failed", "any") },
  repair: withText,
  breaks: changedBy(withText, ({ which }) =>
    which === "any"
      ? "a result says nothing"
      : "a result has a blank text, or says that its tool failed, and no more",
  ),
};
