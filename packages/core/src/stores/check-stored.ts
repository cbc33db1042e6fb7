import type { MemoryUpdate, MessageState } from "../store-contract.ts";
import { conflictError, invalidOption } from "./store-errors.ts";
import { show } from "./text.ts";

/** What a memory holds, as far as an update must agree with it. */
export interface StoredRows {
  readonly nextSeq: number;
  find(seq: number): { readonly id: string; readonly state: MessageState } | undefined;
}

/** {@link StoredRows} of a list of them. */
export function storedRows(
  nextSeq: number,
  rows: Iterable<{ readonly seq: number; readonly id: string; readonly state: MessageState }>,
): StoredRows {
  const bySeq = new Map(Array.from(rows, (row) => [row.seq, row]));
  return { nextSeq, find: (seq) => bySeq.get(seq) };
}

/**
 * Whether an update that has changed nothing is in place already: it was sent twice. Else it throws why, or answers
 * `false` where nothing stands in its way: what it met has changed since, and it may be sent again.
 *
 * Errors: `VERSION_CONFLICT`; `INVALID_OPTION` as {@link checkAgainstStored}.
 *
 * @param version The stored one; `null`: no such memory.
 *
 * @example
 * ```ts
 * import type { MemoryUpdate } from "@turnkeep/core";
 * import { isInPlace, storedRows } from "@turnkeep/core/store-kit";
 *
 * function sentTwice(update: MemoryUpdate): boolean {
 *   return isInPlace("chat-1", update, update.version, storedRows(update.nextSeq, []));
 * }
 * ```
 */
export function isInPlace(
  memoryId: string,
  update: MemoryUpdate,
  version: string | null,
  stored: StoredRows,
): boolean {
  if (version === update.version) return true;
  if (version !== update.expected) throw conflictError(memoryId, update.expected);
  checkAgainstStored(memoryId, update, stored);
  return false;
}

/**
 * Throws `INVALID_OPTION` unless a checked update, computed from this very version, agrees with what is stored:
 * sequence numbers are not used again, what is replaced is live and keeps its id, what is moved is there.
 */
export function checkAgainstStored(memoryId: string, update: MemoryUpdate, stored: StoredRows): void {
  const { append, replace, move, nextSeq } = update;
  const place = (): string => `memory ${show(memoryId)}`;
  const first = append[0];
  if (nextSeq < stored.nextSeq) {
    throw invalidOption(`nextSeq must not go back from ${stored.nextSeq} to ${nextSeq} in ${place()}`);
  }
  if (first !== undefined && first.seq < stored.nextSeq) {
    throw invalidOption(
      `A new message must have seq ${stored.nextSeq} or more in ${place()}, but ${show(first.id)} has ${first.seq}`,
    );
  }
  for (const { seq, id } of replace) {
    const row = stored.find(seq);
    if (row?.state !== "live" || row.id !== id) {
      throw invalidOption(
        `Only a live message can be replaced, and ${show(id)} is none at seq ${seq} of ${place()}`,
      );
    }
  }
  const appended = new Set(append.map(({ seq }) => seq));
  for (const { seq } of move) {
    if (!appended.has(seq) && stored.find(seq) === undefined) {
      throw invalidOption(`A move names seq ${seq}, which ${place()} does not hold`);
    }
  }
}
