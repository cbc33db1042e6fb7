import type { MessageFormat } from "@turnkeep/core";
import { mediaOf } from "../about.ts";
import { methodOf } from "../method-of.ts";
import { type Rule, type RuleKind, where } from "../rule.ts";

/** A message with a document also has a text. */
export type DocumentWithText = Rule<"document-with-text">;

/** Goes beside a document that was sent without a text. */
const attached = "(A file is attached.)";

export const documentWithText: RuleKind<DocumentWithText> = {
  fields: {},
  repair: (messages, format) =>
    messages.map((message) => {
      if (!lacksText(message, format)) return message;
      const text = methodOf(format, "textMessage")("user", attached);
      return methodOf(format, "joined")(message, text) ?? message;
    }),
  breaks: (messages, format) =>
    where(messages, (message) => lacksText(message, format), "a document stands without a text"),
};

function lacksText<M>(message: M, format: MessageFormat<M>): boolean {
  if (format.role(message) !== "user" || mediaOf(message, format, "document") === 0) return false;
  return !format
    .pieces(message)
    .some((piece) => piece.type === "text" && piece.of === "content" && piece.text.trim() !== "");
}
