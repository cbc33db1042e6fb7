import { TurnkeepError } from "@turnkeep/core";

/** Errors: `INVALID_OPTION`, as of all checks here. */
export function checkInteger(name: string, value: unknown, least: 0 | 1): void {
  if (Number.isSafeInteger(value) && (value as number) >= least) return;
  throw wrongOption(name, value, least === 0 ? "a non-negative integer" : "a positive integer");
}

export function checkOneOf(name: string, value: unknown, allowed: readonly string[]): void {
  if (allowed.includes(value as string)) return;
  throw wrongOption(name, value, allowed.map((each) => JSON.stringify(each)).join(" or "));
}

/** `INVALID_OPTION` that says what an option must be and what it is; of an object or a function only its kind. */
export function wrongOption(name: string, value: unknown, expected: string): TurnkeepError {
  return new TurnkeepError("INVALID_OPTION", `${name} must be ${expected}; it is ${shown(value)}.`);
}

/** What an object holds is not shown: it may be what somebody said. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "an array" : "an object";
}
