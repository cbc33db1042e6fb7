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
  states,
} from "./documents.ts";
import { entriesOf, overridden, type PlacedEntry } from "./records.ts";
import type { Claimed, Statement } from "./statements.ts";
import * as statements from "./statements.ts";

/** Never used twice. */
export function freshId(): string {
  return randomBytes(12).toString("base64url");
}

/** A message inside its memory's document. */
export function entryOf({ id, createdAt, payload, meta }: StoredMessage): Entry {
  return { i: id, a: createdAt, p: payload, m: meta };
}

/** A row for the content of an entry. */
export function rowOf(
  { _id: memory, life = "", generation = 0 }: MemoryDocument,
  seq: number,
  { i, a, p, m }: Entry,
): RowDocument {
  return { _id: freshId(), memory, life, seq, i, a, p, m, state: "staged", generation };
}

/** The entry of a message whose content a row has. */
export function referenceTo({ _id, i, a }: RowDocument): Entry {
  return { i, a, r: _id };
}

/** Removes rows of an attempt that has failed. */
export function discarding(rows: readonly RowDocument[]): Statement<number> {
  return statements.drop({ _id: { $in: rows.map(({ _id }) => _id) } });
}

/** The size of an entry's content. */
export function bytesOf({ p = "", m = "" }: Entry): number {
  return utf8Length(p) + utf8Length(m);
}

/**
 * Deletes rows that count no more, and moves what left memory, and live messages if need be, out of a document that has
 * grown too large. Nothing that a reader sees changes by it, wherever it ends; who writes meanwhile wins, and settles
 * then. Answers how many rows it has deleted. `undefined`: that life of the memory is over.
 */
export async function settle(run: Run, memoryId: string, life: string): Promise<number | undefined> {
  const claimed = await run(statements.claim(memoryId, life));
  if (claimed === null) return undefined;
  const { tooLarge, trash, staging } = claimed;
  const entries = entriesOf(claimed, states);
  const named = overridden(claimed, entries);
  if (tooLarge && !(await moveOut(run, claimed, entries))) return 0;
  // What no attempt can have the document name any more, except what it names already.
  const forgotten = { life, state: "staged", generation: { $lt: claimed.generation }, _id: { $nin: named } };
  const removed = await run(statements.drop({ $or: [{ _id: { $in: trash } }, forgotten] }));
  await run(
    statements.whileClaimed(claimed, {
      $pullAll: { trash, staging },
      $set: tooLarge ? { evicted: {}, superseded: {} } : {},
    }),
  );
  return removed;
}

/** `false`: somebody else has changed the memory. Else all that left memory stands in rows, which say so themselves. */
async function moveOut(run: Run, claimed: Claimed, entries: readonly PlacedEntry[]): Promise<boolean> {
  const rows = new Map(
    contentsToMove(entries).map(({ path = "", seq, entry }) => [path, rowOf(claimed, seq, entry)]),
  );
  if (rows.size > 0) {
    await run(statements.insert([...rows.values()]));
    const references = Object.fromEntries([...rows].map(([path, row]) => [path, referenceTo(row)]));
    if (!(await run(statements.whileClaimed(claimed, { $set: references })))) {
      await run(discarding([...rows.values()]));
      return false;
    }
  }
  for (const state of ["evicted", "superseded"] as const) {
    const left = entries.filter((found) => found.state === state);
    const ids = left.flatMap(({ path = "", entry }) => entry.r ?? rows.get(path)?._id ?? []);
    if (ids.length > 0) await run(statements.setState(ids, state, claimed.generation));
  }
  return true;
}

/** Everything that left memory, then live messages from the oldest on until half of the room is free again. */
function contentsToMove(entries: readonly PlacedEntry[]): PlacedEntry[] {
  const inside = entries.filter(({ entry }) => entry.r === undefined);
  const moved = inside.filter(({ state }) => state !== "live");
  const live = inside.filter(({ state, entry }) => state === "live" && bytesOf(entry) > smallestApart);
  let total = live.reduce((sum, { entry }) => sum + bytesOf(entry), 0);
  for (const found of live) {
    if (total <= documentCap / 2) break;
    moved.push(found);
    total -= bytesOf(found.entry);
  }
  return moved;
}
