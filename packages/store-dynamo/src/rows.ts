import type { FoldedUpdate } from "@turnkeep/core/store-kit";
import { utf8Length } from "@turnkeep/core/store-kit";
import type { Item } from "./client.ts";
import type { Action, Items } from "./items.ts";
import { inItsRow, insideBytes, type Line, lineOf, type Place, type Row, textOf } from "./records.ts";

/** A row as an update leaves it. */
export interface NextRow {
  readonly key: number;
  readonly lines: readonly Line[];
  /** Where its parts are, if it is too long for an item. */
  readonly token: string | undefined;
  /** As it was read; absent: it is new. */
  readonly old?: Row;
}

/** What an update writes and removes for rows. */
export interface RowChanges {
  /** Of rows that were not there. */
  readonly inserts: Action[];
  /** Of rows that were. */
  readonly updates: Action[];
  /** In place of `updates`: the rows as they are to be, staged under the token. */
  readonly pending: Item[];
  /** Of rows that were read and stay as they are. */
  readonly checks: Action[];
  /** What is written before the transaction, and how its keys begin. */
  readonly parts: Item[];
  readonly prefixes: string[];
  /** How the keys begin of what is to be removed after it. */
  readonly garbage: string[];
  /** What leads from an id to a row: written before the row is there, and removed after the message has gone. */
  readonly ids: Item[];
  readonly idsGone: Item[];
}

/** `token`: for its parts, should it need them. */
export function nextRow(key: number, lines: readonly Line[], token: string): NextRow {
  return { key, lines, token: utf8Length(textOf(lines)) > insideBytes ? token : undefined };
}

/** What the head would hold of messages after an update. */
export function recentAfter(
  { insert, rewrite, remove }: FoldedUpdate,
  recent: ReadonlyMap<number, Line>,
): Line[] {
  const kept = new Map(recent);
  for (const message of rewrite) if (kept.has(message.seq)) kept.set(message.seq, lineOf(message));
  for (const message of insert) kept.set(message.seq, lineOf(message));
  for (const seq of remove) kept.delete(seq);
  return [...kept.values()];
}

/** The rows that were read, as an update of that count leaves them. Those that it does not change stay the same object. */
export function rowsAfter(
  { rewrite, remove }: FoldedUpdate,
  stored: readonly Row[],
  count: number,
  token: string,
): NextRow[] {
  const rewritten = new Map(rewrite.map((message) => [message.seq, lineOf(message, count)]));
  const removed = new Set(remove);
  return stored.map((old) => {
    if (!old.lines.some(({ seq }) => removed.has(seq) || rewritten.has(seq))) return { ...old, old };
    const left = old.lines.filter(({ seq }) => !removed.has(seq));
    const lines = left.map((line) => rewritten.get(line.seq) ?? line);
    return { ...nextRow(old.key, lines, token), old };
  });
}

/** Which messages are live after an update; where, is known from the rows. */
export function liveAfter(
  { insert, rewrite, setState, remove }: FoldedUpdate,
  before: ReadonlyMap<number, Place>,
): Map<number, Place> {
  const live = new Map(before);
  for (const { seq, state } of [...insert, ...rewrite, ...setState]) {
    if (state === "live") live.set(seq, live.get(seq) ?? inItsRow);
    else live.delete(seq);
  }
  for (const seq of remove) live.delete(seq);
  return live;
}

/** A row that was read must still be the one that was read, also where it stays as it is: the head tells of its messages. */
export function rowChanges(
  items: Items,
  memoryId: string,
  life: string,
  rows: readonly NextRow[],
  { count, token: update }: { readonly count: number; readonly token: string },
): RowChanges {
  const changes: RowChanges = {
    inserts: [],
    updates: [],
    pending: [],
    checks: [],
    parts: [],
    prefixes: [],
    garbage: [],
    ids: [],
    idsGone: [],
  };
  const idKeys = (lines: readonly Line[]): Item[] =>
    lines.map(({ id, seq }) => items.idKey(memoryId, life, id, seq));
  for (const { key, lines, token, old } of rows) {
    const sort = items.rowSort(life, key);
    const rowKey = items.rowKey(memoryId, life, key);
    const unchanged = old && {
      expression: "#c = :count",
      values: { ":count": { N: String(old.count) } },
    };
    if (unchanged !== undefined && lines === old?.lines) {
      changes.checks.push(items.check(rowKey, unchanged));
      continue;
    }
    const [row, ...parts] = items.rowItems(rowKey, { count, token }, textOf(lines));
    changes.parts.push(...parts);
    if (token !== undefined) changes.prefixes.push(items.partSort(sort, token));
    if (old === undefined) {
      changes.inserts.push(items.put(row));
      changes.ids.push(...idKeys(lines));
    } else {
      changes.updates.push(lines.length === 0 ? items.delete(rowKey, unchanged) : items.put(row, unchanged));
      changes.pending.push(items.pendingItem(life, update, row));
      if (old.token !== undefined) changes.garbage.push(items.partSort(sort, old.token));
      const left = new Set(lines.map(({ seq }) => seq));
      changes.idsGone.push(...idKeys(old.lines.filter(({ seq }) => !left.has(seq))));
    }
  }
  return changes;
}
