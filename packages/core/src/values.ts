/** What stands anywhere in core, formats and tools: about values of any type. It imports nothing. */

/**
 * The kind of a value that must not be shown itself, because it may be a URL with a password, or content.
 *
 * @example
 * ```ts
 * import { kindOf } from "@turnkeep/core/store-kit";
 *
 * kindOf(["a"]); // "an array"
 * ```
 */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  try {
    if (Array.isArray(value)) return "an array";
    if (value instanceof Promise) return "a promise: await it first";
  } catch {
    return "an object that cannot be read";
  }
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/**
 * Whether a value is an object with members, and no array.
 *
 * @example
 * ```ts
 * import { isObject } from "@turnkeep/core/format-kit";
 *
 * isObject([]); // false
 * ```
 */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Puts a value last among those under a key.
 *
 * @example
 * ```ts
 * import { append } from "@turnkeep/core/format-kit";
 *
 * const byTool = new Map<string, number[]>();
 * append(byTool, "weather", 1);
 * ```
 */
export function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** What is made of a value: at once if it is there, since a promise costs as much as the work between two of them. */
export function whenReady<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
