import type { MessageFormat } from "@turnkeep/core";
import { isSystem, setsSomething } from "../about.ts";
import { noteOf } from "../note.ts";
import { type Rule, type RuleKind, where } from "../rule.ts";

/** The system message stands first, or apart from the messages, and there is no other. */
export type SystemFirst = Rule<"system-first">;

/** A later one becomes a note in a message of the user's; one that only sets something goes. */
export const systemFirst: RuleKind<SystemFirst> = {
  fields: {},
  repair<M>(messages: readonly M[], format: MessageFormat<M>) {
    let begun = false;
    return messages.flatMap((message) => {
      if (!isSystem(message, format)) {
        begun = true;
        return [message];
      }
      const note = noteOf([message], format);
      if (note === undefined && setsSomething(message, format)) return [];
      if (!begun) {
        begun = true;
        return [message];
      }
      return note === undefined ? [] : [note];
    });
  },
  breaks: (messages, format) =>
    where(
      messages,
      (message, index) => isSystem(message, format) && index > 0,
      "a system message stands here",
    ),
};
