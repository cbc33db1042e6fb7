import type { MessageFormat } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import { optional } from "@turnkeep/core/store-kit";
import { patterns } from "../fields.ts";
import { changedBy, type Rule, type RuleKind } from "../rule.ts";

/**
 * Members that a provider or its SDK adds to what it answers, and that the provider refuses when they come back. Each is
 * named with the types of the messages and parts that lose it; those of `nulls` are lost where they are null.
 */
export type ExtraMembers = Rule<
  "extra-members",
  {
    readonly members: Readonly<Record<string, RegExp>>;
    readonly nulls?: Readonly<Record<string, RegExp>> | undefined;
  }
>;

/** The members that hold parts, by the types that have them; anything else, such as a call's input, is the user's own. */
const lists: Readonly<Record<string, RegExp>> = { content: /^/, output: /^shell_call_output$/ };

const isOf = (type: string, name: string, types: Readonly<Record<string, RegExp>>): boolean =>
  Object.hasOwn(types, name) && types[name]?.test(type) === true;

const noNulls: Readonly<Record<string, RegExp>> = {};

function withoutExtra<T>(of: T, rule: ExtraMembers): T {
  if (!isObject(of)) return of;
  const { members, nulls = noNulls } = rule;
  const type = String(of.type);
  let copy: Record<string, unknown> = of;
  for (const [name, value] of Object.entries(of)) {
    if (isOf(type, name, members) || (value === null && isOf(type, name, nulls))) {
      const { [name]: _, ...rest } = copy;
      copy = rest;
    } else if (Array.isArray(value) && isOf(type, name, lists)) {
      const parts = value.map((part) => withoutExtra(part, rule));
      if (parts.some((part, index) => part !== value[index])) copy = { ...copy, [name]: parts };
    }
  }
  return copy as T;
}

const withoutAny = <M>(messages: readonly M[], _format: MessageFormat<M>, rule: ExtraMembers): readonly M[] =>
  messages.map((message) => withoutExtra(message, rule));

export const extraMembers: RuleKind<ExtraMembers> = {
  fields: { members: patterns, nulls: optional(patterns) },
  repair: withoutAny,
  breaks: changedBy(withoutAny, "a member that the provider does not take back stands here"),
};
