import { createHash, randomBytes } from "node:crypto";
import type { MemorySnapshot, MessageState, StoredMessage } from "@turnkeep/core";
import {
  corruptError,
  type ListedMemory,
  memorySnapshot,
  type NormalHistoryQuery,
  type NormalListQuery,
  unreadableMessage,
  utf8Length,
} from "@turnkeep/core/store-kit";
import type { Activity, Embedded, MemoryDocument, RowDocument } from "./documents.ts";

/** A stored message: its state, and where it is. */
export interface LocatedMessage {
  readonly seq: number;
  readonly state: MessageState;
  readonly entry: Embedded;
  /** Its path in the memory's document: `live.7`. Absent: only a row has it. */
  readonly path?: string | undefined;
}

/** One that the memory's document names. */
export type InsideMessage = LocatedMessage & { readonly path: string };

/** Never used twice. */
export function freshId(): string {
  return randomBytes(12).toString("base64url");
}

/** Names one life of a memory. All its lives begin alike, so that their rows can be found without its document. */
export function newLife(memoryId: string): string {
  return lifePrefix(memoryId) + freshId();
}

export function lifePrefix(memoryId: string): string {
  return createHash("sha256").update(memoryId).digest("base64url").slice(0, 16);
}

/** A message inside its memory's document. */
export function entryOf({ id, createdAt, payload, meta }: StoredMessage): Embedded {
  return { i: id, a: createdAt, p: payload, m: meta };
}

/** A row for the content of an entry. */
export function rowOf(
  { _id: memory, life, generation }: MemoryDocument,
  seq: number,
  { i, a, p, m }: Embedded,
): RowDocument {
  return { _id: freshId(), memory, life, seq, i, a, p, m, state: "staged", generation };
}

/** The entry of a message whose content is in a row. */
export function referenceTo({ _id, i, a }: RowDocument): Embedded {
  return { i, a, r: _id };
}

/** The size of an entry's content, if it is text. */
export function bytesOf({ p, m }: Embedded): number {
  return [p, m].reduce((sum, text) => sum + (typeof text === "string" ? utf8Length(text) : 0), 0);
}

/** The rows that entries refer to. */
export function rowsOf(located: readonly LocatedMessage[]): string[] {
  return located.flatMap(({ entry: { r } }) => (typeof r === "string" ? r : []));
}

/** The id of a message, also where its entry is damaged. */
export function idOf({ seq, entry: { i } }: LocatedMessage): string {
  return typeof i === "string" && i !== "" ? i : unreadableMessage(seq).id;
}

/** Whether no command can tell by the members of an entry that it is still as it was read. */
export function isDamaged(located: LocatedMessage): boolean {
  const { i, r } = located.entry;
  return i !== idOf(located) || (r !== undefined && typeof r !== "string");
}

/** The entries of a document by seq, damaged ones among them. `CORRUPT_RECORD` if it cannot be told which there are. */
export function entriesOf(memory: MemoryDocument, states: readonly MessageState[]): InsideMessage[] {
  const inside = states.flatMap((state) => {
    const map = memory[state];
    if (typeof map !== "object" || map === null || Array.isArray(map)) {
      throw corruptError(memory._id, `its ${state} messages are not kept as this store keeps them`);
    }
    return Object.entries(map).map(([key, entry]) => {
      const seq = Number(key);
      if (!Number.isSafeInteger(seq)) throw corruptError(memory._id, "a message has no seq");
      return { seq, state, entry: entry ?? {}, path: `${state}.${key}` };
    });
  });
  return inside.sort((a, b) => a.seq - b.seq);
}

/** Messages as the maps of a document. */
export function mapsOf(located: Iterable<LocatedMessage>): Record<MessageState, Record<string, Embedded>> {
  const maps: ReturnType<typeof mapsOf> = { live: {}, evicted: {}, superseded: {} };
  for (const { seq, state, entry } of located) maps[state][seq] = entry;
  return maps;
}

/** The rows about which the document decides whether they count, whatever they say themselves. */
export function overridden(
  { _id, life, generation, trash, staging }: MemoryDocument,
  entries: readonly LocatedMessage[],
): string[] {
  const isWhole = typeof life === "string" && Number.isSafeInteger(generation);
  if (!isWhole || !Array.isArray(trash) || !Array.isArray(staging)) {
    throw corruptError(_id, "what it says of messages beside it is not kept as this store keeps it");
  }
  return [...rowsOf(entries), ...trash];
}

/** @param messages `undefined`: it is at the version that is known. */
export function snapshotOf(memory: MemoryDocument, messages: StoredMessage[] | undefined): MemorySnapshot {
  const { _id, version, next, owner, head, data } = memory;
  if (typeof version !== "string" || version === "") throw corruptError(_id, "it has no version");
  if (!Number.isSafeInteger(next)) throw corruptError(_id, "it has no next seq");
  for (const [name, text] of Object.entries({ owner, head, data })) {
    if (text !== undefined && typeof text !== "string") throw corruptError(_id, `its ${name} is not text`);
  }
  return memorySnapshot({ version, nextSeq: next as number, owner, head, data }, messages);
}

/** A message whose content is in its entry, or in the row that the entry refers to. */
export function messageOf(located: LocatedMessage, row: RowDocument | undefined): StoredMessage {
  const { seq, entry } = located;
  const { p: payload, m: meta } = entry.r === undefined ? entry : (row ?? {});
  const [id, createdAt] = [idOf(located), entry.a];
  const isWhole = Number.isSafeInteger(createdAt) && (meta === undefined || typeof meta === "string");
  if (typeof payload !== "string" || !isWhole) return unreadableMessage(seq, id);
  return meta === undefined ? { id, seq, createdAt, payload } : { id, seq, createdAt, payload, meta };
}

/**
 * Merges the document's matches of a query with rows that count by themselves: each seq once, in the order of the
 * query. `rows` holds one row more than a page, if there are that many, so a page of the result lacks none.
 */
export function merged(
  entries: readonly LocatedMessage[],
  rows: readonly RowDocument[],
  { after, before, order, states, ids }: NormalHistoryQuery,
): LocatedMessage[] {
  const wanted = ids && new Set(ids);
  const asked = entries.filter(
    (one) =>
      one.seq > after && one.seq < before && states.includes(one.state) && wanted?.has(idOf(one)) !== false,
  );
  const beside = rows.map((row) => ({ seq: row.seq, state: row.state as MessageState, entry: row }));
  const sign = order === "ascending" ? 1 : -1;
  const bySeq = new Map([...beside, ...asked].map((one) => [one.seq, one]));
  return [...bySeq.values()].sort((a, b) => sign * (a.seq - b.seq));
}

export function listedOf(
  { _id, owner, updatedAt, data, active }: MemoryDocument,
  order: NormalListQuery["order"],
): ListedMemory {
  return {
    memoryId: _id,
    owner: typeof owner === "string" ? owner : undefined,
    updatedAt: updatedAt instanceof Date ? updatedAt.getTime() : 0,
    data: typeof data === "string" ? data : undefined,
    position: order === "newest" ? `${noted(active)} ${_id}` : _id,
  };
}

/** The form of positions in the order `newest`: a noted activity, or none, and the memory's id. */
export const newestPosition: RegExp = /^(?:(\d{1,15}) (-?\d{1,15}))? (.+)$/s;

function noted(active: Activity | undefined): string {
  const isWhole = active?.s instanceof Date && Number.isSafeInteger(active.r);
  return isWhole ? `${active.s.getTime()} ${active.r}` : "";
}

/** The place of a position in the order `newest`; without `s`, behind all that have one. */
export function placeOf(position: string): { s?: Date; r: number; _id: string } {
  const [, s, r, _id = ""] = newestPosition.exec(position) ?? [];
  return { ...(s !== undefined && { s: new Date(Number(s)) }), r: Number(r), _id };
}

/** When a memory was active, for the order `newest`. `now`: milliseconds, by the server's clock. */
export function activityAt(now: number, activityMs: number): Activity {
  const s = Math.floor(now / activityMs) * activityMs;
  return { s: new Date(s), r: s - now };
}
