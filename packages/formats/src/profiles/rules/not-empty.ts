import { isSystem } from "../about.ts";
import type { Rule, RuleKind } from "../rule.ts";

/** A request holds a message beside the system message. */
export type NotEmpty = Rule<"not-empty">;

/** An empty memory is shown empty: nothing is invented where nothing was said. */
export const notEmpty: RuleKind<NotEmpty> = {
  fields: {},
  breaks: (messages, format) =>
    messages.every((message) => isSystem(message, format))
      ? [[0, "there is no message beside the system message"]]
      : [],
};
