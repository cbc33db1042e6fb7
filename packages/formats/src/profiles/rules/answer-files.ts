import type { MessageFormat } from "@turnkeep/core";
import { type Rule, type RuleKind, where } from "../rule.ts";

/** No answer of the model holds files that it made. */
export type AnswerFiles = Rule<"answer-files">;

/** The files go. */
export const answerFiles: RuleKind<AnswerFiles> = {
  fields: {},
  leavesOut: true,
  repair: (messages, format) =>
    messages.flatMap((message) => {
      if (!hasAnswerFiles(message, format)) return [message];
      const rest = format.withoutAnswerFiles
        ? format.withoutAnswerFiles(message)
        : format.without(message, { media: true });
      return rest ?? [];
    }),
  breaks: (messages, format) =>
    where(
      messages,
      (message) => hasAnswerFiles(message, format),
      "an answer holds a file that the model made",
    ),
};

function hasAnswerFiles<M>(message: M, format: MessageFormat<M>): boolean {
  if (format.role(message) !== "assistant" || format.isBoundary(message)) return false;
  if (!format.pieces(message).some((piece) => piece.type === "media" && piece.of !== "tool-result"))
    return false;
  return format.withoutAnswerFiles === undefined || format.withoutAnswerFiles(message) !== message;
}
