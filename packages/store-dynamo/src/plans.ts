/** What an update is to change, computed from the head that it expects and from the rows that it names. Writes nothing. */
import { randomUUID } from "node:crypto";
import {
  checkAgainstStored,
  expiryOf,
  type FoldedUpdate,
  invalidOption,
  utf8Length,
} from "@turnkeep/core/store-kit";
import { encodeFresh, type Head, type Timing } from "./head.ts";
import { type LostIds, supersededOf } from "./history.ts";
import type { Life, Marks } from "./items.ts";
import {
  beyond,
  decodeLive,
  divided,
  encodeLive,
  inItsRow,
  insideBytes,
  type LiveRef,
  lineOf,
  linesAfter,
  linesOf,
  type MessageLine,
  type MessageRow,
  recentBytes,
  textOf,
  withLines,
} from "./records.ts";
import { RowReader } from "./rows.ts";
import type { TableItem } from "./table.ts";

/** An item has 400 KB at most, and the rest of a head some 20. */
const liveBytes = 350 * 1024;

/** Data up to here stands in the head, where it costs no read of its own, but a part of each append. */
const dataBytes = 512;

/** A row as it is written: the item itself, then its parts. */
export interface RowWrite extends MessageRow {
  readonly items: readonly [TableItem, ...TableItem[]];
}

export interface RowRewrite extends RowWrite {
  readonly old: MessageRow;
}

/** What an update does. */
export interface UpdatePlan {
  /** Identifies this attempt: what is staged for it has the token in its keys. */
  readonly token: string;
  readonly head: Head;
  readonly added: readonly RowWrite[];
  /** Without lines: to be removed. */
  readonly rewritten: readonly RowRewrite[];
  /** The rows that were read and stay as they are. */
  readonly unchanged: readonly MessageRow[];
  readonly marks: readonly TableItem[];
  /** Lost messages that the update names and that have no row. */
  readonly nowhere: readonly MessageLine[];
}

/** The rows of a plan. */
type RowChanges = Pick<UpdatePlan, "added" | "rewritten" | "unchanged">;

/** What an update names, beside what stands with it: lines in the head, in rows, and those that have neither. */
interface NamedLines {
  readonly recent: readonly MessageLine[];
  readonly rows: readonly MessageRow[];
  readonly nowhere: readonly MessageLine[];
}

/** `"torn"`: a live message, or a row, is not where the head says, and is not known to be lost. */
export async function planUpdate(
  life: Life,
  update: FoldedUpdate,
  base: Head,
  lost: LostIds,
  timing: Timing,
): Promise<UpdatePlan | "torn"> {
  const before = decodeLive(life.memoryId, base.live);
  const named = await linesNamed(life, update, base, lost, before);
  if (named === "torn") return named;
  const count = base.count + 1;
  const token = randomUUID();
  const live = liveAfter(update, before);
  const changed = linesAfter(update);
  const newest = [...changed(named.recent, 0), ...update.insert.map((message) => lineOf(message))];
  const recent = textOf(newest);
  const fits = utf8Length(recent) <= recentBytes;
  const moving = fits ? [] : divided(newest, live);
  const rows = rowChanges(life, changed, { count, token }, moving, named);
  for (const { key, lines, token: apart } of [...rows.added, ...rows.rewritten, ...rows.unchanged]) {
    for (const { seq, edit } of lines) {
      if (live.has(seq)) live.set(seq, { edit, apart: apart === undefined ? 0 : key });
    }
  }
  const marks = life.markItems(count, marksOf(update, before));
  const head = headAfter(life, update, base, { ...rows, marks }, timing);
  const planned = { ...head, count, live: encodeLive(live), recent: fits ? recent : "" };
  checkLive(planned);
  return { token, head: planned, ...rows, marks, nowhere: named.nowhere };
}

/** The head after the update, with the messages still as they were. */
function headAfter(
  life: Life,
  update: FoldedUpdate,
  base: Head,
  { added, rewritten, marks }: Pick<UpdatePlan, "added" | "rewritten" | "marks">,
  timing: Timing,
): Head {
  const { version, nextSeq, owner = base.owner, head = base.head } = update;
  const itemOf = ({ items }: RowWrite): TableItem => items[0];
  const emptied = rewritten.filter(({ lines }) => lines.length === 0);
  const updatedAt = Date.now();
  return {
    ...base,
    life: life.name,
    version,
    nextSeq,
    owner,
    head,
    ...dataAfter(update, base),
    fresh: encodeFresh(base.fresh, [...added.map(itemOf), ...marks], emptied.map(itemOf)),
    pending: undefined,
    updatedAt,
    endsAt: expiryOf(update, timing.ttlMs, updatedAt),
    activeAt: activeAfter(base, owner, updatedAt, timing),
  };
}

/** Short data stands in the head; other data beside it, where the count tells whether it is the one that is meant. */
function dataAfter({ data }: FoldedUpdate, base: Head): Pick<Head, "data" | "dataCount"> {
  if (data === undefined) return { data: base.data, dataCount: base.dataCount };
  return utf8Length(data) <= dataBytes
    ? { data, dataCount: undefined }
    : { data: undefined, dataCount: base.count + 1 };
}

/** The activity by which the memory is listed, which only grows: as it is noted already, unless that is too old. */
function activeAfter(
  base: Head,
  owner: string | undefined,
  now: number,
  { activityMs }: Timing,
): number | undefined {
  const { activeAt } = base;
  if (activeAt === undefined) return now;
  const isNoted = owner === base.owner && now - activeAt < activityMs;
  return isNoted ? activeAt : Math.max(now, activeAt + 1);
}

function checkLive({ live }: Head): void {
  if (live.length <= liveBytes) return;
  throw invalidOption(
    `The live messages of a memory are too scattered: the list of their seqs has ${live.length} bytes, and ${liveBytes} fit`,
  );
}

/** What becomes of the rows that were read, and the rows for what moves out of the head or had none. */
function rowChanges(
  life: Life,
  changed: ReturnType<typeof linesAfter>,
  { count, token }: { readonly count: number; readonly token: string },
  moving: readonly { readonly key: number; readonly lines: readonly MessageLine[] }[],
  { rows, nowhere }: NamedLines,
): RowChanges {
  const written = (key: number, lines: readonly MessageLine[]): RowWrite => {
    const text = textOf(lines);
    const row = { key, count, token: utf8Length(text) > insideBytes ? token : undefined, lines };
    return { ...row, items: life.rowItems(row, text) };
  };
  const alone = changed(nowhere, count).map((line) => ({ key: line.seq, lines: [line] }));
  const after = rows.map((old) => ({ old, lines: changed(old.lines, count) }));
  return {
    added: [...moving, ...alone].map(({ key, lines }) => written(key, lines)),
    rewritten: after
      .filter(({ old, lines }) => lines !== old.lines)
      .map(({ old, lines }) => ({ ...written(old.key, lines), old })),
    unchanged: after.filter(({ old, lines }) => lines === old.lines).map(({ old }) => old),
  };
}

/** What the update names, after checking the update against it. */
async function linesNamed(
  life: Life,
  update: FoldedUpdate,
  base: Head,
  lost: LostIds,
  live: ReadonlyMap<number, LiveRef>,
): Promise<NamedLines | "torn"> {
  const { replaced, moved } = update;
  const recent = linesOf(base.recent);
  const inHead = new Set(recent.map(({ seq }) => seq));
  // A live message whose state alone changes need not be read.
  const read = moved.filter(({ seq, state }) => state === "removed" || !live.has(seq));
  const asked = [...replaced, ...read].map(({ seq }) => seq).filter((seq) => !inHead.has(seq));
  const reading = new RowReader(life, { ...base, pending: undefined });
  const rows = await reading.rowsWith(asked, live);
  const lines = new Map([...rows.flatMap((row) => row.lines), ...recent].map((line) => [line.seq, line]));
  const missing = asked.filter((seq) => live.has(seq) && lines.get(seq)?.edit !== live.get(seq)?.edit);
  // It may be in a row that does not show yet, or in one that an update has replaced since.
  const isUnseen = reading.isTorn && asked.some((seq) => !lines.has(seq) && !live.has(seq));
  const corrected = replaced.filter(({ was }) => was !== undefined).map(({ seq }) => seq);
  const marks = new RowReader(life, base);
  const superseded = await supersededOf(
    marks,
    corrected.sort((a, b) => a - b),
  );
  if (isUnseen || marks.isTorn || missing.some((seq) => !lost.has(seq))) return "torn";

  const empty = missing.map((seq) => {
    return { seq, edit: live.get(seq)?.edit ?? 0, id: lost.get(seq) ?? "", text: "" };
  });
  for (const line of empty) lines.set(line.seq, line);
  checkAgainstStored(life.memoryId, update, {
    nextSeq: base.nextSeq,
    find(seq) {
      const id = lines.get(seq)?.id;
      if (live.has(seq)) return { id: id ?? "", state: "live" };
      if (id === undefined) return undefined;
      return { id, state: superseded.has(seq) ? "superseded" : "evicted" };
    },
  });
  return withEmpty(reading, recent, rows, empty);
}

/**
 * With an empty line where each lost message would be looked for: in the head, or in the first row from its seq on. So it
 * can be replaced and removed like others.
 */
async function withEmpty(
  reading: RowReader,
  recent: readonly MessageLine[],
  stored: readonly MessageRow[],
  empty: readonly MessageLine[],
): Promise<NamedLines> {
  const rows = new Map(stored.map((row) => [row.key, row]));
  const isRecent = ({ seq }: MessageLine): boolean => seq > (recent[0]?.seq ?? beyond);
  const nowhere: MessageLine[] = [];
  for (const line of empty.filter((one) => !isRecent(one))) {
    const first = await reading.rowAt(line.seq);
    const row = first && (rows.get(first.key) ?? first);
    if (row === undefined) nowhere.push(line);
    else rows.set(row.key, { ...row, lines: withLines(row.lines, [line]) });
  }
  return { recent: withLines(recent, empty.filter(isRecent)), rows: [...rows.values()], nowhere };
}

/** Which messages are live after an update. Where they stand comes from the rows. */
function liveAfter(
  { insert, replaced, moved }: FoldedUpdate,
  before: ReadonlyMap<number, LiveRef>,
): Map<number, LiveRef> {
  const live = new Map(before);
  for (const { seq, state } of [...insert, ...replaced, ...moved]) {
    if (state === "live") live.set(seq, live.get(seq) ?? inItsRow);
    else live.delete(seq);
  }
  return live;
}

function marksOf({ insert, replaced, moved }: FoldedUpdate, before: ReadonlyMap<number, LiveRef>): Marks {
  const superseded = [...insert, ...replaced, ...moved].filter(({ state }) => state === "superseded");
  const others = moved.filter(
    ({ seq, state }) => (state === "live" || state === "evicted") && !before.has(seq),
  );
  return { add: superseded.map(({ seq }) => seq), drop: others.map(({ seq }) => seq) };
}
