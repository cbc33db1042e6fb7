import { fromBase64, toBase64 } from "../base64.ts";
import { invalidOption, show } from "../errors.ts";
import type { HistoryQuery, ListPage, ListQuery, MessageState } from "../store-contract.ts";
import { checkMessageId, checkOwner, messageStates } from "./checks.ts";

const maxLimit = 1000;
const defaultLimit = 100;

/** A {@link HistoryQuery} with every default filled in. */
export interface NormalHistoryQuery {
  /** Exclusive; 0: from the start. */
  readonly after: number;
  /** Exclusive; `Number.MAX_SAFE_INTEGER`: to the end, since every `seq` is below it. */
  readonly before: number;
  readonly order: "ascending" | "descending";
  /** 1 to 1,000. */
  readonly limit: number;
  /** Each state once; empty: nothing matches. */
  readonly states: readonly MessageState[];
  /** Each id once, at most 1,000; empty: nothing matches; absent: not filtered by id. */
  readonly ids: readonly string[] | undefined;
}

/** A {@link ListQuery} with every default filled in. */
export interface NormalListQuery {
  readonly owner: string | undefined;
  readonly order: ListOrder;
  /** The position of the last memory of the page before; absent: from the start. */
  readonly after: string | undefined;
  /** 1 to 1,000. */
  readonly limit: number;
}

/**
 * Fills in the defaults of a history query: ascending, 100 messages, all states. Throws `INVALID_OPTION` for anything
 * that the contract does not allow.
 */
export function normalizeHistoryQuery(query: HistoryQuery): NormalHistoryQuery {
  checkQuery("A history query", query);
  const { after = 0, before = Number.MAX_SAFE_INTEGER, order = "ascending", ids } = query;
  checkPosition("after", after);
  checkPosition("before", before);
  if (order !== "ascending" && order !== "descending") {
    throw invalidOption(`order must be "ascending" or "descending", not ${show(order)}`);
  }
  return {
    after,
    before,
    order,
    limit: checkLimit(query.limit),
    states: checkStates(query.states),
    ids: ids === undefined ? undefined : checkIds(ids),
  };
}

/**
 * Fills in the defaults of a list query: all owners, from the start, 100 memories. Throws `INVALID_OPTION` for anything
 * that the contract does not allow, for a cursor of the other order, and for one whose position does not match
 * `positions`.
 */
export function normalizeListQuery(query: ListQuery, positions: ListPositions = {}): NormalListQuery {
  checkQuery("A list query", query);
  const { owner, cursor, order = "stored" } = query;
  if (owner !== undefined) checkOwner(owner);
  if (order !== "stored" && order !== "newest")
    throw invalidOption(`order must be "stored" or "newest", not ${show(order)}`);
  if (cursor !== undefined && (typeof cursor !== "string" || cursor === "")) throw badCursor(cursor);
  const after = cursor === undefined ? undefined : positionOf(cursor, order, positions[order]);
  return { owner, order, after, limit: checkLimit(query.limit) };
}

/** Which memories come first: see `ListQuery`. */
export type ListOrder = NonNullable<ListQuery["order"]>;

/** The form of the positions in each order. Default: any text. */
export type ListPositions = { readonly [Order in ListOrder]?: RegExp | undefined };

/** What a cursor begins with in that order, before the position. */
const marks: Readonly<Record<ListOrder, string>> = { stored: "s", newest: "n" };

function positionOf(cursor: string, order: ListOrder, form: RegExp = /./s): string {
  const text = decodeCursor(cursor);
  if (text.startsWith(marks[order]) && form.test(text.slice(1))) return text.slice(1);
  throw badCursor(cursor);
}

/** A memory in a listing; the next page begins after its `position`. */
export interface ListedMemory {
  readonly memoryId: string;
  readonly owner: string | undefined;
  readonly updatedAt: number;
  /** `null`, as databases return it, counts as absent. */
  readonly data?: string | null | undefined;
  readonly position: string;
}

/**
 * One page of a listing: the first `limit` of the memories found. Pass at least one more than `limit` if there are
 * more, so that the page gets a cursor.
 */
export function listPage(
  found: readonly ListedMemory[],
  { limit, order }: Pick<NormalListQuery, "limit" | "order">,
): ListPage {
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  const memories = page.map(({ memoryId, owner, updatedAt, data }) => {
    const memory: ListPage["memories"][number] = { memoryId, updatedAt };
    if (owner !== undefined) memory.owner = owner;
    if (typeof data === "string") memory.data = data;
    return memory;
  });
  if (last === undefined) return { memories };
  return { memories, cursor: encodeCursor(marks[order] + last.position) };
}

/**
 * An opaque cursor for a text that marks a position in the store: base64url, without padding.
 *
 * @param position Well-formed Unicode, not empty.
 */
export function encodeCursor(position: string): string {
  const text = toBase64(new TextEncoder().encode(position));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The position that {@link encodeCursor} was given. `INVALID_OPTION` for a text that it did not make. */
export function decodeCursor(cursor: string): string {
  try {
    const bytes = fromBase64(cursor.replaceAll("-", "+").replaceAll("_", "/"));
    const position = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (position !== "" && encodeCursor(position) === cursor) return position;
  } catch {
    // Not base64 or not UTF-8: refused below.
  }
  throw badCursor(cursor);
}

function badCursor(cursor: unknown): Error {
  return invalidOption(`cursor must be the cursor of an earlier page of this store, not ${show(cursor)}`);
}

function checkQuery(what: string, query: object): void {
  if (typeof query !== "object" || query === null) {
    throw invalidOption(`${what} must be an object, not ${show(query)}`);
  }
}

function checkPosition(name: string, seq: number): void {
  if (!Number.isSafeInteger(seq) || seq < 0) {
    throw invalidOption(`${name} must be a safe integer of 0 or more, not ${show(seq)}`);
  }
}

function checkLimit(limit: number = defaultLimit): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) {
    throw invalidOption(`limit must be a whole number from 1 to ${maxLimit}, not ${show(limit)}`);
  }
  return limit;
}

function checkStates(states: readonly MessageState[] | undefined): readonly MessageState[] {
  if (states === undefined) return messageStates;
  if (!Array.isArray(states)) throw invalidOption(`states must be an array, not ${show(states)}`);
  for (const state of states) {
    if (!messageStates.includes(state)) {
      throw invalidOption(`states may hold live, evicted and superseded, not ${show(state)}`);
    }
  }
  return messageStates.filter((state) => states.includes(state));
}

function checkIds(ids: readonly string[]): readonly string[] {
  if (!Array.isArray(ids)) throw invalidOption(`ids must be an array, not ${show(ids)}`);
  if (ids.length > maxLimit)
    throw invalidOption(`ids must not hold more than ${maxLimit}, but holds ${ids.length}`);
  for (const id of ids) checkMessageId(id);
  return [...new Set(ids)];
}
