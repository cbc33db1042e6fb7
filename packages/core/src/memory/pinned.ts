import { quoted, TurnkeepError } from "../errors.ts";
import { type Item, readItem } from "../steps/item.ts";
import type { Live } from "../steps/live.ts";
import type { Reading } from "./attempt.ts";
import { missing } from "./change.ts";
import { findStep } from "./find-step.ts";
import { findRecords } from "./stored-records.ts";

/**
 * Those of the messages that have left memory for history, for a view that must show them. Errors: `NOT_FOUND` for one
 * that is neither in memory nor there.
 */
export async function readPinned<M>(
  ids: readonly string[],
  reading: Reading<M>,
): Promise<readonly Item<M>[]> {
  const { loaded, settings } = reading;
  const absent = ids.filter((id) => !loaded.live.byId.has(id));
  if (absent.length === 0) return [];
  const { memoryId, reader } = settings;
  if (loaded.version === null && reading.draft === undefined) throw missing(settings);
  const records = await findRecords(absent, reading, ["evicted"]);
  const left = records.map((record) => readItem(record, reader));
  const gone = absent.filter((id) => !left.some((item) => item.id === id));
  if (gone.length === 0) return withSteps(left, reading);
  throw new TurnkeepError(
    "NOT_FOUND",
    `Memory ${quoted(memoryId)} cannot show the message ${quoted(gone[0] as string)}: it was removed or superseded, or it ` +
      "left a memory that keeps no history.",
    { details: { memoryId, messageIds: gone } },
  );
}

/** With the rest of their steps that has left memory, too: a call whose result is stored is not shown as one without. */
async function withSteps<M>(left: readonly Item<M>[], reading: Reading<M>): Promise<readonly Item<M>[]> {
  const { live } = reading.loaded;
  const bySeq = new Map(left.map((item) => [item.seq, item]));
  const found = new Set<number>();
  for (const item of left) {
    if (found.has(item.seq)) continue;
    for (const other of await findStep(reading, live, item)) {
      found.add(other.seq);
      if (!live.byId.has(other.id)) bySeq.set(other.seq, bySeq.get(other.seq) ?? other);
    }
  }
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}

/** A copy with what has left memory back in its place, in which those messages are pinned. */
export function withPinned<M>(live: Live<M>, left: readonly Item<M>[], ids: readonly string[]): Live<M> {
  const shown = live.copy(left);
  for (const id of ids) {
    const item = shown.byId.get(id);
    if (item !== undefined && !item.pinned) shown.replace(item, { ...item, pinned: true });
  }
  return shown;
}
