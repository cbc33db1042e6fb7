import { isTurnkeepError, type TurnkeepError } from "../errors.ts";
import type { HistoryMessage, MemoryHistoryPage, MemoryHistoryQuery } from "../memory-history.ts";
import { namingRecord, parseMeta } from "../steps/item.ts";
import type { HistoryQuery, StoredMessage } from "../store-contract.ts";
import type { Call } from "./deadline.ts";
import type { Policy } from "./policy.ts";

const defaultLimit = 100;

/**
 * One page of what was said: derived messages are no part of it. A record that cannot be read does not count towards
 * the limit, so that a page with more behind it always names a message to go on from.
 */
export async function readHistory<M>(
  query: MemoryHistoryQuery,
  policy: Policy<M>,
  call: Call,
): Promise<MemoryHistoryPage<M>> {
  const { store, memoryId, reader } = policy;
  const { after, before, order, limit = defaultLimit, states } = query;
  const messages: HistoryMessage<M>[] = [];
  const errors: TurnkeepError[] = [];
  let next: HistoryQuery = {
    after,
    before,
    order,
    limit,
    // What is no list the store refuses.
    states: Array.isArray(states) ? [...states] : (states as undefined),
  };
  for (;;) {
    const page = await store.getHistory(memoryId, next, { signal: call.signal });
    for (const stored of page.messages) {
      try {
        if (isDerived(stored)) continue;
        const { id, seq, createdAt, state, payload } = stored;
        messages.push({ id, seq, createdAt, state, message: reader.format.decode(payload) });
      } catch (error) {
        if (!isTurnkeepError(error)) throw error;
        errors.push(namingRecord(error, stored.id));
      }
    }
    if (!page.hasMore || messages.length >= limit) return { messages, hasMore: page.hasMore, errors };
    next = { ...following(next, page.messages.at(-1)?.seq), limit: limit - messages.length };
  }
}

function isDerived(stored: StoredMessage): boolean {
  return parseMeta(stored.meta).derived !== undefined;
}

/** The query that goes on behind `seq`. */
export function following<Q extends MemoryHistoryQuery | HistoryQuery>(query: Q, seq: number | undefined): Q {
  return query.order === "descending" ? { ...query, before: seq } : { ...query, after: seq };
}
