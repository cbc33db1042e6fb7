import { TurnkeepError } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import { kindOf, quoted } from "@turnkeep/core/store-kit";
import { type Field, source } from "./fields.ts";
import { isRuleName, ruleKinds } from "./rules.ts";

/** Refuses rules that a profile could not follow. Errors: `INVALID_OPTION`. */
export function checkRules(name: string, rules: readonly unknown[]): void {
  const seen = new Set<unknown>();
  for (const given of rules) {
    const problem = problemOf(given, seen);
    if (problem === undefined) continue;
    throw new TurnkeepError("INVALID_OPTION", `The profile ${quoted(name)} has ${problem}.`);
  }
}

/** Adds the rule's name to those that were `seen`. */
function problemOf(given: unknown, seen: Set<unknown>): string | undefined {
  if (!isObject(given)) return `${shown(given)} among its rules`;
  const { rule, ...rest } = given;
  if (!isRuleName(rule)) {
    return `a rule ${shown(rule)}, and there is none of that name: see the type ProviderRule`;
  }
  if (seen.has(rule)) return `the rule "${rule}" twice: filter out the one that another is to replace`;
  seen.add(rule);
  const fields: Readonly<Record<string, Field>> = { ...ruleKinds[rule].fields, source };
  for (const [field, [expected, holds]] of Object.entries(fields)) {
    if (!holds(rest[field])) {
      return `a rule "${rule}" whose ${field} is ${shown(rest[field])}; it must be ${expected}`;
    }
  }
  const other = Object.keys(rest).find((field) => !Object.hasOwn(fields, field));
  if (other === undefined) return;
  return `a rule "${rule}" with ${shown(other)}; it takes ${Object.keys(fields).join(", ")}`;
}

function shown(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (value instanceof RegExp) return String(value);
  return typeof value === "object" || typeof value === "function" ? kindOf(value) : String(value);
}
