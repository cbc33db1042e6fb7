import { TurnkeepError } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import { kindOf } from "@turnkeep/core/store-kit";
import type { ConvertDataPart } from "./messages.ts";

/** The application's function, with its answers checked. Errors: `INVALID_OPTION`, which never shows an answer. */
export function dataPartConverter(convert: ConvertDataPart | undefined): ConvertDataPart {
  if (convert === undefined) return () => undefined;
  return (part) => {
    const converted = convert(part);
    if (!converted || (isObject(converted) && typeof converted.type === "string")) return converted;
    throw new TurnkeepError(
      "INVALID_OPTION",
      `convertDataPart must return a text or file part, or undefined; it returned ${kindOf(converted)}.`,
    );
  };
}
