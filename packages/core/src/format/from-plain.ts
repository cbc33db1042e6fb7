import { fromBase64 } from "../base64.ts";
import { TurnkeepError } from "../errors.ts";
import { defineMember, maxDepth, tag } from "./to-plain.ts";

/** What the codec writes is at most twice as deep as a message: each object may be wrapped once. */
const maxPlainDepth = 2 * maxDepth + 2;

/** A shorter text cannot be nested deeper than what the codec writes: each level takes two characters. */
export const shortestTooDeep: number = 2 * maxPlainDepth;

/** Restores what was tagged, in place: the value is fresh from the parser. Errors: `CORRUPT_RECORD`. */
export function fromPlain(value: unknown): unknown {
  return restored(value, 0);
}

function restored(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxPlainDepth) throw corrupt("It is nested deeper than anything that was written.");
  if (Array.isArray(value)) return restoreItems(value, depth);
  return Object.hasOwn(value, tag)
    ? untagged(value as Record<string, unknown>, depth)
    : restoreMembers(value, depth);
}

function restoreItems(items: unknown[], depth: number): unknown[] {
  for (let index = 0; index < items.length; index++) items[index] = restored(items[index], depth + 1);
  return items;
}

function restoreMembers(value: object, depth: number): object {
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    const back = restored(member, depth + 1);
    if (back !== member) defineMember(value, key, back);
  }
  return value;
}

function untagged({ [tag]: kind, value }: Record<string, unknown>, depth: number): unknown {
  if (kind === "object") {
    if (typeof value === "object" && value !== null && Object.hasOwn(value, tag))
      return restoreMembers(value, depth + 1);
  } else if (typeof kind === "string" && typeof value === "string" && Object.hasOwn(restorers, kind)) {
    const back = restore(kind, value);
    if (back !== undefined) return back;
  }
  throw corrupt("It holds a tagged value that cannot be restored.");
}

const restorers: Readonly<Record<string, (text: string) => unknown>> = {
  Uint8Array: fromBase64,
  ArrayBuffer: (text) => fromBase64(text).buffer,
  URL: (text) => new URL(text),
  Date: (text) => {
    const date = new Date(text);
    return Number.isNaN(date.getTime()) ? undefined : date;
  },
  bigint: (text) => (/^-?\d+$/.test(text) ? BigInt(text) : undefined),
  number: (text) => (["-0", "NaN", "Infinity", "-Infinity"].includes(text) ? Number(text) : undefined),
};

function restore(kind: string, text: string): unknown {
  try {
    return restorers[kind]?.(text);
  } catch {
    // The platform's error may quote the text, which is private.
    return undefined;
  }
}

function corrupt(what: string): TurnkeepError {
  return new TurnkeepError(
    "CORRUPT_RECORD",
    `Its payload cannot be read: ${what} Restore the record, or remove it.`,
  );
}
