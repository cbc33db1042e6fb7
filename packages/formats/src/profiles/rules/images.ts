import { mediaOf } from "../about.ts";
import { type LimitRule, limitPerMessage } from "../limit.ts";
import type { RuleKind } from "../rule.ts";

/** At most this many images in a message. */
export type Images = LimitRule<"images">;

export const images: RuleKind<Images> = limitPerMessage({
  counted: "images in a message",
  remedy: "Leave some out, by a processor for example.",
  count: (message, format) => mediaOf(message, format, "image"),
});
