import type { HistoryPage, MemorySnapshot, MessageState, StoredMessage } from "@turnkeep/core";
import {
  corruptError,
  type FoldedUpdate,
  memorySnapshot,
  type StoredRows,
  storedRows,
  type TurnkeepError,
  unreadableMessage,
  withState,
} from "@turnkeep/core/store-kit";
import type { Answers, Portions } from "./scripts.ts";

/** One attempt to begin a memory, as the index lists it. `life` is never used again. */
export interface IndexEntry {
  readonly memoryId: string;
  readonly life: string;
  readonly owner: string | undefined;
}

// No part of a record or an entry but its last can hold U+0000, by the contract's rules for text.

export function recordOf({ createdAt, id, meta, payload }: StoredMessage): string {
  return `${createdAt}\0${id}\0${meta === undefined ? "" : `=${meta}`}\0${payload}`;
}

/** The messages with these seqs, from their records, which come in portions. One is unreadable if its record is. */
function messagesOf(memoryId: string, seqs: readonly string[], portions: Portions): StoredMessage[] {
  const [records = []] = portions.length > 1 ? [portions.flat()] : portions;
  return seqs.map((text, index) => {
    const seq = Number(text || Number.NaN);
    if (Number.isSafeInteger(seq)) return messageOf(seq, records[index] ?? "");
    throw corruptError(memoryId, "one of the places of its messages is no seq");
  });
}

/** Cut by hand: `split` would search the whole payload, and takes several times as long. */
function messageOf(seq: number, record: string): StoredMessage {
  const idAt = record.indexOf("\0") + 1;
  const metaAt = record.indexOf("\0", idAt) + 1;
  const payloadAt = record.indexOf("\0", metaAt) + 1;
  const createdAt = Number(record.slice(0, Math.max(0, idAt - 1)));
  if (idAt < 2 || metaAt <= idAt || payloadAt <= metaAt || !Number.isSafeInteger(createdAt)) {
    return unreadableMessage(seq);
  }
  const id = record.slice(idAt, metaAt - 1);
  const message: StoredMessage = { id, seq, createdAt, payload: record.slice(payloadAt) };
  if (metaAt < payloadAt - 1) message.meta = record.slice(metaAt + 1, payloadAt - 1);
  return message;
}

export function memberOf({ memoryId, life, owner }: IndexEntry): string {
  return `${memoryId}\0${life}${owner === undefined ? "" : `\0${owner}`}`;
}

export function entryOf(member: string): IndexEntry {
  const [memoryId = "", life = "", owner] = member.split("\0");
  return { memoryId, life, owner };
}

export function snapshotOf(memoryId: string, answer: Answers["read"]): MemorySnapshot {
  const [stored, seqs, ...records] = answer;
  if (stored === undefined) return { version: null, nextSeq: 1, messages: [] };
  if (stored === "lost") throw lostError(memoryId);
  const [version, next, owner, head, live] = stored;
  const nextSeq = nextSeqOf(memoryId, next);
  if (seqs !== undefined && String(seqs.length) !== live) throw lostError(memoryId);
  return memorySnapshot({ version, nextSeq, owner, head }, seqs && messagesOf(memoryId, seqs, records));
}

export function pageOf(memoryId: string, answer: Answers["history"], limit: number): HistoryPage {
  const [states = [], seqs = [], ...records] = answer;
  if (states === "lost") throw lostError(memoryId);
  const messages = messagesOf(memoryId, seqs.slice(0, limit), records);
  return {
    messages: messages.map((message, index) => withState(message, states[index] as MessageState)),
    hasMore: seqs.length > limit,
  };
}

/** What the database holds of the messages that an update names. */
export function storedOf(
  memoryId: string,
  answer: Answers["look"],
  { replaced }: FoldedUpdate,
): [version: string | null, stored: StoredRows] {
  const [version = null, next = "1", live = "0", rows = []] = answer;
  if (live === null) throw lostError(memoryId);
  const named = rows.map(([text, state, storedId]) => {
    const seq = Number(text);
    // An id that is lost is what the caller knows the message by.
    const id = storedId || (replaced.find((message) => message.seq === seq)?.id ?? "");
    return { seq, state, id };
  });
  return [version, storedRows(nextSeqOf(memoryId, next), named)];
}

function nextSeqOf(memoryId: string, next: string | null): number {
  const nextSeq = Number(next || Number.NaN);
  if (!Number.isSafeInteger(nextSeq)) throw corruptError(memoryId, "its head has no next seq");
  return nextSeq;
}

/** For a memory of whose keys or lists some are gone. */
export function lostError(memoryId: string): TurnkeepError {
  return corruptError(
    memoryId,
    "some of its keys or lists are gone, which the server has evicted or somebody has deleted",
  );
}

/** What the operator of a server must know that may evict keys of this store. */
export function evictionWarning(
  [policy = "noeviction", maxmemory]: Answers["policy"],
  expires: boolean,
): MemorySnapshot["warning"] {
  const evicts = policy.startsWith("allkeys-") || (expires && policy.startsWith("volatile-"));
  if (!evicts || maxmemory === "0") return undefined;
  const message =
    `The server's maxmemory-policy is ${policy}: when its memory is full, it removes conversations, whole or in part. ` +
    "Set it to noeviction";
  return { code: "eviction", message };
}
