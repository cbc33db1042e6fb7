import { TurnkeepError } from "../errors.ts";
import { fromBase64, toBase64 } from "./base64.ts";

/**
 * The member that marks what JSON cannot hold by itself: `{"$turnkeep": kind, "value": …}`. An object that has such a
 * member of its own is wrapped once more, under the kind `object`.
 */
const tag = "$turnkeep";

/** Nesting beyond this is refused, so that no engine's recursion limit decides what can be read again. */
export const maxDepth = 500;

/**
 * A message as JSON text with its format's name and version, so that it can be told apart from others and from later
 * ones. Beside what JSON holds, `Uint8Array`, `ArrayBuffer`, `URL`, `Date`, bigint, `-0`, `NaN` and the infinities
 * survive; members that are `undefined` are left out.
 *
 * Errors: `INVALID_MESSAGE` for what could not be given back: functions, symbols, class instances, cycles, `undefined`
 * in an array, nesting deeper than 500. Its text names the path, never the content.
 *
 * @example
 * ```ts
 * import { decodePayload, encodePayload } from "@turnkeep/core";
 *
 * const text = encodePayload("my-format", 1, { role: "user", at: new Date(0) });
 * decodePayload(text, "my-format", 1); // { role: "user", at: new Date(0) }
 * ```
 */
export function encodePayload(format: string, version: number, message: unknown): string {
  const plain = toPlain(message, [], new Set());
  return `{"format":${JSON.stringify(format)},"version":${version},"message":${JSON.stringify(plain)}}`;
}

/**
 * The message that {@link encodePayload} wrote. Errors: `CORRUPT_RECORD` for text that is no such payload or was
 * written by another format, `UNSUPPORTED_VERSION` for a later version.
 */
export function decodePayload(text: string, format: string, version: number): unknown {
  const payload = parse(text);
  if (payload.format !== format) {
    throw new TurnkeepError(
      "CORRUPT_RECORD",
      `It was written by the message format ${JSON.stringify(payload.format)}, not ${JSON.stringify(format)}. ` +
        "Open the memory with the format it was written with.",
    );
  }
  if (payload.version > version) {
    throw new TurnkeepError(
      "UNSUPPORTED_VERSION",
      `It was written by version ${payload.version} of the message format ${JSON.stringify(format)}; ` +
        `this one reads up to version ${version}. Upgrade the package that brings the format.`,
    );
  }
  // The tag can only stand in the text if something was tagged, or said it literally.
  return text.includes(`"${tag}"`) ? fromPlain(payload.message) : payload.message;
}

function parse(text: string): { format: string; version: number; message: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's error quotes the text, which is private.
    throw new TurnkeepError("CORRUPT_RECORD", "Its payload is not JSON. Restore the record, or remove it.");
  }
  const { format, version, message } = (value ?? {}) as Record<string, unknown>;
  if (
    typeof format === "string" &&
    Number.isSafeInteger(version) &&
    (version as number) > 0 &&
    message !== undefined
  ) {
    return { format, version: version as number, message };
  }
  throw new TurnkeepError(
    "CORRUPT_RECORD",
    "Its payload has no format, version and message. Restore the record, or remove it.",
  );
}

type Path = (string | number)[];

/** The same value as JSON can hold it; the value itself where nothing has to be tagged. */
function toPlain(value: unknown, path: Path, above: Set<object>): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : tagged("number", Object.is(value, -0) ? "-0" : String(value));
    case "bigint":
      return tagged("bigint", value.toString());
    case "object":
      return value === null ? null : objectToPlain(value, path, above);
    default:
      throw refused(path, `a ${typeof value}`);
  }
}

function objectToPlain(value: object, path: Path, above: Set<object>): unknown {
  if (value instanceof Uint8Array) return tagged("Uint8Array", toBase64(value));
  if (value instanceof ArrayBuffer) return tagged("ArrayBuffer", toBase64(new Uint8Array(value)));
  if (value instanceof URL) return tagged("URL", value.href);
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw refused(path, "an invalid Date");
    return tagged("Date", value.toISOString());
  }
  if (above.has(value)) throw refused(path, "a reference to an object that contains it");
  if (above.size >= maxDepth) throw refused(path.slice(0, 8), `nested deeper than ${maxDepth}`);
  above.add(value);
  try {
    return Array.isArray(value) ? arrayToPlain(value, path, above) : recordToPlain(value, path, above);
  } finally {
    above.delete(value);
  }
}

function arrayToPlain(value: readonly unknown[], path: Path, above: Set<object>): unknown {
  let changed = false;
  const members = Array.from(value, (member, index) => {
    if (member === undefined)
      throw refused([...path, index], "undefined in an array, which JSON cannot hold");
    path.push(index);
    const plain = toPlain(member, path, above);
    path.pop();
    changed ||= plain !== member;
    return plain;
  });
  return changed ? members : value;
}

function recordToPlain(value: object, path: Path, above: Set<object>): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  // An object of another realm has another Object.prototype, whose own prototype is null all the same.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw refused(path, `an instance of ${value.constructor?.name || "a class"}`);
  }
  let changed = false;
  const members: [string, unknown][] = [];
  for (const key of Object.keys(value)) {
    path.push(key);
    const member = read(value, key, path);
    const plain = toPlain(member, path, above);
    path.pop();
    changed ||= plain !== member;
    if (plain !== undefined) members.push([key, plain]);
  }
  // fromEntries defines members, so that __proto__ stays data.
  const plain = changed ? Object.fromEntries(members) : value;
  return Object.hasOwn(value, tag) ? tagged("object", plain) : plain;
}

function read(value: object, key: string, path: Path): unknown {
  try {
    return (value as Record<string, unknown>)[key];
  } catch (cause) {
    throw refused(path, "a getter that throws", cause);
  }
}

function tagged(kind: string, value: unknown): object {
  return { [tag]: kind, value };
}

function refused(path: Path, what: string, cause?: unknown): TurnkeepError {
  const place = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return new TurnkeepError(
    "INVALID_MESSAGE",
    `message${place} is ${what}; it could not be read again as it is. Convert it to plain data first.`,
    { cause },
  );
}

/** Restores what was tagged, in place: the value is fresh from the parser. */
function fromPlain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const kind = (value as Record<string, unknown>)[tag];
  if (typeof kind === "string" && Object.hasOwn(value, tag))
    return untagged(kind, (value as { value?: unknown }).value);
  return membersFromPlain(value);
}

function membersFromPlain(value: object): object {
  for (const [key, member] of Object.entries(value)) {
    if (typeof member !== "object" || member === null) continue;
    const restored = fromPlain(member);
    if (restored === member) continue;
    Object.defineProperty(value, key, {
      value: restored,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return value;
}

function untagged(kind: string, value: unknown): unknown {
  try {
    if (kind === "object") return membersFromPlain(value as object);
    if (typeof value === "string") {
      if (kind === "Uint8Array") return fromBase64(value);
      if (kind === "ArrayBuffer") return fromBase64(value).buffer;
      if (kind === "URL") return new URL(value);
      if (kind === "Date") return new Date(value);
      if (kind === "bigint") return BigInt(value);
      if (kind === "number") return Number(value);
    }
  } catch {
    // Reported below, without the value.
  }
  throw new TurnkeepError(
    "CORRUPT_RECORD",
    `Its payload holds a ${JSON.stringify(kind)} that cannot be restored. Restore the record, or remove it.`,
  );
}

/**
 * Whether two values have the same content: an absent and an `undefined` member are the same, the order of an object's
 * members does not matter; binary data, URLs and dates compare by value, `NaN` equals itself, and `-0` is not `0`.
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
  if (a instanceof Uint8Array || b instanceof Uint8Array) {
    return a instanceof Uint8Array && b instanceof Uint8Array && equalBytes(a, b);
  }
  if (a instanceof ArrayBuffer || b instanceof ArrayBuffer) {
    return (
      a instanceof ArrayBuffer && b instanceof ArrayBuffer && equalBytes(new Uint8Array(a), new Uint8Array(b))
    );
  }
  if (a instanceof URL || b instanceof URL) return a instanceof URL && b instanceof URL && a.href === b.href;
  if (a instanceof Date || b instanceof Date) {
    return a instanceof Date && b instanceof Date && Object.is(a.getTime(), b.getTime());
  }
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((member, index) => equalContent(member, b[index]))
    );
  }
  return equalMembers(a as Record<string, unknown>, b as Record<string, unknown>);
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function equalMembers(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const member = (of: Record<string, unknown>, key: string): unknown =>
    Object.hasOwn(of, key) ? of[key] : undefined;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) =>
    equalContent(member(a, key), member(b, key)),
  );
}
