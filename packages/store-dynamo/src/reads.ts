import type { HistoryPage, StoredMessage } from "@turnkeep/core";
import { corruptError, type NormalHistoryQuery } from "@turnkeep/core/store-kit";
import type { Item, Run, Statement } from "./client.ts";
import { type Head, headOf } from "./heads.ts";
import { type Items, number, type Page, text } from "./items.ts";
import { decodeLive, type Line, linesOf, messageOf, type Place, type Row, runsOf } from "./records.ts";

interface Range {
  readonly from: number;
  readonly to: number;
}

/** How many operations of one call are under way at a time. */
const atOnce = 8;

/** What the database takes in one `BatchGetItem`. */
const keysAtOnce = 100;

/** Greater than the seq of any message. */
const beyond = Number.MAX_SAFE_INTEGER;

/** Where there are more runs of messages than that, those are read together that are so near: fewer rows than a query costs. */
const near = 16;

/** How many messages a row holds, about. */
const messagesOfRow = 4;

interface ReadPage {
  readonly items: readonly Item[];
  readonly last: Item | undefined;
}

/** What is read: the rows of a memory's life. */
export interface Scope {
  readonly run: Run;
  readonly memoryId: string;
  readonly life: string;
  /** By their keys, rows as they are to be; absent: all are so already. */
  readonly pending?: ReadonlyMap<number, Item>;
}

/** Reading what a memory's partition holds. */
export class Reads {
  readonly #items: Items;

  constructor(items: Items) {
    this.#items = items;
  }

  /** `undefined`: there is none. One that has expired is there still. */
  async head(run: Run, memoryId: string): Promise<Head | undefined> {
    const { Item: item } = await run(this.#items.get(this.#items.headKey(memoryId)));
    if (item === undefined) return undefined;
    const head = headOf(item);
    if (head === undefined) throw corruptError(memoryId, "its head lacks a part");
    return head;
  }

  /**
   * The live messages by seq. Or the seq of one that is not there as the head says, because an update took place in
   * between or takes place now.
   */
  async liveMessages(run: Run, memoryId: string, head: Head): Promise<StoredMessage[] | number> {
    const live = decodeLive(memoryId, head.live);
    const recent = linesOf(memoryId, head.recent);
    const first = recent[0]?.seq ?? beyond;
    const inRows = new Map([...live].filter(([seq]) => seq < first));
    const rows = inRows.size === 0 ? [] : await this.#rowsOf(await this.#scope(run, memoryId, head), inRows);
    const lines = new Map([...rows.flatMap((row) => row.lines), ...recent].map((line) => [line.seq, line]));
    const messages: StoredMessage[] = [];
    for (const [seq, { edit }] of live) {
      const line = lines.get(seq);
      if (line?.edit !== edit) return seq;
      messages.push(messageOf(memoryId, line));
    }
    return messages;
  }

  /**
   * What the head vouches for. Pending rows are read before any row they lie over: one that has gone by then was put in
   * its place before.
   */
  async #scope(run: Run, memoryId: string, { life, pending }: Head): Promise<Scope> {
    if (pending === undefined) return { run, memoryId, life };
    const rows = await this.all(run, (start) => this.#items.pending(memoryId, life, pending, start));
    return { run, memoryId, life, pending: new Map(rows.map((row) => [this.#items.rowKeyOf(row), row])) };
  }

  /** The rows with these messages: by its key what is large, each by itself, the others by runs. */
  async #rowsOf(scope: Scope, live: ReadonlyMap<number, Place>): Promise<Row[]> {
    const { run, memoryId, life } = scope;
    const keys = new Set([...live.values()].flatMap(({ apart }) => (apart === 0 ? [] : [apart])));
    const inside = [...live].flatMap(([seq, { apart }]) => (apart === 0 ? [seq] : []));
    const found = await Promise.all([
      inTurn([...keys], async (key) => {
        const range = { from: key, to: key };
        const items = await this.all(run, (start) => this.#items.rows(memoryId, life, range, { start }));
        return this.#rowsIn(scope, items);
      }),
      this.rowsWith(scope, inside),
    ]);
    return found.flat(2);
  }

  /** The rows that hold messages with these seqs, or held them. */
  async rowsWith(scope: Scope, seqs: readonly number[]): Promise<Row[]> {
    const { run, memoryId, life } = scope;
    const runs = runsOf(seqs);
    const found = await inTurn(runs.length > atOnce ? runsOf(seqs, near) : runs, async ({ from, to }) => {
      const items: Item[] = [];
      const read = (start: Item | undefined): Statement<Page> => {
        // No seq of a row is above its key: the first row found holds `from`. There are no more rows than seqs.
        const limit = start === undefined ? to - from + 1 : undefined;
        return this.#items.rows(memoryId, life, { from, to: beyond }, { start, limit });
      };
      for await (const page of this.pages(run, read)) {
        items.push(...page.items);
        if (page.last !== undefined && this.#reaches(scope, items, to)) break;
      }
      return this.#rowsIn(scope, items);
    });
    const rows = [...new Map(found.flat().map((row) => [row.key, row])).values()];
    return holding(
      seqs,
      rows.sort((a, b) => a.key - b.key),
    );
  }

  async history(run: Run, memoryId: string, head: Head, query: NormalHistoryQuery): Promise<HistoryPage> {
    const { after, before, order, limit, states, ids } = query;
    const live = decodeLive(memoryId, head.live);
    const recent = linesOf(memoryId, head.recent);
    const range = { from: after + 1, to: Math.min(before, head.nextSeq) - 1 };
    const descending = order === "descending";
    const messages: HistoryPage["messages"] = [];
    const take = async (lines: readonly Line[]): Promise<void> => {
      const asked = lines.filter(({ seq, id }) => isWithin(range, seq) && (ids?.includes(id) ?? true));
      const gone = asked.map(({ seq }) => seq).filter((seq) => !live.has(seq));
      const superseded = await this.superseded({ run, memoryId, life: head.life }, gone);
      for (const line of descending ? asked.reverse() : asked) {
        if (messages.length > limit) break;
        const state = live.has(line.seq) ? "live" : superseded.has(line.seq) ? "superseded" : "evicted";
        if (states.includes(state)) messages.push({ ...messageOf(memoryId, line), state });
      }
    };
    // What leaves the head meanwhile is known from it all the same, and nothing ever comes back into it.
    const newest = (recent[0]?.seq ?? head.nextSeq) - 1;
    const inRows = { from: range.from, to: Math.min(range.to, newest) };
    if (descending) await take(recent);
    if (ids !== undefined) {
      const others = ids.filter((id) => !recent.some((line) => line.id === id));
      const seqs = await this.#seqsOf(run, memoryId, head.life, others);
      const asked = seqs.filter((seq) => isWithin(inRows, seq));
      const rows =
        asked.length === 0 ? [] : await this.rowsWith(await this.#scope(run, memoryId, head), asked);
      await take(rows.flatMap(({ lines }) => lines));
    } else if (inRows.from <= inRows.to && states.length > 0) {
      for await (const rows of this.#pages(await this.#scope(run, memoryId, head), inRows, newest, query)) {
        await take(rows.flatMap(({ lines }) => lines).filter(({ seq }) => isWithin(inRows, seq)));
        if (messages.length > limit) break;
      }
    }
    if (!descending) await take(recent);
    return { messages: messages.slice(0, limit), hasMore: messages.length > limit };
  }

  /** The rows that hold messages of a range, page by page, each page by ascending keys. `newest`: no row has a greater. */
  async *#pages(
    scope: Scope,
    { from, to }: Range,
    newest: number,
    { order, limit }: NormalHistoryQuery,
  ): AsyncGenerator<Row[]> {
    const items = this.#items;
    const { run, memoryId, life } = scope;
    const descending = order === "descending";
    // The row that holds `to` may have a greater key.
    const [last] = descending && to < newest ? await this.rowsWith(scope, [to]) : [];
    const range = { from, to: descending ? (last?.key ?? to) : newest };
    let [found, size]: [Item[], number] = [[], Math.ceil(limit / messagesOfRow) + 1];
    const read = (start: Item | undefined): Statement<Page> =>
      items.rows(memoryId, life, range, { start, limit: size, descending });
    for await (const page of this.pages(run, read)) {
      found.push(...page.items);
      // The parts of one row may go over a page's end: it waits for the next.
      const end = page.last === undefined ? undefined : items.rowKeyOf(page.last);
      const whole = found.filter((item) => items.rowKeyOf(item) !== end);
      found = found.filter((item) => items.rowKeyOf(item) === end);
      const rows = this.#rowsIn(scope, whole);
      yield rows;
      if (!descending && (rows.at(-1)?.key ?? 0) >= to) return;
      size = Math.min(2 * size, 1_000);
    }
  }

  /** The seqs in rows that messages with these ids have or had. */
  async #seqsOf(run: Run, memoryId: string, life: string, ids: readonly string[]): Promise<number[]> {
    const items = this.#items;
    const found = await inTurn(ids, async (id) => {
      const from = items.idPrefix(life, id);
      const entries = await this.all(run, (start) =>
        items.query(items.partition(memoryId), { from }, { start }),
      );
      // An id may itself go on as another's key does.
      return entries
        .map((item) => items.sortOf(item).slice(from.length))
        .filter((seq) => /^\d{16}$/.test(seq));
    });
    return found.flat().map(Number);
  }

  /** Which of these seqs, none of them live, are superseded. */
  async superseded({ run, memoryId, life }: Scope, seqs: readonly number[]): Promise<Set<number>> {
    const items = this.#items;
    const keys = new Map(
      seqs.map((seq) => items.blockKey(memoryId, life, seq)).map((key) => [items.sortOf(key), key]),
    );
    const blocks = await this.getAll(run, [...keys.values()]);
    return new Set(blocks.flatMap((block) => items.marksOf(block)));
  }

  async getAll(run: Run, keys: readonly Item[]): Promise<Item[]> {
    const found = await inTurn(chunks(keys, keysAtOnce), (batch) => run(this.#items.getAll(batch)));
    return found.flatMap(({ Responses }) => Object.values(Responses ?? {}).flat());
  }

  /** A query page by page, each with the key where the next begins; absent: there is none. */
  async *pages(run: Run, read: (start: Item | undefined) => Statement<Page>): AsyncGenerator<ReadPage> {
    let last: Item | undefined;
    do {
      const page = await run(read(last));
      last = page.LastEvaluatedKey;
      yield { items: page.Items ?? [], last };
    } while (last !== undefined);
  }

  /** All pages of a query. */
  async all(run: Run, read: (start: Item | undefined) => Statement<Page>): Promise<Item[]> {
    const items: Item[] = [];
    for await (const page of this.pages(run, read)) items.push(...page.items);
    return items;
  }

  /** Whether rows that were read one after the other hold all up to that seq. */
  #reaches(scope: Scope, items: readonly Item[], seq: number): boolean {
    const last = items.at(-1);
    if (last === undefined || this.#items.rowKeyOf(last) < seq) return false;
    return (this.#rowsIn(scope, items).at(-1)?.key ?? 0) >= seq;
  }

  /**
   * Rows by ascending keys, with their parts, as the head means them; one that lacks a part is left out, and parts that
   * no row names.
   */
  #rowsIn({ memoryId, pending }: Scope, found: readonly Item[]): Row[] {
    const items = new Map(found.map((item) => [this.#items.sortOf(item), item]));
    const rows: Row[] = [];
    for (const [sort, stored] of items) {
      if (sort.split("/").length > 3) continue;
      const key = this.#items.rowKeyOf(stored);
      const next = pending?.get(key);
      const item = next !== undefined && countOf(next) > countOf(stored) ? next : stored;
      const [count, token] = [number(item.count), text(item.token)];
      const texts: (string | undefined)[] =
        token === undefined
          ? [text(item.rows)]
          : Array.from({ length: number(item.parts) ?? 0 }, (_, index) =>
              text(items.get(this.#items.partSort(sort, token, index))?.rows),
            );
      if (count === undefined || (token === undefined && texts[0] === undefined)) {
        throw corruptError(memoryId, `its row ${key} lacks a part`);
      }
      if (texts.includes(undefined)) continue;
      rows.push({ key, count, token, lines: linesOf(memoryId, texts.join("")) });
    }
    return rows.sort((a, b) => a.key - b.key);
  }
}

/** Of rows by ascending keys those where these messages have their place. */
function holding(seqs: readonly number[], rows: readonly Row[]): Row[] {
  const held = new Set<Row>();
  let at = 0;
  for (const seq of [...seqs].sort((a, b) => a - b)) {
    while ((rows[at]?.key ?? seq) < seq) at++;
    const row = rows[at];
    if (row !== undefined) held.add(row);
  }
  return [...held];
}

function countOf({ count }: Item): number {
  return number(count) ?? 0;
}

function isWithin({ from, to }: Range, seq: number): boolean {
  return seq >= from && seq <= to;
}

export function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}

/** The answers in the order of the list, some calls at a time. */
export async function inTurn<T, A>(list: readonly T[], call: (entry: T) => Promise<A>): Promise<A[]> {
  const answers: A[] = [];
  for (const batch of chunks(list, atOnce)) answers.push(...(await Promise.all(batch.map(call))));
  return answers;
}
