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

/** Options, of which a misspelt one would be without effect. */
export function checkObject(name: string, value: unknown, names: readonly string[]): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw wrongOption(name, value, "an object of options");
  const given = Object.entries(value).flatMap(([key, option]) => (option === undefined ? [] : [key]));
  const unknown = given.filter((key) => !names.includes(key)).map((key) => JSON.stringify(key));
  if (unknown.length === 0) return;
  const message = `${name} takes ${names.join(", ")}; it was given ${unknown.join(", ")}.`;
  throw new TurnkeepError("INVALID_OPTION", message);
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
  if (value instanceof Promise) return "a promise: await it first";
  return Array.isArray(value) ? "an array" : "an object";
}
