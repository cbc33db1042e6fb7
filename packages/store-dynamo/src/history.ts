import type { MessageState, StoredMessage } from "@turnkeep/core";
import { type NormalHistoryQuery, normalizeHistoryQuery, unreadableMessage } from "@turnkeep/core/store-kit";
import { idsOf, seqsOf } from "./ids.ts";
import { type Head, Memory } from "./items.ts";
import { beyond, decodeLive, type Line, linesOf, messageOf, type Row } from "./records.ts";
import { Reading } from "./rows.ts";
import type { Table } from "./table.ts";

/** Roughly how many messages a row holds. */
const messagesOfRow = 4;

/** The live messages, all of them. */
export const allLive: NormalHistoryQuery = {
  ...normalizeHistoryQuery({ states: ["live"] }),
  limit: Number.POSITIVE_INFINITY,
};

/** What a query found. */
export interface Found {
  readonly messages: readonly { readonly message: StoredMessage; readonly state: MessageState }[];
  readonly hasMore: boolean;
  /** The seqs of live messages that are not where the head says. */
  readonly missing: readonly number[];
  /** Whether everything was found that the head, or a row in parts, promises. */
  readonly isWhole: boolean;
}

/** The messages that a query asks for, by a head. If some are missing, an update happened in between or is happening now. */
export async function readMessages(
  table: Table,
  memoryId: string,
  head: Head,
  { after, before, order, limit, states, ids }: NormalHistoryQuery,
): Promise<Found> {
  const descending = order === "descending";
  const sign = descending ? -1 : 1;
  const reading = new Reading(new Memory(table, memoryId, head.life), head);
  const live = decodeLive(memoryId, head.live);
  const recent = linesOf(head.recent);
  const wanted = ids && new Set(ids);
  const isLiveOnly = states.every((state) => state === "live");
  /** The greatest seq in rows, by the head. Later moves into rows are known, and nothing moves back. */
  const newest = (recent[0]?.seq ?? head.nextSeq) - 1;
  const from = after + 1;
  const to = states.length === 0 ? 0 : Math.min(before - 1, newest);
  const isInRows = (seq: number): boolean => seq >= from && seq <= to;
  const liveInRows = [...live.keys()].filter(isInRows);
  /** Not all rows from the first to the last are needed for these. */
  const asked = await seqsAsked();
  const liveBeside = [...live.keys()].filter((seq) => seq > newest && seq >= from && seq < before);
  /** Live messages that must be found. */
  const due = new Set([...(asked?.filter((seq) => live.has(seq)) ?? liveInRows), ...liveBeside]);

  async function seqsAsked(): Promise<number[] | undefined> {
    if (ids === undefined)
      return isLiveOnly ? (descending ? liveInRows.reverse() : liveInRows).slice(0, limit + 1) : undefined;
    const inHead = new Set(recent.map(({ id }) => id));
    const elsewhere = new Set(from > to ? [] : ids.filter((id) => !inHead.has(id)));
    const named = await seqsOf(reading.memory, [...elsewhere]);
    const unnamed = liveInRows.filter((seq) => elsewhere.has(unreadableMessage(seq).id));
    return [...named, ...unnamed].filter(isInRows);
  }

  async function* rowsAsked(): AsyncGenerator<readonly Row[]> {
    if (asked !== undefined) yield await reading.rowsWith(asked, live);
    if (asked !== undefined || from > to) return;
    // The row that holds `to` may have a greater key.
    const above = descending && to < newest ? await reading.rows({ from: to, to }) : [];
    const last = descending ? (above.at(-1)?.key ?? to) : newest;
    const rows = Math.ceil(limit / messagesOfRow) + 1;
    yield* reading.rowPages({ from, to, last, limit: rows, descending });
  }

  /** In the order of the query: what it asks for, and what is beside that. */
  async function* pages(): AsyncGenerator<readonly Line[]> {
    if (descending) yield recent;
    for await (const rows of rowsAsked()) yield rows.flatMap(({ lines }) => lines);
    if (!descending) yield recent;
  }

  const messages: { message: StoredMessage; state: MessageState }[] = [];
  for await (const lines of pages()) {
    // A live message with another edit is not the one that the head means.
    const meant = lines.filter(({ seq, edit }) => (live.get(seq)?.edit ?? edit) === edit);
    for (const { seq } of meant) due.delete(seq);
    const some = meant.filter(({ seq, id }) => seq > after && seq < before && (wanted?.has(id) ?? true));
    some.sort((a, b) => a.seq - b.seq);
    const gone = isLiveOnly ? [] : some.map(({ seq }) => seq).filter((seq) => !live.has(seq));
    const superseded = await supersededOf(reading, gone);
    for (const line of descending ? some.reverse() : some) {
      const state = live.has(line.seq) ? "live" : superseded.has(line.seq) ? "superseded" : "evicted";
      if (messages.length <= limit && states.includes(state))
        messages.push({ message: messageOf(line), state });
    }
    if (messages.length > limit) break;
  }
  // One message more than the limit was taken: anything after it is not on this page.
  const hasMore = messages.length > limit;
  const last = hasMore ? (messages.pop()?.message.seq ?? 0) : sign * beyond;
  const missing = [...due].filter((seq) => sign * seq < sign * last);
  return { messages, hasMore, missing, isWhole: missing.length === 0 && (isLiveOnly || !reading.isTorn) };
}

/** What was found, with unreadable messages in place of those that are missing for good, and the ids of these. */
export async function withLost(
  memory: Memory,
  found: Found,
  { order, limit, states, ids }: NormalHistoryQuery,
): Promise<{ found: Found; lost: ReadonlyMap<number, string> }> {
  const { missing } = found;
  if (missing.length === 0) return { found, lost: new Map() };
  const names = await idsOf(memory, missing);
  const unreadable = missing.map((seq) => unreadableMessage(seq, names.get(seq)));
  const asked = unreadable.filter(({ id }) => states.includes("live") && (ids?.includes(id) ?? true));
  const sign = order === "descending" ? -1 : 1;
  const messages = [...found.messages, ...asked.map((message) => ({ message, state: "live" as const }))];
  messages.sort((a, b) => sign * (a.message.seq - b.message.seq));
  const hasMore = found.hasMore || messages.length > limit;
  const lost = new Map(unreadable.map(({ seq, id }) => [seq, id]));
  return { found: { ...found, messages: messages.slice(0, limit), hasMore }, lost };
}

/** Which of these ascending seqs, none of them live, are superseded, according to their marks in order. */
async function supersededOf(reading: Reading, seqs: readonly number[]): Promise<ReadonlySet<number>> {
  const { memory } = reading;
  const superseded = new Set<number>();
  const [first, last] = [seqs[0], seqs.at(-1)];
  if (first === undefined || last === undefined) return superseded;
  const { from, to } = memory.markSpan(first, last);
  for await (const { entries } of reading.between(from, to)) {
    for (const { values } of entries) {
      for (const seq of decodeLive(memory.memoryId, String(values.add)).keys()) superseded.add(seq);
      for (const seq of decodeLive(memory.memoryId, String(values.drop)).keys()) superseded.delete(seq);
    }
  }
  return superseded;
}
