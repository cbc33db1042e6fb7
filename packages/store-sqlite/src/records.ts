import type { HistoryPage, MemorySnapshot, MessageState, StoredMessage } from "@turnkeep/core";
import {
  type ListedMemory,
  memorySnapshot,
  type StoredRows,
  storedRows,
  unreadableMessage,
  withState,
} from "@turnkeep/core/store-kit";

/** A whole number, as the client that the store was given reads them. */
export type Whole = number | bigint | string;

/** `payload` is the memory's data. */
interface HeadRow {
  readonly seq: null;
  readonly version: string;
  readonly next: Whole;
  readonly owner: string | null;
  readonly head: string | null;
  readonly payload: string | null;
}

/** `payload` is null: it is live, and somebody else has removed its row. */
interface MessageRow {
  readonly seq: Whole;
  readonly id: string;
  readonly created: Whole;
  readonly payload: string | null;
  readonly meta: string | null;
}

/** The head, or a live message. */
export type SnapshotRow = HeadRow | MessageRow;

/** A message of any state. */
export type HistoryRow = MessageRow & { readonly state: MessageState };

/** The head with one of the requested messages, or with none. `id` is null: it is live and its row is lost. */
export type LookRow = Pick<HeadRow, "version" | "next"> &
  (
    | { readonly state: null }
    | { readonly seq: Whole; readonly id: string | null; readonly state: MessageState }
  );

/** A memory in a listing. */
export interface ListRow {
  readonly position: string;
  readonly id: string;
  readonly owner: string | null;
  readonly updated: Whole;
  readonly data: string | null;
}

/** What an id begins with that stands in for one that is lost. */
export const lostId: string = unreadableMessage(0).id.slice(0, -1);

/** The snapshot from the rows of a read: the head's and those of live messages. */
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
  // An index yields them in this order, but the statement does not promise it.
  messages.sort((a, b) => a.seq - b.seq);
  return memorySnapshot(stored, messages);
}

/** The page from its rows, one more than the page holds if there are more. */
export function pageOf(rows: readonly HistoryRow[], limit: number): HistoryPage {
  return {
    messages: rows.slice(0, limit).map((row) => withState(messageOf(row), row.state)),
    hasMore: rows.length > limit,
  };
}

function messageOf({ id, payload, meta, ...row }: MessageRow): StoredMessage {
  const [seq, createdAt] = [Number(row.seq), Number(row.created)];
  if (payload === null) return unreadableMessage(seq);
  return meta === null ? { id, seq, createdAt, payload } : { id, seq, createdAt, payload, meta };
}

/** From the rows of a look: the version, and what an update must agree with. */
export function storedOf(rows: readonly LookRow[]): {
  readonly version: string | null;
  readonly stored: StoredRows;
} {
  const [head] = rows;
  const named = rows.flatMap((row) =>
    row.state === null
      ? []
      : [{ seq: Number(row.seq), state: row.state, id: row.id ?? unreadableMessage(Number(row.seq)).id }],
  );
  return { version: head?.version ?? null, stored: storedRows(Number(head?.next ?? 1), named) };
}

export function listedOf({ position, id, owner, updated, data }: ListRow): ListedMemory {
  return { memoryId: id, owner: owner ?? undefined, updatedAt: Number(updated), data, position };
}
