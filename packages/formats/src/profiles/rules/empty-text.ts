import type { MessageFormat, Piece } from "@turnkeep/core";
import { oneOf, optional } from "@turnkeep/core/store-kit";
import { setsSomething } from "../about.ts";
import { methodOf } from "../method-of.ts";
import { type Rule, type RuleKind, where } from "../rule.ts";

/**
 * No text is empty or, with `blank`, consists of blanks only. With `signed`, a text that carries a Gemini thought
 * signature may be.
 */
export type EmptyText = Rule<
  "empty-text",
  { readonly which: "empty" | "blank"; readonly signed?: boolean | undefined }
>;

/** Stands in for a user message without text. */
const standIn = "(An empty message.)";

/** Empty texts go, and so does a message that holds nothing else; one of the user's says that it was empty. */
export const emptyText: RuleKind<EmptyText> = {
  fields: { which: oneOf("empty", "blank"), signed: optional(oneOf(true, false)) },
  leavesOut: true,
  repair: (messages, format, { which, signed }) =>
    messages.flatMap((message) => {
      if (mayBeEmpty(message, format)) return [message];
      const rest = methodOf(format, "withoutEmptyText")(message, which, signed);
      if (rest !== undefined && !holdsNothing(rest, format)) return [rest];
      // The model's answer to an empty message stays an answer to something.
      return format.role(message) === "user" ? [methodOf(format, "textMessage")("user", standIn)] : [];
    }),
  breaks: (messages, format, rule) =>
    where(
      messages,
      (message) =>
        !mayBeEmpty(message, format) &&
        (holdsNothing(message, format) || hasEmptyText(message, format, rule)),
      `a text is ${rule.which}`,
    ),
};

function mayBeEmpty<M>(message: M, format: MessageFormat<M>): boolean {
  return format.role(message) === "tool" || format.isBoundary(message) || setsSomething(message, format);
}

/** Whether a message holds nothing that it says, not even an empty text; a name beside it says nothing. */
function holdsNothing<M>(message: M, format: MessageFormat<M>): boolean {
  return format.isEmpty(message) && format.pieces(message).every(({ of }) => of === "name");
}

function hasEmptyText<M>(message: M, format: MessageFormat<M>, { which, signed }: EmptyText): boolean {
  const isEmpty = (piece: Piece): boolean =>
    piece.type === "text" &&
    piece.of === "content" &&
    (which === "blank" ? piece.text.trim() : piece.text) === "";
  const isSigned = (): boolean =>
    signed === true && format.withoutEmptyText?.(message, which, true) === message;
  return format.pieces(message).some(isEmpty) && !isSigned();
}
