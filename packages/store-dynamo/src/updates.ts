import { randomBytes, randomUUID } from "node:crypto";
import type { MemoryUpdate } from "@turnkeep/core";
import {
  checkAgainstStored,
  type FoldedUpdate,
  foldUpdate,
  invalidOption,
  utf8Length,
} from "@turnkeep/core/store-kit";
import type { Refusal } from "./client.ts";
import { encodeFresh, type Head, isPresent, type Marks, Memory, putHead, type Work } from "./items.ts";
import {
  beyond,
  decodeLive,
  divided,
  encodeLive,
  inItsRow,
  insideBytes,
  type Line,
  lineOf,
  linesAfter,
  linesOf,
  type Place,
  type Row,
  recentBytes,
  textOf,
  withLines,
} from "./records.ts";
import { Reading } from "./rows.ts";
import { catchUp, discard, finish, isStaging } from "./staging.ts";
import { actionsAtOnce, type Condition, type Table } from "./table.ts";

/** An item has 400 KB at most, and the rest of a head some 20. */
const liveBytes = 350 * 1024;

/** What an update does. */
type Plan = Exclude<Awaited<ReturnType<typeof planned>>, "torn">;

/** Live messages whose records are lost: their ids by seq. */
export type Lost = ReadonlyMap<number, string>;

/**
 * The head after an update. `undefined`, or a refusal: it was not made, and the head says why; `"again"`: not made although
 * the head is as expected, so that it may succeed if it is planned anew; `"torn"`: not made, since a live message, or a
 * row, is not where the head says, and is not known to be lost.
 */
type Applied = Head | Refusal | "again" | "torn" | undefined;

/** Readers see all of an update or nothing. */
export async function applyUpdate(
  table: Table,
  memoryId: string,
  change: MemoryUpdate,
  base: Head,
  lost: Lost,
  ttlMs: number | undefined,
): Promise<Applied> {
  if (!isPresent(base)) return undefined;
  // A sweep that gave up an earlier attempt to begin may still be removing that life: each attempt has its own.
  const life = change.expected === null ? randomBytes(12).toString("base64url") : base.life;
  const memory = new Memory(table, memoryId, life);
  await catchUp(memory, base);
  const plan = await planned(memory, change, base, lost, ttlMs);
  return plan === "torn" ? plan : carriedOut(memory, change, base, plan);
}

async function planned(
  memory: Memory,
  change: MemoryUpdate,
  base: Head,
  lost: Lost,
  ttlMs: number | undefined,
) {
  const folded = foldUpdate(change);
  const before = decodeLive(memory.memoryId, base.live);
  const named = await linesNamed(memory, folded, base, lost, before);
  if (named === "torn") return named;
  const { recent, rows: stored, nowhere } = named;

  const count = base.count + 1;
  const token = randomUUID();
  const live = liveAfter(folded, before);
  /** A row as it is written: the item itself, then its parts. */
  const written = (key: number, lines: readonly Line[]) => {
    const text = textOf(lines);
    const row = { key, count, token: utf8Length(text) > insideBytes ? token : undefined, lines };
    return { ...row, entries: memory.rowEntries(row, text) };
  };
  const kept = [...linesAfter(folded, recent, 0), ...folded.insert.map((message) => lineOf(message))];
  const fits = utf8Length(textOf(kept)) <= recentBytes;
  const alone = linesAfter(folded, nowhere, count).map((line) => ({ key: line.seq, lines: [line] }));
  const added = [...(fits ? [] : divided(kept, live)), ...alone].map(({ key, lines }) => written(key, lines));
  const after = stored.map((old) => ({ old, lines: linesAfter(folded, old.lines, count) }));
  /** The rows that were read and stay as they are. */
  const unchanged = after.flatMap(({ old, lines }) => (lines === old.lines ? [old] : []));
  const rewritten = after.flatMap(({ old, lines }) =>
    lines === old.lines ? [] : [{ ...written(old.key, lines), old }],
  );
  for (const { key, lines, token: apart } of [...added, ...rewritten, ...unchanged]) {
    for (const { seq, edit } of lines) {
      if (live.has(seq)) live.set(seq, { edit, apart: apart === undefined ? 0 : key });
    }
  }
  const marks = memory.markEntries(count, marksOf(folded, before));
  const fresh = [...added.map(({ entries }) => entries[0]), ...marks];
  const emptied = rewritten.filter(({ lines }) => lines.length === 0);
  const updatedAt = Date.now();
  const head: Head = {
    ...base,
    life: memory.life,
    version: change.version,
    nextSeq: change.nextSeq,
    head: change.head ?? base.head,
    live: encodeLive(live),
    recent: fits ? textOf(kept) : "",
    fresh: encodeFresh(
      base.fresh,
      fresh,
      emptied.map(({ entries }) => entries[0]),
    ),
    pending: undefined,
    count,
    updatedAt,
    endsAt: ttlMs === undefined ? undefined : updatedAt + ttlMs,
  };
  if (head.live.length > liveBytes) {
    throw invalidOption(
      `The live messages of a memory are too scattered: the list of their seqs has ${head.live.length} bytes, and ${liveBytes} fit`,
    );
  }
  return { token, head, added, rewritten, unchanged, marks, nowhere };
}

/** Lines in their places. Those that are `nowhere` have no row. */
interface Lines {
  readonly recent: readonly Line[];
  readonly rows: readonly Row[];
  readonly nowhere: readonly Line[];
}

/** What the update names, after checking the update against it, beside what it stands with. */
async function linesNamed(
  memory: Memory,
  folded: FoldedUpdate,
  base: Head,
  lost: Lost,
  before: ReadonlyMap<number, Place>,
): Promise<Lines | "torn"> {
  const { rewrite, setState, remove } = folded;
  const recent = linesOf(base.recent);
  const gone = setState.map(({ seq }) => seq).filter((seq) => !before.has(seq));
  const inHead = new Set(recent.map(({ seq }) => seq));
  const asked = [...rewrite.map(({ seq }) => seq), ...remove, ...gone].filter((seq) => !inHead.has(seq));
  const reading = new Reading(memory, { ...base, pending: undefined });
  const rows = await reading.rowsWith(asked, before);
  const lines = new Map([...rows.flatMap((row) => row.lines), ...recent].map((line) => [line.seq, line]));
  const missing = asked.filter((seq) => before.has(seq) && lines.get(seq)?.edit !== before.get(seq)?.edit);
  // It may be in a row that does not show yet, or in one that an update has replaced since.
  const isUnseen = reading.isTorn && asked.some((seq) => !lines.has(seq) && !before.has(seq));
  if (isUnseen || missing.some((seq) => !lost.has(seq))) return "torn";

  const empty = missing.map((seq) => {
    return { seq, edit: before.get(seq)?.edit ?? 0, id: lost.get(seq) ?? "", text: "" };
  });
  for (const line of empty) lines.set(line.seq, line);
  checkAgainstStored(memory.memoryId, folded, {
    nextSeq: base.nextSeq,
    find(seq) {
      const id = lines.get(seq)?.id;
      if (before.has(seq)) return { id: id ?? "", state: "live" };
      return id === undefined ? undefined : { id, state: "evicted" };
    },
  });
  return withEmpty(reading, recent, rows, empty);
}

/**
 * With an empty line where each lost message would be looked for: in the head, or in the first row from its seq on. So it
 * can be replaced and removed like others.
 */
async function withEmpty(
  reading: Reading,
  recent: readonly Line[],
  stored: readonly Row[],
  empty: readonly Line[],
): Promise<Lines> {
  const rows = new Map(stored.map((row) => [row.key, row]));
  const isRecent = ({ seq }: Line): boolean => seq > (recent[0]?.seq ?? beyond);
  const nowhere: Line[] = [];
  for (const line of empty.filter((one) => !isRecent(one))) {
    const found = await reading.rowAt(line.seq);
    const row = found && (rows.get(found.key) ?? found);
    if (row === undefined) nowhere.push(line);
    else rows.set(row.key, { ...row, lines: withLines(row.lines, [line]) });
  }
  return { recent: withLines(recent, empty.filter(isRecent)), rows: [...rows.values()], nowhere };
}

/** Which messages are live after an update. Their places come from the rows. */
function liveAfter(
  { insert, replaced, moved }: FoldedUpdate,
  before: ReadonlyMap<number, Place>,
): Map<number, Place> {
  const live = new Map(before);
  for (const { seq, state } of [...insert, ...replaced, ...moved]) {
    if (state === "live") live.set(seq, live.get(seq) ?? inItsRow);
    else live.delete(seq);
  }
  return live;
}

function marksOf({ insert, rewrite, setState }: FoldedUpdate, before: ReadonlyMap<number, Place>): Marks {
  const superseded = [...insert, ...rewrite, ...setState].filter(({ state }) => state === "superseded");
  const others = setState.filter(({ seq, state }) => state !== "superseded" && !before.has(seq));
  return { add: superseded.map(({ seq }) => seq), drop: others.map(({ seq }) => seq) };
}

async function carriedOut(memory: Memory, change: MemoryUpdate, base: Head, plan: Plan): Promise<Applied> {
  const { table } = memory;
  const { work, staged, actions, head, next, idsGone, unchecked } = writesOf(memory, change, plan);
  // A query may see a half-applied transaction, so rows that the one below does not check are compared here.
  const now = await table.settled(unchecked.map(({ key }) => memory.rowKey(key)));
  if (unchecked.some(({ count }, index) => now[index]?.count !== count)) return undefined;
  if (work !== undefined) await table.write([table.put(memory.workEntry(work))]);
  await table.putAll(staged);
  // The memory may have expired during staging.
  const isOver = !isPresent(base);
  const refusal = isOver ? undefined : await table.write(actions);
  if (isOver || refusal !== undefined) {
    // What may be in place after all is left to a sweep.
    if (staged.length > 0 && refusal?.isOpen !== true) await discard(memory, work);
    const codes = refusal?.codes ?? [];
    // The head is not the obstacle: rows had changed since they were read, or a sweep gave up the staged data.
    return codes[0] === "None" && codes.includes("ConditionalCheckFailed") ? "again" : refusal;
  }
  // The update is in place; what is left to do does not show, and the next update, a sweep or the memory's end does it.
  const isFinished = await (next &&
    finish(memory, next).then(
      () => true,
      () => false,
    ));
  await table.deleteAll(idsGone).catch(() => {});
  return isFinished ? { ...head, pending: undefined } : head;
}

/**
 * One transaction writes all of an update that fits into it. If more rows were read than it can check and write, these
 * are staged, and take their places after it.
 */
function writesOf(memory: Memory, { expected, owner }: MemoryUpdate, plan: Plan) {
  const { table, memoryId } = memory;
  const { token, added, rewritten, unchanged, marks, nowhere } = plan;
  const isBeginning = expected === null;
  const [listing, ...owned] = isBeginning ? memory.listEntries(owner) : [];
  const certain = [...added.map(({ entries }) => entries[0]), ...marks, ...owned].map((e) => table.put(e));
  const asRead = ({ count }: Row): Condition => ({ expression: "#c = :count", values: { ":count": count } });
  const conditional = [
    ...rewritten.map(({ lines, entries: [entry], old }) =>
      lines.length === 0 ? table.delete(entry, asRead(old)) : table.put(entry, asRead(old)),
    ),
    ...unchanged.map((row) => table.check(memory.rowKey(row.key), asRead(row))),
  ];
  const parts = [...added, ...rewritten].flatMap(({ entries }) => entries.slice(1));
  const ids = added.flatMap(({ lines }) => memory.idEntries(lines));
  const partsOf = (rows: readonly Row[]): string[] =>
    rows.flatMap(({ key, token: apart }) => (apart === undefined ? [] : [memory.partKey(key, apart).sort]));
  const garbage = partsOf(rewritten.map(({ old }) => old));
  const kept = new Set([...added, ...rewritten].flatMap(({ lines }) => lines.map(({ seq }) => seq)));
  const before = [...rewritten.flatMap(({ old }) => old.lines), ...nowhere];
  const idsGone = memory.idEntries(before.filter(({ seq }) => !kept.has(seq)));
  const hasWork = parts.length > 0 || (isBeginning && ids.length > 0);
  const others = 1 + certain.length + Number(isBeginning || hasWork || garbage.length > 0);
  const isLarge = others + conditional.length > actionsAtOnce;

  const pending = (isLarge ? rewritten : []).map(({ key, entries: [{ values }] }) => {
    return { ...memory.pendingKey(token, key), values };
  });
  const isPending = pending.length > 0;
  const head = isPending ? { ...plan.head, pending: token } : plan.head;
  const waiting = isPending ? [memory.pendingKey(token).sort] : [];
  const prefixes = [...waiting, ...partsOf([...added, ...rewritten])];
  const about = { token: isBeginning ? "" : token, updatedAt: head.updatedAt };
  const work: Work | undefined =
    hasWork || isPending
      ? { ...about, stage: "staging", prefixes: isBeginning ? [memory.prefix] : prefixes }
      : undefined;
  const left = [...waiting, ...garbage];
  const stage = isPending ? "applying" : "ending";
  const next: Work | undefined = left.length > 0 ? { ...about, stage, prefixes: left } : undefined;
  const listed = next === undefined ? listing : memory.workEntry(next);
  // Unless a sweep gave it up, if it was announced.
  const isMine = work && isStaging;
  const actions = [
    putHead(table, memoryId, expected, head),
    ...certain,
    ...(isLarge ? [] : conditional),
    ...(listed === undefined ? [] : [table.put(listed, isMine)]),
    ...(listed === undefined && work !== undefined ? [table.delete(memory.listKey(token), isMine)] : []),
  ];
  if (actions.length > actionsAtOnce) {
    throw invalidOption(
      `The update changes ${actions.length} items of the table at once, and ${actionsAtOnce} fit into a transaction: supersede or bring back messages in fewer thousands of the history at a time`,
    );
  }
  return {
    /** Rows that must still be as they were read, and that the transaction does not check. */
    unchecked: isLarge ? [...rewritten.map(({ old }) => old), ...unchanged] : [],
    /** Announces what is staged. */
    work,
    /** Counts nowhere until the transaction is done. */
    staged: [...parts, ...pending, ...ids],
    /** Of the transaction; the first one writes this head. */
    actions,
    head,
    /** What is left to do then. */
    next,
    /** What led to messages that are removed. */
    idsGone,
  };
}
