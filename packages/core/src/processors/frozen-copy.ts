import { defineMember } from "../format/to-plain.ts";
import type { MessageFormat } from "../message-format.ts";
import { deepFreeze } from "../steps/deep-freeze.ts";

/** Messages known to be frozen in every part: those of a memory, and the copies made here. */
const frozen = new WeakSet<object>();

/** Deeper nesting is left to the format, which refuses what it could not hold. */
const maxDepth = 200;

export function isKnownFrozen(message: unknown): boolean {
  return frozen.has(message as object);
}

/**
 * The message with everything in it frozen: itself if it is frozen already, else a copy that shares the frozen parts,
 * so that the caller's own objects are never frozen. Binary data cannot be frozen and is shared. A message that holds
 * class instances is copied as a memory would, by `encode` and `decode`; errors: theirs.
 */
export function frozenCopy<M>(message: M, format: MessageFormat<M>): M {
  if (typeof message !== "object" || message === null || isKnownFrozen(message)) return message;
  let copy: unknown;
  try {
    copy = frozenValue(message, 0);
  } catch (error) {
    if (error !== notPlain) throw error;
    copy = deepFreeze(format.decode(format.encode(message)));
  }
  frozen.add(copy as object);
  return copy as M;
}

/**
 * Whether an earlier copy of a message is what a copy of it would be now. Also `false` if that cannot be told: binary
 * data may have changed in place, and class instances are not inspected.
 */
export function isFrozenCopy(copy: unknown, value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return Object.is(copy, value);
  if (depth > maxDepth || typeof copy !== "object" || copy === null) return false;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return false;
  if (copy === value) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.getPrototypeOf(copy)) return false;
  if (value instanceof Date) return value.getTime() === (copy as Date).getTime();
  if (value instanceof URL) return value.href === (copy as URL).href;
  if (Array.isArray(value)) {
    if (value.length !== (copy as readonly unknown[]).length) return false;
  } else if (prototype !== Object.prototype && prototype !== null) return false;
  const keys = Object.keys(value);
  const copied = Object.keys(copy);
  return (
    keys.length === copied.length &&
    keys.every((key, at) => {
      if (copied[at] !== key) return false;
      const member = (value as Record<string, unknown>)[key];
      return isFrozenCopy((copy as Record<string, unknown>)[key], member, depth + 1);
    })
  );
}

const notPlain: unique symbol = Symbol("not plain");

function frozenValue(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value;
  if (depth > maxDepth) throw notPlain;
  if (Array.isArray(value)) return frozenArray(value, depth);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return frozenRecord(value, depth);
  if (Object.isFrozen(value)) return value;
  if (value instanceof Date) return Object.freeze(new Date(value));
  if (value instanceof URL) return Object.freeze(new URL(value));
  throw notPlain;
}

function frozenArray(value: readonly unknown[], depth: number): readonly unknown[] {
  let isSame = Object.isFrozen(value);
  const items = value.map((item) => {
    const frozenItem = frozenValue(item, depth + 1);
    isSame &&= frozenItem === item;
    return frozenItem;
  });
  return isSame ? value : Object.freeze(items);
}

function frozenRecord(value: object, depth: number): object {
  let isSame = Object.isFrozen(value);
  const copy: Record<string, unknown> = Object.getPrototypeOf(value) === null ? Object.create(null) : {};
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    const frozenMember = frozenValue(member, depth + 1);
    isSame &&= frozenMember === member;
    if (key === "__proto__") defineMember(copy, key, frozenMember);
    else copy[key] = frozenMember;
  }
  return isSame ? value : Object.freeze(copy);
}
