import { wrongSignal } from "./abort.ts";
import {
  checkCounter,
  checkFunction,
  checkInteger,
  checkObject,
  checkOneOf,
  checkTarget,
  checkTimeout,
  wrongOption,
} from "./option-checks.ts";
import type { TokenCounter } from "./window-options.ts";

/**
 * Throws `INVALID_OPTION` for a value that is not a `Value`, and names the option. One that throws nothing leaves the
 * option to others.
 */
export interface Check<Value> {
  (name: string, value: unknown): void;
  /** Never there: by it the compiler compares what passes with the option's type. */
  readonly passes?: Value;
}

/** An option that may be left out, and what it is then. */
export interface OptionalField<Value, Default = Value | undefined> {
  readonly check: Check<Value>;
  readonly isOptional: true;
  readonly fallback: Default;
}

/** An option that must be given. */
export interface RequiredField<Value> {
  readonly check: Check<Value>;
  readonly isOptional: false;
}

type AnyField = OptionalField<unknown> | RequiredField<unknown>;

type FieldFor<Value> = undefined extends Value
  ? OptionalField<Exclude<Value, undefined>>
  : RequiredField<Value>;

/**
 * All options that a function takes, by their names: whether each may be left out, what it must be, and what it is
 * otherwise. A missing or misspelt option, or one of another type, does not compile.
 */
export type Fields<Options> = { readonly [Name in keyof Options & string]: FieldFor<Options[Name]> };

/** Options with every default in place. */
export type Taken<Options, Given extends Fields<Options>> = {
  readonly [Name in keyof Options & string]: Given[Name] extends { readonly fallback: infer Default }
    ? undefined extends Default
      ? Options[Name] | undefined
      : Exclude<Options[Name], undefined>
    : Options[Name];
};

/** An option that may be left out; `fallback` is what it is then. */
export function optional<Value>(check: Check<Value>): OptionalField<Value, undefined>;
export function optional<Value, Default>(
  check: Check<Value>,
  fallback: Default,
): OptionalField<Value, Default>;
export function optional<Value>(check: Check<Value>, fallback?: Value): OptionalField<Value> {
  return { check, isOptional: true, fallback };
}

/** An option that must be given: its check is asked about `undefined` too. */
export function required<Value>(check: Check<Value>): RequiredField<Value> {
  return { check, isOptional: false };
}

/**
 * Checks options and fills in the defaults. `undefined` counts as not given. A name that is not in the table is refused:
 * a misspelt option would silently do nothing. `prefix` stands before an option's name in its errors.
 *
 * Errors: `INVALID_OPTION`, naming the option, its value and what it must be.
 *
 * @example
 * ```ts no-check
 * import { type Fields, integer, optional, takeOptions, truth } from "./option-fields.ts";
 *
 * interface LaneOptions {
 *   readonly width?: number | undefined;
 *   readonly open?: boolean | undefined;
 * }
 *
 * const fields = { width: optional(integer(1), 3), open: optional(truth) } satisfies Fields<LaneOptions>;
 *
 * function lane(options?: LaneOptions): number {
 *   const { width } = takeOptions("lane's argument", fields, options);
 *   return width;
 * }
 * ```
 */
export function takeOptions<Options extends object, const Given extends Fields<Options>>(
  name: string,
  fields: Given,
  options: Options | undefined,
  prefix = "",
): Taken<Options, Given> {
  if (options !== undefined || mustBeGiven(fields)) checkObject(name, options, Object.keys(fields));
  return checkedFields(fields, options ?? {}, prefix) as Taken<Options, Given>;
}

function mustBeGiven(fields: Readonly<Record<string, AnyField>>): boolean {
  for (const name in fields) if (fields[name]?.isOptional === false) return true;
  return false;
}

/** The same for an object that may have other members, such as an instance of a class. */
export function checkedFields(
  fields: Readonly<Record<string, AnyField>>,
  given: object,
  prefix: string,
): Record<string, unknown> {
  const taken: Record<string, unknown> = {};
  for (const name in fields) {
    const field = fields[name] as AnyField;
    const value: unknown = given[name as keyof typeof given];
    if (value === undefined && field.isOptional) {
      taken[name] = field.fallback;
      continue;
    }
    field.check(prefix + name, value);
    taken[name] = value;
  }
  return taken;
}

/** An integer from `least` on. */
export function integer(least: 0 | 1): Check<number> {
  return (name, value) => checkInteger(name, value, least);
}

/** One of a few texts. */
export function oneOf<Choice extends string>(...choices: readonly Choice[]): Check<Choice> {
  return (name, value) => checkOneOf(name, value, choices);
}

/** What a function takes or answers cannot be checked beforehand. */
export const callback: Check<never> = checkFunction;

/** An option whose own table, or whoever uses it, checks it. */
export const elsewhere: Check<never> = () => {};

/** `true` or `false`. */
export const truth: Check<boolean> = (name, value) => {
  if (typeof value !== "boolean") throw wrongOption(name, value, "true or false");
};

/** What `holds` says, and how errors word it. */
export function such<Value>(expected: string, holds: (value: unknown) => boolean): Check<Value> {
  return (name, value) => {
    if (!holds(value)) throw wrongOption(name, value, expected);
  };
}

/** A check whose errors have words of their own, such as that of an id. */
export function worded<Value>(check: (value: Value) => void): Check<Value> {
  return (_, value) => check(value as Value);
}

export const timeout: Check<number> = (_, value) => checkTimeout(value);

export const tokenCounter: Check<TokenCounter> = (name, value) =>
  checkCounter(name, value as TokenCounter | undefined);

/** What part of a limit to evict down to. */
export const share: Check<number> = checkTarget;

export const abortSignal: Check<AbortSignal> = (_, value) => {
  const wrong = wrongSignal(value as AbortSignal);
  if (wrong !== undefined) throw wrong;
};
