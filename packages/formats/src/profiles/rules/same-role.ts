import type { MessageFormat, Role } from "@turnkeep/core";
import { joinNeighbours } from "@turnkeep/core/processors";
import { oneOf, optional } from "@turnkeep/core/store-kit";
import { answersCalls, isSystem } from "../about.ts";
import { roles } from "../fields.ts";
import { methodOf } from "../method-of.ts";
import { type Rule, type RuleKind, where } from "../rule.ts";

/**
 * Neighbours of one of these roles are one message, if the format can join them; with `besideResults`, so are tool
 * results and the user's message after them.
 */
export type SameRole = Rule<
  "same-role",
  { readonly roles: readonly Role[]; readonly besideResults?: boolean | undefined }
>;

export const sameRole: RuleKind<SameRole> = {
  fields: { roles, besideResults: optional(oneOf(true, false)) },
  repair<M>(messages: readonly M[], format: MessageFormat<M>, rule: SameRole) {
    const mayJoin = (first: M, second: M): boolean => belongTogether(first, second, format, rule);
    // A format without the method is refused only where two messages belong together.
    const join = (first: M, second: M): M | undefined => methodOf(format, "joined")(first, second);
    return joinNeighbours(messages, { format: { joined: join }, mayJoin });
  },
  breaks: (messages, format, rule) =>
    where(
      messages,
      (message, index) => {
        const before = messages[index - 1];
        if (before === undefined || !belongTogether(before, message, format, rule)) return false;
        return format.joined?.(before, message) !== undefined;
      },
      "the message could be one with the message before it",
    ),
};

/** Whether the rule wants the two as one message, if the format can join them. */
function belongTogether<M>(first: M, second: M, format: MessageFormat<M>, rule: SameRole): boolean {
  if (format.answersInParts === true) return false;
  if ([first, second].some((message) => isSystem(message, format) || format.isBoundary(message)))
    return false;
  const [role, next] = [format.role(first), format.role(second)];
  if (role === next && rule.roles.includes(role)) return true;
  const answers = answersCalls(first, format);
  if (answers && answersCalls(second, format)) return rule.roles.includes("tool");
  return rule.besideResults === true && answers && next === "user";
}
