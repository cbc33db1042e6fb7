import type { MessageFormat } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import { patterns } from "../fields.ts";
import { changedBy, type Rule, type RuleKind } from "../rule.ts";

/**
 * Members that a provider or its SDK adds to what it answers, and that the provider refuses when they come back. Each is
 * named with the types of the messages and parts that lose it.
 */
export type ExtraMembers = Rule<"extra-members", { readonly members: Readonly<Record<string, RegExp>> }>;

/** The members that hold parts, by the types that have them; anything else, such as a call's input, is the user's own. */
const lists: Readonly<Record<string, RegExp>> = { content: /^/, output: /^shell_call_output$/ };

const isOf = (type: string, name: string, types: Readonly<Record<string, RegExp>>): boolean =>
  Object.hasOwn(types, name) && types[name]?.test(type) === true;

function withoutExtra<T>(of: T, extra: ExtraMembers["members"]): T {
  if (!isObject(of)) return of;
  const type = String(of.type);
  let copy: Record<string, unknown> = of;
  for (const [name, value] of Object.entries(of)) {
    if (isOf(type, name, extra)) {
      const { [name]: _, ...rest } = copy;
      copy = rest;
    } else if (Array.isArray(value) && isOf(type, name, lists)) {
      const parts = value.map((part) => withoutExtra(part, extra));
      if (parts.some((part, index) => part !== value[index])) copy = { ...copy, [name]: parts };
    }
  }
  return copy as T;
}

const withoutAny = <M>(messages: readonly M[], _format: MessageFormat<M>, rule: ExtraMembers): readonly M[] =>
  messages.map((message) => withoutExtra(message, rule.members));

export const extraMembers: RuleKind<ExtraMembers> = {
  fields: { members: patterns },
  repair: withoutAny,
  breaks: changedBy(withoutAny, "a member that the provider does not take back stands here"),
};
