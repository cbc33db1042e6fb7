import { unsupportedError } from "../errors.ts";
import type { HistoryMessage } from "../memory-history.ts";
import { messageOf } from "../steps/item.ts";
import type { HistoryQuery } from "../store-contract.ts";
import type { Reading } from "./attempt.ts";
import { notFound } from "./change.ts";
import type { StoredRecord } from "./outcomes.ts";
import { allRecords, findRecord, scanRecords } from "./stored-records.ts";
import { nodeOf, parentOf, type TreeNode } from "./tree.ts";

/** The other messages that stood, or stand, in the place of this one, in the order in which they were said. */
export async function versionsOf<M>(messageId: string, reading: Reading<M>): Promise<HistoryMessage<M>[]> {
  const { loaded, settings } = reading;
  if (!settings.store.capabilities.history) throw unsupportedError("The store", "versions()");
  const record = await findRecord(messageId, reading);
  if (record === undefined) throw notFound(messageId, settings, "there is no such message");
  const parent = nodeOf(record, settings, loaded.lost)?.parent;
  if (parent === undefined) return [];
  const kept = record.state === "superseded" ? await findKept(parent, reading) : undefined;
  const records = await allRecords({ after: parent, states: ["superseded"] }, reading);
  if (kept !== undefined) records.push(kept);
  return records
    .flatMap((other) => (other.id === messageId ? [] : (nodeBehind(parent, other, reading) ?? [])))
    .sort((a, b) => a.seq - b.seq)
    .map(({ seq, state, item }) => {
      const { id, createdAt } = item;
      return { id, seq, createdAt, state, parent, message: messageOf(item.given ?? item) };
    });
}

/** The message, if it follows the one at that `seq`. Of the others not even the content is read. */
function nodeBehind<M>(
  parent: number,
  record: StoredRecord,
  { loaded, settings }: Reading<M>,
): TreeNode<M> | undefined {
  if (parentOf(record, loaded.lost) !== parent) return undefined;
  return nodeOf(record, settings, loaded.lost);
}

/** The version in that place which is live or evicted. */
async function findKept<M>(parent: number, reading: Reading<M>): Promise<StoredRecord | undefined> {
  let kept: StoredRecord | undefined;
  let after = parent;
  // It is the first, unless what was before it was not superseded with the rest, or it was removed.
  for (const limit of [10, 1000]) {
    const query: HistoryQuery = { after, states: ["live", "evicted"], limit };
    await scanRecords(query, reading, (page) => {
      kept = page.find((record) => nodeBehind(parent, record, reading) !== undefined);
      after = page.at(-1)?.seq ?? after;
      return kept !== undefined || limit === 10;
    });
    if (kept !== undefined) return kept;
  }
  return undefined;
}
