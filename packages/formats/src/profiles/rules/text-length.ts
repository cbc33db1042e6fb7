import { type LimitRule, limitPerMessage } from "../limit.ts";
import type { RuleKind } from "../rule.ts";

/** At most this many UTF-16 units in a text. */
export type TextLength = LimitRule<"text-length">;

export const textLength: RuleKind<TextLength> = limitPerMessage({
  counted: "UTF-16 units in a text",
  remedy: "Shorten it, by a processor for example.",
  count: (message, format) =>
    format
      .pieces(message)
      .reduce((most, piece) => (piece.type === "text" ? Math.max(most, piece.text.length) : most), 0),
});
