import { invalidOption, show, type TurnkeepError } from "./errors.ts";
import { kindOf } from "./values.ts";
import type { TokenCounter } from "./window-options.ts";

/**
 * Throws `INVALID_OPTION` for a value that is not a `Value`, and names the option. One that throws nothing leaves the
 * option to others.
 */
export type Check<Value> = {
  (name: string, value: unknown): void;
  /** Never there: by it the compiler compares what passes with the option's type. */
  readonly passes?: Value;
};

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

/** Several words or names as a sentence lists them. */
export function listed(names: readonly string[], word: "and" | "or"): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}`;
}

/**
 * An option that is what `holds` says, in the words of `expected`.
 *
 * @example
 * ```ts
 * import { such } from "@turnkeep/core/store-kit";
 *
 * const port = such<number>("a port", (value) => Number.isInteger(value) && Number(value) < 65_536);
 * port("port", 5432); // "5432" would be: port must be a port; it is "5432".
 * ```
 */
/* @__NO_SIDE_EFFECTS__ */
export function such<Value>(expected: string, holds: (value: unknown) => boolean): Check<Value> {
  return (name, value) => {
    if (!holds(value)) throw wrongOption(name, value, expected);
  };
}

/**
 * An option that counts something: an integer from `least` on.
 *
 * @example
 * ```ts
 * import { integer, optional } from "@turnkeep/core/store-kit";
 *
 * const fields = { shards: integer(1), retries: optional(integer(0), 3) };
 * ```
 */
/* @__NO_SIDE_EFFECTS__ */
export function integer(least: 0 | 1): Check<number> {
  return (name, value) => {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return;
    throw wrongOption(name, value, `a ${least === 0 ? "non-negative" : "positive"} integer`);
  };
}

/**
 * One of a few texts, or of `true` and `false`.
 *
 * @example
 * ```ts
 * import { oneOf, optional } from "@turnkeep/core/store-kit";
 *
 * const fields = { order: oneOf("ascending", "descending"), strict: optional(oneOf(true, false), false) };
 * ```
 */
/* @__NO_SIDE_EFFECTS__ */
export function oneOf<Choice extends string | boolean>(...choices: readonly Choice[]): Check<Choice> {
  const words = choices.map((choice) => JSON.stringify(choice));
  return such(listed(words, "or"), (value) => choices.includes(value as Choice));
}

/**
 * A function. What it takes or answers cannot be checked beforehand.
 *
 * @example
 * ```ts
 * import { callback, optional } from "@turnkeep/core/store-kit";
 *
 * const fields = { open: callback, onError: optional(callback) };
 * ```
 */
export const callback: Check<never> = such("a function", (value) => typeof value === "function");

/** An option whose own table, or whoever uses it, checks it. */
export const elsewhere: Check<never> = () => {};

/** A check whose errors have words of their own, such as that of an id. */
/* @__NO_SIDE_EFFECTS__ */
export function worded<Value>(check: (value: Value) => void): Check<Value> {
  return (_, value) => check(value as Value);
}

/**
 * A time-out that a timer takes: an integer of milliseconds, from 1 to 2 ** 31 - 1.
 *
 * @example
 * ```ts
 * import { optional, timeout } from "@turnkeep/core/store-kit";
 *
 * const fields = { timeoutMs: optional(timeout, 30_000) };
 * ```
 */
export const timeout: Check<number> = such(
  "a positive integer of milliseconds below 2147483648",
  (value) => Number.isSafeInteger(value) && Number(value) > 0 && Number(value) < 2 ** 31,
);

/** Below it, a lease would need renewing more often than a database across a network answers. */
const leastLeaseMs = 100;

/**
 * How long the lease of a turn lasts: an integer of milliseconds, from 100 to 2 ** 31 - 1.
 *
 * @example
 * ```ts
 * import { lease, optional } from "@turnkeep/core/store-kit";
 *
 * const fields = { leaseMs: optional(lease) };
 * ```
 */
export const lease: Check<number> = such(
  `a whole number of milliseconds from ${leastLeaseMs} to 2147483647`,
  (value) => Number.isSafeInteger(value) && Number(value) >= leastLeaseMs && Number(value) < 2 ** 31,
);

/** What part of a limit to evict down to. */
export const share: Check<number> = such(
  "greater than 0 and at most 1",
  (value) => typeof value === "number" && value > 0 && value <= 1,
);

export const tokenCounter: Check<TokenCounter> = (name, value) => {
  const counter = value as Partial<TokenCounter> | null | undefined;
  if (typeof counter !== "object" || typeof counter?.count !== "function") {
    throw wrongOption(
      name,
      counter,
      'a TokenCounter, such as await tokenCounter("gpt-4o") of @turnkeep/tokens',
    );
  }
  if (counter.base !== undefined) integer(0)(`${name}.base`, counter.base);
};
