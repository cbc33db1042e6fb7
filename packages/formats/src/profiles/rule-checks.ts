import { isObject } from "@turnkeep/core/format-kit";
import { type Fields, invalidOption, kindOf, quoted, such, takeOptions } from "@turnkeep/core/store-kit";
import type { Rule } from "./rule.ts";
import { isRuleName, ruleKinds } from "./rules.ts";

/** Refuses rules that a profile could not follow. Errors: `INVALID_OPTION`. */
export function checkRules(name: string, rules: readonly unknown[]): void {
  const profile = `The profile ${quoted(name)}`;
  const seen = new Set<unknown>();
  for (const given of rules) {
    if (!isObject(given)) throw invalidOption(`${profile} has ${shown(given)} among its rules.`);
    const { rule, ...own } = given;
    if (!isRuleName(rule)) {
      throw invalidOption(
        `${profile} has a rule ${shown(rule)}, and there is none of that name: see the type ProviderRule.`,
      );
    }
    if (seen.has(rule)) {
      throw invalidOption(
        `${profile} has the rule "${rule}" twice: filter out the one that another is to replace.`,
      );
    }
    seen.add(rule);
    const place = `The rule "${rule}" of the profile ${quoted(name)}`;
    takeOptions<object, Fields<object>>(place, { ...ruleKinds[rule].fields, ...common }, own, `${place}: `);
  }
}

/** What a rule of every kind holds beside its name. */
const common = {
  source: such<string>(
    "a text that says where the rule is written down",
    (value) => typeof value === "string",
  ),
} satisfies Fields<Omit<Rule, "rule">>;

function shown(value: unknown): string {
  return typeof value === "string" ? quoted(value) : kindOf(value);
}
