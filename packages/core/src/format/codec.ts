import { quoted, TurnkeepError } from "../errors.ts";
import { integer, wrongOption } from "../option-checks.ts";
import { parsedJson } from "../parsed-json.ts";
import { fromPlain, shortestTooDeep } from "./from-plain.ts";
import { type Plain, tag, toPlain } from "./to-plain.ts";

/**
 * A message as JSON text with its format's name and version, so that it can be told apart from those of other formats
 * and later versions: well-formed Unicode without U+0000. Besides what JSON holds, it preserves `Uint8Array` (a
 * `Buffer` comes back as one), `ArrayBuffer`, `URL`, `Date`, bigint, `-0`, `NaN` and the infinities. Members that are
 * `undefined` are left out. The message itself is not changed.
 *
 * Errors: `INVALID_MESSAGE` for what could not be restored: functions, symbols, class instances, cycles, `undefined` in
 * an array, members that throw, nesting deeper than 500. The error names the path, never the content. `INVALID_OPTION`
 * for a name that is no text or empty, and a version that is no positive integer.
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
  return written(format, version, message).payload;
}

/** A message as text, and as it is read from that text. */
export interface EncodedCopy<M> {
  readonly payload: string;
  readonly message: M;
}

/**
 * What {@link encodePayload} writes, with what {@link decodePayload} makes of it: the text is parsed only where it holds
 * more than the copy that it was made of. Errors: as `encodePayload`.
 */
export function encodedCopy(format: string, version: number, message: unknown): EncodedCopy<unknown> {
  const { payload, plain, isTagged } = written(format, version, message);
  return { payload, message: isTagged ? decodePayload(payload, format, version) : plain };
}

function written(format: string, version: number, message: unknown): Plain & { readonly payload: string } {
  checkFormat(format, version);
  const { plain, isTagged } = toPlain(message);
  // As one value: a text that is put together is copied once more when it is first looked at.
  return { payload: JSON.stringify({ format, version, message: plain }), plain, isTagged };
}

/**
 * The message that {@link encodePayload} wrote, as a new object at each call. The format has to check that the message
 * has its shape.
 *
 * Errors: `CORRUPT_RECORD` for text that is not such a payload or was written by another format, `UNSUPPORTED_VERSION`
 * for a later version. Neither quotes the text. `INVALID_OPTION` as {@link encodePayload}.
 *
 * @example
 * ```ts
 * import { decodePayload } from "@turnkeep/core";
 *
 * decodePayload('{"format":"my-format","version":1,"message":{"role":"user"}}', "my-format", 1); // { role: "user" }
 * ```
 */
export function decodePayload(text: string, format: string, version: number): unknown {
  checkFormat(format, version);
  const payload = parse(text);
  if (payload.format !== format) {
    throw new TurnkeepError(
      "CORRUPT_RECORD",
      `It was written by ${formatName(payload.format)}, not by the message format ${quoted(format)}. ` +
        "Open the memory with the format it was written with.",
    );
  }
  if (payload.version > version) {
    throw new TurnkeepError(
      "UNSUPPORTED_VERSION",
      `It was written by version ${payload.version} of the message format ${quoted(format)}; ` +
        `this one reads up to version ${version}. Upgrade the package that brings the format.`,
    );
  }
  // The tag can only be in the text if something was tagged, or if the message itself says it.
  const isPlain = text.length < shortestTooDeep && !text.includes(`"${tag}"`);
  return isPlain ? payload.message : fromPlain(payload.message);
}

const positive = integer(1);

/** Errors: `INVALID_OPTION`. A version that is no integer would be written as text that cannot be read. */
function checkFormat(format: string, version: number): void {
  if (typeof format !== "string" || format === "") throw wrongOption("format", format, "a format's name");
  positive("version", version);
}

/** The name of the format that {@link encodePayload} wrote a text with; `undefined` for any other text. */
export function formatOf(text: string): string | undefined {
  try {
    return parse(text).format;
  } catch {
    return undefined;
  }
}

/** The name is shown only if it looks like a format's name: any other text may be private. */
function formatName(name: string): string {
  return /^[a-z][a-z0-9./@-]{0,39}$/.test(name) ? `the message format "${name}"` : "another message format";
}

function parse(text: string): { format: string; version: number; message: unknown } {
  const value = parsedJson(text);
  if (value === undefined)
    throw new TurnkeepError("CORRUPT_RECORD", "Its payload is not JSON. Restore the record, or remove it.");
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
