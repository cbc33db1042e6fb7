import { corruptError, runsOf } from "@turnkeep/core/store-kit";
import { type Head, type Memory, rowNumberOf } from "./items.ts";
import { beyond, linesOf, type Place, type Row } from "./records.ts";
import { type Entry, inTurn, type Values } from "./table.ts";

/** Where there are more runs of messages, those that are near each other are read together. */
const runsApart = 8;

/** So few messages stand in fewer rows than a query costs. */
const near = 16;

/** What a read of rows starts from, and what it finds out. */
export interface Reading {
  /** By their keys, rows that the last update has not put in their places yet. */
  readonly pending: ReadonlyMap<number, Values>;
  /** The keys of the rows that were met. */
  readonly met: Set<number>;
  /** A row was met that lacks a part: an update took place in between. */
  isTorn: boolean;
}

interface RowQuery {
  /** Of keys of rows, both included. */
  readonly from: number;
  readonly to: number;
  readonly limit?: number;
  readonly descending?: boolean;
}

export function newReading(pending: readonly Entry[] = []): Reading {
  return {
    pending: new Map(pending.map(({ sort, values }) => [rowNumberOf(sort), values])),
    met: new Set(),
    isTorn: false,
  };
}

/** Pending rows are read before the rows in whose place they go: one that is gone by then is met in its place. */
export async function readingOf(memory: Memory, { pending }: Head): Promise<Reading> {
  return newReading(pending === undefined ? [] : await memory.all(memory.pendingKey(pending).sort));
}

/** The rows that hold messages with these seqs: those whose key the head names by it, each by itself, the others by runs. */
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
    inTurn([...keys], (key) => rowsUpTo(memory, reading, { from: key, to: key }, key)),
    inTurn(runs.length > runsApart ? runsOf(inside, near) : runs, (run) => rowsUpTo(memory, reading, run)),
  ]);
  const asked = new Set(seqs);
  const byKey = new Map(found.flat(2).map((row) => [row.key, row]));
  return [...byKey.values()].filter(({ lines }) => lines.some(({ seq }) => asked.has(seq)));
}

/** The rows that hold the messages of a range: no seq of a row is above its key, so the first that is found holds `from`. */
export async function rowsUpTo(
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
export async function* rowPages(memory: Memory, reading: Reading, query: RowQuery): AsyncGenerator<Row[]> {
  const span = { from: memory.rowKey(query.from).sort, to: `${memory.rowKey(query.to).sort}/~` };
  let found: readonly Entry[] = [];
  for await (const { entries, last } of memory.query({ ...query, ...span })) {
    found = [...found, ...entries];
    const whole = new Map(wholeRows(memory, reading.pending, found).map((row) => [row.key, row]));
    // The parts of one row may go over a page's end.
    const open = last === undefined ? undefined : rowNumberOf(last);
    const lacking = found.filter(({ sort }) => !whole.has(rowNumberOf(sort)));
    found = lacking.filter(({ sort }) => rowNumberOf(sort) === open);
    reading.isTorn ||= lacking.some(({ sort }) => {
      const key = rowNumberOf(sort);
      return key !== open && sort === memory.rowKey(key).sort;
    });
    for (const key of whole.keys()) reading.met.add(key);
    // Last, for who asks for no further page.
    yield [...whole.values()];
  }
}

/** Rows as the head means them, with their parts; one that lacks a part is left out, and parts that no row names. */
function wholeRows(memory: Memory, pending: Reading["pending"], found: readonly Entry[]): Row[] {
  const entries = new Map(found.map((entry) => [entry.sort, entry.values]));
  return found.flatMap((entry) => {
    const key = rowNumberOf(entry.sort);
    if (entry.sort !== memory.rowKey(key).sort) return [];
    const { count, token, parts, rows: own } = pending.get(key) ?? entry.values;
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
