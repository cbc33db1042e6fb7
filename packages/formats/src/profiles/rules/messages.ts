import { type LimitRule, limitOf } from "../limit.ts";
import type { RuleKind } from "../rule.ts";

/** At most this many messages in a request. */
export type Messages = LimitRule<"messages">;

/** The window of a memory with this profile evicts what is beyond. */
export const messages: RuleKind<Messages> = limitOf({
  counted: "messages in a request",
  remedy: "Give the memory a window.",
  excesses: (messages, _, limit) =>
    messages.length > limit ? [{ index: limit, needed: messages.length }] : [],
});
