import { parsedJson } from "../parsed-json.ts";
import { isRecord } from "./to-plain.ts";

/**
 * For authors of formats, to implement `mapText`: applies `change` to the text that `pieces` returns for a value, and
 * returns the new value. A string is passed and taken as it is, anything else as JSON text. If the changed text is not
 * JSON, it becomes a plain string.
 *
 * With `keepsKind` an object stays an object and a list a list: if the changed text is not JSON of that kind, `change`
 * is called for each text and each number in the value instead.
 *
 * @example
 * ```ts
 * import { mapJsonText } from "@turnkeep/core";
 *
 * const input = { card: 4111111111111111, name: "Ada" };
 * mapJsonText(input, JSON.stringify(input), (text) => text.replace(/\d{16}/, "…"), true); // { card: "…", name: "Ada" }
 * ```
 */
export function mapJsonText(
  value: unknown,
  text: string,
  change: (text: string) => string,
  keepsKind: boolean,
): unknown {
  const after = change(text);
  if (after === text) return value;
  if (typeof value === "string" || value === undefined) return after;
  const changed = parsedJson(after);
  if (!keepsKind || typeof value !== "object" || value === null)
    return changed === undefined ? after : changed;
  const isAlike =
    typeof changed === "object" && changed !== null && Array.isArray(changed) === Array.isArray(value);
  return isAlike ? changed : mapLeaves(value, change);
}

function mapLeaves(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value === "number" || typeof value === "bigint") {
    const after = change(String(value));
    return after === String(value) ? value : after;
  }
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, change));
  if (typeof value !== "object" || value === null || !isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapLeaves(member, change)]));
}
