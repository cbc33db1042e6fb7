import { randomBytes } from "node:crypto";
import type { StoredMessage } from "@turnkeep/core";
import { utf8Length } from "@turnkeep/core/store-kit";
import {
  documentCap,
  type Entry,
  type MemoryDocument,
  type RowDocument,
  smallestApart,
} from "./documents.ts";
import { stateOf } from "./records.ts";
import type { Statement, Statements } from "./statements.ts";

export type Run = <A>(statement: Statement<A>) => Promise<A>;

/** Never used twice. */
export function freshId(): string {
  return randomBytes(12).toString("base64url");
}

/** A row of an attempt. */
export function rowOf(
  { seq, id, createdAt: at, payload, meta }: StoredMessage,
  attempt: Pick<RowDocument, "memory" | "life" | "attempt">,
): RowDocument {
  const content = { seq, id, at, payload, ...(meta === undefined ? {} : { meta }) };
  return { _id: freshId(), ...attempt, ...content, state: "staged", gen: 0 };
}

/** The rows that a document names. */
export function rowsOf({ live = {}, left = {} }: MemoryDocument): string[] {
  return [...Object.values(live), ...Object.values(left)].flatMap(({ r }) => (r === undefined ? [] : [r]));
}

/** The rows of a document that count no more. */
export function trashOf({ trash }: MemoryDocument): readonly string[] {
  return Array.isArray(trash) ? trash : [];
}

/**
 * Does what an update left to do: deletes rows that count no more, and moves what left memory, and live messages if
 * need be, out of a document that has grown too large. Nothing that a reader sees changes by it, wherever it ends; who
 * writes meanwhile wins, and settles then.
 */
export async function settle(run: Run, docs: Statements, memoryId: string, life: string): Promise<void> {
  const stow = freshId();
  const claimed = await run(docs.claim(memoryId, life, stow));
  if (claimed === null) return;
  const { gen = 0, trash = [], former = [], dead = [], size } = claimed;
  const left = { ...claimed.left };
  const leaves = size > documentCap;
  if (leaves) {
    const { rows, entries } = contentsToMove(claimed, life, stow);
    if (rows.length > 0) {
      await run(docs.insert(rows));
      if (!(await run(docs.stow(claimed, stow, entries)))) {
        await run(docs.discard(rows.map(({ _id }) => _id)));
        return;
      }
      for (const [path, entry] of entries) if (path.startsWith("left.")) left[path.slice(5)] = entry;
    }
    for (const state of ["evicted", "superseded"] as const) {
      const moved = Object.values(left).flatMap((entry) =>
        entry.r !== undefined && stateOf(entry) === state ? [entry.r] : [],
      );
      if (moved.length > 0) await run(docs.setState(moved, state, gen));
    }
  }
  if (trash.length > 0) await run(docs.drop(trash));
  if (former.length > 0) await run(docs.bury(former));
  if (dead.length > 0) await run(docs.discardAttempts(dead, rowsOf(claimed)));
  await run(docs.settled(claimed, stow, leaves ? Object.keys(left) : []));
}

/** Everything that left memory, then live messages from the oldest on until half of the room is free again. */
function contentsToMove(
  { _id, live = {}, left = {} }: MemoryDocument,
  life: string,
  stow: string,
): { readonly rows: RowDocument[]; readonly entries: Map<string, Entry> } {
  const rows: RowDocument[] = [];
  const entries = new Map<string, Entry>();
  function move(path: "live" | "left", seq: string, { i, a, p = "", m, s }: Entry): void {
    const message = {
      seq: Number(seq),
      id: i,
      createdAt: a,
      payload: p,
      ...(m === undefined ? {} : { meta: m }),
    };
    const row = rowOf(message, { memory: _id, life, attempt: stow });
    rows.push(row);
    entries.set(`${path}.${seq}`, { i, a, r: row._id, ...(s === undefined ? {} : { s }) });
  }
  for (const [seq, entry] of Object.entries(left)) if (entry.r === undefined) move("left", seq, entry);
  const inside = Object.entries(live)
    .map(([seq, entry]) => ({ seq, entry, bytes: bytesOf(entry.p, entry.m) }))
    .filter(({ entry, bytes }) => entry.r === undefined && bytes > smallestApart);
  let total = inside.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { seq, entry, bytes } of inside.sort((a, b) => Number(a.seq) - Number(b.seq))) {
    if (total <= documentCap / 2) break;
    move("live", seq, entry);
    total -= bytes;
  }
  return { rows, entries };
}

export function bytesOf(payload: string = "", meta: string = ""): number {
  return utf8Length(payload) + utf8Length(meta);
}
