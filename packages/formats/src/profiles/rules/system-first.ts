import { isSystem } from "../about.ts";
import { type Rule, type RuleKind, where } from "../rule.ts";

/** The system message stands first, or apart from the messages. */
export type SystemFirst = Rule<"system-first">;

/** System messages move to the front. */
export const systemFirst: RuleKind<SystemFirst> = {
  fields: {},
  repair: (messages, format) => [
    ...messages.filter((message) => isSystem(message, format)),
    ...messages.filter((message) => !isSystem(message, format)),
  ],
  breaks: (messages, format) =>
    where(
      messages,
      (message, index) => isSystem(message, format) && index > 0,
      "a system message stands here",
    ),
};
