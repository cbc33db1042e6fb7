import type { MessageState } from "../store-contract.ts";
import type { Plan } from "./session.ts";
import { type StoredRecord, scanRecords } from "./stored-records.ts";

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

/** Removes as many of the oldest as one update removes; comes to their ids. With `dryRun`, finds all. */
export function pruneOnce<M>({
  states,
  before,
  dryRun,
}: Pruning): Plan<M, { readonly messageIds: readonly string[]; readonly hasMore: boolean }> {
  return async (attempt) => {
    const found: StoredRecord[] = [];
    await scanRecords({ states: [...states], limit: 1000 }, attempt, (page) => {
      found.push(...page.filter(({ createdAt }) => createdAt < before));
      return !dryRun && found.length >= mostAtOnce;
    });
    const pruned = dryRun ? found : found.slice(0, mostAtOnce);
    if (!dryRun) attempt.draft.parts.move(pruned, "removed");
    return { messageIds: pruned.map(({ id }) => id), hasMore: pruned.length === mostAtOnce && !dryRun };
  };
}
