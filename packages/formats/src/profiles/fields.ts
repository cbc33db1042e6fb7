import type { Role } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";

/** What a field of a rule must be, in words and as a condition. */
export type Field = readonly [expected: string, holds: (value: unknown) => boolean];

/** What each field of a rule must be, its name and its source apart. */
export type RuleFields<R> = { readonly [F in Exclude<keyof R, "rule" | "source">]-?: Field };

export const oneOf = (...values: readonly string[]): Field => [
  values.map((value) => JSON.stringify(value)).join(" or "),
  (value) => values.includes(value as string),
];

export const optional = ([expected, holds]: Field): Field => [
  `${expected}, if it is given`,
  (value) => value === undefined || holds(value),
];

export const truth: Field = ["a boolean", (value) => typeof value === "boolean"];

export const limit: Field = [
  "a non-negative integer",
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
];

/** One with the flag `g` or `y` would answer by where it stopped the last time. */
const isPattern = (value: unknown): boolean => value instanceof RegExp && !value.global && !value.sticky;

export const pattern: Field = ["a regular expression without the flags g and y", isPattern];

export const patterns: Field = [
  "an object of regular expressions without the flags g and y",
  (value) => isObject(value) && Object.values(value).every(isPattern),
];

/** An object of patterns under some of these names. */
export const patternsOf = (...names: readonly string[]): Field => [
  `an object of ${names.join(" and ")}, regular expressions without the flags g and y`,
  (value) =>
    isObject(value) &&
    Object.entries(value).every(
      ([name, member]) => names.includes(name) && (member === undefined || isPattern(member)),
    ),
];

const allRoles: readonly Role[] = ["system", "user", "assistant", "tool"];

export const roles: Field = [
  `an array of ${allRoles.map((role) => JSON.stringify(role)).join(", ")}`,
  (value) => Array.isArray(value) && value.every((role) => allRoles.includes(role)),
];

export const source: Field = [
  "a text that says where the rule is written down",
  (value) => typeof value === "string",
];
