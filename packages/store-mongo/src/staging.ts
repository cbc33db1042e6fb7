import { conflictError, isTurnkeepError } from "@turnkeep/core/store-kit";
import type { Document } from "mongodb";
import type { Run } from "./client.ts";
import { documentCap, type Embedded, type MemoryDocument, smallestApart, states } from "./documents.ts";
import {
  bytesOf,
  entriesOf,
  type InsideMessage,
  lifePrefix,
  mapsOf,
  overridden,
  referenceTo,
  rowOf,
  rowsOf,
} from "./records.ts";
import * as statements from "./statements.ts";

/** Whether certainly no row of the memory was deleted since its document was read. */
export async function hasItsRows(run: Run, { _id, life, generation }: MemoryDocument): Promise<boolean> {
  if (generation === 0) return true;
  const now = await run(statements.peek(_id));
  return now?.life === life && now?.generation === generation;
}

/** Deletes a document that matches the filter, then the rows of that life. `false`: there is none. */
export async function removeLife(run: Run, filter: Document): Promise<boolean> {
  const memory = await run(statements.remove(filter));
  if (typeof memory?.life === "string" && memory.generation !== 0) {
    await removeRows(run, memory.life);
  }
  return memory !== null;
}

/** How many rows one command removes: a client gives up on one that takes longer than its connection may be silent. */
const rowsAtOnce = 1_000;

/** Deletes the rows of a life that is over, however many; returns how many. */
async function removeRows(run: Run, life: string): Promise<number> {
  for (let removed = 0; ; ) {
    const rows = await run(statements.someRows(life, rowsAtOnce));
    if (rows.length > 0) removed += await run(statements.discard(life, rows));
    if (rows.length < rowsAtOnce) return removed;
  }
}

/** Deletes a memory, or only that version of it: `VERSION_CONFLICT` if it is at another one. */
export async function removeMemory(run: Run, memoryId: string, expected: string | undefined): Promise<void> {
  const memory = expected === undefined ? await run(statements.peek(memoryId)) : undefined;
  // Without a version, by its life: a late delete must not hit the next memory of that id.
  const which = { _id: memoryId, life: memory?.life, version: expected && { $eq: expected } };
  if (memory !== null && (await removeLife(run, which))) return;
  if (expected !== undefined && (await run(statements.head(memoryId, { _id: 1 }))) !== null) {
    throw conflictError(memoryId, expected);
  }
  await settleLives(run, lifePrefix(memoryId));
}

/**
 * Settles each life whose name begins so, and deletes the rows of those that are over: an interrupted delete leaves them, and
 * so does the server's expiry. Returns how many rows it deleted.
 */
export async function settleLives(run: Run, prefix: string): Promise<number> {
  let removed = 0;
  for (let life = prefix; ; ) {
    const next = await run(statements.lifeAfter(life));
    if (next === null || !next.life.startsWith(prefix)) return removed;
    life = next.life;
    removed += (await settle(run, next.memory, life).catch(leaveCorrupt)) ?? (await removeRows(run, life));
  }
}

/** A damaged memory is left as it is, and does not keep the others from being settled. */
function leaveCorrupt(error: unknown): number {
  if (isTurnkeepError(error, "CORRUPT_RECORD")) return 0;
  throw error;
}

/**
 * Deletes rows that no longer count. From a document that has grown too large, moves out messages that left memory, and
 * live ones if needed. Wherever it stops, readers see the same as before. A concurrent writer wins, and settles
 * afterwards. Returns how many rows it deleted. `undefined`: that life of the memory is over.
 */
export async function settle(run: Run, memoryId: string, life: string): Promise<number | undefined> {
  const claimed = await run(statements.claim(memoryId, life));
  if (claimed === null) return undefined;
  const { tooLarge, trash, staging } = claimed;
  const entries = entriesOf(claimed, states);
  const named = overridden(claimed, entries);
  const settled = tooLarge ? await moveOut(run, claimed, entries) : claimed;
  if (settled === undefined) return 0;
  // Rows that no attempt can make the document name any more, except those it names already.
  const forgotten = { state: "staged", generation: { $lt: claimed.generation }, _id: { $nin: named } };
  const removed = await run(statements.drop(life, { _id: { $in: trash } }, forgotten));
  await run(
    statements.whileClaimed(settled, {
      // Others may announce attempts meanwhile, but only who changes the version adds to the trash.
      $pullAll: { staging },
      $set: { trash: [], ...(tooLarge && { evicted: {}, superseded: {} }) },
    }),
  );
  return removed;
}

/**
 * `undefined`: somebody else changed the memory. Otherwise all that left memory is in rows that say so themselves, and the
 * claim goes on at the generation of the result. Naming the rows raises it: who read the document before must not write
 * its maps whole after it.
 */
async function moveOut(
  run: Run,
  claimed: MemoryDocument,
  entries: readonly InsideMessage[],
): Promise<MemoryDocument | undefined> {
  const rows = new Map(
    contentsToMove(entries).map(({ path, seq, entry }) => [path, rowOf(claimed, seq, entry)]),
  );
  const named = entries.map((one) => {
    const row = rows.get(one.path);
    return row === undefined ? one : { ...one, entry: referenceTo(row) };
  });
  let { generation } = claimed;
  if (rows.size > 0) {
    await run(statements.insert([...rows.values()]));
    const change = { $set: mapsOf(named), $inc: { generation: 1 } };
    if (!(await run(statements.whileClaimed(claimed, change)))) {
      await run(statements.discard(claimed.life, [...rows.values()]));
      return undefined;
    }
    generation++;
  }
  for (const state of ["evicted", "superseded"] as const) {
    const ids = rowsOf(named.filter((one) => one.state === state));
    if (ids.length > 0) await run(statements.setState(claimed.life, ids, state, claimed.generation));
  }
  return { ...claimed, generation };
}

/** Everything that left memory, and live messages too if they alone take more than half of the room. */
function contentsToMove(entries: readonly InsideMessage[]): InsideMessage[] {
  const inside = entries.filter(({ entry }) => entry.r === undefined);
  const live = inside.filter(({ state }) => state === "live");
  const bytes = live.reduce((sum, { entry }) => sum + bytesOf(entry), 0);
  const isMoved = (entry: Embedded): boolean => bytes > documentCap / 2 && bytesOf(entry) > smallestApart;
  return inside.filter(({ state, entry }) => state !== "live" || isMoved(entry));
}
