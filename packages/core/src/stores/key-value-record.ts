import { corruptError, isTurnkeepError, show, TurnkeepError } from "../errors.ts";
import { parsedJson } from "../parsed-json.ts";
import type { MemorySnapshot, MessageState, StoredMessage } from "../store-contract.ts";
import { checkAgainstStored, storedRows } from "./check-stored.ts";
import { messageStates } from "./checks.ts";
import { copyMessage, memorySnapshot } from "./copies.ts";
import type { FoldedUpdate } from "./fold-update.ts";
import type { NormalHistoryQuery } from "./queries.ts";

/** The layout that this package writes, and the latest that it can read. */
const layoutVersion = 1;

export type Row = StoredMessage & { state: MessageState };
type RowTuple = [
  seq: number,
  id: string,
  createdAt: number,
  state: MessageState,
  payload: string,
  meta?: string,
];

type SegmentTuple = [first: number, last: number, name: string, level: number];

/**
 * The JSON text under a key, layout 1. Of a memory: `messages` holds `[seq, id, createdAt, state, payload, meta?]` of what
 * is kept with it, ascending by `seq`, and `segments`, if there are any, `[first, last, name, level]` of the rest. Of a
 * segment: the same two, and the `base` that it was written over.
 */
interface Layout extends Omit<KeyValueRecord, "rows" | "segments">, SegmentLayout {}

interface SegmentLayout {
  readonly turnkeep: number;
  readonly base?: string;
  readonly messages: readonly RowTuple[];
  readonly segments?: readonly SegmentTuple[] | undefined;
}

/** Messages of a memory, and where more of them are. */
export interface RecordRows {
  /** Ascending by `seq`. */
  readonly rows: readonly Row[];
  readonly segments: readonly Segment[];
}

/** A value under a key of its own. */
export interface Segment {
  /** The lowest and the highest `seq` in it. Others between them may be elsewhere. */
  readonly first: number;
  readonly last: number;
  readonly name: string;
  /** 0: it holds messages. Else it names segments of the level below. */
  readonly level: number;
}

/** A memory as one value. */
export interface KeyValueRecord extends RecordRows {
  readonly version: string;
  readonly nextSeq: number;
  readonly owner: string | undefined;
  readonly head: string | undefined;
  readonly data: string | undefined;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
  readonly expiresAt: number | undefined;
}

type UnknownLayout = Readonly<Partial<Record<keyof Layout, unknown>>>;

/** The record in a value. Errors: `CORRUPT_RECORD`; `UNSUPPORTED_VERSION` for a later layout. */
export function decodeRecord(memoryId: string, value: string): KeyValueRecord {
  const layout = decodeLayout(memoryId, value);
  const { version, nextSeq, owner, head, data, updatedAt, expiresAt } = layout;
  if (
    typeof version !== "string" ||
    !isWhole(nextSeq, 1) ||
    !isOptionalString(owner) ||
    !isOptionalString(head) ||
    !isOptionalString(data) ||
    typeof updatedAt !== "number" ||
    !(expiresAt === undefined || typeof expiresAt === "number")
  ) {
    throw corruptError(memoryId, "the value lacks a member of layout 1, or holds one of another type");
  }
  const { rows, segments } = decodeRows(memoryId, layout, nextSeq);
  return { version, nextSeq, owner, head, data, updatedAt, expiresAt, rows, segments };
}

/** The record in a value that can be read. */
export function readableRecord(memoryId: string, value: string): KeyValueRecord | undefined {
  try {
    return decodeRecord(memoryId, value);
  } catch {
    return undefined;
  }
}

/** What a segment holds; `undefined`: it cannot be read. Error: `UNSUPPORTED_VERSION` for a later layout. */
export function decodeSegment(memoryId: string, value: string): RecordRows | undefined {
  try {
    return decodeRows(memoryId, decodeLayout(memoryId, value), Number.POSITIVE_INFINITY);
  } catch (error) {
    if (isTurnkeepError(error, "CORRUPT_RECORD")) return undefined;
    throw error;
  }
}

/** The version of the memory over which a segment was written. */
export function baseOf(value: string): unknown {
  return (parsedJson(value) as UnknownLayout | null | undefined)?.base;
}

function decodeLayout(memoryId: string, value: string): UnknownLayout {
  const parsed = parsedJson(value);
  if (parsed === undefined) throw corruptError(memoryId, "the value is not JSON text");
  const layout = (parsed ?? {}) as UnknownLayout;
  const { turnkeep: written } = layout;
  if (!isWhole(written, 1)) throw corruptError(memoryId, "the value is not a record of Turnkeep");
  if (written <= layoutVersion) return layout;
  throw new TurnkeepError(
    "UNSUPPORTED_VERSION",
    `Memory ${show(memoryId)} was written in layout ${written}, and this release reads up to ${layoutVersion}: upgrade @turnkeep/core`,
    { details: { memoryId } },
  );
}

function decodeRows(
  memoryId: string,
  { messages, segments = [] }: UnknownLayout,
  nextSeq: number,
): RecordRows {
  if (!Array.isArray(messages) || !Array.isArray(segments) || !segments.every(isSegment)) {
    throw corruptError(memoryId, "the value holds no messages");
  }
  let last = 0;
  const rows = messages.map((tuple: unknown) => {
    const row = decodeRow(tuple);
    if (row === undefined || row.seq <= last || row.seq >= nextSeq) {
      throw corruptError(memoryId, `what follows message ${last} is no message`);
    }
    last = row.seq;
    return row;
  });
  return { rows, segments: segments.map(([first, last, name, level]) => ({ first, last, name, level })) };
}

function isSegment(tuple: unknown): tuple is SegmentTuple {
  if (!Array.isArray(tuple)) return false;
  const [first, last, name, level] = tuple as unknown[];
  return isWhole(first, 1) && isWhole(last, first) && typeof name === "string" && isWhole(level, 0);
}

function decodeRow(tuple: unknown): Row | undefined {
  if (!Array.isArray(tuple)) return undefined;
  const [seq, id, createdAt, state, payload, meta] = tuple as unknown[];
  if (
    !isWhole(seq, 1) ||
    typeof id !== "string" ||
    typeof createdAt !== "number" ||
    !messageStates.includes(state as MessageState) ||
    typeof payload !== "string" ||
    !isOptionalString(meta)
  ) {
    return undefined;
  }
  const row: Row = { id, seq, createdAt, payload, state: state as MessageState };
  if (meta !== undefined) row.meta = meta;
  return row;
}

export function encodeRecord({ rows, segments, ...rest }: KeyValueRecord): string {
  const layout: Layout = { turnkeep: layoutVersion, ...rest, ...encodeRows({ rows, segments }) };
  return JSON.stringify(layout);
}

/** What looks like an expired memory, over which one can begin. */
export function encodeExpired(version: string, updatedAt: number): string {
  const rest = { owner: undefined, head: undefined, data: undefined, rows: [], segments: [] };
  return encodeRecord({ ...rest, version, nextSeq: 1, updatedAt, expiresAt: 0 });
}

export function encodeSegment(base: string, rows: RecordRows): string {
  const layout: SegmentLayout = { turnkeep: layoutVersion, base, ...encodeRows(rows) };
  return JSON.stringify(layout);
}

function encodeRows({ rows, segments }: RecordRows): Pick<Layout, "messages" | "segments"> {
  const messages = rows.map(
    ({ seq, id, createdAt, state, payload, meta }): RowTuple =>
      meta === undefined ? [seq, id, createdAt, state, payload] : [seq, id, createdAt, state, payload, meta],
  );
  if (segments.length === 0) return { messages };
  return {
    messages,
    segments: segments.map(({ first, last, name, level }) => [first, last, name, level]),
  };
}

/** The record after an update whose `expected` is the stored version. */
export function updateRecord(
  memoryId: string,
  record: KeyValueRecord | undefined,
  update: FoldedUpdate,
  times: { readonly updatedAt: number; readonly expiresAt: number | undefined },
): KeyValueRecord {
  const stored = record?.rows ?? [];
  checkAgainstStored(memoryId, update, storedRows(record?.nextSeq ?? 1, stored));
  const rows = new Map<number, FoldedUpdate["replaced"][number]>(stored.map((row) => [row.seq, row]));
  for (const row of [...update.insert, ...update.replaced]) rows.set(row.seq, row);
  for (const { seq, state } of update.moved) rows.set(seq, { ...(rows.get(seq) as Row), state });
  return {
    version: update.version,
    nextSeq: update.nextSeq,
    owner: update.owner ?? record?.owner,
    head: update.head ?? record?.head,
    data: update.data ?? record?.data,
    ...times,
    rows: [...rows.values()].filter((row) => row.state !== "removed"),
    segments: record?.segments ?? [],
  };
}

export function snapshotOf(record: KeyValueRecord, known: string | undefined): MemorySnapshot {
  if (record.version === known) return memorySnapshot(record, undefined);
  return memorySnapshot(record, record.rows.filter(({ state }) => state === "live").map(copyMessage));
}

/** Whether a query asks for a message. */
export function asks({ after, before, states, ids }: NormalHistoryQuery): (row: Row) => boolean {
  const wanted = ids === undefined ? undefined : new Set(ids);
  return ({ seq, id, state }) =>
    seq > after && seq < before && states.includes(state) && (wanted === undefined || wanted.has(id));
}

function isWhole(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least;
}

function isOptionalString(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}
