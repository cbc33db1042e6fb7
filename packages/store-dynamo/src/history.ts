/** Reads of messages: those of memory and pages of history, by one head and only as far as it vouches for them. */
import type { MessageState, StoredMessage } from "@turnkeep/core";
import { type NormalHistoryQuery, unreadableMessage } from "@turnkeep/core/store-kit";
import type { Head, Heads } from "./head.ts";
import { idsOf, seqsOf } from "./ids.ts";
import { Life } from "./items.ts";
import {
  beyond,
  decodeLive,
  type LiveRef,
  linesOf,
  type MessageLine,
  type MessageRow,
  messageOf,
} from "./records.ts";
import { RowReader } from "./rows.ts";
import type { Table } from "./table.ts";

/** Roughly how many messages a row holds. */
const messagesOfRow = 4;

/** How often the same must not be where the head says, read by read, before it counts as lost. */
const readsOfLost = 6;

/** The live messages, all of them. */
export const allLive: NormalHistoryQuery = {
  after: 0,
  before: Number.MAX_SAFE_INTEGER,
  order: "ascending",
  limit: Number.POSITIVE_INFINITY,
  states: ["live"],
  ids: undefined,
};

/** What a query found. */
export interface MessagePage {
  readonly messages: readonly { readonly message: StoredMessage; readonly state: MessageState }[];
  readonly hasMore: boolean;
}

/** Live messages whose records are lost: their ids by seq. */
export type LostIds = ReadonlyMap<number, string>;

/** What a read of a memory saw. Without a head there is no memory. */
export interface MemoryRead {
  readonly head?: Head | undefined;
  /** What the application says about the memory; of a page of history it is not read. */
  readonly data?: string | undefined;
  /** Absent if there is no memory, or if it is at the version that the caller knows. */
  readonly page?: MessagePage;
  readonly lost: LostIds;
}

/** What a query asks for by one head, read at once. */
interface PageRead extends MessagePage {
  /** The seqs of live messages that are not where the head says. */
  readonly missing: readonly number[];
  /** What the head, or a row in parts, promises and was not found: a name for each, which another edit changes. */
  readonly torn: readonly string[];
}

/** Reads the head, then what it promises, and again while an update is being applied that the read met. */
export async function readMemory(
  table: Table,
  heads: Heads,
  memoryId: string,
  query: NormalHistoryQuery,
  known?: string | undefined,
): Promise<MemoryRead> {
  /** How often each was missing, up to the last read. */
  let misses: ReadonlyMap<string, number> = new Map();
  for (;;) {
    const head = await heads.read(table, memoryId);
    if (head === undefined) return { lost: new Map() };
    const life = new Life(table, memoryId, head.life);
    // Before anything is asked: a head that is damaged throws.
    const reader = head.version === known ? undefined : new PageReader(life, head, query);
    const [data, page] = await Promise.all([
      query === allLive ? dataOf(life, head) : undefined,
      reader?.read(),
    ]);
    const torn = [...(data === "torn" ? [`data ${head.dataCount}`] : []), ...(page?.torn ?? [])];
    const names = torn.map((name) => `${life.name} ${name}`);
    // What one update moved is no sign that the next has lost it, nor are others' updates a sign that it has come back.
    misses = new Map(names.map((name) => [name, (misses.get(name) ?? 0) + 1]));
    const fewest = Math.min(...misses.values());
    // What is damaged does not hide the rest. If nothing is missing, `fewest` is infinite.
    if (fewest >= readsOfLost) {
      const read = { head, data: data === "torn" ? undefined : data?.text };
      return { ...read, ...(page === undefined ? { lost: new Map() } : await withLost(life, page, query)) };
    }
    // The update is applied one item at a time.
    await table.pause(Math.random() * 10 * 2 ** fewest);
  }
}

/** `"torn"`: the data is not where the head says. */
async function dataOf(
  { table, dataKey }: Life,
  { data, dataCount }: Head,
): Promise<{ text: string | undefined } | "torn"> {
  if (dataCount === undefined) return { text: data };
  const values = (await table.get(dataKey))?.values;
  return values?.count === dataCount ? { text: values.data as string } : "torn";
}

interface StatedLine {
  readonly line: MessageLine;
  readonly state: MessageState;
}

/** One read of what a query asks for, by one head. */
class PageReader {
  readonly #reading: RowReader;
  readonly #query: NormalHistoryQuery;
  readonly #ids: ReadonlySet<string> | undefined;
  readonly #live: ReadonlyMap<number, LiveRef>;
  readonly #recent: readonly MessageLine[];
  readonly #isDescending: boolean;
  readonly #isLiveOnly: boolean;
  /** The greatest seq in rows, by the head. Later moves into rows are known, and nothing moves back. */
  readonly #newestInRows: number;
  /** The first and the last seq in rows that may be asked for, and the live ones between them. */
  readonly #from: number;
  readonly #to: number;
  readonly #liveInRows: readonly number[];

  constructor(life: Life, head: Head, query: NormalHistoryQuery) {
    this.#reading = new RowReader(life, head);
    this.#query = query;
    this.#ids = query.ids && new Set(query.ids);
    this.#live = decodeLive(life.memoryId, head.live);
    this.#recent = linesOf(head.recent);
    this.#isDescending = query.order === "descending";
    this.#isLiveOnly = query.states.every((state) => state === "live");
    this.#newestInRows = (this.#recent[0]?.seq ?? head.nextSeq) - 1;
    this.#from = query.after + 1;
    this.#to = query.states.length === 0 ? 0 : Math.min(query.before - 1, this.#newestInRows);
    this.#liveInRows = [...this.#live.keys()].filter((seq) => this.#isInRows(seq));
  }

  #isInRows(seq: number): boolean {
    return seq >= this.#from && seq <= this.#to;
  }

  /** What is missing, an update has moved between the reads of the head and of the rows, or is moving now. */
  async read(): Promise<PageRead> {
    const { after, before, limit } = this.#query;
    const seqs = await this.#seqsAsked();
    const beside = [...this.#live.keys()].filter(
      (seq) => seq > this.#newestInRows && seq > after && seq < before,
    );
    /** Live messages that must be found. */
    const due = new Set([...(seqs?.filter((seq) => this.#live.has(seq)) ?? this.#liveInRows), ...beside]);
    const answers: StatedLine[] = [];
    for await (const lines of this.#linesAsked(seqs)) {
      // A live message with another edit is not the one that the head means.
      const meant = lines.filter(({ seq, edit }) => (this.#live.get(seq)?.edit ?? edit) === edit);
      for (const { seq } of meant) due.delete(seq);
      for (const answer of await this.#answersIn(meant)) answers.push(answer);
      if (answers.length > limit) break;
    }
    const messages = answers.slice(0, limit).map(({ line, state }) => ({ message: messageOf(line), state }));
    const sign = this.#isDescending ? -1 : 1;
    // What comes behind the first message that is not on this page need not have been found.
    const next = answers[limit]?.line.seq ?? sign * beyond;
    const missing = [...due].filter((seq) => sign * seq < sign * next);
    const edits = missing.map((seq) => `${seq} ${this.#live.get(seq)?.edit}`);
    // What is live is whole if nothing of it is missing.
    const torn = this.#isLiveOnly && missing.length === 0 ? [] : [...edits, ...this.#reading.torn];
    return { messages, hasMore: answers.length > limit, missing, torn };
  }

  /** The seqs in rows that are asked for; `undefined`: all rows from the first to the last are needed. */
  async #seqsAsked(): Promise<readonly number[] | undefined> {
    const live = this.#liveInRows;
    if (this.#ids === undefined) {
      if (!this.#isLiveOnly) return undefined;
      return (this.#isDescending ? [...live].reverse() : live).slice(0, this.#query.limit + 1);
    }
    if (this.#from > this.#to) return [];
    const inHead = new Set(this.#recent.map(({ id }) => id));
    const elsewhere = new Set([...this.#ids].filter((id) => !inHead.has(id)));
    const named = await seqsOf(this.#reading.life, [...elsewhere]);
    const unnamed = live.filter((seq) => elsewhere.has(unreadableMessage(seq).id));
    return [...named.filter((seq) => this.#isInRows(seq)), ...unnamed];
  }

  /** In the order of the query: what it asks for, and what stands beside that. */
  async *#linesAsked(seqs: readonly number[] | undefined): AsyncGenerator<readonly MessageLine[]> {
    if (this.#isDescending) yield this.#recent;
    for await (const rows of this.#rowsAsked(seqs)) yield rows.flatMap(({ lines }) => lines);
    if (!this.#isDescending) yield this.#recent;
  }

  async *#rowsAsked(seqs: readonly number[] | undefined): AsyncGenerator<readonly MessageRow[]> {
    const [reading, from, to] = [this.#reading, this.#from, this.#to];
    if (seqs !== undefined) yield await reading.rowsWith(seqs, this.#live);
    if (seqs !== undefined || from > to) return;
    const limit = Math.ceil(this.#query.limit / messagesOfRow) + 1;
    if (!this.#isDescending) return yield* reading.rowPages({ from, to, last: this.#newestInRows, limit });
    // The row that holds `to` may have a greater key.
    const above = to < this.#newestInRows ? await reading.rows({ from: to, to }) : [];
    const last = above.at(-1)?.key ?? to;
    yield* reading.rowPages({ from, to, last, limit, descending: true });
  }

  /** Those of these messages that the query asks for, in its order. */
  async #answersIn(lines: readonly MessageLine[]): Promise<StatedLine[]> {
    const { after, before, states } = this.#query;
    const isNamed = (id: string): boolean => this.#ids?.has(id) ?? true;
    const named = lines.filter(({ seq, id }) => seq > after && seq < before && isNamed(id));
    named.sort((a, b) => a.seq - b.seq);
    const gone = this.#isLiveOnly ? [] : named.map(({ seq }) => seq).filter((seq) => !this.#live.has(seq));
    const superseded = await supersededOf(this.#reading, gone);
    const stated = named.map((line): StatedLine => {
      const left = superseded.has(line.seq) ? "superseded" : "evicted";
      return { line, state: this.#live.has(line.seq) ? "live" : left };
    });
    const answers = stated.filter(({ state }) => states.includes(state));
    return this.#isDescending ? answers.reverse() : answers;
  }
}

/** Which of these ascending seqs, none of them live, are superseded, according to their marks in order. */
export async function supersededOf(
  reading: RowReader,
  seqs: readonly number[],
): Promise<ReadonlySet<number>> {
  const { life } = reading;
  const superseded = new Set<number>();
  const [first, last] = [seqs[0], seqs.at(-1)];
  if (first === undefined || last === undefined) return superseded;
  const { from, to } = life.markSpan(first, last);
  for await (const { items } of reading.between(from, to)) {
    for (const { values } of items) {
      for (const seq of decodeLive(life.memoryId, String(values.add)).keys()) superseded.add(seq);
      for (const seq of decodeLive(life.memoryId, String(values.drop)).keys()) superseded.delete(seq);
    }
  }
  return superseded;
}

/** The page, with unreadable messages in place of those that are missing for good, and the ids of these. */
async function withLost(
  life: Life,
  page: PageRead,
  { order, limit, states, ids }: NormalHistoryQuery,
): Promise<{ page: MessagePage; lost: LostIds }> {
  const { missing } = page;
  if (missing.length === 0) return { page, lost: new Map() };
  const names = await idsOf(life, missing);
  const unreadable = missing.map((seq) => unreadableMessage(seq, names.get(seq)));
  const asked = unreadable.filter(({ id }) => states.includes("live") && (ids?.includes(id) ?? true));
  const sign = order === "descending" ? -1 : 1;
  const messages = [...page.messages, ...asked.map((message) => ({ message, state: "live" as const }))];
  messages.sort((a, b) => sign * (a.message.seq - b.message.seq));
  const hasMore = page.hasMore || messages.length > limit;
  const lost = new Map(unreadable.map(({ seq, id }) => [seq, id]));
  return { page: { messages: messages.slice(0, limit), hasMore }, lost };
}
