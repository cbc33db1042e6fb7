import { unsupportedError } from "../errors.ts";
import type { HistoryMessage } from "../memory-history.ts";
import { messageOf } from "../steps/item.ts";
import type { HistoryQuery } from "../store-contract.ts";
import type { Reading } from "./attempt.ts";
import { notFound } from "./change.ts";
import { allRecords, findRecord, type StoredRecord, scanRecords } from "./stored-records.ts";
import { nodeOf, parentOf } from "./tree.ts";

/** The other messages that stood, or stand, in the place of this one, in the order in which they were said. */
export async function versionsOf<M>(messageId: string, reading: Reading<M>): Promise<HistoryMessage<M>[]> {
  const { loaded, settings } = reading;
  if (!settings.store.capabilities.history) throw unsupportedError("The store", "versions()");
  const record = await findRecord(messageId, reading);
  if (record === undefined) throw notFound(messageId, settings, "there is no such message");
  if (nodeOf(record, settings, loaded.lost) === undefined) return [];
  const parent = parentOf(record, loaded.lost);
  const kept = record.state === "superseded" ? await findKept(parent, reading) : undefined;
  const records = await allRecords({ after: parent, states: ["superseded"] }, reading);
  if (kept !== undefined) records.push(kept);
  return records
    .filter((other) => other.id !== messageId && parentOf(other, loaded.lost) === parent)
    .sort((a, b) => a.seq - b.seq)
    .flatMap((other) => {
      const node = nodeOf(other, settings, loaded.lost);
      if (node === undefined) return [];
      const { id, seq, createdAt, state } = other;
      return [{ id, seq, createdAt, state, parent, message: messageOf(node.item) }];
    });
}

/** The version in that place which is live or evicted. */
async function findKept<M>(parent: number, reading: Reading<M>): Promise<StoredRecord | undefined> {
  const { loaded, settings } = reading;
  let kept: StoredRecord | undefined;
  let after = parent;
  // It is the first, unless what was before it was not superseded with the rest, or it was removed.
  for (const limit of [10, 1000]) {
    const query: HistoryQuery = { after, states: ["live", "evicted"], limit };
    await scanRecords(query, reading, (page) => {
      kept = page.find((record) => nodeOf(record, settings, loaded.lost)?.parent === parent);
      after = page.at(-1)?.seq ?? after;
      return kept !== undefined || limit === 10;
    });
    if (kept !== undefined) return kept;
  }
  return undefined;
}
