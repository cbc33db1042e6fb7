/** What fields of rules must be, where no check of core's fits. Errors: `INVALID_OPTION`. */
import type { Role } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import { such, wrongOption } from "@turnkeep/core/store-kit";

/** One with the flag `g` or `y` would answer by where it stopped the last time. */
const isPattern = (value: unknown): boolean => value instanceof RegExp && !value.global && !value.sticky;

export function pattern(name: string, value: unknown): void {
  if (isPattern(value)) return;
  const shown = value instanceof RegExp ? String(value) : value;
  throw wrongOption(name, shown, "a regular expression without the flags g and y");
}

export const patterns: (name: string, value: unknown) => void = such(
  "an object of regular expressions without the flags g and y",
  (value) => isObject(value) && Object.values(value).every(isPattern),
);

/** An object of patterns under some of these names. */
export function patternsOf(...names: readonly string[]): (name: string, value: unknown) => void {
  return such(
    `an object of ${names.join(" and ")}, regular expressions without the flags g and y`,
    (value) =>
      isObject(value) &&
      Object.entries(value).every(
        ([name, member]) => names.includes(name) && (member === undefined || isPattern(member)),
      ),
  );
}

const allRoles: readonly Role[] = ["system", "user", "assistant", "tool"];

export const roles: (name: string, value: unknown) => void = such(
  `an array of ${allRoles.map((role) => JSON.stringify(role)).join(", ")}`,
  (value) => Array.isArray(value) && value.every((role) => allRoles.includes(role)),
);
