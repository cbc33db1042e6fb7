/** Reads of messages: those of memory and pages of history, by one head and only as far as it vouches for them. */
import type { MessageState, StoredMessage } from "@turnkeep/core";
import { type NormalHistoryQuery, normalizeHistoryQuery, unreadableMessage } from "@turnkeep/core/store-kit";
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
import { Reading } from "./rows.ts";
import type { Table } from "./table.ts";

/** Roughly how many messages a row holds. */
const messagesOfRow = 4;

/** How often one version is read whose messages are not where its head says, before they count as lost. */
const readsOfOneVersion = 6;

/** The live messages, all of them. */
export const allLive: NormalHistoryQuery = {
  ...normalizeHistoryQuery({ states: ["live"] }),
  limit: Number.POSITIVE_INFINITY,
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
  /** Absent if there is no memory, or if it is at the version that the caller knows. */
  readonly page?: MessagePage;
  readonly lost: LostIds;
}

/** What a query asks for by one head, read at once. */
interface PageRead extends MessagePage {
  /** The seqs of live messages that are not where the head says. */
  readonly missing: readonly number[];
  /** Whether everything was found that the head, or a row in parts, promises. */
  readonly isWhole: boolean;
}

/** Reads the head, then what it promises, and again while an update is being applied that the read met. */
export async function readMemory(
  table: Table,
  heads: Heads,
  memoryId: string,
  query: NormalHistoryQuery,
  known?: string | undefined,
): Promise<MemoryRead> {
  let version: string | undefined;
  for (let tries = 1; ; tries++) {
    const head = await heads.read(table, memoryId);
    if (head === undefined || head.version === known) return { head, lost: new Map() };
    // A page of history may be of no version; a snapshot has to be.
    if (query === allLive && head.version !== version) tries = 1;
    version = head.version;
    const life = new Life(table, memoryId, head.life);
    const page = await readPage(life, head, query);
    // What is damaged does not hide the rest.
    if (page.isWhole || tries === readsOfOneVersion) {
      return { head, ...(await withLost(life, page, query)) };
    }
    // The update is applied one item at a time.
    await table.pause(Math.random() * 10 * 2 ** tries);
  }
}

/** What a query asks for, and what the head says of it. */
interface Scope extends NormalHistoryQuery {
  readonly wanted: ReadonlySet<string> | undefined;
  readonly isDescending: boolean;
  readonly isLiveOnly: boolean;
  readonly live: ReadonlyMap<number, LiveRef>;
  readonly recent: readonly MessageLine[];
  /** The greatest seq in rows, by the head. Later moves into rows are known, and nothing moves back. */
  readonly newestInRows: number;
  /** The first and the last seq in rows that may be asked for. */
  readonly from: number;
  readonly to: number;
  /** The live messages between both, ascending. */
  readonly liveInRows: readonly number[];
}

function scopeOf(memoryId: string, head: Head, query: NormalHistoryQuery): Scope {
  const { after, before, order, states } = query;
  const live = decodeLive(memoryId, head.live);
  const recent = linesOf(head.recent);
  const newestInRows = (recent[0]?.seq ?? head.nextSeq) - 1;
  const from = after + 1;
  const to = states.length === 0 ? 0 : Math.min(before - 1, newestInRows);
  const liveInRows = [...live.keys()].filter((seq) => seq >= from && seq <= to);
  const isLiveOnly = states.every((state) => state === "live");
  const isDescending = order === "descending";
  const wanted = query.ids && new Set(query.ids);
  return { ...query, wanted, isDescending, isLiveOnly, live, recent, newestInRows, from, to, liveInRows };
}

/** If something is missing, an update happened between the reads of the head and of the rows, or is happening now. */
async function readPage(life: Life, head: Head, query: NormalHistoryQuery): Promise<PageRead> {
  const scope = scopeOf(life.memoryId, head, query);
  const { live, liveInRows, newestInRows, from, before, limit, isDescending, isLiveOnly } = scope;
  const reading = new Reading(life, head);
  const seqs = await seqsAsked(reading, scope);
  const liveBeside = [...live.keys()].filter((seq) => seq > newestInRows && seq >= from && seq < before);
  /** Live messages that must be found. */
  const due = new Set([...(seqs?.filter((seq) => live.has(seq)) ?? liveInRows), ...liveBeside]);

  const answers: StatedLine[] = [];
  for await (const lines of linesAsked(reading, scope, seqs)) {
    // A live message with another edit is not the one that the head means.
    const meant = lines.filter(({ seq, edit }) => (live.get(seq)?.edit ?? edit) === edit);
    for (const { seq } of meant) due.delete(seq);
    for (const answer of await linesOfQuery(reading, scope, meant)) answers.push(answer);
    if (answers.length > limit) break;
  }
  const messages = answers.slice(0, limit).map(({ line, state }) => ({ message: messageOf(line), state }));
  const sign = isDescending ? -1 : 1;
  // What comes behind the first message that is not on this page need not have been found.
  const next = answers[limit]?.line.seq ?? sign * beyond;
  const missing = [...due].filter((seq) => sign * seq < sign * next);
  const isWhole = missing.length === 0 && (isLiveOnly || !reading.isTorn);
  return { messages, hasMore: answers.length > limit, missing, isWhole };
}

/** The seqs in rows that are asked for; `undefined`: all rows from the first to the last are needed. */
async function seqsAsked(reading: Reading, scope: Scope): Promise<readonly number[] | undefined> {
  const { ids, isLiveOnly, isDescending, liveInRows, limit, recent, from, to } = scope;
  if (ids === undefined) {
    if (!isLiveOnly) return undefined;
    return (isDescending ? [...liveInRows].reverse() : liveInRows).slice(0, limit + 1);
  }
  const inHead = new Set(recent.map(({ id }) => id));
  const elsewhere = new Set(from > to ? [] : ids.filter((id) => !inHead.has(id)));
  const named = await seqsOf(reading.life, [...elsewhere]);
  const unnamed = liveInRows.filter((seq) => elsewhere.has(unreadableMessage(seq).id));
  return [...named, ...unnamed].filter((seq) => seq >= from && seq <= to);
}

/** In the order of the query: what it asks for, and what stands beside that. */
async function* linesAsked(
  reading: Reading,
  scope: Scope,
  seqs: readonly number[] | undefined,
): AsyncGenerator<readonly MessageLine[]> {
  if (scope.isDescending) yield scope.recent;
  for await (const rows of rowsAsked(reading, scope, seqs)) yield rows.flatMap(({ lines }) => lines);
  if (!scope.isDescending) yield scope.recent;
}

async function* rowsAsked(
  reading: Reading,
  { from, to, newestInRows, isDescending, live, limit }: Scope,
  seqs: readonly number[] | undefined,
): AsyncGenerator<readonly MessageRow[]> {
  if (seqs !== undefined) yield await reading.rowsWith(seqs, live);
  if (seqs !== undefined || from > to) return;
  // The row that holds `to` may have a greater key.
  const above = isDescending && to < newestInRows ? await reading.rows({ from: to, to }) : [];
  const last = isDescending ? (above.at(-1)?.key ?? to) : newestInRows;
  const rows = Math.ceil(limit / messagesOfRow) + 1;
  yield* reading.rowPages({ from, to, last, limit: rows, descending: isDescending });
}

interface StatedLine {
  readonly line: MessageLine;
  readonly state: MessageState;
}

/** Those of these messages that the query asks for, in its order. */
async function linesOfQuery(
  reading: Reading,
  { after, before, wanted, states, live, isLiveOnly, isDescending }: Scope,
  lines: readonly MessageLine[],
): Promise<StatedLine[]> {
  const named = lines.filter(({ seq, id }) => seq > after && seq < before && (wanted?.has(id) ?? true));
  named.sort((a, b) => a.seq - b.seq);
  const gone = isLiveOnly ? [] : named.map(({ seq }) => seq).filter((seq) => !live.has(seq));
  const superseded = await supersededOf(reading, gone);
  const all = named.map((line): StatedLine => {
    const state = live.has(line.seq) ? "live" : superseded.has(line.seq) ? "superseded" : "evicted";
    return { line, state };
  });
  const asked = all.filter(({ state }) => states.includes(state));
  return isDescending ? asked.reverse() : asked;
}

/** Which of these ascending seqs, none of them live, are superseded, according to their marks in order. */
async function supersededOf(reading: Reading, seqs: readonly number[]): Promise<ReadonlySet<number>> {
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
