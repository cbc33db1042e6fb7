import { invalidOption, type TurnkeepError } from "./errors.ts";
import { isRecord } from "./format/to-plain.ts";
import { quoted, show } from "./stores/text.ts";
import { kindOf } from "./values.ts";
import type { TokenCounter } from "./window-options.ts";

/**
 * `INVALID_OPTION` that says what an option must be and what it is. Objects and functions are shown by their kind only,
 * since they may hold secrets or content; URLs are not shown at all.
 *
 * @example
 * ```ts
 * import { wrongOption } from "@turnkeep/core/store-kit";
 *
 * wrongOption("order", "up", '"ascending" or "descending"').message;
 * // 'order must be "ascending" or "descending"; it is "up".'
 * ```
 */
export function wrongOption(name: string, value: unknown, expected: string): TurnkeepError {
  return invalidOption(`${name} must be ${expected}; it is ${shown(value)}.`);
}

/** A value as an error may show it: objects and functions by kind only, URLs (which may hold a password) not at all. */
export function shown(value: unknown): string {
  if (typeof value === "string") return value.includes("://") ? "an address (not shown)" : show(value);
  return typeof value === "object" || typeof value === "function" ? kindOf(value) : show(value);
}

/**
 * Checks an option that counts something. Errors: `INVALID_OPTION`, as in all checks here.
 *
 * @example
 * ```ts
 * import { checkInteger } from "@turnkeep/core/store-kit";
 *
 * checkInteger("maxSteps", 20, 1);
 * ```
 */
export function checkInteger(name: string, value: unknown, least: 0 | 1): asserts value is number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return;
  throw wrongOption(name, value, `a ${least === 0 ? "non-negative" : "positive"} integer`);
}

/**
 * Checks a time-out in milliseconds that a timer takes: an integer from 1 to 2 ** 31 - 1, or `undefined` for none.
 *
 * @example
 * ```ts
 * import { checkTimeout } from "@turnkeep/core/store-kit";
 *
 * checkTimeout(30_000);
 * ```
 */
export function checkTimeout(timeoutMs: unknown): asserts timeoutMs is number | undefined {
  if (timeoutMs === undefined) return;
  if (Number.isSafeInteger(timeoutMs) && (timeoutMs as number) > 0 && (timeoutMs as number) < 2 ** 31) return;
  throw wrongOption("timeoutMs", timeoutMs, "a positive integer of milliseconds below 2147483648");
}

/**
 * Checks that an object has only options of these names: a misspelt option would silently do nothing. An option that is
 * `undefined` counts as not given.
 *
 * @example
 * ```ts
 * import { checkObject } from "@turnkeep/core/store-kit";
 *
 * checkObject("myStore's argument", { url: "my://host", prefix: undefined }, ["url"]);
 * ```
 */
export function checkObject(name: string, value: unknown, names: readonly string[]): asserts value is object {
  // A promise has no options of its own: without `await`, all that it holds would be left out.
  if (kindOf(value) !== "an object") throw wrongOption(name, value, "an object of options");
  checkNames(name, value as object, names);
}

/**
 * The same where an instance of a class, such as a memory, is allowed too: its other members are not checked.
 *
 * @example
 * ```ts
 * import { checkUnlessInstance } from "@turnkeep/core/store-kit";
 *
 * checkUnlessInstance("myStore's client", new Map(), ["get", "set"]);
 * ```
 */
export function checkUnlessInstance(name: string, value: object, names: readonly string[]): void {
  const isInstance = typeof value === "object" && value !== null && !Array.isArray(value) && !isRecord(value);
  if (!isInstance) checkObject(name, value, names);
}

export function checkNames(name: string, options: object, names: readonly string[]): void {
  const others = Object.keys(options).filter((key) => !names.includes(key));
  const unknown = others.filter((key) => options[key as keyof typeof options] !== undefined);
  if (unknown.length === 0) return;
  const given = unknown.map((key) => quoted(key)).join(", ");
  const message = `${name} takes ${names.join(", ") || "no options"}; it was given ${given}.`;
  throw invalidOption(message);
}

export function checkCounter(
  name: string,
  counter: TokenCounter | undefined,
): asserts counter is TokenCounter {
  if (typeof counter !== "object" || counter === null || typeof counter.count !== "function") {
    throw wrongOption(name, counter, "a TokenCounter");
  }
  if (counter.base !== undefined) checkInteger(`${name}.base`, counter.base, 0);
}

/** Checks an option that is one of a few texts. */
export function checkOneOf(name: string, value: unknown, choices: readonly string[]): void {
  if (!choices.includes(value as string)) throw wrongOption(name, value, `one of ${choices.join(", ")}`);
}

/** Checks a function that may be left out. */
export function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") throw wrongOption(name, value, "a function");
}

/** Checks what part of a limit to evict down to. */
export function checkTarget(name: string, target: unknown): void {
  if (typeof target === "number" && target > 0 && target <= 1) return;
  throw wrongOption(name, target, "greater than 0 and at most 1");
}

/** Checks what a window or a limiter does with a newest step that does not fit. */
export function checkOverflow(name: string, overflow: unknown): void {
  checkOneOf(name, overflow, ["throw", "keep", "evict"]);
}
