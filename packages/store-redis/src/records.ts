import { randomBytes } from "node:crypto";
import type { HistoryPage, MemorySnapshot, StoredMessage } from "@turnkeep/core";
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
import type { Answers, Head } from "./scripts.ts";

/** One attempt to begin a memory, or to change its owner, as the index lists it. `life` is never used again. */
export interface IndexEntry {
  readonly memoryId: string;
  readonly life: string;
  readonly owner: string | undefined;
}

const lifeLength = 16;

/** For a memory that begins. */
export function newLife(): string {
  return randomBytes(12).toString("base64url");
}

/** For one that becomes another owner's. */
export function lifeAfter(life: string): string {
  return life.slice(0, lifeLength) + newLife();
}

/** Whether both name the same life of a memory, under whatever owner. */
export function isSameLife(life: string, other: string): boolean {
  return life.slice(0, lifeLength) === other.slice(0, lifeLength);
}

// No part of a record or an entry but its last can hold U+0000, by the contract's rules for text.

export function recordOf({ createdAt, id, meta, payload }: StoredMessage): string {
  return `${createdAt}\0${id}\0${meta === undefined ? "" : `=${meta}`}\0${payload}`;
}

/** Cut by hand: `split` would search the whole payload, and takes several times as long. */
function messageOf(seq: number, record: string, lostId?: string): StoredMessage {
  const idAt = record.indexOf("\0") + 1;
  const metaAt = record.indexOf("\0", idAt) + 1;
  const payloadAt = record.indexOf("\0", metaAt) + 1;
  const createdAt = Number(record.slice(0, Math.max(0, idAt - 1)));
  if (idAt < 2 || metaAt <= idAt || payloadAt <= metaAt || !Number.isSafeInteger(createdAt)) {
    return unreadableMessage(seq, lostId || undefined);
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

/** In milliseconds, of a time in seconds and microseconds; 0 if it cannot be read. */
export function timeOf(updated: string | null): number {
  const [seconds, microseconds] = (updated ?? "").split(" ").map(Number);
  return Math.floor((seconds ?? 0) * 1_000 + (microseconds ?? 0) / 1_000) || 0;
}

/** `undefined`: a message that the head counts is not there, or cannot be read. */
export function snapshotOf(memoryId: string, answer: Answers["read"]): MemorySnapshot | undefined {
  const [first, ...known] = answer;
  if (first === undefined) return absent();
  if (first === null) return memorySnapshot(headOf(memoryId, known), undefined);
  const fields: Record<string, string | null> = {};
  const messages: StoredMessage[] = [];
  for (let at = 0; at < answer.length; at += 2) {
    const [field, value = null] = [answer[at] as string, answer[at + 1]];
    const seq = Number(field);
    if (seq > 0) messages.push(messageOf(seq, value ?? ""));
    else fields[field] = value;
  }
  const { version, next, owner, head, data, count } = fields;
  const stored = headOf(memoryId, [version, next, owner, head, data]);
  // What can be read is JSON text, which is never empty.
  if (messages.length !== Number(count) || messages.some(({ payload }) => payload === "")) return undefined;
  messages.sort((one, other) => one.seq - other.seq);
  return memorySnapshot(stored, messages);
}

/** From a page of all that are live, for a memory that has lost some of their records. */
export function mendedOf(memoryId: string, answer: Answers["history"]): MemorySnapshot {
  const [head] = answer;
  if (head === undefined) return absent();
  const { messages } = pageOf(memoryId, answer, answer.length);
  const live = messages.map(({ state: _, ...message }) => message);
  return memorySnapshot(headOf(memoryId, head as Head), live);
}

export function pageOf(memoryId: string, answer: Answers["history"], limit: number): HistoryPage {
  const [head, ...rows] = answer;
  if (head === "lost") throw lostError(memoryId);
  const messages = rows.slice(0, limit).map(([seq, state, record, lostId]) => {
    return withState(messageOf(Number(seq), record ?? "", lostId), state);
  });
  return { messages, hasMore: rows.length > limit };
}

function absent(): MemorySnapshot {
  return { version: null, nextSeq: 1, messages: [] };
}

function headOf(
  memoryId: string,
  [version, next, owner, head, data]: Head,
): Parameters<typeof memorySnapshot>[0] {
  if (typeof version !== "string") throw lostError(memoryId);
  return { version, nextSeq: nextSeqOf(memoryId, next), owner, head, data };
}

/** What the database holds of the messages that an update names. */
export function storedOf(
  memoryId: string,
  answer: Answers["look"],
  { replaced }: FoldedUpdate,
): [version: string | null, stored: StoredRows] {
  const [version = null, next = "1", count = "0", rows = []] = answer;
  if (count === null) throw lostError(memoryId);
  const named = rows.map(([text, state, storedId]) => {
    const seq = Number(text);
    // An id that is lost is what the caller knows the message by.
    const id = storedId || (replaced.find((message) => message.seq === seq)?.id ?? "");
    return { seq, state, id };
  });
  return [version, storedRows(nextSeqOf(memoryId, next), named)];
}

function nextSeqOf(memoryId: string, next: string | null | undefined): number {
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
