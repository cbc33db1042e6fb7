import { conflictError } from "../errors.ts";
import type { HistoryPage, HistoryQuery, MessageState } from "../store-contract.ts";
import { checkMessageId } from "../stores/checks.ts";
import type { Reading } from "./attempt.ts";
import { following } from "./history.ts";
import { matching, type Outcomes, outcomesIn, type StoredRecord, withOutcomes } from "./outcomes.ts";

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
  const { loaded, settings } = reading;
  const { store } = settings;
  if (!store.capabilities.history) return [];
  const outcomes = outcomesIn(reading.draft);
  const wanted = new Set(ids);
  const records = matching(outcomes, { states }).filter(({ id }) => wanted.has(id));
  if (loaded.version === null) return records;
  for (let start = 0; start < ids.length; start += mostIds) {
    const query = { ids: ids.slice(start, start + mostIds), states, limit: 1000 };
    const page = await readPage(query, reading, outcomes);
    records.push(...page.messages.filter(({ seq }) => !outcomes.has(seq)));
  }
  return records;
}

const mostIds = 500;

/** By `seq`, the states in which those of these messages are stored that are there. A change that is being made does not count. */
export async function statesNow<M>(
  messages: Iterable<{ readonly id: string }>,
  reading: Reading<M>,
): Promise<ReadonlyMap<number, MessageState>> {
  const ids = [...messages].map(({ id }) => id);
  const kept = await findRecords(ids, { ...reading, draft: undefined });
  const states = new Map(kept.map(({ seq, state }) => [seq, state]));
  // A store without history tells of no other.
  for (const { seq } of reading.loaded.live.items) states.set(seq, "live");
  return states;
}

/** Reads what is kept, page by page, until `done` returns true. Reads nothing if the store keeps no history. */
export async function scanRecords<M>(
  query: HistoryQuery,
  reading: Reading<M>,
  done: (page: readonly StoredRecord[]) => boolean,
): Promise<void> {
  if (!reading.settings.store.capabilities.history) return;
  const outcomes = outcomesIn(reading.draft);
  for (let next = query; ; ) {
    const page = await readPage(next, reading, outcomes);
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

/**
 * One page. Errors: `VERSION_CONFLICT` if what is live for the change has left meanwhile: it would be in two places, and
 * the change is made again on what is there now.
 */
async function readPage<M>(
  query: HistoryQuery,
  { loaded, settings, call, draft }: Reading<M>,
  outcomes: Outcomes,
): Promise<HistoryPage> {
  const { store, memoryId } = settings;
  const page = await store.getHistory(memoryId, query, { signal: call.signal });
  const hasLeft = ({ seq, state }: StoredRecord): boolean =>
    state !== "live" && !outcomes.has(seq) && draft?.live.holds(seq) === true;
  if (page.messages.some(hasLeft)) throw conflictError(memoryId, loaded.version);
  return page;
}
