import type { StoredMessage } from "@turnkeep/core";
import { corruptError } from "@turnkeep/core/store-kit";

/** One attempt to begin a memory, as the index lists it. `life` is never used again. */
export interface Entry {
  readonly memoryId: string;
  readonly life: string;
  readonly owner: string | undefined;
}

// No part of a record or an entry but its last can hold U+0000, by the contract's rules for text.

export function recordOf({ createdAt, id, meta, payload }: StoredMessage): string {
  return `${createdAt}\0${id}\0${meta === undefined ? "" : `=${meta}`}\0${payload}`;
}

/** The messages with these seqs, from their records, which come in portions. */
export function messagesOf(
  memoryId: string,
  seqs: readonly string[],
  portions: readonly (readonly (string | null)[])[],
): StoredMessage[] {
  const [records = []] = portions.length > 1 ? [portions.flat()] : portions;
  return seqs.map((seq, index) => messageOf(memoryId, seq, records[index] ?? ""));
}

/** `CORRUPT_RECORD` for a text that `recordOf` did not make. */
function messageOf(memoryId: string, seq: string, record: string): StoredMessage {
  const idAt = record.indexOf("\0") + 1;
  const metaAt = record.indexOf("\0", idAt) + 1;
  const payloadAt = record.indexOf("\0", metaAt) + 1;
  const createdAt = Number(record.slice(0, Math.max(0, idAt - 1)));
  if (idAt < 2 || metaAt <= idAt || payloadAt <= metaAt || !Number.isSafeInteger(createdAt)) {
    const messageIds = metaAt > idAt && idAt > 1 ? [record.slice(idAt, metaAt - 1)] : undefined;
    throw corruptError(memoryId, `what is kept for seq ${seq} is not a record of this store`, { messageIds });
  }
  const id = record.slice(idAt, metaAt - 1);
  const message: StoredMessage = { id, seq: Number(seq), createdAt, payload: record.slice(payloadAt) };
  if (metaAt < payloadAt - 1) message.meta = record.slice(metaAt + 1, payloadAt - 1);
  return message;
}

export function memberOf({ memoryId, life, owner }: Entry): string {
  return `${memoryId}\0${life}${owner === undefined ? "" : `\0${owner}`}`;
}

export function entryOf(member: string): Entry {
  const [memoryId = "", life = "", owner] = member.split("\0");
  return { memoryId, life, owner };
}
