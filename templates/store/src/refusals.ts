import { errorCode, type Refusals, refusalOf } from "@turnkeep/core/store-kit";

export const storeName = "sqliteStore";

/** SQLite's primary result codes, which extended ones repeat in their last byte. */
const busy = 5;

/** What SQLite answers that proves that nothing was written, by its result code and its words. Anything else is open. */
const refusals: Refusals = {
  // SQLite has no code of its own for what is missing.
  missing: [[/no such (?:table|column|index)|has no column/, "a table or column"]],
  // A transaction that did not get its lock has not begun.
  passing: /^SQLITE_BUSY$/,
};

/** What the store throws for a fault of SQLite. */
export function toldFault(cause: unknown): unknown {
  const fault = isBusy(cause) ? "SQLITE_BUSY" : hasErrcode(cause) ? cause.message : errorCode(cause);
  return refusalOf(storeName, refusals, cause, fault) ?? cause;
}

/** Whether another connection is in the way. */
export function isBusy(cause: unknown): boolean {
  return hasErrcode(cause) && (cause.errcode & 0xff) === busy;
}

function hasErrcode(cause: unknown): cause is Error & { readonly errcode: number } {
  return cause instanceof Error && "errcode" in cause && typeof cause.errcode === "number";
}
