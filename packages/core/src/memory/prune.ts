import type { MessageState } from "../store-contract.ts";
import { deleteMessages, goneOf } from "./delete.ts";
import type { StoredRecord } from "./outcomes.ts";
import type { Plan } from "./session.ts";
import { scanRecords } from "./stored-records.ts";

/** What has left a view: it alone can be pruned. */
export type PrunedState = Exclude<MessageState, "live">;

/** As many as one update removes. */
const mostAtOnce = 1000;

/** Which messages are pruned. */
export interface Pruning {
  readonly states: readonly PrunedState[];
  /** Only those that were made before, in milliseconds since the epoch. */
  readonly before: number;
  /** Whether to look only. */
  readonly dryRun: boolean;
}

/**
 * Removes as many of the oldest as one update removes; comes to their ids, and those that an earlier attempt has removed
 * whose answer was lost. With `dryRun`, finds all.
 */
export function pruneOnce<M>({
  states,
  before,
  dryRun,
}: Pruning): Plan<M, { readonly messageIds: readonly string[]; readonly hasMore: boolean }> {
  let tried: readonly StoredRecord[] = [];
  return async (attempt) => {
    const found: StoredRecord[] = [];
    await scanRecords({ states: [...states], limit: 1000 }, attempt, (page) => {
      found.push(...page.filter(({ createdAt }) => createdAt < before));
      return !dryRun && found.length >= mostAtOnce;
    });
    const pruned = dryRun ? found : found.slice(0, mostAtOnce);
    if (!dryRun) await deleteMessages(pruned, attempt);
    const gone = attempt.call.isOpen ? await goneOf(tried, attempt) : [];
    tried = [...gone, ...pruned];
    return { messageIds: tried.map(({ id }) => id), hasMore: pruned.length === mostAtOnce && !dryRun };
  };
}
