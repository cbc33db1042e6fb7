import type { MemorySnapshot, MessageState, StoredMessage } from "@turnkeep/core";
import { type ListedMemory, memorySnapshot, type StoredRows, storedRows } from "@turnkeep/core/store-kit";

/**
 * A message, whose `key` is its seq, time and id; or the head, whose `key` is a mark, its next seq and its version, and
 * whose `meta` is a mark and the owner. Drivers take time for each column, so there are few.
 */
export interface KeyedRow {
  readonly key: string;
  readonly payload: string | null;
  readonly meta: string | null;
}

/** The head with one of the requested messages, or with none. */
export type LookRow = { readonly version: string; readonly next: string } & (
  | { readonly seq: null }
  | { readonly seq: string; readonly id: string; readonly state: MessageState }
);

/** A memory in a listing; `key` is its position there. */
export interface ListRow {
  readonly key: string;
  readonly id: string;
  readonly owner: string | null;
  readonly updated: string;
}

/** A column that the statement returns behind a mark. */
function unmarked(text: string): string {
  return text.slice(1);
}

/** The snapshot from the rows of a read: the head's and those of live messages. */
export function snapshotOf(rows: readonly KeyedRow[], known: string | undefined): MemorySnapshot {
  const isHead = ({ key }: KeyedRow): boolean => key.startsWith("=");
  const head = rows.find(isHead);
  if (head === undefined) return { version: null, nextSeq: 1, messages: [] };
  const end = head.key.indexOf(" ");
  const version = head.key.slice(end + 1);
  const messages = rows.filter((row) => !isHead(row)).map(messageOf);
  // An index yields them in this order, but the statement does not promise it.
  messages.sort((a, b) => a.seq - b.seq);
  const owner = head.meta && unmarked(head.meta);
  const stored = { version, nextSeq: Number(head.key.slice(1, end)), owner, head: head.payload };
  return memorySnapshot(stored, version === known ? undefined : messages);
}

export function messageOf({ key, payload, meta }: KeyedRow): StoredMessage {
  const [first, second] = [key.indexOf(" "), key.indexOf(" ", key.indexOf(" ") + 1)];
  const message: StoredMessage = {
    id: key.slice(second + 1),
    seq: Number(key.slice(0, first)),
    createdAt: Number(key.slice(first + 1, second)),
    payload: payload as string,
  };
  if (meta !== null) message.meta = meta;
  return message;
}

/** From the rows of a look: the version, and what an update must agree with. */
export function storedOf(rows: readonly LookRow[]): [version: string | null, stored: StoredRows] {
  const [head] = rows;
  const found = rows.flatMap((row) =>
    row.seq === null ? [] : [{ seq: Number(row.seq), id: unmarked(row.id), state: row.state }],
  );
  return [head === undefined ? null : unmarked(head.version), storedRows(Number(head?.next ?? 1), found)];
}

export function listedOf({ key, id, owner, updated }: ListRow): ListedMemory {
  return {
    memoryId: unmarked(id),
    owner: owner === null ? undefined : unmarked(owner),
    updatedAt: Number(updated),
    position: key,
  };
}
