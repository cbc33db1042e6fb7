import { invalidOption, quoted, wrongOption } from "@turnkeep/core/store-kit";
import type { ConformanceHarness } from "./harness.ts";

const memberNames: Readonly<Record<keyof ConformanceHarness, true>> = {
  create: true,
  destroy: true,
  reopen: true,
  advance: true,
  rawRead: true,
  rawWrite: true,
  rawRemove: true,
  fault: true,
  given: true,
  elsewhere: true,
  unreachable: true,
  counted: true,
  databaseNow: true,
};

/** Checks that a harness's members are functions. A misspelt one is refused, as it would be skipped or waited for. */
export function checkHarness(harness: unknown): asserts harness is ConformanceHarness {
  if (typeof (harness as ConformanceHarness | null | undefined)?.create !== "function") {
    throw invalidOption("A conformance harness must be an object with a function create().");
  }
  const given = harness as ConformanceHarness;
  for (const name of Object.keys(memberNames) as (keyof ConformanceHarness)[]) {
    const member: unknown = given[name];
    if (member === undefined || typeof member === "function") continue;
    throw wrongOption(`${name} of a conformance harness`, member, "a function");
  }
  // Every member must be a function; other members of an object or a class are not checked.
  if (!isPlain(given)) return;
  const unknown = Object.entries(given).flatMap(([name, value]) =>
    typeof value === "function" && !Object.hasOwn(memberNames, name) ? [quoted(name)] : [],
  );
  if (unknown.length === 0) return;
  const names = Object.keys(memberNames).join(", ");
  throw invalidOption(`A conformance harness has ${names}; it was given ${unknown.join(", ")}.`);
}

/** Of any realm, as a test runner may have several. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The optional members that a harness has. */
export function offeredBy(harness: ConformanceHarness): string[] {
  const names = Object.keys(memberNames) as (keyof ConformanceHarness)[];
  return names.filter((name) => name !== "create" && typeof harness[name] === "function");
}
