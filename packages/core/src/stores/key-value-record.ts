import { corruptError, show, TurnkeepError } from "../errors.ts";
import { parsedJson } from "../parsed-json.ts";
import type { HistoryPage, MemorySnapshot, MessageState, StoredMessage } from "../store-contract.ts";
import { checkAgainstStored } from "./check-stored.ts";
import { messageStates } from "./checks.ts";
import { copyMessage, memorySnapshot } from "./copies.ts";
import type { FoldedUpdate } from "./fold-update.ts";
import type { NormalHistoryQuery } from "./queries.ts";

/** The layout that this package writes, and the latest that it can read. */
const layoutVersion = 1;

type Row = StoredMessage & { state: MessageState };
type RowTuple = [
  seq: number,
  id: string,
  createdAt: number,
  state: MessageState,
  payload: string,
  meta?: string,
];

/**
 * The JSON text under a key, layout 1. `messages` holds `[seq, id, createdAt, state, payload, meta?]` of all that is kept, ascending by `seq`.
 */
interface Layout extends Omit<KeyValueRecord, "rows"> {
  readonly turnkeep: number;
  readonly messages: readonly RowTuple[];
}

/** A memory as one value. */
export interface KeyValueRecord {
  readonly version: string;
  readonly nextSeq: number;
  readonly owner: string | undefined;
  readonly head: string | undefined;
  readonly data: string | undefined;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
  readonly expiresAt: number | undefined;
  /** Ascending by `seq`. */
  readonly rows: readonly Row[];
}

/** The record in a value. Errors: `CORRUPT_RECORD`; `UNSUPPORTED_VERSION` for a later layout. */
export function decodeRecord(memoryId: string, value: string): KeyValueRecord {
  const parsed = parsedJson(value);
  if (parsed === undefined) throw corruptError(memoryId, "the value is not JSON text");
  const layout = (parsed ?? {}) as Readonly<Partial<Record<keyof Layout, unknown>>>;
  const { turnkeep: written, version, nextSeq, owner, head, data, updatedAt, expiresAt, messages } = layout;
  if (!isWhole(written, 1)) throw corruptError(memoryId, "the value is not a record of Turnkeep");
  if (written > layoutVersion) {
    throw new TurnkeepError(
      "UNSUPPORTED_VERSION",
      `Memory ${show(memoryId)} was written in layout ${written}, and this release reads up to ${layoutVersion}: upgrade @turnkeep/core`,
      { details: { memoryId } },
    );
  }
  if (
    typeof version !== "string" ||
    !isWhole(nextSeq, 1) ||
    !isOptionalString(owner) ||
    !isOptionalString(head) ||
    !isOptionalString(data) ||
    typeof updatedAt !== "number" ||
    !(expiresAt === undefined || typeof expiresAt === "number") ||
    !Array.isArray(messages)
  ) {
    throw corruptError(memoryId, "the value lacks a member of layout 1, or holds one of another type");
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
  return { version, nextSeq, owner, head, data, updatedAt, expiresAt, rows };
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

export function encodeRecord(record: KeyValueRecord): string {
  const { rows, ...rest } = record;
  const layout: Layout = {
    turnkeep: layoutVersion,
    ...rest,
    messages: rows.map(({ seq, id, createdAt, state, payload, meta }) =>
      meta === undefined ? [seq, id, createdAt, state, payload] : [seq, id, createdAt, state, payload, meta],
    ),
  };
  return JSON.stringify(layout);
}

/** The record after an update whose `expected` is the stored version. */
export function updateRecord(
  memoryId: string,
  record: KeyValueRecord | undefined,
  update: FoldedUpdate,
  times: { readonly updatedAt: number; readonly expiresAt: number | undefined },
): KeyValueRecord {
  const rows = new Map(record?.rows.map((row) => [row.seq, row]));
  checkAgainstStored(memoryId, update, {
    nextSeq: record?.nextSeq ?? 1,
    find: (seq) => rows.get(seq),
  });
  const { insert, rewrite, setState, remove } = update;
  for (const row of insert) rows.set(row.seq, row);
  for (const row of rewrite) rows.set(row.seq, row);
  for (const { seq, state } of setState) rows.set(seq, { ...(rows.get(seq) as Row), state });
  for (const seq of remove) rows.delete(seq);
  return {
    version: update.version,
    nextSeq: update.nextSeq,
    owner: update.owner ?? record?.owner,
    head: update.head ?? record?.head,
    data: update.data ?? record?.data,
    ...times,
    rows: [...rows.values()],
  };
}

export function snapshotOf(record: KeyValueRecord, known: string | undefined): MemorySnapshot {
  if (record.version === known) return memorySnapshot(record, undefined);
  return memorySnapshot(record, record.rows.filter(({ state }) => state === "live").map(copyMessage));
}

export function historyOf(record: KeyValueRecord, query: NormalHistoryQuery): HistoryPage {
  const { after, before, order, limit, states } = query;
  const ids = query.ids === undefined ? undefined : new Set(query.ids);
  const found = record.rows.filter(
    ({ seq, id, state }) =>
      seq > after && seq < before && states.includes(state) && (ids === undefined || ids.has(id)),
  );
  if (order === "descending") found.reverse();
  return { messages: found.slice(0, limit), hasMore: found.length > limit };
}

function isWhole(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least;
}

function isOptionalString(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}
