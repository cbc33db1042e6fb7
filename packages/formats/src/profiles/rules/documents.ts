import { mediaOf } from "../about.ts";
import { type LimitRule, limitPerMessage } from "../limit.ts";
import type { RuleKind } from "../rule.ts";

/** At most this many documents in a message. */
export type Documents = LimitRule<"documents">;

export const documents: RuleKind<Documents> = limitPerMessage({
  counted: "documents in a message",
  remedy: "Leave some out, by a processor for example.",
  count: (message, format) => mediaOf(message, format, "document"),
});
