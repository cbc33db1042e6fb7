import { toBase64 } from "../base64.ts";
import { invalidMessage } from "./checked-codec.ts";

/**
 * A value as a model reads it: a text itself, nothing where there is none, anything else as JSON. What JSON cannot hold
 * is written as briefly as a provider could be sent it: bytes as base64. Errors: `INVALID_MESSAGE` for what contains itself
 * or is nested deeper than the engine writes, thousands of levels deeper than a memory takes.
 */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value, asJson) ?? "";
  } catch {
    // The engine's error would name private members.
    throw invalidMessage(
      "holds a value that is no JSON",
      "Give one that does not contain itself, nor is nested so deep.",
    );
  }
}

/** As a replacer: `this` has the member as it was before its own `toJSON`, which a `Buffer` has. */
function asJson(this: Readonly<Record<string, unknown>>, key: string, member: unknown): unknown {
  const own = this[key];
  if (own instanceof Uint8Array) return toBase64(own);
  if (own instanceof ArrayBuffer) return toBase64(new Uint8Array(own));
  return typeof member === "bigint" ? String(member) : member;
}
