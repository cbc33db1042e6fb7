import type { HistoryPage } from "../store-contract.ts";
import { unreadableMessage } from "./copies.ts";
import { inPortions, type KeyValueCalls } from "./key-value-calls.ts";
import {
  asks,
  baseOf,
  decodeRecord,
  decodeSegment,
  type KeyValueRecord,
  type RecordRows,
  type Row,
  readableRecord,
  type Segment,
} from "./key-value-record.ts";
import type { NormalHistoryQuery } from "./queries.ts";

/** What has been read of a memory, and the names of the segments that it stood in. */
export interface Opened extends RecordRows {
  readonly names: readonly string[];
}

/** What is looked for. */
interface Search {
  /** Which segments must be read, given what has been read; none: enough. */
  choose(opened: RecordRows): readonly Segment[];
  /** Which messages of theirs are kept. */
  keeps(row: Row): boolean;
}

/** How many segments are read at once to find ids, which may be in any. */
const atOnce = 32;

/** Reads the segments of a memory that a search chooses. `undefined`: somebody has written to the memory meanwhile. */
export async function openSegments<R>(
  calls: KeyValueCalls<R>,
  memoryId: string,
  { version, rows, segments }: KeyValueRecord,
  { choose, keeps }: Search,
): Promise<Opened | undefined> {
  const read = async (segment: Segment): Promise<RecordRows | undefined> => {
    const entry = await calls.get(memoryId, segment.name);
    const content = entry && decodeSegment(memoryId, entry.value);
    if (content !== undefined) return content;
    const now = await calls.get(memoryId);
    if (now === undefined || decodeRecord(memoryId, now.value).version !== version) return undefined;
    // Lost for good. One message stands for all, so that it is told, and can be removed.
    return { rows: [{ ...unreadableMessage(segment.first), state: "evicted" }], segments: [] };
  };
  let opened = { rows, segments, names: [] as string[] };
  for (let chosen = choose(opened); chosen.length > 0; chosen = choose(opened)) {
    const contents = await inPortions(chosen, read);
    if (!contents.every((content) => content !== undefined)) return undefined;
    const others = opened.segments.filter((segment) => !chosen.includes(segment));
    opened = {
      rows: [...opened.rows, ...contents.flatMap((content) => content.rows.filter(keeps))].sort(
        (a, b) => a.seq - b.seq,
      ),
      segments: [...others, ...contents.flatMap((content) => content.segments)],
      names: [...opened.names, ...chosen.map(({ name }) => name)],
    };
  }
  return opened;
}

/** The messages of these seqs, and what stands in one segment with them. */
export function holding(seqs: readonly number[]): Search {
  return {
    keeps: () => true,
    choose({ rows, segments }) {
      if (segments.length === 0) return [];
      const read = new Set(rows.map(({ seq }) => seq));
      const missing = seqs.filter((seq) => !read.has(seq));
      return segments.filter(({ first, last }) => missing.some((seq) => first <= seq && seq <= last));
    },
  };
}

/** A page, from the nearest segments on, and whether something comes after it. */
export function holdingPage(query: NormalHistoryQuery): Search {
  const { after, before, order, limit, states, ids } = query;
  const isAscending = order === "ascending";
  return {
    keeps: asks(query),
    choose({ rows, segments }) {
      // What is live stands in the memory's own value.
      if (states.every((state) => state === "live")) return [];
      const end = found(rows, query)[limit]?.seq;
      const low = isAscending ? after : Math.max(after, end ?? after);
      const high = isAscending ? Math.min(before, end ?? before) : before;
      return segments
        .filter(({ first, last }) => low < last && first < high)
        .sort((a, b) => (isAscending ? a.first - b.first : b.last - a.last))
        .slice(0, ids === undefined ? 1 : atOnce);
    },
  };
}

/** The page of what has been read. */
export function pageOf({ rows }: RecordRows, query: NormalHistoryQuery): HistoryPage {
  const messages = found(rows, query);
  return { messages: messages.slice(0, query.limit), hasMore: messages.length > query.limit };
}

function found(rows: readonly Row[], query: NormalHistoryQuery): Row[] {
  const some = rows.filter(asks(query));
  return query.order === "descending" ? some.reverse() : some;
}

const namingOthers: Search = {
  keeps: () => true,
  choose: ({ segments }) => segments.filter(({ level }) => level > 0),
};

/** The names of all segments of a memory; `undefined`: one that names others is lost, or somebody has written meanwhile. */
export async function allNames<R>(
  calls: KeyValueCalls<R>,
  memoryId: string,
  record: KeyValueRecord,
): Promise<ReadonlySet<string> | undefined> {
  const opened = await openSegments(calls, memoryId, { ...record, rows: [] }, namingOthers);
  if (opened === undefined || opened.rows.length > 0) return undefined;
  return new Set([...opened.names, ...opened.segments.map(({ name }) => name)]);
}

/**
 * Deletes segments of a memory that no longer names them. Nobody who repeats the call finds their names again, so one that
 * fails does not keep the others, and is tried again.
 */
export async function removeSegments<R>(
  calls: KeyValueCalls<R>,
  memoryId: string,
  names: Iterable<string>,
): Promise<void> {
  const remove = (segment: string) => calls.remove({ memoryId, segment }, undefined);
  const failed: string[] = [];
  await inPortions([...names], (segment) => remove(segment).catch(() => failed.push(segment)));
  await inPortions(failed, remove);
}

/**
 * Deletes those of a memory's segments that it does not name and never will; returns how many. An update names segments
 * that it has written over the version in place. So one over another version was of an update that lost, or has been
 * superseded; one over this version may be of an update that is under way.
 */
export async function sweepSegments<R>(
  calls: KeyValueCalls<R>,
  memoryId: string,
  names: readonly string[],
): Promise<number> {
  const entry = await calls.get(memoryId);
  const record = entry && readableRecord(memoryId, entry.value);
  const named = record && (await allNames(calls, memoryId, record));
  // What cannot be read may name any.
  if (entry !== undefined && named === undefined) return 0;
  const left = names.filter((name) => !named?.has(name));
  const removed = await inPortions(left, async (segment) => {
    const written = record && (await calls.get(memoryId, segment));
    if (record !== undefined && (written === undefined || baseOf(written.value) === record.version))
      return false;
    return calls.remove({ memoryId, segment }, undefined);
  });
  return removed.filter(Boolean).length;
}
