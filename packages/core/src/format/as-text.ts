import { toBase64 } from "../base64.ts";

/**
 * A value as a model reads it: a text itself, nothing where there is none, anything else as JSON. What JSON cannot hold
 * is written as briefly as a provider could be sent it: bytes as base64.
 */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, asJson) ?? "");
}

function asJson(_key: string, member: unknown): unknown {
  if (typeof member === "bigint") return String(member);
  if (member instanceof Uint8Array) return toBase64(member);
  return member instanceof ArrayBuffer ? toBase64(new Uint8Array(member)) : member;
}
