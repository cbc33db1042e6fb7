import { kindOf } from "@turnkeep/core/store-kit";
import type { ConformanceHarness } from "./harness.ts";
import type { ConformanceOptions, RunOptions } from "./run.ts";

type Names<T> = Readonly<Record<keyof T, true>>;
export type OptionNames = Names<ConformanceOptions>;

export const optionNames: OptionNames = {
  groups: true,
  names: true,
  seed: true,
  path: true,
  timeoutMs: true,
  cases: true,
};

export const runOptionNames: Names<RunOptions> = { ...optionNames, signal: true, onResult: true };

const memberNames: Names<ConformanceHarness> = {
  create: true,
  destroy: true,
  reopen: true,
  advance: true,
  rawRead: true,
  rawWrite: true,
  rawRemove: true,
  fault: true,
  given: true,
};

/** Allows options of these names only: a misspelt option would do nothing, and all cases would run. */
export function checkOptions(options: unknown, names: OptionNames): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`The options must be an object, not ${kindOf(options)}`);
  }
  checkNames("The kit takes the options", options, names, () => true);
  for (const name of ["groups", "names", "cases"] as const) {
    const value: unknown = (options as ConformanceOptions)[name];
    if (value !== undefined && !Array.isArray(value)) {
      throw new TypeError(`${name} must be a list, not ${kindOf(value)}`);
    }
  }
}

/** Checks that a harness's members are functions. A misspelt one is refused, as it would be skipped or waited for. */
export function checkHarness(harness: unknown): asserts harness is ConformanceHarness {
  if (typeof (harness as ConformanceHarness | null | undefined)?.create !== "function") {
    throw new TypeError("A conformance harness must be an object with a function create()");
  }
  const given = harness as ConformanceHarness;
  for (const name of Object.keys(memberNames) as (keyof ConformanceHarness)[]) {
    const member: unknown = given[name];
    if (member === undefined || typeof member === "function") continue;
    throw new TypeError(`${name} of a conformance harness must be a function, not ${kindOf(member)}`);
  }
  // Every member must be a function; other members of an object or a class are not checked.
  if (isPlain(given)) {
    checkNames("A conformance harness has", given, memberNames, (value) => typeof value === "function");
  }
}

function checkNames(
  what: string,
  object: object,
  names: Readonly<Record<string, true>>,
  counts: (value: unknown) => boolean,
): void {
  const unknown = Object.entries(object).flatMap(([name, value]) =>
    value !== undefined && counts(value) && !Object.hasOwn(names, name) ? [JSON.stringify(name)] : [],
  );
  if (unknown.length === 0) return;
  throw new TypeError(`${what} ${Object.keys(names).join(", ")}; it was given ${unknown.join(", ")}`);
}

/** Of any realm, as a test runner may have several. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
