import type { HistoryPage, StoredMessage } from "@turnkeep/core";
import {
  corruptError,
  decodeCursor,
  type ListedMemory,
  type NormalHistoryQuery,
  type NormalListQuery,
  withState,
} from "@turnkeep/core/store-kit";
import {
  type Head,
  headKey,
  headOf,
  isPresent,
  listedIn,
  listPartition,
  Memory,
  rowNumberOf,
  shards,
} from "./items.ts";
import { decodeLive, type Line, linesOf, messageOf, type Place, type Row, runsOf } from "./records.ts";
import { type Entry, inTurn, type Table, type Values } from "./table.ts";

/** Greater than the seq of any message. */
const beyond = Number.MAX_SAFE_INTEGER;

/** Where there are more runs of messages, those that are near each other are read together. */
const runsApart = 8;

/** So few messages stand in fewer rows than a query costs. */
const near = 16;

/** How many messages a row holds, about. */
const messagesOfRow = 4;

/** What one read of rows goes by, and finds out. */
interface Reading {
  /** By their keys, rows as they are to be. Where there are none, all are so already. */
  readonly pending: ReadonlyMap<number, Values>;
  /** A row was met that lacks a part: an update took place in between. */
  isTorn: boolean;
}

/** How many entries of a listing are read at a time, at least. */
const entriesAtOnce = 100;

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
  const memory = new Memory(table, memoryId, head.life);
  const rows = older.length === 0 ? [] : await rowsWith(memory, older, live, await readingOf(memory, head));
  const lines = new Map([...rows.flatMap((row) => row.lines), ...recent].map((line) => [line.seq, line]));
  const messages: StoredMessage[] = [];
  for (const [seq, { edit }] of live) {
    const line = lines.get(seq);
    if (line?.edit !== edit) return seq;
    messages.push(messageOf(memoryId, line));
  }
  return messages;
}

/** A page, and whether nothing is missing from it that the head says is there, or that a row in parts has. */
export async function readHistory(
  table: Table,
  memoryId: string,
  head: Head,
  { after, before, order, limit, states, ids }: NormalHistoryQuery,
): Promise<{ page: HistoryPage; isWhole: boolean }> {
  const memory = new Memory(table, memoryId, head.life);
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
    const superseded = await memory.supersededOf(gone);
    for (const line of asked.sort((a, b) => (descending ? b.seq - a.seq : a.seq - b.seq))) {
      if (messages.length > limit) break;
      const state = live.has(line.seq) ? "live" : superseded.has(line.seq) ? "superseded" : "evicted";
      if (states.includes(state)) messages.push(withState(messageOf(memoryId, line), state));
    }
  }
  // What leaves the head meanwhile is known from it all the same, and nothing ever comes back into it.
  const newest = (recent[0]?.seq ?? head.nextSeq) - 1;
  const older = { from: range.from, to: Math.min(range.to, newest) };
  const isOlder = (seq: number): boolean => seq >= older.from && seq <= older.to;
  const reading = await readingOf(memory, head);
  const due = new Set<number>();
  async function* pages(): AsyncGenerator<readonly Row[]> {
    if (ids !== undefined) {
      const seqs = await seqsOf(
        memory,
        ids.filter((id) => !recent.some((line) => line.id === id)),
      );
      const asked = seqs.filter(isOlder);
      for (const seq of asked) if (live.has(seq)) due.add(seq);
      yield await rowsWith(memory, asked, live, reading);
      return;
    }
    for (const seq of live.keys()) if (isOlder(seq)) due.add(seq);
    // The row that holds `to` may have a greater key.
    const above =
      descending && older.to < newest
        ? await rowsUpTo(memory, reading, { from: older.to, to: older.to })
        : [];
    const query = { ...older, to: descending ? (above.at(-1)?.key ?? older.to) : newest, descending };
    for await (const page of rowPages(memory, reading, {
      ...query,
      limit: Math.ceil(limit / messagesOfRow) + 1,
    })) {
      yield page;
      if (!descending && (page.at(-1)?.key ?? 0) >= older.to) return;
    }
  }
  if (descending) await take(recent);
  if (older.from <= older.to && states.length > 0) {
    for await (const page of pages()) {
      const lines = page.flatMap((row) => row.lines);
      for (const { seq } of lines) due.delete(seq);
      await take(lines.filter(({ seq }) => seq <= newest));
      if (messages.length > limit) break;
    }
  }
  if (!descending) await take(recent);
  const hasMore = messages.length > limit;
  const last = messages[limit]?.seq ?? (descending ? 0 : beyond);
  const isMissing = [...due].some((seq) => (descending ? seq > last : seq < last));
  return { page: { messages: messages.slice(0, limit), hasMore }, isWhole: !isMissing && !reading.isTorn };
}

/** Pending rows are read before any row they lie over: one that has gone by then was put in its place before. */
async function readingOf(memory: Memory, { pending }: Head): Promise<Reading> {
  const entries = pending === undefined ? [] : await memory.all(memory.pendingKey(pending).sort);
  return {
    pending: new Map(entries.map(({ sort, values }) => [rowNumberOf(sort), values])),
    isTorn: false,
  };
}

/**
 * The rows that hold messages with these seqs, by ascending keys: those whose key the head names by it, each by itself,
 * the others by runs.
 */
export async function rowsWith(
  memory: Memory,
  seqs: readonly number[],
  live: ReadonlyMap<number, Place>,
  reading: Reading = { pending: new Map(), isTorn: false },
): Promise<Row[]> {
  const keys = new Set(seqs.flatMap((seq) => live.get(seq)?.apart || []));
  const inside = seqs.filter((seq) => !live.get(seq)?.apart);
  const runs = runsOf(inside);
  const found = await Promise.all([
    inTurn([...keys], (key) => rowsUpTo(memory, reading, { from: key, to: key }, key)),
    inTurn(runs.length > runsApart ? runsOf(inside, near) : runs, (run) => rowsUpTo(memory, reading, run)),
  ]);
  const asked = new Set(seqs);
  const byKey = new Map(found.flat(2).map((row) => [row.key, row]));
  return [...byKey.values()]
    .filter(({ lines }) => lines.some(({ seq }) => asked.has(seq)))
    .sort((a, b) => a.key - b.key);
}

/** The rows that hold the messages of a range: no seq of a row is above its key, so the first that is found holds `from`. */
async function rowsUpTo(
  memory: Memory,
  reading: Reading,
  { from, to }: { readonly from: number; readonly to: number },
  last: number = beyond,
): Promise<Row[]> {
  const found: Row[] = [];
  // There are no more rows than seqs.
  const limit = last === beyond ? { limit: to - from + 1 } : {};
  for await (const page of rowPages(memory, reading, { from, to: last, ...limit })) {
    found.push(...page);
    if ((page.at(-1)?.key ?? -1) >= to) break;
  }
  return found;
}

/** Rows by their keys, page by page. */
async function* rowPages(memory: Memory, reading: Reading, query: RowQuery): AsyncGenerator<Row[]> {
  const span = { from: memory.rowKey(query.from).sort, to: `${memory.rowKey(query.to).sort}/~` };
  let found: readonly Entry[] = [];
  for await (const { entries, last } of memory.query({ ...query, ...span })) {
    found = [...found, ...entries];
    const whole = new Map(wholeRows(memory, reading.pending, found).map((row) => [row.key, row]));
    yield [...whole.values()];
    // The parts of one row may go over a page's end.
    const open = last === undefined ? undefined : rowNumberOf(last);
    const lacking = found.filter(({ sort }) => !whole.has(rowNumberOf(sort)));
    found = lacking.filter(({ sort }) => rowNumberOf(sort) === open);
    reading.isTorn ||= lacking.some(({ sort }) => {
      const key = rowNumberOf(sort);
      return key !== open && sort === memory.rowKey(key).sort;
    });
  }
}

/** Rows as the head means them, with their parts; one that lacks a part is left out, and parts that no row names. */
function wholeRows(memory: Memory, pending: Reading["pending"], found: readonly Entry[]): Row[] {
  const entries = new Map(found.map((entry) => [entry.sort, entry.values]));
  return found.flatMap((entry) => {
    const key = rowNumberOf(entry.sort);
    if (entry.sort !== memory.rowKey(key).sort) return [];
    const next = pending.get(key);
    const isOlder = Number(entry.values.count) < Number(next?.count);
    const { count, token, parts, rows: own } = next !== undefined && isOlder ? next : entry.values;
    const texts: unknown[] =
      typeof token !== "string"
        ? [own]
        : Array.from(
            { length: Number(parts) },
            (_, index) => entries.get(memory.partKey(key, token, index).sort)?.rows,
          );
    if (typeof count !== "number" || (token === undefined && typeof own !== "string")) {
      throw corruptError(memory.memoryId, `its row ${key} lacks a part`);
    }
    if (texts.includes(undefined)) return [];
    const lines = linesOf(memory.memoryId, texts.join(""));
    return [{ key, count, token: token as string | undefined, lines }];
  });
}

/** The seqs in rows that messages with these ids have or had. */
async function seqsOf(memory: Memory, ids: readonly string[]): Promise<number[]> {
  const found = await inTurn(ids, async (id) => {
    const from = memory.idKey(id).sort;
    // An id may itself go on as another's key does.
    const ends = (await memory.all(from)).map(({ sort }) => sort.slice(from.length));
    return ends.filter((seq) => /^\d{16}$/.test(seq)).map(Number);
  });
  return found.flat();
}

/** The memories that are listed behind a cursor: one more than asked for, if there are so many. */
export async function readList(
  table: Table,
  { owner, cursor, limit }: NormalListQuery,
): Promise<ListedMemory[]> {
  const found: ListedMemory[] = [];
  // The partition and the sort key of the last memory of the page before.
  const position = cursor === undefined ? "0/" : decodeCursor(cursor, /^[0-7]\/./s);
  let after = position.slice(2) || undefined;
  for (let shard = Number(position[0]); shard < (owner === undefined ? shards : 1); shard++) {
    const query = { after, limit: Math.max(entriesAtOnce, limit + 1 - found.length) };
    for await (const { entries } of table.query(listPartition(owner, shard), query)) {
      // A memory that began again where one had expired has an entry for each life, and a batch may name a key once.
      const ids = new Set(entries.map((entry) => listedIn(table, entry).memory.memoryId));
      const heads = await table.getAll([...ids].map(headKey));
      const byPartition = new Map(heads.map(({ partition, values }) => [partition, headOf(values)]));
      for (const entry of entries) {
        const { memoryId, life } = listedIn(table, entry).memory;
        const head = byPartition.get(headKey(memoryId).partition);
        if (head?.life !== life || !isPresent(head)) continue;
        const { owner, updatedAt } = head;
        found.push({ memoryId, owner, updatedAt, position: `${shard}/${entry.sort}` });
        if (found.length > limit) return found;
      }
    }
    after = undefined;
  }
  return found;
}
