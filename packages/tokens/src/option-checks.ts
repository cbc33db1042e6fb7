import { TurnkeepError } from "@turnkeep/core";

/** Options of these names and no others: a misspelt one would be without effect. Errors: `INVALID_OPTION`. */
export function checkOptions(name: string, options: unknown, names: readonly string[]): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new TurnkeepError(
      "INVALID_OPTION",
      `${name} must be an object of options; it is ${kindOf(options)}.`,
    );
  const given = Object.entries(options).flatMap(([key, value]) => (value === undefined ? [] : [key]));
  const unknown = given.filter((key) => !names.includes(key)).map((key) => JSON.stringify(key));
  if (unknown.length === 0) return;
  const message = `${name} takes ${names.join(", ")}; it was given ${unknown.join(", ")}.`;
  throw new TurnkeepError("INVALID_OPTION", message);
}

/** What a value is, without what it holds. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
