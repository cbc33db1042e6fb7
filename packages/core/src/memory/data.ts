import { invalidOption, quoted, show, TurnkeepError } from "../errors.ts";
import { isRecord } from "../format/to-plain.ts";
import type { JsonValue } from "../memory-data.ts";
import { parsedJson } from "../parsed-json.ts";
import { maxDataBytes } from "../stores/checks.ts";
import { utf8Length } from "../stores/text.ts";

/** The JSON text of what an application says about a conversation. Errors: `INVALID_OPTION`, without the value. */
export function encodeData(data: unknown): string {
  const text = textOf(data);
  if (text === undefined || !isJson(data)) {
    throw invalidOption(
      "The data of a memory must be JSON: texts, finite numbers, true, false, null, and arrays and objects of these; " +
        "null says that there is nothing. Make texts of dates first",
    );
  }
  const bytes = utf8Length(text);
  if (bytes <= maxDataBytes) return text;
  throw invalidOption(
    `The data of a memory must not exceed ${maxDataBytes} UTF-8 bytes of JSON, but these have ${show(bytes)}: ` +
      "keep what is larger elsewhere, under the memory's id",
  );
}

function textOf(data: unknown): string | undefined {
  try {
    return JSON.stringify(data);
  } catch {
    return undefined; // A circle, or a bigint.
  }
}

/** Whether JSON text of it says all of it. Members that are `undefined` count as absent. */
function isJson(data: unknown): boolean {
  if (Array.isArray(data)) return Array.from(data).every(isJson);
  if (typeof data === "object" && data !== null)
    return isRecord(data) && Object.values(data).every((member) => member === undefined || isJson(member));
  return data === null || ["string", "boolean"].includes(typeof data) || Number.isFinite(data);
}

/** What was said; `undefined` if nothing was. Errors: `CORRUPT_RECORD`. */
export function decodeData(memoryId: string, text: string | undefined): JsonValue | undefined {
  if (text === undefined) return undefined;
  const data = parsedJson(text);
  if (data !== undefined) return data as JsonValue;
  throw new TurnkeepError(
    "CORRUPT_RECORD",
    `The data of memory ${quoted(memoryId)} cannot be read. Call update() to replace them.`,
    { details: { memoryId } },
  );
}
