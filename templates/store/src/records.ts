import type { HistoryPage, MemorySnapshot, MessageState, StoredMessage } from "@turnkeep/core";
import {
  type ListedMemory,
  memorySnapshot,
  type StoredRows,
  storedRows,
  unreadableMessage,
  withState,
} from "@turnkeep/core/store-kit";

/** `payload` is the memory's data. */
interface HeadRow {
  readonly seq: null;
  readonly version: string;
  readonly next: number;
  readonly owner: string | null;
  readonly head: string | null;
  readonly payload: string | null;
}

interface MessageRow {
  readonly seq: number;
  readonly id: string;
  readonly created: number;
  readonly payload: string;
  readonly meta: string | null;
}

/** A live message of which somebody else has removed the row. */
interface LostRow {
  readonly seq: number;
  readonly payload: null;
}

/** One for the head, one for each live message. */
export type SnapshotRow = HeadRow | MessageRow | LostRow;

/** The head with one of the messages that were asked for, or with none. */
export type LookRow = Pick<HeadRow, "version" | "next"> &
  (
    | { readonly state: null }
    | { readonly seq: number; readonly id: string | null; readonly state: MessageState }
  );

/** A message of any state. */
export type HistoryRow = (MessageRow | LostRow) & { readonly state: MessageState };

export interface ListRow {
  readonly position: string;
  readonly id: string;
  readonly owner: string | null;
  readonly updated: number;
  readonly data: string | null;
}

export function snapshotOf(rows: readonly SnapshotRow[]): MemorySnapshot | undefined {
  const head = rows.find((row) => row.seq === null);
  if (head === undefined) return undefined;
  const messages = rows.flatMap((row) => (row.seq === null ? [] : [messageOf(row)]));
  // They come from an index in this order; only the statement does not promise it.
  messages.sort((a, b) => a.seq - b.seq);
  const { version, next: nextSeq, owner, head: text, payload: data } = head;
  return memorySnapshot({ version, nextSeq, owner, head: text, data }, messages);
}

/** The page from its rows, and one more if there are more. */
export function pageOf(rows: readonly HistoryRow[], limit: number): HistoryPage {
  return {
    messages: rows.slice(0, limit).map((row) => withState(messageOf(row), row.state)),
    hasMore: rows.length > limit,
  };
}

function messageOf(row: MessageRow | LostRow): StoredMessage {
  if (row.payload === null) return unreadableMessage(row.seq);
  const { seq, id, created, payload, meta } = row;
  const message = { id, seq, createdAt: created, payload };
  return meta === null ? message : { ...message, meta };
}

/** From the rows of a look: the version, and what an update must agree with. */
export function storedOf(rows: readonly LookRow[]): [version: string | null, stored: StoredRows] {
  const [head] = rows;
  const named = rows.flatMap((row) =>
    row.state === null ? [] : [{ ...row, id: row.id ?? unreadableMessage(row.seq).id }],
  );
  return [head?.version ?? null, storedRows(head?.next ?? 1, named)];
}

export function listedOf({ position, id, owner, updated, data }: ListRow): ListedMemory {
  return { memoryId: id, owner: owner ?? undefined, updatedAt: updated, data, position };
}
