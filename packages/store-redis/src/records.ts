import type { StoredMessage } from "@turnkeep/core";
import { corruptError, unreadableMessage } from "@turnkeep/core/store-kit";

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

/** The messages with these seqs, from their records, which come in portions; one whose record is lost or damaged is unreadable. */
export function messagesOf(
  memoryId: string,
  seqs: readonly string[],
  portions: readonly (readonly (string | null)[])[],
): StoredMessage[] {
  const [records = []] = portions.length > 1 ? [portions.flat()] : portions;
  return seqs.map((text, index) => {
    const seq = Number(text || Number.NaN);
    if (!Number.isSafeInteger(seq))
      throw corruptError(memoryId, "one of the places of its messages is no seq");
    return messageOf(seq, records[index] ?? "");
  });
}

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

/** A record's payload is JSON text, which is never empty. */
export function isUnreadable({ payload }: StoredMessage): boolean {
  return payload === "";
}

export function memberOf({ memoryId, life, owner }: Entry): string {
  return `${memoryId}\0${life}${owner === undefined ? "" : `\0${owner}`}`;
}

export function entryOf(member: string): Entry {
  const [memoryId = "", life = "", owner] = member.split("\0");
  return { memoryId, life, owner };
}
