import { errorCode, type Refusals, refusalOf, type TurnkeepError } from "@turnkeep/core/store-kit";

export const storeName = "sqliteStore";

/** SQLite's result codes by their numbers, which `node:sqlite` tells alone. An extended one repeats its number in the last byte. */
const codes: Readonly<Record<number, string>> = {
  3: "SQLITE_PERM",
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  18: "SQLITE_TOOBIG",
  23: "SQLITE_AUTH",
  26: "SQLITE_NOTADB",
};

/** SQLite has no codes of their own for these; what it says of them holds names and never content. */
const words =
  /no such (?:table|column|index)|has no column|already exists|there is already|within a transaction/;

/**
 * What SQLite answers that proves that nothing was written, by its result code or its words: whatever fails before the end
 * of a transaction undoes it. A fault of the disk (`SQLITE_IOERR`) may come at that end, so it is of open outcome.
 */
const refusals: Refusals = {
  missing: [[/^no such|^has no column/, "a table or column"]],
  unfit: [
    [
      /^already exists|^there is already/,
      "a name that migrate() needs is taken by something else (see the cause): give another prefix, or rename what is there",
    ],
  ],
  // A transaction that did not get its lock has not begun.
  passing: /^SQLITE_(?:BUSY|LOCKED)$/,
  refused: [
    [
      /^within a transaction/,
      "the given client is in a transaction of its own: end it, or give the store another",
    ],
    [/^SQLITE_READONLY/, "the database is read-only: mend the rights of the file and of its folder"],
    [
      /^SQLITE_CANTOPEN/,
      "the file cannot be opened: its folder must exist, and this process may write there",
    ],
    [/^SQLITE_FULL/, "the disk, or the room that the database may take, is full: make room"],
    [/^SQLITE_NOTADB/, "the file is no database of SQLite, or is encrypted"],
    [/^SQLITE_CORRUPT/, "the file is damaged: restore it"],
    [/^SQLITE_TOOBIG/, "a text is larger than the database takes"],
    [/^SQLITE_(?:AUTH|PERM)/, "the database does not allow this"],
  ],
};

/** The error for what a driver threw if it proves that nothing was written. */
export function refusedBy(cause: unknown): TurnkeepError | undefined {
  return refusalOf(storeName, refusals, cause, words.exec(saidBy(cause))?.[0] ?? codeOf(cause));
}

/** Whether another connection is in the way. Nothing has happened, so the same may be sent again. */
export function isBusy(cause: unknown): boolean {
  return codeOf(cause) === "SQLITE_BUSY";
}

/** SQLite's result code, whichever driver tells it: as a number, as a text, or within a message, as D1 does. */
function codeOf(cause: unknown): string {
  const { errcode } = Object(cause) as { errcode?: unknown };
  if (typeof errcode === "number") return codes[errcode & 0xff] ?? "SQLITE_ERROR";
  return /SQLITE_[A-Z]+/.exec(`${errorCode(cause)} ${saidBy(cause)}`)?.[0] ?? errorCode(cause);
}

function saidBy(cause: unknown): string {
  return cause instanceof Error ? cause.message : "";
}
