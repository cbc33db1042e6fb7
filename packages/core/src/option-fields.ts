import { invalidOption, quoted } from "./errors.ts";
import { isRecord } from "./format/to-plain.ts";
import { type Check, elsewhere, wrongOption } from "./option-checks.ts";
import { kindOf } from "./values.ts";

/** An option that may be left out, and what it is then. */
export type OptionalField<Value, Default = Value | undefined> = {
  readonly check: Check<Value>;
  readonly fallback: Default;
};

/** An option: one that must be given is its check alone, which is asked about `undefined` too. */
export type AnyField = OptionalField<unknown> | Check<unknown>;

type FieldFor<Value> = undefined extends Value ? OptionalField<Exclude<Value, undefined>> : Check<Value>;

/**
 * All options that a function takes, by their names: whether each may be left out, what it must be, and what it is
 * otherwise. A missing or misspelt option, or one of another type, does not compile: write `satisfies Fields<…>` behind the
 * table, as in the example of {@link takeOptions}.
 */
export type Fields<Options> = { readonly [Name in keyof Options & string]: FieldFor<Options[Name]> };

/** Options with every default in place. */
export type Taken<Options, Given> = {
  readonly [Name in keyof Options & keyof Given & string]: Given[Name] extends {
    readonly fallback: infer Default;
  }
    ? undefined extends Default
      ? Options[Name] | undefined
      : Exclude<Options[Name], undefined>
    : Options[Name];
};

/**
 * An option that may be left out; `fallback` is what it is then. Without a check, whoever uses it checks it.
 *
 * @example
 * ```ts
 * import { integer, optional } from "@turnkeep/core/store-kit";
 *
 * const fields = { width: optional(integer(1), 3), height: optional(integer(1)), inner: optional() };
 * ```
 */
/* @__NO_SIDE_EFFECTS__ */
export function optional(): OptionalField<never, undefined>;
/* @__NO_SIDE_EFFECTS__ */
export function optional<Value>(check: Check<Value>): OptionalField<Value, undefined>;
/* @__NO_SIDE_EFFECTS__ */
export function optional<Value, Default>(
  check: Check<Value>,
  fallback: Default,
): OptionalField<Value, Default>;
/* @__NO_SIDE_EFFECTS__ */
export function optional<Value>(check: Check<Value> = elsewhere, fallback?: Value): OptionalField<Value> {
  return { check, fallback };
}

/**
 * Checks options and fills in the defaults. `undefined` counts as not given. A name that is not in the table is refused:
 * a misspelt option would silently do nothing. `prefix` stands before an option's name in its errors.
 *
 * Errors: `INVALID_OPTION`, naming the option, its value and what it must be.
 *
 * @example
 * ```ts
 * import { type Fields, integer, oneOf, optional, takeOptions } from "@turnkeep/core/store-kit";
 *
 * interface LaneOptions {
 *   readonly kind: "fast" | "slow";
 *   readonly width?: number | undefined;
 * }
 *
 * const fields = {
 *   kind: oneOf("fast", "slow"), // must be given
 *   width: optional(integer(1), 3),
 * } satisfies Fields<LaneOptions>;
 *
 * function lane(options: LaneOptions): string {
 *   const { kind, width } = takeOptions("lane's argument", fields, options);
 *   return `${kind}, ${width} m`;
 * }
 * ```
 */
export function takeOptions<Options extends object, const Given extends Fields<Options>>(
  name: string,
  fields: Given,
  options: Options | undefined,
  prefix = "",
): Taken<Options, Given> {
  if (options !== undefined || mustBeGiven(fields)) {
    // A promise has no options of its own: without `await`, all that it holds would be left out.
    if (kindOf(options) !== "an object") throw wrongOption(name, options, "an object of options");
    checkNames(name, options as object, Object.keys(fields));
  }
  return checkedFields(fields, options ?? {}, prefix) as Taken<Options, Given>;
}

/**
 * The same for an object that may be an instance of a class, such as a memory: other members of one are its own.
 *
 * @example
 * ```ts
 * import { callback, type Fields, takeMembers } from "@turnkeep/core/store-kit";
 *
 * interface Clock {
 *   now(): number;
 * }
 *
 * const fields = { now: callback } satisfies Fields<Clock>;
 * takeMembers("the clock", fields, { now: () => 0 });
 * ```
 */
export function takeMembers<Options extends object, const Given extends Fields<Options>>(
  name: string,
  fields: Given,
  options: Options,
  prefix = "",
): Taken<Options, Given> {
  const isInstance = kindOf(options) === "an object" && !isRecord(options);
  if (!isInstance) return takeOptions(name, fields, options, prefix);
  return checkedFields(fields, options, prefix) as Taken<Options, Given>;
}

function mustBeGiven(fields: Readonly<Record<string, AnyField>>): boolean {
  for (const name in fields) if (typeof fields[name] === "function") return true;
  return false;
}

/** Refuses names that are not among these. One whose value is `undefined` counts as not given. */
export function checkNames(name: string, options: object, names: readonly string[]): void {
  const others = Object.keys(options).filter((key) => !names.includes(key));
  const unknown = others.filter((key) => options[key as keyof typeof options] !== undefined);
  if (unknown.length === 0) return;
  const given = unknown.map((key) => quoted(key)).join(", ");
  throw invalidOption(`${name} takes ${names.join(", ") || "no options"}; it was given ${given}.`);
}

/** The values of these fields, whatever else the object has. */
export function checkedFields(
  fields: Readonly<Record<string, AnyField>>,
  given: object,
  prefix: string,
): Record<string, unknown> {
  const taken: Record<string, unknown> = {};
  for (const name in fields) {
    const field = fields[name] as AnyField;
    const value: unknown = given[name as keyof typeof given];
    if (typeof field === "function") {
      field(prefix + name, value);
      taken[name] = value;
    } else if (value === undefined) {
      taken[name] = field.fallback;
    } else {
      field.check(prefix + name, value);
      taken[name] = value;
    }
  }
  return taken;
}
