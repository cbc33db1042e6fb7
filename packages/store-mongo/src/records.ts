import type { MemorySnapshot, MessageState, StoredMessage } from "@turnkeep/core";
import { corruptError, type ListedMemory, type NormalHistoryQuery } from "@turnkeep/core/store-kit";
import type { Entry, FoundRow, MemoryDocument, RowDocument } from "./documents.ts";

/** An entry of a memory's document with the place and the state that it stands for. */
export interface PlacedEntry {
  readonly seq: number;
  readonly state: MessageState;
  readonly entry: Entry;
}

/** The entries of a document by seq. `CORRUPT_RECORD` for what this store did not write. */
export function entriesOf(memory: MemoryDocument, maps: readonly ("live" | "left")[]): PlacedEntry[] {
  const found = maps.flatMap((map) => {
    const entries = memory[map];
    if (typeof entries !== "object" || entries === null || Array.isArray(entries)) {
      throw corruptError(memory._id, `its ${map} messages are not kept as this store keeps them`);
    }
    return Object.entries(entries).map(([key, entry]): PlacedEntry => {
      const seq = Number(key);
      if (!Number.isSafeInteger(seq) || typeof entry !== "object" || entry === null) {
        throw corruptError(memory._id, "a message is not kept as this store keeps it");
      }
      return { seq, state: map === "live" ? "live" : stateOf(entry), entry };
    });
  });
  return found.sort((a, b) => a.seq - b.seq);
}

/** Where an entry that has left memory went. One that was evicted as it stood does not say so. */
export function stateOf({ s }: Entry): "evicted" | "superseded" {
  return s === "superseded" ? "superseded" : "evicted";
}

export function snapshotOf(memory: MemoryDocument, messages: StoredMessage[]): MemorySnapshot {
  const { _id, version, next, owner, head } = memory;
  if (typeof version !== "string" || version === "") throw corruptError(_id, "it has no version");
  if (!Number.isSafeInteger(next)) throw corruptError(_id, "it has no next seq");
  for (const [name, text] of Object.entries({ owner, head })) {
    if (text !== undefined && typeof text !== "string") throw corruptError(_id, `its ${name} is no text`);
  }
  const snapshot: MemorySnapshot = { version, nextSeq: next as number, messages };
  if (owner !== undefined) snapshot.owner = owner;
  if (head !== undefined) snapshot.head = head;
  return snapshot;
}

/** A row that counts by itself, as an entry. */
export function placedRow({ seq, state, i, a, p, m }: RowDocument & FoundRow): PlacedEntry {
  return { seq, state, entry: { i, a, p, m } };
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
    throw corruptError(memoryId, `what is kept for seq ${seq} is no record of this store`, { messageIds });
  }
  const message = { id, seq, createdAt, payload };
  return meta === undefined ? message : { ...message, meta };
}

/** Whether a history query asks for that message. */
export function isAsked({ after, before, states, ids }: NormalHistoryQuery): (found: PlacedEntry) => boolean {
  const wanted = ids && new Set(ids);
  return ({ seq, state, entry }) =>
    seq > after && seq < before && states.includes(state) && (wanted === undefined || wanted.has(entry.i));
}

/** One list of what the document and the rows have, each seq once, in the order of the query. */
export function merged(
  entries: readonly PlacedEntry[],
  rows: readonly PlacedEntry[],
  { order, limit }: NormalHistoryQuery,
): PlacedEntry[] {
  const sign = order === "ascending" ? 1 : -1;
  const last = rows.length > limit ? rows.at(-1)?.seq : undefined;
  // Rows beyond the last one were not read: what lies there belongs to the next page.
  const read = entries.filter(({ seq }) => last === undefined || sign * (seq - last) <= 0);
  const bySeq = new Map([...rows, ...read].map((found) => [found.seq, found]));
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

/** The life of a memory, and those before it whose rows are still there. */
export function livesOf({ life, former }: MemoryDocument): string[] {
  const lives: unknown[] = [life, ...(Array.isArray(former) ? former : [])];
  return lives.filter((one) => typeof one === "string");
}
