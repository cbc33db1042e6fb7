import type { Document } from "mongodb";
import type { Run } from "./client.ts";
import { documentCap, type Entry, type MemoryDocument, smallestApart, states } from "./documents.ts";
import { bytesOf, entriesOf, type InsideEntry, overridden, referenceTo, rowOf } from "./records.ts";
import * as statements from "./statements.ts";

/** Whether no row of the memory can have been deleted since its document was read. */
export async function hasItsRows(run: Run, { _id, life, generation }: MemoryDocument): Promise<boolean> {
  if (generation === 0) return true;
  const now = await run(statements.peek(_id));
  return now?.life === life && now?.generation === generation;
}

/** Deletes a document that is as the filter says, then the rows of that life. `false`: there is none. */
export async function removeLife(run: Run, filter: Document): Promise<boolean> {
  const memory = await run(statements.remove(filter));
  if (typeof memory?.life === "string" && memory.generation !== 0) {
    await run(statements.drop({ life: memory.life }));
  }
  return memory !== null;
}

/**
 * Deletes rows that count no more, and moves what left memory, and live messages if need be, out of a document that has
 * grown too large. Wherever it ends, readers see the same as before. Whoever writes meanwhile wins, and settles after
 * that. Answers how many rows it has deleted. `undefined`: that life of the memory is over.
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
async function moveOut(run: Run, claimed: MemoryDocument, entries: readonly InsideEntry[]): Promise<boolean> {
  const rows = new Map(
    contentsToMove(entries).map(({ path, seq, entry }) => [path, rowOf(claimed, seq, entry)]),
  );
  if (rows.size > 0) {
    await run(statements.insert([...rows.values()]));
    const references = Object.fromEntries([...rows].map(([path, row]) => [path, referenceTo(row)]));
    if (!(await run(statements.whileClaimed(claimed, { $set: references })))) {
      await run(statements.discard([...rows.values()]));
      return false;
    }
  }
  for (const state of ["evicted", "superseded"] as const) {
    const left = entries.filter((found) => found.state === state);
    const ids = left.flatMap(({ path, entry }) => entry.r ?? rows.get(path)?._id ?? []);
    if (ids.length > 0) await run(statements.setState(ids, state, claimed.generation));
  }
  return true;
}

/** Everything that left memory, and live messages too where they alone take more than half of the room. */
function contentsToMove(entries: readonly InsideEntry[]): InsideEntry[] {
  const inside = entries.filter(({ entry }) => entry.r === undefined);
  const live = inside.filter(({ state }) => state === "live");
  const bytes = live.reduce((sum, { entry }) => sum + bytesOf(entry), 0);
  const isMoved = (entry: Entry): boolean => bytes > documentCap / 2 && bytesOf(entry) > smallestApart;
  return inside.filter(({ state, entry }) => state !== "live" || isMoved(entry));
}
