import { TurnkeepError } from "../errors.ts";
import { isRecord, maxDepth } from "./to-plain.ts";

/**
 * Whether two values that a format can encode have the same content. Absent and `undefined` members are the same, and
 * the order of an object's members is ignored. Binary data, URLs and dates compare by value; `NaN` equals itself; `-0`
 * is not `0`. Instances of other classes, which no format holds, equal only themselves. Errors: `INVALID_MESSAGE` for
 * what is nested deeper than 500, or contains itself.
 *
 * @example
 * ```ts
 * import { equalContent } from "@turnkeep/core";
 *
 * equalContent({ a: 1, b: undefined }, { a: 1 }); // true
 * ```
 */
export function equalContent(a: unknown, b: unknown): boolean {
  return isEqual(a, b, 0);
}

function isEqual(a: unknown, b: unknown, depth: number): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && equalItems(a, b, deeper(depth));
  if (isRecord(a) && isRecord(b))
    return equalMembers(a as Record<string, unknown>, b as Record<string, unknown>, deeper(depth));
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalBytes(a, b);
  if (a instanceof ArrayBuffer)
    return b instanceof ArrayBuffer && equalBytes(new Uint8Array(a), new Uint8Array(b));
  if (a instanceof URL) return b instanceof URL && a.href === b.href;
  return a instanceof Date && b instanceof Date && Object.is(a.getTime(), b.getTime());
}

function equalItems(a: readonly unknown[], b: readonly unknown[], depth: number): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (!isEqual(a[index], b[index], depth)) return false;
  return true;
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function equalMembers(a: Record<string, unknown>, b: Record<string, unknown>, depth: number): boolean {
  return (
    Object.keys(a).every((key) => isEqual(a[key], memberOf(b, key), depth)) &&
    Object.keys(b).every((key) => Object.hasOwn(a, key) || b[key] === undefined)
  );
}

/** An own member only: what the prototype adds is not content. */
function memberOf(of: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(of, key) ? of[key] : undefined;
}

function deeper(depth: number): number {
  if (depth < maxDepth) return depth + 1;
  throw new TurnkeepError(
    "INVALID_MESSAGE",
    `What is compared is nested deeper than ${maxDepth}, or contains itself. Compare what a message can hold.`,
  );
}
