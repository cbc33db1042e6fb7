import type { MemorySnapshot, MessageState, StoredMessage } from "@turnkeep/core";
import { corruptError, type NormalHistoryQuery } from "@turnkeep/core/store-kit";
import type { Entry, MemoryDocument, RowDocument } from "./documents.ts";

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

/** The message of an entry, or of its row. `undefined`: the row is missing. */
export function messageOf(
  memoryId: string,
  { seq, entry }: PlacedEntry,
  rows: ReadonlyMap<string, RowDocument>,
): StoredMessage | undefined {
  const { i: id, a: at, p: payload, m: meta, r: row } = entry;
  if (row === undefined) return messageFrom(memoryId, { seq, id, at, payload, meta });
  const found = rows.get(row);
  return found && messageFrom(memoryId, { ...found, seq });
}

export function messageFrom(
  memoryId: string,
  {
    seq,
    id,
    at,
    payload,
    meta,
  }: Pick<RowDocument, "seq" | "id" | "at"> & { payload?: unknown; meta?: unknown },
): StoredMessage {
  const texts = typeof id === "string" && typeof payload === "string";
  if (!texts || !Number.isSafeInteger(at) || !(meta === undefined || typeof meta === "string")) {
    const messageIds = typeof id === "string" ? [id] : undefined;
    throw corruptError(memoryId, `what is kept for seq ${seq} is no record of this store`, { messageIds });
  }
  const message = { id, seq, createdAt: at, payload };
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
  rows: readonly RowDocument[],
  { order, limit }: NormalHistoryQuery,
): (PlacedEntry | RowDocument)[] {
  const sign = order === "ascending" ? 1 : -1;
  const last = rows.length > limit ? rows.at(-1)?.seq : undefined;
  const bySeq = new Map<number, PlacedEntry | RowDocument>();
  for (const row of rows) bySeq.set(row.seq, row);
  for (const found of entries) {
    // Rows beyond the last one were not read: what lies there belongs to the next page.
    if (last === undefined || sign * (found.seq - last) <= 0) bySeq.set(found.seq, found);
  }
  return [...bySeq.values()].sort((a, b) => sign * (a.seq - b.seq));
}
