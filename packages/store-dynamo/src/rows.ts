import { corruptError, runsOf } from "@turnkeep/core/store-kit";
import { type Head, type Memory, numberOf } from "./items.ts";
import { beyond, linesOf, movedRows, type Place, type Row } from "./records.ts";
import { type Entry, inTurn, type Values } from "./table.ts";

/** With more runs of messages than this, runs near each other are read together. */
const runsApart = 8;

/** This few messages are in fewer rows than a query costs. */
const near = 16;

/** What a read of rows starts from, and what it finds out. */
export interface Reading {
  /** From the head. */
  readonly moved: string | undefined;
  /** Rows that the last update has not put in their places yet, by key. */
  readonly pending: ReadonlyMap<number, Values>;
  /**
   * The keys of rows that were not found where they must be, or lack a part, because an update happened in between or
   * is happening now. What they hold may not be live.
   */
  readonly due: Set<number>;
}

/** The rows that hold the messages of a range of seqs, both included. */
interface RowQuery {
  readonly from: number;
  readonly to: number;
  /** The greatest key to read. */
  readonly last?: number;
  readonly limit?: number;
  readonly descending?: boolean;
}

/** Pending rows are read before the rows that they replace: one that is gone by then is found in its place. */
export async function readingOf(
  memory: Memory,
  { moved, pending }: Pick<Head, "moved" | "pending">,
): Promise<Reading> {
  const entries = pending === undefined ? [] : await memory.all(memory.pendingKey(pending).sort);
  const byKey = new Map(entries.map(({ sort, values }) => [numberOf(sort), values]));
  return { moved, pending: byKey, due: new Set() };
}

/** The rows that hold messages with these seqs: one by one if the head names their key, the others by runs. */
export async function rowsWith(
  memory: Memory,
  seqs: readonly number[],
  live: ReadonlyMap<number, Place>,
  reading: Reading,
): Promise<Row[]> {
  const keys = new Set(seqs.flatMap((seq) => live.get(seq)?.apart || []));
  const inside = seqs.filter((seq) => !live.get(seq)?.apart);
  const runs = runsOf(inside);
  const found = await Promise.all([
    inTurn([...keys], (key) => rowsOf(memory, reading, { from: key, to: key, last: key })),
    inTurn(runs.length > runsApart ? runsOf(inside, near) : runs, (run) => rowsOf(memory, reading, run)),
  ]);
  const asked = new Set(seqs);
  const byKey = new Map(found.flat(2).map((row) => [row.key, row]));
  return [...byKey.values()].filter(({ lines }) => lines.some(({ seq }) => asked.has(seq)));
}

/** All rows of {@link rowPages} at once. */
export async function rowsOf(memory: Memory, reading: Reading, query: RowQuery): Promise<Row[]> {
  const found: Row[] = [];
  // There are no more rows than seqs.
  const limit = query.last === undefined ? { limit: query.to - query.from + 1 } : {};
  for await (const page of rowPages(memory, reading, { ...limit, ...query })) found.push(...page);
  return found;
}

/**
 * Rows by key, page by page. No seq of a row is above its key. So ascending, the first row found holds `from`;
 * descending, `last` must be the key of the row that holds `to`.
 */
export async function* rowPages(
  memory: Memory,
  reading: Reading,
  { from, to, last: greatest = beyond, limit, descending = false }: RowQuery,
): AsyncGenerator<Row[]> {
  for (const key of movedRows(reading.moved, { from, to })) reading.due.add(key);
  const span = { from: memory.rowKey(from).sort, to: `${memory.rowKey(greatest).sort}/~` };
  let found: readonly Entry[] = [];
  for await (const { entries, last } of memory.query({ ...span, limit, descending })) {
    found = [...found, ...entries];
    // The parts of a row may span two pages.
    const open = last === undefined ? undefined : numberOf(last);
    const bySort = new Map(found.map(({ sort, values }) => [sort, values]));
    const rows: Row[] = [];
    for (const [sort, values] of bySort) {
      const key = numberOf(sort);
      // Parts that no row names do not count.
      if (sort !== memory.rowKey(key).sort) continue;
      const row = wholeRow(memory, key, reading.pending.get(key) ?? values, bySort);
      if (row !== undefined) {
        rows.push(row);
        reading.due.delete(key);
      } else if (key !== open) reading.due.add(key);
    }
    found = rows.at(-1)?.key === open ? [] : found.filter(({ sort }) => numberOf(sort) === open);
    // Yielded last, for readers that need no further page.
    yield rows;
    if (!descending && (rows.at(-1)?.key ?? -1) >= to) return;
  }
}

/** A row as the head means it. `undefined`: a part is missing. */
function wholeRow(
  memory: Memory,
  key: number,
  { count, token, parts, rows: own }: Values,
  bySort: ReadonlyMap<string, Values>,
): Row | undefined {
  const isInside = typeof token !== "string";
  if (typeof count !== "number" || (isInside && typeof own !== "string")) {
    throw corruptError(memory.memoryId, `its row ${key} lacks a part`);
  }
  if (isInside) return { key, count, token: undefined, lines: linesOf(memory.memoryId, String(own)) };
  const keys = Array.from({ length: Number(parts) }, (_, index) => memory.partKey(key, token, index));
  const texts = keys.map(({ sort }) => bySort.get(sort)?.rows);
  if (texts.includes(undefined)) return undefined;
  return { key, count, token, lines: linesOf(memory.memoryId, texts.join("")) };
}
