import { type Refusals, refusalOf, type TurnkeepError } from "@turnkeep/core/store-kit";

export const storeName = "sqliteStore";

/**
 * What SQLite says that proves that nothing was written: whatever fails before the end of a transaction undoes it. Every driver
 * passes its words on, and not every one its codes. They hold names and never content. A fault of the disk (`disk I/O error`)
 * may come at the end of a transaction, so it is of open outcome.
 */
const refusals: Refusals = {
  missing: [[/no such (?:table|column|index)|has no column named/, "a table or column"]],
  unfit: [
    [
      /already exists|there is already/,
      "a name that migrate() needs is taken by something else (see the cause): give another prefix, or rename what is there",
    ],
  ],
  // A transaction that did not get its lock has not begun.
  passing: /database (?:table )?is locked/,
  refused: [
    [
      /within a transaction/,
      "the given client is in a transaction of its own: end it, or give the store another",
    ],
    [/readonly database/, "the database is read-only: mend the rights of the file and of its folder"],
    [
      /unable to open database/,
      "the file cannot be opened: its folder must exist, and this process may write there",
    ],
    [/disk is full/, "the disk, or the room that the database may take, is full: make room"],
    [/file is not a database/, "the file is no database of SQLite, or is encrypted"],
    [/disk image is malformed/, "the file is damaged: restore it"],
    [/string or blob too big/, "a text is larger than the database takes"],
  ],
};

const { missing = [], unfit = [], passing = /^$/, refused = [] } = refusals;
const rows = [...missing, ...unfit, [passing] as const, ...refused];
const words = new RegExp(rows.map(([{ source }]) => source).join("|"));

/** The error for what a driver threw if it proves that nothing was written. */
export function refusedBy(cause: unknown): TurnkeepError | undefined {
  const [said] = words.exec(String(cause)) ?? [];
  return said === undefined ? undefined : refusalOf(storeName, refusals, cause, said);
}

/** Whether another connection is in the way. Nothing has happened, so the same may be sent again. */
export function isBusy(cause: unknown): boolean {
  return /database is locked/.test(String(cause));
}
