import type { HistoryPage, HistoryQuery, MessageState, StoredMessage } from "../store-contract.ts";
import { checkMessageId } from "../stores/checks.ts";
import type { Reading } from "./attempt.ts";
import { following } from "./history.ts";

/** A message as the store keeps it, live or not, or as it will once the draft is committed. */
export type StoredRecord = StoredMessage & { readonly state: MessageState };

/** What becomes of a message. */
export type Outcome = StoredMessage & { readonly state: MessageState | "removed" };

/**
 * The message with that id, if it is in one of these states. Errors: `INVALID_OPTION` for anything but an id, such as a
 * message.
 */
export async function findRecord<M>(
  id: string,
  reading: Reading<M>,
  states?: MessageState[],
): Promise<StoredRecord | undefined> {
  checkMessageId(id);
  const [record] = await findRecords([id], reading, states);
  return record;
}

/**
 * The messages with these ids that are in one of these states. None if the store keeps no history. Does not ask it about
 * a memory that was `loaded` as absent: it may have begun since and end before the change, whose expected version
 * (`null`) then fits.
 */
export async function findRecords<M>(
  ids: readonly string[],
  reading: Reading<M>,
  states?: MessageState[],
): Promise<StoredRecord[]> {
  const { loaded, settings, call } = reading;
  const { store, memoryId } = settings;
  if (!store.capabilities.history) return [];
  const outcomes = outcomesIn(reading);
  const wanted = new Set(ids);
  const records = matching(outcomes, { states }).filter(({ id }) => wanted.has(id));
  if (loaded.version === null) return records;
  for (let start = 0; start < ids.length; start += mostIds) {
    const query = { ids: ids.slice(start, start + mostIds), states, limit: 1000 };
    const page = await store.getHistory(memoryId, query, { signal: call.signal });
    records.push(...page.messages.filter(({ seq }) => !outcomes.has(seq)));
  }
  return records;
}

const mostIds = 500;

/** Reads what is kept, page by page, until `done` returns true. Reads nothing if the store keeps no history. */
export async function scanRecords<M>(
  query: HistoryQuery,
  reading: Reading<M>,
  done: (page: readonly StoredRecord[]) => boolean,
): Promise<void> {
  const { store, memoryId } = reading.settings;
  if (!store.capabilities.history) return;
  const outcomes = outcomesIn(reading);
  for (let next = query; ; ) {
    const page = await store.getHistory(memoryId, next, { signal: reading.call.signal });
    if (done(withOutcomes(page, outcomes, next)) || !page.hasMore) return;
    next = following(next, page.messages.at(-1)?.seq);
  }
}

/** Everything that is kept and matches the query, whatever its limit. */
export async function allRecords<M>(query: HistoryQuery, reading: Reading<M>): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  await scanRecords({ ...query, limit: 1000 }, reading, (page) => {
    records.push(...page);
    return false;
  });
  return records;
}

/** By `seq`, what a draft has made of messages so far; the store does not know of it yet. */
type Outcomes = ReadonlyMap<number, Outcome>;

const none: Outcomes = new Map();

function outcomesIn<M>({ draft }: Reading<M>): Outcomes {
  return draft?.changed === true ? draft.parts.outcomes() : none;
}

function matching(
  outcomes: Outcomes,
  { states, after = 0, before = Number.POSITIVE_INFINITY }: HistoryQuery,
): StoredRecord[] {
  const isAsked = (outcome: Outcome): outcome is StoredRecord =>
    outcome.state !== "removed" && (states?.includes(outcome.state) ?? true);
  return [...outcomes.values()].filter(isAsked).filter(({ seq }) => seq > after && seq < before);
}

/** The page with what the draft makes of the messages between its bounds. */
function withOutcomes(
  { messages, hasMore }: HistoryPage,
  outcomes: Outcomes,
  query: HistoryQuery,
): readonly StoredRecord[] {
  if (outcomes.size === 0) return messages;
  const isDescending = query.order === "descending";
  const last = hasMore ? messages.at(-1)?.seq : undefined;
  const end = isDescending ? { after: (last ?? 1) - 1 } : { before: (last ?? 0) + 1 };
  const bounds = last === undefined ? query : { ...query, ...end };
  const all = messages.filter(({ seq }) => !outcomes.has(seq));
  all.push(...matching(outcomes, bounds));
  return all.sort((a, b) => (isDescending ? b.seq - a.seq : a.seq - b.seq));
}
