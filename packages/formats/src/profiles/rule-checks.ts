import { type Role, TurnkeepError } from "@turnkeep/core";
import { quoted } from "@turnkeep/core/store-kit";
import { isObject, kindOf } from "../checks.ts";
import type { RuleName } from "./rules.ts";

/** What a field of a rule must be, in words and as a condition. */
type Field = readonly [expected: string, holds: (value: unknown) => boolean];

const oneOf = (...values: readonly string[]): Field => [
  values.map((value) => JSON.stringify(value)).join(" or "),
  (value) => values.includes(value as string),
];
const optional = ([expected, holds]: Field): Field => [
  `${expected}, if it is given`,
  (value) => value === undefined || holds(value),
];
const truth: Field = ["a boolean", (value) => typeof value === "boolean"];
const limit: Field = ["a non-negative integer", (value) => Number.isSafeInteger(value) && Number(value) >= 0];
/** One with the flag `g` or `y` would answer by where it stopped the last time. */
const isPattern = (value: unknown): boolean => value instanceof RegExp && !value.global && !value.sticky;
const pattern: Field = ["a regular expression without the flags g and y", isPattern];
const roles: readonly Role[] = ["system", "user", "assistant", "tool"];
const someRoles: Field = [
  `an array of ${roles.map((role) => JSON.stringify(role)).join(", ")}`,
  (value) => Array.isArray(value) && value.every((role) => roles.includes(role)),
];
const ownCalls: Field = [
  "an object of name and id, regular expressions without the flags g and y",
  (value) =>
    isObject(value) &&
    Object.entries(value).every(
      ([key, one]) => ["name", "id"].includes(key) && (one === undefined || isPattern(one)),
    ),
];

/** What each rule holds beside its name and its source. */
const fieldsOf: Readonly<Record<RuleName, Readonly<Record<string, Field>>>> = {
  "not-empty": {},
  "tool-results": { joins: optional(truth) },
  "provider-calls": { own: optional(ownCalls), answered: optional(truth), apart: optional(truth) },
  "results-first": {},
  "results-in-order": {},
  "error-text": {},
  "system-first": {},
  "first-message": { which: optional(oneOf("calls")) },
  "last-message": { paused: optional(truth) },
  "answer-after-results": {},
  "reasoning-alone": {},
  "answer-files": {},
  "document-with-text": {},
  "document-names": {},
  "same-role": { roles: someRoles, besideResults: optional(truth) },
  "empty-text": { which: oneOf("empty", "blank"), signed: optional(truth) },
  "call-ids": { pattern, unique: truth },
  "tool-names": { pattern },
  reasoning: { kept: oneOf("none", "bound") },
  messages: { limit },
  calls: { limit },
  "text-length": { limit },
  images: { limit },
  documents: { limit },
};

const source: Field = [
  "a text that says where the rule is written down",
  (value) => typeof value === "string",
];

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
  if (typeof rule !== "string" || !Object.hasOwn(fieldsOf, rule)) {
    return `a rule ${shown(rule)}, and there is none of that name: see the type ProviderRule`;
  }
  if (seen.has(rule)) return `the rule "${rule}" twice: filter out the one that another is to replace`;
  seen.add(rule);
  const fields: Readonly<Record<string, Field>> = { ...fieldsOf[rule as RuleName], source };
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
