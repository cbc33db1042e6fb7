import { canonicalBase64, isJavaUri, trimmed } from "./java.ts";
import { type JsonNode, JsonNumber, JsonObject } from "./json.ts";
import type { LangChain4jAttributes, LangChain4jValue } from "./messages.ts";
import { detailLevels, pointerTo, refused } from "./places.ts";

/** A text; a number or a boolean is taken as it is spelled. */
export function asText(node: JsonNode, place: string): string | null {
  if (node === null || typeof node === "string") return node;
  if (typeof node === "boolean") return String(node);
  if (node instanceof JsonNumber) return node.spelling;
  throw refused(place, "must be a text.");
}

export function asUri(node: JsonNode, place: string): string | null {
  const text = asText(node, place);
  if (text === null) return null;
  const url = trimmed(text);
  if (!isJavaUri(url)) throw refused(place, "must be a valid URI.");
  return url;
}

export function asBytes(node: JsonNode, place: string): string | null {
  if (node === null) return null;
  const bytes = typeof node === "string" ? canonicalBase64(node) : undefined;
  if (bytes === undefined) throw refused(place, "must be base64 text.");
  return bytes;
}

const flags: ReadonlyMap<string, boolean | null> = new Map([
  ["", null],
  ["null", null],
  ...["true", "True", "TRUE"].map((text) => [text, true] as const),
  ...["false", "False", "FALSE"].map((text) => [text, false] as const),
]);

export function asFlag(node: JsonNode, place: string): boolean | null {
  if (node === null || typeof node === "boolean") return node;
  const flag = typeof node === "string" ? flags.get(trimmed(node)) : undefined;
  if (flag !== undefined) return flag;
  if (node instanceof JsonNumber && isWhole(node)) return !/^-?0$/.test(node.spelling);
  throw refused(place, "must be true or false.");
}

/** By its name or its number. */
export function asDetailLevel(node: JsonNode, place: string): string | null {
  if (node === null) return null;
  const name = typeof node === "string" ? trimmed(node) : node instanceof JsonNumber ? node.spelling : "";
  const level = /^[0-4]$/.test(name) ? detailLevels[Number(name)] : detailLevels.find((one) => one === name);
  if (level === undefined) throw refused(place, `must be one of ${detailLevels.join(", ")}.`);
  return level;
}

export interface ReadAttributes {
  attributes: LangChain4jAttributes;
  attributeDoubles?: readonly string[];
}

/** Attributes of any shape, and which of their numbers are doubles that JavaScript would take for whole ones. */
export function asAttributes(node: JsonNode, place: string): ReadAttributes | null {
  if (node === null) return null;
  if (!(node instanceof JsonObject)) throw refused(place, "must be an object.");
  const doubles: string[] = [];
  const attributes = attributeOf(node, "", doubles) as LangChain4jAttributes;
  return doubles.length > 0 ? { attributes, attributeDoubles: doubles } : { attributes };
}

function attributeOf(node: JsonNode, pointer: string, doubles: string[]): LangChain4jValue {
  if (node instanceof JsonNumber) return numberOf(node, pointer, doubles);
  if (node instanceof JsonObject) return membersOf(node, pointer, doubles);
  if (typeof node !== "object" || node === null) return node;
  return node.map((item, index) => attributeOf(item, pointerTo(pointer, index), doubles));
}

function membersOf(node: JsonObject, pointer: string, doubles: string[]): LangChain4jAttributes {
  const value: LangChain4jAttributes = {};
  const last = new Map(node.members);
  for (const [name, member] of last) {
    const item = attributeOf(member, pointerTo(pointer, name), doubles);
    Object.defineProperty(value, name, { value: item, enumerable: true, configurable: true, writable: true });
  }
  return value;
}

function numberOf(node: JsonNumber, pointer: string, doubles: string[]): number | bigint {
  if (!isWhole(node)) {
    const value = Number(node.spelling);
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) doubles.push(pointer);
    return value;
  }
  const value = BigInt(node.spelling);
  return BigInt.asIntN(54, value) === value && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function isWhole(node: JsonNumber): boolean {
  return !/[.eE]/.test(node.spelling);
}
