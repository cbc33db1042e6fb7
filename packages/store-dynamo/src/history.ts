import type { HistoryPage } from "@turnkeep/core";
import { type NormalHistoryQuery, withState } from "@turnkeep/core/store-kit";
import { type Head, Memory } from "./items.ts";
import { beyond, decodeLive, type Line, linesOf, messageOf, type Row } from "./records.ts";
import { readingOf, rowPages, rowsOf, rowsWith } from "./rows.ts";
import { inTurn, type Table } from "./table.ts";

/** Roughly how many messages a row holds. */
const messagesOfRow = 4;

/** A page, and whether everything was found that the head, or a row in parts, promises. */
export async function readHistory(
  table: Table,
  memoryId: string,
  head: Head,
  query: NormalHistoryQuery,
): Promise<{ page: HistoryPage; isWhole: boolean }> {
  const { after, before, limit, states, ids } = query;
  const descending = query.order === "descending";
  const sign = descending ? -1 : 1;
  const memory = new Memory(table, memoryId, head.life);
  const live = decodeLive(memoryId, head.live);
  const recent = linesOf(memoryId, head.recent);
  /** The greatest seq in rows, by the head. Later moves into rows are known, and nothing moves back. */
  const newest = (recent[0]?.seq ?? head.nextSeq) - 1;
  const from = after + 1;
  const to = Math.min(before - 1, newest);
  const asksRows = from <= to && states.length > 0;
  // Pending rows may be many, so they are read only if the query needs rows.
  const reading = await readingOf(memory, asksRows ? head : {});
  const isInRows = (seq: number): boolean => seq >= from && seq <= to;
  /** Live messages that must be found in rows. */
  const due = new Set<number>();

  async function* rowsAsked(): AsyncGenerator<readonly Row[]> {
    if (!asksRows) return;
    if (ids !== undefined) {
      const elsewhere = ids.filter((id) => !recent.some((line) => line.id === id));
      const asked = (await seqsOf(memory, elsewhere)).filter(isInRows);
      for (const seq of asked) if (live.has(seq)) due.add(seq);
      yield await rowsWith(memory, asked, live, reading);
      return;
    }
    for (const seq of live.keys()) if (isInRows(seq)) due.add(seq);
    // The row that holds `to` may have a greater key.
    const above = descending && to < newest ? await rowsOf(memory, reading, { from: to, to }) : [];
    const last = descending ? (above.at(-1)?.key ?? to) : newest;
    const rows = Math.ceil(limit / messagesOfRow) + 1;
    yield* rowPages(memory, reading, { from, to, last, limit: rows, descending });
  }

  /** In the order of the query: what it asks for, and what is beside that. */
  async function* pages(): AsyncGenerator<readonly Line[]> {
    if (descending) yield recent;
    for await (const rows of rowsAsked()) yield rows.flatMap(({ lines }) => lines);
    if (!descending) yield recent;
  }

  const messages: HistoryPage["messages"] = [];
  let isWhole = true;
  for await (const lines of pages()) {
    for (const { seq } of lines) due.delete(seq);
    const asked = lines.filter(({ seq, id }) => seq > after && seq < before && (ids?.includes(id) ?? true));
    const gone = asked.map(({ seq }) => seq).filter((seq) => !live.has(seq));
    const marks = await memory.supersededOf(gone, head);
    isWhole &&= marks.isWhole;
    for (const line of asked.sort((a, b) => sign * (a.seq - b.seq))) {
      const state = live.has(line.seq) ? "live" : marks.superseded.has(line.seq) ? "superseded" : "evicted";
      if (messages.length <= limit && states.includes(state))
        messages.push(withState(messageOf(memoryId, line), state));
    }
    if (messages.length > limit) break;
  }
  // One message more than the limit was taken: anything after it is not on this page.
  const last = messages[limit]?.seq ?? sign * beyond;
  const isMissing = [...due, ...reading.due].some((seq) => sign * seq < sign * last);
  const page = { messages: messages.slice(0, limit), hasMore: messages.length > limit };
  return { page, isWhole: isWhole && !isMissing };
}

/** The seqs in rows that messages with these ids have or had. */
async function seqsOf(memory: Memory, ids: readonly string[]): Promise<number[]> {
  const found = await inTurn(ids, async (id) => {
    const from = memory.idKey(id).sort;
    // One id may be the beginning of another's key; what follows is then not a number, and in no range.
    return (await memory.all(from)).map(({ sort }) => Number(sort.slice(from.length)));
  });
  return found.flat();
}
