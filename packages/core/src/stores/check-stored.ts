import { conflictError, invalidOption, show } from "../errors.ts";
import type { MessageState } from "../store-contract.ts";
import type { FoldedUpdate } from "./fold-update.ts";

/** What a memory holds, as far as an update must agree with it. */
export interface StoredRows {
  readonly nextSeq: number;
  find(seq: number): { readonly id: string; readonly state: MessageState } | undefined;
}

/** {@link StoredRows} made from a list of rows. */
export function storedRows(
  nextSeq: number,
  rows: Iterable<{ readonly seq: number; readonly id: string; readonly state: MessageState }>,
): StoredRows {
  const bySeq = new Map(Array.from(rows, (row) => [row.seq, row]));
  return { nextSeq, find: (seq) => bySeq.get(seq) };
}

/**
 * Explains why an update changed nothing. `true`: it is in place already, because it was sent twice. `false`: nothing
 * stands in its way any more, because the state changed since; it may be sent again. Otherwise throws the reason.
 *
 * Errors: `VERSION_CONFLICT`; `INVALID_OPTION` as in {@link checkAgainstStored}.
 *
 * @param version The stored version; `null`: no such memory.
 *
 * @example
 * ```ts
 * import { type FoldedUpdate, isInPlace, storedRows } from "@turnkeep/core/store-kit";
 *
 * function sentTwice(update: FoldedUpdate): boolean {
 *   return isInPlace("chat-1", update, update.version, storedRows(update.nextSeq, []));
 * }
 * ```
 */
export function isInPlace(
  memoryId: string,
  update: FoldedUpdate,
  version: string | null,
  stored: StoredRows,
): boolean {
  if (version === update.version) return true;
  if (version !== update.expected) throw conflictError(memoryId, update.expected);
  checkAgainstStored(memoryId, update, stored);
  return false;
}

/**
 * Throws `INVALID_OPTION` unless a checked update, computed from the stored version, agrees with what is stored: no
 * sequence number is reused, a replaced message is live, or evicted as the update says, and keeps its id, a moved message
 * exists.
 *
 * The version proves that nothing has changed since the update was computed, not that it was right then. So a store
 * finds these four itself: in the condition of the statement that writes, or by this function over what it has read.
 * It need not find more, such as an id that is taken: core does.
 *
 * @example
 * ```ts
 * import { checkAgainstStored, foldUpdate, storedRows } from "@turnkeep/core/store-kit";
 *
 * const change = { expected: "v1", version: "v2", nextSeq: 9, append: [], replace: [], move: [] };
 * checkAgainstStored("chat-1", foldUpdate(change), storedRows(9, []));
 * ```
 */
export function checkAgainstStored(memoryId: string, update: FoldedUpdate, stored: StoredRows): void {
  const { first, replaced, moved } = update;
  const place = (): string => `memory ${show(memoryId)}`;
  if (first < stored.nextSeq) {
    throw invalidOption(
      `nextSeq, and the seq of a new message, must be ${stored.nextSeq} or more in ${place()}, but the update says ${first}`,
    );
  }
  for (const { seq, id, was = "live" } of replaced) {
    const row = stored.find(seq);
    if (row?.state !== was || row.id !== id) {
      throw invalidOption(
        `The update replaces ${show(id)} as ${was}, and ${place()} has no such message that is ${was} at seq ${seq}`,
      );
    }
  }
  for (const { seq } of moved) {
    if (stored.find(seq) !== undefined) continue;
    throw invalidOption(`A move names seq ${seq}, which ${place()} does not hold`);
  }
}
