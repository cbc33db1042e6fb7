import type { HistoryPage, StoredMessage } from "@turnkeep/core";
import { corruptError, type NormalHistoryQuery } from "@turnkeep/core/store-kit";
import {
  type Head,
  headKey,
  headOf,
  idKey,
  type Life,
  partitionOf,
  partKey,
  pendingKey,
  rowKey,
  rowNumberOf,
  supersededOf,
} from "./items.ts";
import { decodeLive, type Line, linesOf, messageOf, type Place, type Row, runsOf } from "./records.ts";
import { type Entry, inTurn, type Table, type Values } from "./table.ts";

/** Greater than the seq of any message. */
const beyond = Number.MAX_SAFE_INTEGER;

/**
 * Where there are more runs of messages than the first, those are read together of which each is at most the second from
 * the next: fewer rows than a query costs.
 */
const [runsApart, near] = [8, 16];

/** How many messages a row holds, about. */
const messagesOfRow = 4;

/** The rows of a life, as a head means them. */
export interface Rows extends Life {
  readonly table: Table;
  /** By their keys, rows as they are to be; absent: all are so already. */
  readonly pending?: ReadonlyMap<number, Values>;
}

interface RowQuery {
  /** Of keys of rows, both included. */
  readonly from: number;
  readonly to: number;
  readonly limit?: number;
  readonly descending?: boolean;
}

/** `undefined`: there is none. One that has expired is there still. */
export async function readHead(table: Table, memoryId: string): Promise<Head | undefined> {
  const entry = await table.get(headKey(memoryId));
  if (entry === undefined) return undefined;
  const head = headOf(entry.values);
  if (head === undefined) throw corruptError(memoryId, "its head lacks a part");
  return head;
}

/**
 * The live messages by seq. Or the seq of one that is not there as the head says, because an update took place in between
 * or takes place now.
 */
export async function readLive(
  table: Table,
  memoryId: string,
  head: Head,
): Promise<StoredMessage[] | number> {
  const live = decodeLive(memoryId, head.live);
  const recent = linesOf(memoryId, head.recent);
  const first = recent[0]?.seq ?? beyond;
  const older = [...live.keys()].filter((seq) => seq < first);
  const rows = older.length === 0 ? [] : await rowsWith(await rowsOf(table, memoryId, head), older, live);
  const lines = new Map([...rows.flatMap((row) => row.lines), ...recent].map((line) => [line.seq, line]));
  const messages: StoredMessage[] = [];
  for (const [seq, { edit }] of live) {
    const line = lines.get(seq);
    if (line?.edit !== edit) return seq;
    messages.push(messageOf(memoryId, line));
  }
  return messages;
}

export async function readHistory(
  table: Table,
  memoryId: string,
  head: Head,
  { after, before, order, limit, states, ids }: NormalHistoryQuery,
): Promise<HistoryPage> {
  const live = decodeLive(memoryId, head.live);
  const recent = linesOf(memoryId, head.recent);
  const range = { from: after + 1, to: Math.min(before, head.nextSeq) - 1 };
  const descending = order === "descending";
  const messages: HistoryPage["messages"] = [];
  async function take(lines: readonly Line[]): Promise<void> {
    const asked = lines.filter(
      ({ seq, id }) => seq >= range.from && seq <= range.to && (ids?.includes(id) ?? true),
    );
    const gone = asked.map(({ seq }) => seq).filter((seq) => !live.has(seq));
    const superseded = await supersededOf(table, { memoryId, life: head.life }, gone);
    for (const line of asked.sort((a, b) => (descending ? b.seq - a.seq : a.seq - b.seq))) {
      if (messages.length > limit) break;
      const state = live.has(line.seq) ? "live" : superseded.has(line.seq) ? "superseded" : "evicted";
      if (states.includes(state)) messages.push({ ...messageOf(memoryId, line), state });
    }
  }
  // What leaves the head meanwhile is known from it all the same, and nothing ever comes back into it.
  const newest = (recent[0]?.seq ?? head.nextSeq) - 1;
  const older = { from: range.from, to: Math.min(range.to, newest) };
  async function* pages(): AsyncGenerator<readonly Row[]> {
    const rows = await rowsOf(table, memoryId, head);
    if (ids !== undefined) {
      const seqs = await seqsOf(
        rows,
        ids.filter((id) => !recent.some((line) => line.id === id)),
      );
      yield await rowsWith(
        rows,
        seqs.filter((seq) => seq >= older.from && seq <= older.to),
        live,
      );
      return;
    }
    // The row that holds `to` may have a greater key.
    const above = descending && older.to < newest ? await rowsUpTo(rows, older.to, older.to) : [];
    const query = { ...older, to: descending ? (above.at(-1)?.key ?? older.to) : newest, descending };
    for await (const page of rowPages(rows, { ...query, limit: Math.ceil(limit / messagesOfRow) + 1 })) {
      yield page;
      if (!descending && (page.at(-1)?.key ?? 0) >= older.to) return;
    }
  }
  if (descending) await take(recent);
  if (older.from <= older.to && states.length > 0) {
    for await (const page of pages()) {
      await take(page.flatMap(({ lines }) => lines).filter(({ seq }) => seq <= newest));
      if (messages.length > limit) break;
    }
  }
  if (!descending) await take(recent);
  return { messages: messages.slice(0, limit), hasMore: messages.length > limit };
}

/** Pending rows are read before any row they lie over: one that has gone by then was put in its place before. */
async function rowsOf(table: Table, memoryId: string, { life, pending }: Head): Promise<Rows> {
  const rows = { table, memoryId, life };
  if (pending === undefined) return rows;
  const from = pendingKey(rows, pending).sort;
  const entries = await table.all(partitionOf(memoryId), { from });
  return { ...rows, pending: new Map(entries.map((entry) => [rowNumberOf(entry), entry.values])) };
}

/**
 * The rows that hold messages with these seqs, by ascending keys: those whose key the head names by it, each by itself,
 * the others by runs.
 */
export async function rowsWith(
  rows: Rows,
  seqs: readonly number[],
  live: ReadonlyMap<number, Place>,
): Promise<Row[]> {
  const keys = new Set(seqs.flatMap((seq) => live.get(seq)?.apart || []));
  const inside = seqs.filter((seq) => !live.get(seq)?.apart);
  const runs = runsOf(inside);
  const found = await Promise.all([
    inTurn([...keys], (key) => rowsUpTo(rows, key, key, key)),
    inTurn(runs.length > runsApart ? runsOf(inside, near) : runs, ({ from, to }) => rowsUpTo(rows, from, to)),
  ]);
  const asked = new Set(seqs);
  const byKey = new Map(found.flat(2).map((row) => [row.key, row]));
  return [...byKey.values()]
    .filter(({ lines }) => lines.some(({ seq }) => asked.has(seq)))
    .sort((a, b) => a.key - b.key);
}

/** The rows that hold the messages of a range: no seq of a row is above its key, so the first that is found holds `from`. */
async function rowsUpTo(rows: Rows, from: number, to: number, last: number = beyond): Promise<Row[]> {
  const found: Row[] = [];
  // There are no more rows than seqs.
  const limit = last === beyond ? { limit: to - from + 1 } : {};
  for await (const page of rowPages(rows, { from, to: last, ...limit })) {
    found.push(...page);
    if ((page.at(-1)?.key ?? -1) >= to) break;
  }
  return found;
}

/** Rows by their keys, page by page. */
async function* rowPages(rows: Rows, { from, to, ...options }: RowQuery): AsyncGenerator<Row[]> {
  const span = { from: rowKey(rows, from).sort, to: `${rowKey(rows, to).sort}/~` };
  let found: readonly Entry[] = [];
  for await (const { entries, last } of rows.table.query(partitionOf(rows.memoryId), {
    ...span,
    ...options,
  })) {
    found = [...found, ...entries];
    const whole = wholeRows(rows, found);
    yield whole;
    // The parts of one row may go over a page's end.
    const open = last === undefined ? undefined : rowNumberOf({ partition: "", sort: last });
    found = whole.some(({ key }) => key === open) ? [] : found.filter((entry) => rowNumberOf(entry) === open);
  }
}

/** Rows as the head means them, with their parts; one that lacks a part is left out, and parts that no row names. */
function wholeRows(rows: Rows, found: readonly Entry[]): Row[] {
  const entries = new Map(found.map((entry) => [entry.sort, entry.values]));
  return found.flatMap((entry) => {
    const key = rowNumberOf(entry);
    if (entry.sort !== rowKey(rows, key).sort) return [];
    const next = rows.pending?.get(key);
    const isOlder = Number(entry.values.count) < Number(next?.count);
    const { count, token, parts, rows: own } = next !== undefined && isOlder ? next : entry.values;
    const texts: unknown[] =
      typeof token !== "string"
        ? [own]
        : Array.from(
            { length: Number(parts) },
            (_, index) => entries.get(partKey(rows, key, token, index).sort)?.rows,
          );
    if (typeof count !== "number" || (token === undefined && typeof own !== "string")) {
      throw corruptError(rows.memoryId, `its row ${key} lacks a part`);
    }
    if (texts.includes(undefined)) return [];
    const lines = linesOf(rows.memoryId, texts.join(""));
    return [{ key, count, token: token as string | undefined, lines }];
  });
}

/** The seqs in rows that messages with these ids have or had. */
async function seqsOf(of: Rows, ids: readonly string[]): Promise<number[]> {
  const found = await inTurn(ids, async (id) => {
    const from = idKey(of, id).sort;
    const entries = await of.table.all(partitionOf(of.memoryId), { from });
    // An id may itself go on as another's key does.
    return entries.map(({ sort }) => sort.slice(from.length)).filter((seq) => /^\d{16}$/.test(seq));
  });
  return found.flat().map(Number);
}
