import { randomBytes } from "node:crypto";
import type { MemorySnapshot, MessageState, StoredMessage } from "@turnkeep/core";
import {
  corruptError,
  type ListedMemory,
  memorySnapshot,
  type NormalHistoryQuery,
  utf8Length,
} from "@turnkeep/core/store-kit";
import type { Entry, MemoryDocument, RowDocument } from "./documents.ts";

/** A stored message, with its place and state. */
export interface PlacedEntry {
  readonly seq: number;
  readonly state: MessageState;
  readonly entry: Entry;
  /** Its path in the memory's document: `live.7`. Absent: only a row has it. */
  readonly path?: string;
}

/** An entry that the memory's document names. */
export type InsideEntry = Required<PlacedEntry>;

/** Never used twice. */
export function freshId(): string {
  return randomBytes(12).toString("base64url");
}

/** A message inside its memory's document. */
export function entryOf({ id, createdAt, payload, meta }: StoredMessage): Entry {
  return { i: id, a: createdAt, p: payload, m: meta };
}

/** A row for the content of an entry. */
export function rowOf(
  { _id: memory, life, generation }: MemoryDocument,
  seq: number,
  { i, a, p, m }: Entry,
): RowDocument {
  return { _id: freshId(), memory, life, seq, i, a, p, m, state: "staged", generation };
}

/** The entry of a message whose content is in a row. */
export function referenceTo({ _id, i, a }: RowDocument): Entry {
  return { i, a, r: _id };
}

/** The size of an entry's content. */
export function bytesOf({ p = "", m = "" }: Entry): number {
  return utf8Length(p) + utf8Length(m);
}

/** The entries of a document by seq. `CORRUPT_RECORD` for what this store did not write. */
export function entriesOf(memory: MemoryDocument, states: readonly MessageState[]): InsideEntry[] {
  const found = states.flatMap((state) => {
    const entries = memory[state];
    if (typeof entries !== "object" || entries === null || Array.isArray(entries)) {
      throw corruptError(memory._id, `its ${state} messages are not kept as this store keeps them`);
    }
    return Object.entries(entries).map(([key, entry]) => {
      const seq = Number(key);
      if (!Number.isSafeInteger(seq) || typeof entry !== "object" || entry === null) {
        throw corruptError(memory._id, "a message is not kept as this store keeps it");
      }
      return { seq, state, entry, path: `${state}.${key}` };
    });
  });
  return found.sort((a, b) => a.seq - b.seq);
}

/** Entries as the maps of a document. */
export function mapsOf(placed: Iterable<PlacedEntry>): Record<MessageState, Record<string, Entry>> {
  const maps: ReturnType<typeof mapsOf> = { live: {}, evicted: {}, superseded: {} };
  for (const { seq, state, entry } of placed) maps[state][seq] = entry;
  return maps;
}

/** The rows about which the document decides whether they count, whatever they say themselves. */
export function overridden(
  { _id, life, generation, trash, staging }: MemoryDocument,
  entries: readonly PlacedEntry[],
): string[] {
  const isWhole = typeof life === "string" && Number.isSafeInteger(generation);
  if (!isWhole || !Array.isArray(trash) || !Array.isArray(staging)) {
    throw corruptError(_id, "what it says of messages beside it is not kept as this store keeps it");
  }
  return [...entries.flatMap(({ entry }) => entry.r ?? []), ...trash];
}

/** @param messages `undefined`: it is at the version that is known. */
export function snapshotOf(memory: MemoryDocument, messages: StoredMessage[] | undefined): MemorySnapshot {
  const { _id, version, next, owner, head } = memory;
  if (typeof version !== "string" || version === "") throw corruptError(_id, "it has no version");
  if (!Number.isSafeInteger(next)) throw corruptError(_id, "it has no next seq");
  for (const [name, text] of Object.entries({ owner, head })) {
    if (text !== undefined && typeof text !== "string") throw corruptError(_id, `its ${name} is not text`);
  }
  return memorySnapshot({ version, nextSeq: next as number, owner, head }, messages);
}

/** `CORRUPT_RECORD` for what this store did not write. */
export function messageFrom(
  memoryId: string,
  seq: number,
  { i: id, a: createdAt, p: payload, m: meta }: Entry,
): StoredMessage {
  const texts = typeof id === "string" && typeof payload === "string";
  if (!texts || !Number.isSafeInteger(createdAt) || !(meta === undefined || typeof meta === "string")) {
    const messageIds = typeof id === "string" ? [id] : undefined;
    throw corruptError(memoryId, `what is kept for seq ${seq} is not a record of this store`, { messageIds });
  }
  return meta === undefined ? { id, seq, createdAt, payload } : { id, seq, createdAt, payload, meta };
}

/**
 * Merges the document's matches of a query with rows that count by themselves: each seq once, in the order of the
 * query. `rows` holds one row more than a page, if there are that many, so a page of the result lacks none.
 */
export function merged(
  entries: readonly PlacedEntry[],
  rows: readonly RowDocument[],
  { after, before, order, states, ids }: NormalHistoryQuery,
): PlacedEntry[] {
  const wanted = ids && new Set(ids);
  const asked = entries.filter(
    ({ seq, state, entry }) =>
      seq > after && seq < before && states.includes(state) && wanted?.has(entry.i) !== false,
  );
  const beside = rows.map((row) => ({ seq: row.seq, state: row.state as MessageState, entry: row }));
  const sign = order === "ascending" ? 1 : -1;
  const bySeq = new Map([...beside, ...asked].map((found) => [found.seq, found]));
  return [...bySeq.values()].sort((a, b) => sign * (a.seq - b.seq));
}

export function listedOf({ _id, owner, updatedAt }: MemoryDocument): ListedMemory {
  return {
    memoryId: _id,
    owner: typeof owner === "string" ? owner : undefined,
    updatedAt: updatedAt instanceof Date ? updatedAt.getTime() : 0,
    position: _id,
  };
}
