import { runsOf } from "@turnkeep/core/store-kit";
import { freshKeys, type Head, type Memory, numberOf } from "./items.ts";
import { beyond, gap, linesOf, type Place, type Row } from "./records.ts";
import { type Entry, inTurn, type Page, type QueryOptions, type Values } from "./table.ts";

/** With more runs of messages than this, runs near each other are read together. */
const runsApart = 8;

/** This few messages are in fewer rows than a query costs. */
const near = 16;

/** The rows that hold the messages of a range of seqs, both included. */
interface RowQuery {
  readonly from: number;
  readonly to: number;
  /** The greatest key to read. */
  readonly last?: number;
  readonly limit?: number;
  readonly descending?: boolean;
}

/** A read of rows and marks by a head, which says what must be found. */
export class Reading {
  readonly memory: Memory;
  /**
   * Whether a row or mark was not where it must be, or a row lacked a part, because an update happened in between or is
   * happening now.
   */
  isTorn = false;
  readonly #fresh: readonly string[];
  readonly #token: string | undefined;
  #pending: Promise<ReadonlyMap<number, Values>> | undefined;

  constructor(memory: Memory, { fresh, pending }: Head) {
    this.memory = memory;
    this.#fresh = freshKeys(memory, fresh);
    this.#token = pending;
  }

  /** The items between two keys, both included, page by page. */
  async *between(from: string, to: string, options: QueryOptions = {}): AsyncGenerator<Page> {
    const met = new Set<string>();
    for await (const page of this.memory.query({ ...options, from, to })) {
      for (const { sort } of page.entries) met.add(sort);
      const [low = from, high = to] = options.descending ? [page.last, to] : [from, page.last];
      this.isTorn ||= this.#fresh.some((key) => key >= low && key <= high && !met.has(key));
      yield page;
    }
  }

  /** The rows that hold messages with these seqs: one by one if the head names their key, the others by runs. */
  async rowsWith(seqs: readonly number[], live: ReadonlyMap<number, Place>): Promise<Row[]> {
    const keys = new Set(seqs.flatMap((seq) => live.get(seq)?.apart || []));
    const inside = seqs.filter((seq) => !live.get(seq)?.apart);
    const runs = runsOf(inside);
    const found = await Promise.all([
      inTurn([...keys], (key) => this.rows({ from: key, to: key, last: key })),
      inTurn(runs.length > runsApart ? runsOf(inside, near) : runs, (run) => this.rows(run)),
    ]);
    const asked = new Set(seqs);
    const byKey = new Map(found.flat(2).map((row) => [row.key, row]));
    return [...byKey.values()].filter(({ lines }) => lines.some(({ seq }) => asked.has(seq)));
  }

  /** The row in which a message with this seq is, or would be. */
  async rowAt(seq: number): Promise<Row | undefined> {
    return (await this.rows({ from: seq, to: seq, limit: 1 }))[0];
  }

  /** All rows of {@link rowPages} at once. */
  async rows(query: RowQuery): Promise<Row[]> {
    const found: Row[] = [];
    // There are no more rows than seqs.
    const limit = query.last === undefined ? { limit: query.to - query.from + 1 } : {};
    for await (const page of this.rowPages({ ...limit, ...query })) found.push(...page);
    return found;
  }

  /**
   * Rows by key, page by page. No seq of a row is above its key. So ascending, the first row found holds `from`;
   * descending, `last` must be the key of the row that holds `to`.
   */
  async *rowPages({ from, to, last: greatest = beyond, ...options }: RowQuery): AsyncGenerator<Row[]> {
    const { memory } = this;
    // Read before the rows that they replace: one that is gone by then is found in its place.
    this.#pending ??= this.#pendingRows();
    const pending = await this.#pending;
    const pages = this.between(memory.rowKey(from).sort, `${memory.rowKey(greatest).sort}/~`, options);
    let found: readonly Entry[] = [];
    for await (const { entries, last } of pages) {
      found = [...found, ...entries];
      // The parts of a row may span two pages.
      const open = last === undefined ? undefined : numberOf(last);
      const bySort = new Map(found.map(({ sort, values }) => [sort, values]));
      const rows: Row[] = [];
      for (const [sort, values] of bySort) {
        const key = numberOf(sort);
        // Parts that no row names do not count.
        if (sort !== memory.rowKey(key).sort) continue;
        const { row, isWhole } = rowOf(memory, key, pending.get(key) ?? values, bySort);
        if (!isWhole && key === open) continue;
        this.isTorn ||= !isWhole;
        if (row !== undefined) rows.push(row);
      }
      found = rows.at(-1)?.key === open ? [] : found.filter(({ sort }) => numberOf(sort) === open);
      // Yielded last, for readers that need no further page.
      yield rows;
      if (!options.descending && (rows.at(-1)?.key ?? -1) >= to) return;
    }
  }

  async #pendingRows(): Promise<ReadonlyMap<number, Values>> {
    const { memory } = this;
    const entries = this.#token === undefined ? [] : await memory.all(memory.pendingKey(this.#token).sort);
    return new Map(entries.map(({ sort, values }) => [numberOf(sort), values]));
  }
}

/** A row as the head means it, without messages that are in parts that are missing. */
function rowOf(
  memory: Memory,
  key: number,
  { count, token: apart, parts, rows: own }: Values,
  bySort: ReadonlyMap<string, Values>,
): { row?: Row; isWhole: boolean } {
  if (typeof count !== "number") return { isWhole: false };
  const token = typeof apart === "string" ? apart : undefined;
  const places = Array.from({ length: Number(parts) }, (_, index) => memory.partKey(key, token ?? "", index));
  const texts = token === undefined ? [own] : places.map(({ sort }) => bySort.get(sort)?.rows);
  const lines = linesOf(texts.map((text) => text ?? gap).join(""));
  return { row: { key, count, token, lines }, isWhole: !texts.includes(undefined) };
}
