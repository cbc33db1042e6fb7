import { randomBytes } from "node:crypto";
import type { StoredMessage } from "@turnkeep/core";
import { utf8Length } from "@turnkeep/core/store-kit";
import type { Run } from "./client.ts";
import {
  documentCap,
  type Entry,
  type MemoryDocument,
  type RowDocument,
  smallestApart,
} from "./documents.ts";
import { stateOf } from "./records.ts";
import * as statements from "./statements.ts";

/** Never used twice. */
export function freshId(): string {
  return randomBytes(12).toString("base64url");
}

/** A message inside its memory's document. */
export function entryOf({ id, createdAt, payload, meta }: StoredMessage): Entry {
  return { i: id, a: createdAt, p: payload, m: meta };
}

/** A row of an attempt, for the content of an entry. */
export function rowOf(
  seq: number,
  { i, a, p, m }: Entry,
  attempt: Pick<RowDocument, "memory" | "life" | "attempt">,
): RowDocument {
  return { _id: freshId(), ...attempt, seq, i, a, p, m, state: "staged", gen: 0 };
}

/** The entry of a message whose content a row has. */
export function referenceTo({ _id, i, a }: Pick<RowDocument, "_id" | "i" | "a">): Entry {
  return { i, a, r: _id };
}

/** The rows that a document names. */
export function rowsOf({ live = {}, left = {} }: MemoryDocument): string[] {
  return [...Object.values(live), ...Object.values(left)].flatMap(({ r }) => (r === undefined ? [] : [r]));
}

/** The rows of a document that count no more. */
export function trashOf({ trash }: MemoryDocument): readonly string[] {
  return Array.isArray(trash) ? trash : [];
}

/** The rows of which the document says whether they count, whatever they say themselves. */
export function overridden(memory: MemoryDocument): string[] {
  return [...rowsOf(memory), ...trashOf(memory)];
}

/**
 * Does what an update left to do: deletes rows that count no more, and moves what left memory, and live messages if
 * need be, out of a document that has grown too large. Nothing that a reader sees changes by it, wherever it ends; who
 * writes meanwhile wins, and settles then.
 */
export async function settle(run: Run, memoryId: string, life: string): Promise<void> {
  const stow = freshId();
  const claimed = await run(statements.claim(memoryId, life, stow));
  if (claimed === null) return;
  const { gen = 0, trash = [], former = [], dead = [], size } = claimed;
  const left = { ...claimed.left };
  const leaves = size > documentCap;
  if (leaves) {
    const { rows, entries } = contentsToMove(claimed, life, stow);
    if (rows.length > 0) {
      await run(statements.insert(rows));
      if (!(await run(statements.stow(claimed, entries)))) {
        await run(statements.discard(rows.map(({ _id }) => _id)));
        return;
      }
      for (const [path, entry] of entries) if (path.startsWith("left.")) left[path.slice(5)] = entry;
    }
    for (const state of ["evicted", "superseded"] as const) {
      const moved = Object.values(left).flatMap((entry) =>
        entry.r !== undefined && stateOf(entry) === state ? [entry.r] : [],
      );
      if (moved.length > 0) await run(statements.setState(moved, state, gen));
    }
  }
  if (trash.length > 0) await run(statements.drop(trash));
  if (former.length > 0) await run(statements.bury(former));
  if (dead.length > 0) await run(statements.discardAttempts(dead, rowsOf(claimed)));
  await run(statements.settled(claimed, leaves ? Object.keys(left) : []));
}

/** Everything that left memory, then live messages from the oldest on until half of the room is free again. */
function contentsToMove(
  { _id: memory, live = {}, left = {} }: MemoryDocument,
  life: string,
  attempt: string,
): { readonly rows: RowDocument[]; readonly entries: Map<string, Entry> } {
  const rows: RowDocument[] = [];
  const entries = new Map<string, Entry>();
  function move(path: "live" | "left", seq: string, entry: Entry): void {
    const row = rowOf(Number(seq), entry, { memory, life, attempt });
    rows.push(row);
    entries.set(`${path}.${seq}`, { ...referenceTo(row), s: entry.s });
  }
  for (const [seq, entry] of Object.entries(left)) if (entry.r === undefined) move("left", seq, entry);
  const inside = Object.entries(live)
    .map(([seq, entry]) => ({ seq, entry, bytes: bytesOf(entry) }))
    .filter(({ entry, bytes }) => entry.r === undefined && bytes > smallestApart);
  let total = inside.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { seq, entry, bytes } of inside.sort((a, b) => Number(a.seq) - Number(b.seq))) {
    if (total <= documentCap / 2) break;
    move("live", seq, entry);
    total -= bytes;
  }
  return { rows, entries };
}

/** The size of an entry's content. */
export function bytesOf({ p = "", m = "" }: Entry): number {
  return utf8Length(p) + utf8Length(m);
}
