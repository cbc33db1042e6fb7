import type { HistoryQuery, MessageState, StoredMessage } from "../store-contract.ts";
import { checkMessageId } from "../stores/checks.ts";
import type { Asking } from "./attempt.ts";
import { following } from "./history.ts";

/** A message as the store keeps it, live or not. */
export type Kept = StoredMessage & { readonly state: MessageState };

/**
 * The message with that id, if it is in one of these states. Also `undefined` if the store keeps no history, or if the
 * memory was `loaded` as absent: it may have begun since and end before the change, whose expected version (`null`)
 * then fits. Errors: `INVALID_OPTION` for anything but an id, such as a message.
 */
export async function findKept<M>(
  id: string,
  { loaded, settings, call }: Asking<M> & { readonly loaded: { readonly version: string | null } },
  states?: MessageState[],
): Promise<Kept | undefined> {
  const { store, memoryId } = settings;
  checkMessageId(id);
  if (loaded.version === null || !store.capabilities.history) return undefined;
  const page = await store.getHistory(memoryId, { ids: [id], states }, { signal: call.signal });
  return page.messages[0];
}

/** Reads what the store keeps, page by page, until `done` returns true. Reads nothing if the store keeps no history. */
export async function scanKept<M>(
  query: HistoryQuery,
  { settings, call }: Asking<M>,
  done: (page: readonly Kept[]) => boolean,
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
export async function allKept<M>(query: HistoryQuery, asking: Asking<M>): Promise<Kept[]> {
  const kept: Kept[] = [];
  await scanKept({ ...query, limit: 1000 }, asking, (page) => {
    kept.push(...page);
    return false;
  });
  return kept;
}
