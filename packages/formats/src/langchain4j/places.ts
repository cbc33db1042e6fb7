import { TurnkeepError } from "@turnkeep/core";

export const detailLevels = ["LOW", "MEDIUM", "HIGH", "ULTRA_HIGH", "AUTO"] as const;

/** What LangChain4j fills in when it builds a PDF. */
export const pdfType = "application/pdf";

/** Refuses what stands at a place; never repeats what stands there. */
export function refused(place: string, what: string): TurnkeepError {
  return new TurnkeepError("INVALID_MESSAGE", `${place} ${what}`);
}

/** The place of a member; a name that is no plain one may be private. */
export function memberOf(place: string, name: string): string {
  return /^[A-Za-z_$][\w$]{0,39}$/.test(name) ? `${place}.${name}` : `${place}[…]`;
}

/** The next step of a JSON pointer (RFC 6901). */
export function pointerTo(pointer: string, name: string | number): string {
  return `${pointer}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
