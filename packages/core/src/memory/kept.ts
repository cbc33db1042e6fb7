import type { HistoryQuery, MessageState, StoredMessage } from "../store-contract.ts";
import { checkMessageId } from "../stores/checks.ts";
import type { Asking } from "./attempt.ts";
import { following } from "./history.ts";

/** A message as the store keeps it, live or not. */
export type Kept = StoredMessage & { readonly state: MessageState };

/**
 * The message with that id, if it has one of these states. `undefined` also where the store keeps no history, and where the
 * memory was `loaded` as one that is not there: it may have begun since and end before a change, whose version is then
 * that of no memory again. Errors: `INVALID_OPTION` for what is no id, a message itself for one.
 */
export async function findKept<M>(
  id: string,
  { loaded, policy, call }: Asking<M> & { readonly loaded: { readonly version: string | null } },
  states?: MessageState[],
): Promise<Kept | undefined> {
  const { store, memoryId } = policy;
  checkMessageId(id);
  if (loaded.version === null || !store.capabilities.history) return undefined;
  const page = await store.getHistory(memoryId, { ids: [id], states }, { signal: call.signal });
  return page.messages[0];
}

/** Reads what the store keeps, page after page, until `done` says so. Nothing where the store keeps no history. */
export async function scanKept<M>(
  query: HistoryQuery,
  { policy, call }: Asking<M>,
  done: (page: readonly Kept[]) => boolean,
): Promise<void> {
  const { store, memoryId } = policy;
  if (!store.capabilities.history) return;
  for (let next = query; ; ) {
    const page = await store.getHistory(memoryId, next, { signal: call.signal });
    if (done(page.messages) || !page.hasMore) return;
    next = following(next, page.messages.at(-1)?.seq);
  }
}

/** All that the store keeps and that the query asks for, whatever its limit. */
export async function allKept<M>(query: HistoryQuery, asking: Asking<M>): Promise<Kept[]> {
  const kept: Kept[] = [];
  await scanKept({ ...query, limit: 1000 }, asking, (page) => {
    kept.push(...page);
    return false;
  });
  return kept;
}
