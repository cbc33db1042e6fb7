import { isRecord } from "./to-plain.ts";

/**
 * Whether two values that a format can encode have the same content. Absent and `undefined` members are the same, and
 * the order of an object's members is ignored. Binary data, URLs and dates compare by value; `NaN` equals itself; `-0`
 * is not `0`. Instances of other classes, which no format holds, equal only themselves.
 *
 * @example
 * ```ts
 * import { equalContent } from "@turnkeep/core";
 *
 * equalContent({ a: 1, b: undefined }, { a: 1 }); // true
 * ```
 */
export function equalContent(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && equalItems(a, b);
  if (isRecord(a) && isRecord(b))
    return equalMembers(a as Record<string, unknown>, b as Record<string, unknown>);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalBytes(a, b);
  if (a instanceof ArrayBuffer)
    return b instanceof ArrayBuffer && equalBytes(new Uint8Array(a), new Uint8Array(b));
  if (a instanceof URL) return b instanceof URL && a.href === b.href;
  return a instanceof Date && b instanceof Date && Object.is(a.getTime(), b.getTime());
}

function equalItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (!equalContent(a[index], b[index])) return false;
  return true;
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function equalMembers(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  return (
    Object.keys(a).every((key) => equalContent(a[key], memberOf(b, key))) &&
    Object.keys(b).every((key) => Object.hasOwn(a, key) || b[key] === undefined)
  );
}

/** An own member only: what the prototype adds is not content. */
function memberOf(of: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(of, key) ? of[key] : undefined;
}
