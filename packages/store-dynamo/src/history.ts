import type { HistoryPage } from "@turnkeep/core";
import { type NormalHistoryQuery, withState } from "@turnkeep/core/store-kit";
import { type Head, Memory } from "./items.ts";
import {
  beyond,
  decodeLive,
  type Line,
  linesOf,
  messageOf,
  movedRows,
  type Place,
  type Row,
} from "./records.ts";
import { type Reading, readingOf, rowPages, rowsUpTo, rowsWith } from "./rows.ts";
import { inTurn, type Table } from "./table.ts";

/** How many messages a row holds, about. */
const messagesOfRow = 4;

/** A page, and whether nothing was missing that the head says is there, or that a row in parts has. */
export function readHistory(
  table: Table,
  memoryId: string,
  head: Head,
  query: NormalHistoryQuery,
): Promise<{ page: HistoryPage; isWhole: boolean }> {
  return new PageReader(new Memory(table, memoryId, head.life), head, query).read();
}

class PageReader {
  readonly #memory: Memory;
  readonly #head: Head;
  readonly #query: NormalHistoryQuery;
  readonly #descending: boolean;
  readonly #live: ReadonlyMap<number, Place>;
  readonly #recent: readonly Line[];
  /** The greatest seq in rows, by the head: what moves from it into rows meanwhile is known, and nothing moves back. */
  readonly #newest: number;
  readonly #messages: HistoryPage["messages"] = [];
  /** Live messages that are to be met in rows. */
  readonly #due: Set<number> = new Set();
  /** The keys of rows that are to be met: what they hold may not be live. */
  readonly #dueRows: Set<number> = new Set();
  /** Part of what was met is not there: of a row, or of what says which messages are superseded. */
  #isTorn = false;

  constructor(memory: Memory, head: Head, query: NormalHistoryQuery) {
    this.#memory = memory;
    this.#head = head;
    this.#query = query;
    this.#descending = query.order === "descending";
    this.#live = decodeLive(memory.memoryId, head.live);
    this.#recent = linesOf(memory.memoryId, head.recent);
    this.#newest = (this.#recent[0]?.seq ?? head.nextSeq) - 1;
  }

  async read(): Promise<{ page: HistoryPage; isWhole: boolean }> {
    const { limit } = this.#query;
    const messages = this.#messages;
    if (this.#descending) await this.#take(this.#recent);
    await this.#takeRows();
    if (!this.#descending) await this.#take(this.#recent);
    const last = messages[limit]?.seq ?? (this.#descending ? 0 : beyond);
    const due = [...this.#due, ...this.#dueRows];
    const isMissing = due.some((seq) => (this.#descending ? seq > last : seq < last));
    const page = { messages: messages.slice(0, limit), hasMore: messages.length > limit };
    return { page, isWhole: !isMissing && !this.#isTorn };
  }

  async #takeRows(): Promise<void> {
    const { after, before, limit, states, ids } = this.#query;
    const range = { from: after + 1, to: Math.min(before - 1, this.#newest) };
    if (range.from > range.to || states.length === 0) return;
    const reading = await readingOf(this.#memory, this.#head);
    const pages = ids === undefined ? this.#rowsIn(range, reading) : this.#rowsWith(ids, range, reading);
    for await (const page of pages) {
      const lines = page.flatMap((row) => row.lines);
      for (const { seq } of lines) this.#due.delete(seq);
      await this.#take(lines);
      if (this.#messages.length > limit) break;
    }
    for (const key of reading.met) this.#dueRows.delete(key);
    this.#isTorn ||= reading.isTorn;
  }

  /** Takes over what is asked for, and one message beyond the limit. */
  async #take(lines: readonly Line[]): Promise<void> {
    const { after, before, limit, states, ids } = this.#query;
    const asked = lines.filter(({ seq, id }) => seq > after && seq < before && (ids?.includes(id) ?? true));
    const gone = asked.map(({ seq }) => seq).filter((seq) => !this.#live.has(seq));
    const { superseded, isWhole } = await this.#memory.supersededOf(gone, this.#head);
    this.#isTorn ||= !isWhole;
    for (const line of asked.sort((a, b) => (this.#descending ? b.seq - a.seq : a.seq - b.seq))) {
      if (this.#messages.length > limit) break;
      const state = this.#live.has(line.seq) ? "live" : superseded.has(line.seq) ? "superseded" : "evicted";
      if (states.includes(state))
        this.#messages.push(withState(messageOf(this.#memory.memoryId, line), state));
    }
  }

  /** Page by page, in the order that is asked for. */
  async *#rowsIn(range: Range, reading: Reading): AsyncGenerator<readonly Row[]> {
    for (const seq of this.#live.keys()) if (isIn(range, seq)) this.#due.add(seq);
    this.#expectRows([range]);
    const limit = Math.ceil(this.#query.limit / messagesOfRow) + 1;
    if (this.#descending) {
      // The row that holds `to` may have a greater key.
      const isBelow = range.to < this.#newest;
      const above = isBelow ? await rowsUpTo(this.#memory, reading, { from: range.to, to: range.to }) : [];
      const to = above.at(-1)?.key ?? range.to;
      yield* rowPages(this.#memory, reading, { from: range.from, to, descending: true, limit });
      return;
    }
    for await (const page of rowPages(this.#memory, reading, { from: range.from, to: this.#newest, limit })) {
      yield page;
      if ((page.at(-1)?.key ?? 0) >= range.to) return;
    }
  }

  async *#rowsWith(ids: readonly string[], range: Range, reading: Reading): AsyncGenerator<readonly Row[]> {
    const elsewhere = ids.filter((id) => !this.#recent.some((line) => line.id === id));
    const asked = (await seqsOf(this.#memory, elsewhere)).filter((seq) => isIn(range, seq));
    for (const seq of asked) if (this.#live.has(seq)) this.#due.add(seq);
    this.#expectRows(asked.map((seq) => ({ from: seq, to: seq })));
    yield await rowsWith(this.#memory, asked, this.#live, reading);
  }

  #expectRows(ranges: readonly Range[]): void {
    for (const key of movedRows(this.#head.moved, ranges)) this.#dueRows.add(key);
  }
}

/** Of seqs, both included. */
interface Range {
  readonly from: number;
  readonly to: number;
}

function isIn({ from, to }: Range, seq: number): boolean {
  return seq >= from && seq <= to;
}

/** The seqs in rows that messages with these ids have or had. */
async function seqsOf(memory: Memory, ids: readonly string[]): Promise<number[]> {
  const found = await inTurn(ids, async (id) => {
    const from = memory.idKey(id).sort;
    // An id may itself go on as another's key does: what follows then is no number, and in no range.
    return (await memory.all(from)).map(({ sort }) => Number(sort.slice(from.length)));
  });
  return found.flat();
}
