import type { HistoryPage, MemorySnapshot, MessageState, StoredMessage } from "@turnkeep/core";
import {
  type ListedMemory,
  memorySnapshot,
  type StoredRows,
  storedRows,
  unreadableMessage,
  withState,
} from "@turnkeep/core/store-kit";

/** A whole number of the database. A pool's settings decide whether it comes as a text. */
type Whole = number | string;

/** `payload` is the memory's data. */
interface HeadRow {
  readonly seq: null;
  readonly version: string;
  readonly next: Whole;
  readonly owner: string | null;
  readonly head: string | null;
  readonly payload: string | null;
}

interface MessageRow {
  readonly seq: Whole;
  readonly id: string;
  readonly created: Whole;
  readonly payload: string;
  readonly meta: string | null;
}

/** A live message of which somebody else has removed the row. */
interface LostRow {
  readonly seq: Whole;
  readonly payload: null;
}

/** One for the head, one for each live message. */
export type SnapshotRow = HeadRow | MessageRow | LostRow;

/** The head, which is locked now, with one of the messages that were asked for, or with none. */
export type LookRow = {
  readonly key: Whole;
  readonly version: string;
  readonly next: Whole;
  /** Whether the memory has not expired. */
  readonly present: Whole;
} & (
  | { readonly state: null }
  | { readonly seq: Whole; readonly id: string | null; readonly state: MessageState }
);

/** A message of any state. */
export type HistoryRow = (MessageRow | LostRow) & { readonly state: MessageState };

export interface ListRow {
  readonly position: string;
  readonly id: string;
  readonly owner: string | null;
  readonly updated: Whole;
  readonly data: string | null;
}

/** The snapshot from the rows of a read; `known`: the version of which the caller needs no messages. */
export function snapshotOf(
  rows: readonly SnapshotRow[],
  known: string | undefined,
): MemorySnapshot | undefined {
  const head = rows.find((row) => row.seq === null);
  if (head === undefined) return undefined;
  const { version, next, owner, head: text, payload: data } = head;
  const stored = { version, nextSeq: Number(next), owner, head: text, data };
  if (version === known) return memorySnapshot(stored, undefined);
  const messages = rows.flatMap((row) => (row.seq === null ? [] : [messageOf(row)]));
  // They come from an index in this order; only the statement does not promise it.
  messages.sort((a, b) => a.seq - b.seq);
  return memorySnapshot(stored, messages);
}

/** The page from its rows, and one more if there are more. */
export function pageOf(rows: readonly HistoryRow[], limit: number): HistoryPage {
  return {
    messages: rows.slice(0, limit).map((row) => withState(messageOf(row), row.state)),
    hasMore: rows.length > limit,
  };
}

function messageOf(row: MessageRow | LostRow): StoredMessage {
  const seq = Number(row.seq);
  if (row.payload === null) return unreadableMessage(seq);
  const { id, created, payload, meta } = row;
  const message = { id, seq, createdAt: Number(created), payload };
  return meta === null ? message : { ...message, meta };
}

/** The seqs of lost messages that are named by the ids that stand in for them. */
export function lostSeqs(ids: readonly string[]): number[] {
  const seqs = ids.map((id) => Number(/\d+$/.exec(id)?.[0]));
  return seqs.filter((seq, index) => unreadableMessage(seq).id === ids[index]);
}

/** A memory whose row is locked: nobody else changes it before the transaction ends. */
export interface LockedMemory {
  readonly key: string;
  /** `null`: it has expired, which is as if it were not there, but its rows are. */
  readonly version: string | null;
  /** What an update must agree with. */
  readonly stored: StoredRows;
}

/** From the rows of a look; `undefined`: no such memory. */
export function lockedOf(rows: readonly LookRow[]): LockedMemory | undefined {
  const [head] = rows;
  if (head === undefined) return undefined;
  const named = rows.flatMap((row) => {
    if (row.state === null) return [];
    const seq = Number(row.seq);
    return [{ seq, id: row.id ?? unreadableMessage(seq).id, state: row.state }];
  });
  return {
    key: String(head.key),
    version: Number(head.present) === 1 ? head.version : null,
    stored: storedRows(Number(head.next), named),
  };
}

export function listedOf({ position, id, owner, updated, data }: ListRow): ListedMemory {
  return { memoryId: id, owner: owner ?? undefined, updatedAt: Number(updated), data, position };
}
