import type { HistoryQuery, MessageState, StoredMessage } from "../store-contract.ts";
import { checkMessageId } from "../stores/checks.ts";
import type { Reading } from "./attempt.ts";
import { following } from "./history.ts";

/** A message as the store keeps it, live or not. */
export type StoredRecord = StoredMessage & { readonly state: MessageState };

/**
 * The message with that id, if it is in one of these states. Also `undefined` if the store keeps no history, or if the
 * memory was `loaded` as absent: it may have begun since and end before the change, whose expected version (`null`)
 * then fits. Errors: `INVALID_OPTION` for anything but an id, such as a message.
 */
export async function findRecord<M>(
  id: string,
  { loaded, settings, call }: Reading<M>,
  states?: MessageState[],
): Promise<StoredRecord | undefined> {
  const { store, memoryId } = settings;
  checkMessageId(id);
  if (loaded.version === null || !store.capabilities.history) return undefined;
  const page = await store.getHistory(memoryId, { ids: [id], states }, { signal: call.signal });
  return page.messages[0];
}

/** Reads what the store keeps, page by page, until `done` returns true. Reads nothing if the store keeps no history. */
export async function scanRecords<M>(
  query: HistoryQuery,
  { settings, call }: Reading<M>,
  done: (page: readonly StoredRecord[]) => boolean,
): Promise<void> {
  const { store, memoryId } = settings;
  if (!store.capabilities.history) return;
  for (let next = query; ; ) {
    const page = await store.getHistory(memoryId, next, { signal: call.signal });
    if (done(page.messages) || !page.hasMore) return;
    next = following(next, page.messages.at(-1)?.seq);
  }
}

/** Everything the store keeps that matches the query, whatever its limit. */
export async function allRecords<M>(query: HistoryQuery, reading: Reading<M>): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  await scanRecords({ ...query, limit: 1000 }, reading, (page) => {
    records.push(...page);
    return false;
  });
  return records;
}
