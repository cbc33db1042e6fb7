import { errorCode, notReadyError, refusedError, TurnkeepError } from "../errors.ts";

/** What identifies a fault of the database, such as `/^42P01/`, and what the error says of it. */
type RefusalRow = readonly [fault: RegExp, words: string];

/**
 * What a database answers when it refuses, so that nothing was written. Only what is certain belongs here: a fault that is
 * in no list is of open outcome. The lists are read in this order, and the first row that matches counts.
 */
export interface Refusals {
  /** `STORE_NOT_READY`: what is missing until `migrate()` has run, as {@link notReadyError} takes it. */
  readonly missing?: readonly RefusalRow[] | undefined;
  /** `STORE_NOT_READY`: what keeps the database from being prepared, and what to mend. */
  readonly unfit?: readonly RefusalRow[] | undefined;
  /** `STORE_UNAVAILABLE`: what passes by itself, such as a limit, a lock, or a host that does not listen yet. */
  readonly passing?: RegExp | undefined;
  /** `STORE_REFUSED`: what is refused until somebody mends it, and what to mend, as {@link refusedError} takes it. */
  readonly refused?: readonly RefusalRow[] | undefined;
}

/**
 * The error for what a driver threw, if that proves that nothing was written; `undefined` if the outcome is open.
 *
 * @param fault What the lists are searched for, and the error shows: by default the `code` of `cause`. A store may add
 *   what the database says, but never content.
 *
 * @example
 * ```ts
 * import { type Refusals, refusalOf } from "@turnkeep/core/store-kit";
 *
 * const refusals: Refusals = {
 *   missing: [[/^NO_TABLE$/, "the table memories"]],
 *   passing: /^(?:BUSY|ECONNREFUSED)$/,
 *   refused: [[/^READ_ONLY$/, "the server is read-only: use the primary's address"]],
 * };
 *
 * async function read(query: () => Promise<string>): Promise<string> {
 *   try {
 *     return await query();
 *   } catch (cause) {
 *     throw refusalOf("myStore", refusals, cause) ?? cause;
 *   }
 * }
 * ```
 */
export function refusalOf(
  store: string,
  { missing = [], unfit = [], passing, refused = [] }: Refusals,
  cause: unknown,
  fault: string = errorCode(cause),
): TurnkeepError | undefined {
  const wordsIn = (rows: readonly RefusalRow[]): string | undefined =>
    rows.find(([row]) => row.test(fault))?.[1];
  const lacks = wordsIn(missing);
  if (lacks !== undefined) return notReadyError(store, lacks, cause);
  const hinders = wordsIn(unfit);
  if (hinders !== undefined) return new TurnkeepError("STORE_NOT_READY", `${store}: ${hinders}`, { cause });
  if (passing?.test(fault)) {
    const message = `${store}: the database cannot serve the call now (${fault}); see the cause. Nothing was written: it may be repeated`;
    return new TurnkeepError("STORE_UNAVAILABLE", message, { cause });
  }
  const why = wordsIn(refused);
  return why === undefined ? undefined : refusedError(store, `${why} (${fault})`, cause);
}
