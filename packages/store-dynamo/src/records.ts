/** How messages are written as text, divided into rows, and how the head says which of them are live. */
import type { StoredMessage } from "@turnkeep/core";
import {
  corruptError,
  type FoldedUpdate,
  runsOf,
  unreadableMessage,
  utf8Length,
} from "@turnkeep/core/store-kit";

/**
 * The head holds the newest messages up to this many bytes: reading a head below 4 KB costs one unit. More makes
 * appends more expensive; less moves messages out more often.
 */
export const recentBytes: number = 3 * 1024;

/** Messages that are written together share rows of this size, so that reading one costs a unit. */
const rowBytes = 4 * 1024;

/** A longer row is stored in parts, written before the transaction, which would cost double. */
export const insideBytes: number = 32 * 1024;

/** Greater than the seq of any message. */
export const beyond: number = Number.MAX_SAFE_INTEGER;

/** With more runs of live messages than this, rows do not separate live messages from others. */
const separateRuns = 10;

/** A message as text. What is needed of every message of a row comes first, and is read without the rest. */
export interface MessageLine {
  readonly seq: number;
  /** The count of the update that replaced it in its row; 0: none did. */
  readonly edit: number;
  readonly id: string;
  readonly text: string;
}

/** Messages that are stored together. The key is the seq of the newest of them when the row was made. */
export interface MessageRow {
  readonly key: number;
  /** The count of the update that wrote it. */
  readonly count: number;
  /** Identifies its parts, if it is too long for an item. */
  readonly token: string | undefined;
  readonly lines: readonly MessageLine[];
}

/** What the head says about a live message: the count of its edit, and the row's key if the row is in parts, else 0. */
export interface LiveRef {
  readonly edit: number;
  readonly apart: number;
}

export const inItsRow: LiveRef = { edit: 0, apart: 0 };

/** In place of a part of a row that is not there. No line holds it, since JSON escapes it. */
export const gap = "\0";

export function lineOf({ seq, id, createdAt, payload, meta }: StoredMessage, edit = 0): MessageLine {
  const fields = [seq, edit, id, createdAt, payload, ...(meta === undefined ? [] : [meta])];
  return { seq, edit, id, text: JSON.stringify(fields) };
}

export function textOf(lines: readonly MessageLine[]): string {
  return lines.map(({ text }) => text).join("\n");
}

/** Without lines whose beginning cannot be read: the head knows which live messages are missing then. */
export function linesOf(text: string): MessageLine[] {
  return text.split("\n").flatMap((line) => {
    const [, seq, edit, id] = /^\[(\d+),(\d+),("(?:[^"\\]|\\.)*"),/.exec(line) ?? [];
    const name = id === undefined || line.includes(gap) ? undefined : parsed(id);
    return typeof name === "string" ? [{ seq: Number(seq), edit: Number(edit), id: name, text: line }] : [];
  });
}

export function messageOf({ seq, id, text }: MessageLine): StoredMessage {
  const fields = parsed(text);
  const [, , , createdAt, payload, meta] = Array.isArray(fields) ? (fields as unknown[]) : [];
  if (typeof createdAt === "number" && typeof payload === "string") {
    if (meta === undefined) return { id, seq, createdAt, payload };
    if (typeof meta === "string") return { id, seq, createdAt, payload, meta };
  }
  return unreadableMessage(seq, id);
}

/** With more lines, in their places, which others with their seqs may have taken. */
export function withLines(
  lines: readonly MessageLine[],
  more: readonly MessageLine[],
): readonly MessageLine[] {
  if (more.length === 0) return lines;
  const bySeq = new Map([...lines, ...more].map((line) => [line.seq, line]));
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}

/** What tells lines after an update, which count as that edit; the same list, if it names none of them. */
export function linesAfter({
  replaced,
  moved,
}: FoldedUpdate): (lines: readonly MessageLine[], edit: number) => readonly MessageLine[] {
  const removed = moved.filter((row) => row.state === "removed");
  const changed = new Map([...replaced, ...removed].map((row) => [row.seq, row]));
  return (lines, edit) => {
    if (!lines.some(({ seq }) => changed.has(seq))) return lines;
    return lines.flatMap((line) => {
      const row = changed.get(line.seq);
      if (row === undefined) return [line];
      return row.state === "removed" ? [] : [lineOf(row, edit)];
    });
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Divides messages into rows, live ones apart from others. The newest rows are small, so that a read takes little more
 * than it needs. Older rows hold up to a quarter of everything newer, so that the rows of an update, however large, fit
 * into one transaction.
 */
export function divided(
  lines: readonly MessageLine[],
  live: ReadonlyMap<number, LiveRef>,
): { key: number; lines: MessageLine[] }[] {
  const runs = runsOf(lines.map(({ seq }) => seq).filter((seq) => live.has(seq)));
  const isApart = ({ seq }: MessageLine): boolean => runs.length <= separateRuns && live.has(seq);
  const rows: { key: number; lines: MessageLine[]; isLive: boolean; bytes: number }[] = [];
  for (const line of [...lines].sort((a, b) => b.seq - a.seq)) {
    const bytes = utf8Length(line.text) + 1;
    const isLive = isApart(line);
    const last = rows.at(-1);
    const like = rows.filter((row) => row !== last && row.isLive === isLive);
    const newer = like.reduce((sum, row) => sum + row.bytes, 0);
    if (last?.isLive === isLive && last.bytes + bytes <= Math.max(rowBytes, newer / 4)) {
      last.lines.push(line);
      last.bytes += bytes;
    } else {
      rows.push({ key: line.seq, lines: [line], isLive, bytes });
    }
  }
  return rows.map(({ key, lines }) => ({ key, lines: lines.reverse() }));
}

/** As runs: `1 5-9@9 12#7`, where `@9` is the key of the row in parts and `#7` the count of an edit. */
export function encodeLive(live: ReadonlyMap<number, LiveRef>): string {
  const runs: { from: number; to: number; tail: string }[] = [];
  for (const [seq, { edit, apart }] of [...live].sort(([a], [b]) => a - b)) {
    const tail = `${apart === 0 ? "" : `@${apart}`}${edit === 0 ? "" : `#${edit}`}`;
    const last = runs.at(-1);
    if (last !== undefined && seq === last.to + 1 && tail === last.tail) last.to = seq;
    else runs.push({ from: seq, to: seq, tail });
  }
  return runs.map(({ from, to, tail }) => `${from}${to > from ? `-${to}` : ""}${tail}`).join(" ");
}

/** `CORRUPT_RECORD` unless {@link encodeLive} made the text. */
export function decodeLive(memoryId: string, text: string): Map<number, LiveRef> {
  const live = new Map<number, LiveRef>();
  for (const run of text === "" ? [] : text.split(" ")) {
    const match = /^(\d+)(?:-(\d+))?(?:@(\d+))?(?:#(\d+))?$/.exec(run);
    const [from, to] = [Number(match?.[1]), Number(match?.[2] ?? match?.[1])];
    if (match === null || !Number.isSafeInteger(to) || to - from > 1e7) {
      throw corruptError(memoryId, "its head does not say which messages are live");
    }
    const ref = { apart: Number(match[3] ?? 0), edit: Number(match[4] ?? 0) };
    for (let seq = from; seq <= to; seq++) live.set(seq, ref);
  }
  return live;
}
