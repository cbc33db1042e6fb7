import { abortSignal } from "../abort.ts";
import { isTurnkeepError, type TurnkeepError } from "../errors.ts";
import type { MemoryCallOptions } from "../memory-call-options.ts";
import type { HistoryMessage, MemoryHistoryPage, MemoryHistoryQuery } from "../memory-history.ts";
import { oneOf } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import { decodeStored, type Item, messageOf, namingRecord, parseMeta } from "../steps/item.ts";
import type { HistoryQuery } from "../store-contract.ts";
import type { Reading } from "./attempt.ts";
import { outcomesIn, withOutcomes } from "./outcomes.ts";
import { type Gaps, parentInTree } from "./tree.ts";

const defaultLimit = 100;

// The store checks the values.
const queryFields = {
  before: optional(),
  after: optional(),
  order: optional(),
  limit: optional(),
  states: optional(),
  ids: optional(),
  branches: optional(oneOf(true, false), false),
  signal: optional(abortSignal),
} satisfies Fields<MemoryHistoryQuery>;

/** A copy that the caller cannot change while the call waits. The store refuses values that are not lists. */
export function takeQuery(
  query: MemoryHistoryQuery,
): HistoryQuery & MemoryCallOptions & { readonly branches: boolean } {
  const copy = <T>(list: readonly T[] | undefined): T[] | undefined =>
    Array.isArray(list) ? [...list] : (list as undefined);
  const asked = takeOptions("history's argument", queryFields, query);
  return { ...asked, states: copy(asked.states), ids: copy(asked.ids) };
}

/**
 * One page of what was said, also by a draft, without derived messages; what each follows, if it is known what was `lost`.
 * A record that cannot be read does not count towards the limit, so that a page with more behind it always names a message
 * to continue from.
 */
export async function readHistory<M>(
  query: HistoryQuery,
  { settings, call, draft }: Pick<Reading<M>, "settings" | "call" | "draft">,
  lost?: Gaps,
): Promise<MemoryHistoryPage<M>> {
  const { store, memoryId, reader } = settings;
  const outcomes = outcomesIn(draft);
  const { limit = defaultLimit } = query;
  const messages: HistoryMessage<M>[] = [];
  const errors: TurnkeepError[] = [];
  let next: HistoryQuery = { ...query, limit };
  for (;;) {
    const page = await store.getHistory(memoryId, next, { signal: call.signal });
    for (const stored of withOutcomes(page, outcomes, next)) {
      try {
        const meta = parseMeta(stored.meta);
        if (meta.derived !== undefined) continue;
        const { id, seq, createdAt, state, payload } = stored;
        const message = decodeStored(payload, reader.format);
        const said = { id, seq, createdAt, state, message };
        const place = { seq, role: reader.format.role(message), meta };
        messages.push(lost ? { ...said, parent: parentInTree(place, settings, lost) } : said);
      } catch (error) {
        if (!isTurnkeepError(error)) throw error;
        errors.push(namingRecord(error, stored.id));
      }
    }
    // What a draft brings comes beside what the store was asked for.
    if (messages.length > limit) return { messages: messages.slice(0, limit), hasMore: true, errors };
    if (!page.hasMore || messages.length === limit) return { messages, hasMore: page.hasMore, errors };
    next = { ...following(next, page.messages.at(-1)?.seq), limit: limit - messages.length };
  }
}

/** A live message as history would tell of it. Errors: those of a record that cannot be read. */
export function liveMessage<M>(item: Item<M>): HistoryMessage<M> {
  const { id, seq, createdAt } = item;
  return { id, seq, createdAt, state: "live", message: messageOf(item.given ?? item) };
}

/** The query for what follows `seq`. */
export function following<Q extends MemoryHistoryQuery | HistoryQuery>(query: Q, seq: number | undefined): Q {
  return query.order === "descending" ? { ...query, before: seq } : { ...query, after: seq };
}
