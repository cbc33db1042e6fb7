import type { HistoryPage, MemorySnapshot, MessageState, StoredMessage } from "@turnkeep/core";
import {
  type ListedMemory,
  memorySnapshot,
  type NormalHistoryQuery,
  type StoredRows,
  storedRows,
  unreadableMessage,
  withState,
} from "@turnkeep/core/store-kit";

/**
 * A message, whose `key` is its seq, time and id; or the head, whose `key` is a mark, its next seq, its live ranges and
 * its version, and whose `meta` is a mark and the owner; or the memory's data, whose `key` is {@link dataKey}. Drivers take
 * time for each column, so there are few.
 */
export interface KeyedRow {
  readonly key: string;
  readonly payload: string | null;
  readonly meta: string | null;
}

export const dataKey = "+";

/** A message and its state; or the head, whose `key` is the live ranges within the page. */
export type HistoryRow = KeyedRow & { readonly state: MessageState | "head" };

/** The head with one of the requested messages, or with none. `id` is null: it is live and its row is lost. */
export type LookRow = { readonly version: string; readonly next: string } & (
  | { readonly seq: null }
  | { readonly seq: string; readonly id: string | null; readonly state: MessageState }
);

export interface RemovedRow {
  readonly version: string;
  readonly state: "removed" | "present" | "expired";
}

/** A memory in a listing. */
export interface ListRow {
  readonly position: string;
  readonly id: string;
  readonly owner: string | null;
  readonly updated: string;
  readonly data: string | null;
}

/** A column that the statement returns behind a mark. */
function unmarked(text: string): string {
  return text.slice(1);
}

/** The snapshot from the rows of a read: the head's and those of live messages. */
export function snapshotOf(rows: readonly KeyedRow[], known: string | undefined): MemorySnapshot | undefined {
  const head = rows.find(({ key }) => key.startsWith("="));
  if (head === undefined) return undefined;
  const data = rows.find(({ key }) => key === dataKey);
  const [next, live, version] = threeOf(unmarked(head.key));
  const owner = head.meta && unmarked(head.meta);
  const stored = { version, nextSeq: Number(next), owner, head: head.payload, data: data?.payload };
  if (version === known) return memorySnapshot(stored, undefined);
  const messages = rows.filter((row) => row !== head && row !== data).map(messageOf);
  messages.push(...lostIn(live, messages).map((seq) => unreadableMessage(seq)));
  // An index yields them in this order, but the statement does not promise it.
  messages.sort((a, b) => a.seq - b.seq);
  return memorySnapshot(stored, messages);
}

/** What a blank and another one divide. */
function threeOf(text: string): [first: string, second: string, rest: string] {
  const [first, second] = [text.indexOf(" "), text.indexOf(" ", text.indexOf(" ") + 1)];
  return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)];
}

export function messageOf({ key, payload, meta }: KeyedRow): StoredMessage {
  const [seq, createdAt, id] = threeOf(key);
  const message: StoredMessage = {
    id,
    seq: Number(seq),
    createdAt: Number(createdAt),
    payload: payload as string,
  };
  if (meta !== null) message.meta = meta;
  return message;
}

/** The live seqs without a row: those of the ranges, as Postgres writes them, that are not among these messages'. */
function lostIn(ranges: string, live: readonly StoredMessage[]): number[] {
  const seqs: number[] = [];
  for (const [, from, to] of ranges.matchAll(/\[(\d+),(\d+)\)/g)) {
    for (let seq = Number(from); seq < Number(to); seq++) seqs.push(seq);
  }
  if (seqs.length === live.length) return [];
  const found = new Set(live.map(({ seq }) => seq));
  return seqs.filter((seq) => !found.has(seq));
}

/** The seqs whose messages a query names by the ids that stand in for lost ones. */
export function lostAmong({ ids = [], after, before, states }: NormalHistoryQuery): number[] {
  const seqs = states.includes("live") ? ids.map((id) => Number(/\d+$/.exec(id)?.[0])) : [];
  return seqs.filter((seq, index) => seq > after && seq < before && unreadableMessage(seq).id === ids[index]);
}

/**
 * The page from the rows of a history: the head's, and one message more than the page holds if there are more. `lost`: seqs
 * of lost messages that were asked for.
 */
export function pageOf(
  rows: readonly HistoryRow[],
  lost: readonly number[],
  { order, limit }: Pick<NormalHistoryQuery, "order" | "limit">,
): HistoryPage {
  const found = rows.flatMap((row) => (row.state === "head" ? [] : [withState(messageOf(row), row.state)]));
  const live = found.filter(({ state }) => state === "live");
  const ranges = rows.find(({ state }) => state === "head")?.key ?? "";
  for (const seq of [...lost, ...lostIn(ranges, live)]) found.push(withState(unreadableMessage(seq), "live"));
  found.sort((a, b) => (order === "ascending" ? a.seq - b.seq : b.seq - a.seq));
  return { messages: found.slice(0, limit), hasMore: found.length > limit };
}

/** From the rows of a look: the version, what an update must agree with, and the seqs of what is lost. */
export function storedOf(rows: readonly LookRow[]): {
  readonly version: string | null;
  readonly stored: StoredRows;
  readonly lost: readonly number[];
} {
  const [head] = rows;
  const found = rows.flatMap((row) => {
    if (row.seq === null) return [];
    const seq = Number(row.seq);
    const isLost = row.id === null;
    return [
      { seq, id: row.id === null ? unreadableMessage(seq).id : unmarked(row.id), state: row.state, isLost },
    ];
  });
  return {
    version: head === undefined ? null : unmarked(head.version),
    stored: storedRows(Number(head?.next ?? 1), found),
    lost: found.filter(({ isLost }) => isLost).map(({ seq }) => seq),
  };
}

export function removedOf([row]: readonly RemovedRow[]): RemovedRow | undefined {
  return row && { ...row, version: unmarked(row.version) };
}

export function listedOf({ position, id, owner, updated, data }: ListRow): ListedMemory {
  return {
    memoryId: unmarked(id),
    owner: owner === null ? undefined : unmarked(owner),
    updatedAt: Number(updated),
    data,
    position,
  };
}
