/** Reads of rows and marks, checked against the head: a query is not isolated from the transactions that it meets. */
import { runsOf } from "@turnkeep/core/store-kit";
import { freshKeys, type Head } from "./head.ts";
import { type Life, numberOf } from "./items.ts";
import { beyond, gap, type LiveRef, linesOf, type MessageRow } from "./records.ts";
import { type Attributes, inTurn, type Page, type QueryOptions, type TableItem } from "./table.ts";

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
export class RowReader {
  readonly life: Life;
  /**
   * The rows and marks that were not where they must be, or lacked a part, because an update happened in between or is
   * happening now: their keys, in parts with the token.
   */
  readonly torn: Set<string> = new Set();
  readonly #fresh: readonly string[];
  readonly #token: string | undefined;
  #pending: Promise<ReadonlyMap<number, Attributes>> | undefined;

  constructor(life: Life, { fresh, pending }: Head) {
    this.life = life;
    this.#fresh = freshKeys(life, fresh);
    this.#token = pending;
  }

  get isTorn(): boolean {
    return this.torn.size > 0;
  }

  /** The items between two keys, both included, page by page. */
  async *between(from: string, to: string, options: QueryOptions = {}): AsyncGenerator<Page> {
    const met = new Set<string>();
    for await (const page of this.life.query({ ...options, from, to })) {
      for (const { sort } of page.items) met.add(sort);
      const [low = from, high = to] = options.descending ? [page.last, to] : [from, page.last];
      for (const key of this.#fresh) {
        if (key >= low && key <= high && !met.has(key)) this.torn.add(key);
      }
      yield page;
    }
  }

  /** The rows that hold messages with these seqs: one by one if the head names their key, the others by runs. */
  async rowsWith(seqs: readonly number[], live: ReadonlyMap<number, LiveRef>): Promise<MessageRow[]> {
    const keys = new Set(seqs.flatMap((seq) => live.get(seq)?.apart || []));
    const inside = seqs.filter((seq) => !live.get(seq)?.apart);
    const runs = runsOf(inside);
    const rows = await Promise.all([
      inTurn([...keys], (key) => this.rows({ from: key, to: key, last: key })),
      inTurn(runs.length > runsApart ? runsOf(inside, near) : runs, (run) => this.rows(run)),
    ]);
    const asked = new Set(seqs);
    const byKey = new Map(rows.flat(2).map((row) => [row.key, row]));
    return [...byKey.values()].filter(({ lines }) => lines.some(({ seq }) => asked.has(seq)));
  }

  /** The row in which a message with this seq is, or would be. */
  async rowAt(seq: number): Promise<MessageRow | undefined> {
    return (await this.rows({ from: seq, to: seq, limit: 1 }))[0];
  }

  /** All rows of {@link rowPages} at once. */
  async rows(query: RowQuery): Promise<MessageRow[]> {
    const rows: MessageRow[] = [];
    // There are no more rows than seqs.
    const limit = query.last === undefined ? { limit: query.to - query.from + 1 } : {};
    for await (const page of this.rowPages({ ...limit, ...query })) rows.push(...page);
    return rows;
  }

  /**
   * Rows by key, page by page. No seq of a row is above its key. So ascending, the first row found holds `from`;
   * descending, `last` must be the key of the row that holds `to`.
   */
  async *rowPages({ from, to, last: greatest = beyond, ...options }: RowQuery): AsyncGenerator<MessageRow[]> {
    const { life } = this;
    // Read before the rows that they replace: one that is gone by then is found in its place.
    this.#pending ??= this.#pendingRows();
    const pending = await this.#pending;
    let unread: readonly TableItem[] = [];
    const pages = this.between(life.rowKey(from).sort, `${life.rowKey(greatest).sort}/~`, options);
    for await (const { items, last } of pages) {
      unread = [...unread, ...items];
      // The parts of a row may span two pages.
      const open = last === undefined ? undefined : numberOf(last);
      const rows = this.#rowsOf(unread, pending, open);
      unread = rows.at(-1)?.key === open ? [] : unread.filter(({ sort }) => numberOf(sort) === open);
      // Yielded last, for readers that need no further page.
      yield rows;
      if (!options.descending && (rows.at(-1)?.key ?? -1) >= to) return;
    }
  }

  /** The rows whose items these are, without the `open` one unless it is whole: the next page may have its other parts. */
  #rowsOf(
    items: readonly TableItem[],
    pending: ReadonlyMap<number, Attributes>,
    open: number | undefined,
  ): MessageRow[] {
    const { life } = this;
    const bySort = new Map(items.map(({ sort, values }) => [sort, values]));
    const rows: MessageRow[] = [];
    for (const [sort, values] of bySort) {
      const key = numberOf(sort);
      // Parts that no row names do not count.
      if (sort !== life.rowKey(key).sort) continue;
      const attributes = pending.get(key) ?? values;
      const texts = textsOf(life, key, attributes, bySort);
      const isWhole = texts?.includes(undefined) === false;
      if (!isWhole && key === open) continue;
      if (!isWhole) this.torn.add(`${sort} ${attributes.token}`);
      const row = texts && rowOf(key, attributes, texts);
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  async #pendingRows(): Promise<ReadonlyMap<number, Attributes>> {
    const { life } = this;
    const items = this.#token === undefined ? [] : await life.all(life.pendingKey(this.#token).sort);
    return new Map(items.map(({ sort, values }) => [numberOf(sort), values]));
  }
}

/** The texts that a row consists of, `undefined` in place of one that is missing; nothing if it is no row. */
function textsOf(
  life: Life,
  key: number,
  { count, token, parts, rows }: Attributes,
  bySort: ReadonlyMap<string, Attributes>,
): Attributes[string][] | undefined {
  if (typeof count !== "number") return undefined;
  if (typeof token !== "string") return [rows];
  return Array.from(
    { length: Number(parts) },
    (_, index) => bySort.get(life.partKey(key, token, index).sort)?.rows,
  );
}

/** A row as the head means it, without messages that are in parts that are missing. */
function rowOf(key: number, { count, token }: Attributes, texts: readonly Attributes[string][]): MessageRow {
  const lines = linesOf(texts.map((part) => part ?? gap).join(""));
  return { key, count: Number(count), token: typeof token === "string" ? token : undefined, lines };
}
