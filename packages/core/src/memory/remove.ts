import { type Item, readItem } from "../steps/item.ts";
import { Live } from "../steps/live.ts";
import { hasOpenCalls } from "../steps/pairing.ts";
import type { MessageState } from "../store-contract.ts";
import type { Attempt } from "./attempt.ts";
import { findRecord, type StoredRecord, scanRecords } from "./stored-records.ts";

/** The rest of a step is rarely far away: one page should hold it, and not much more. */
const pageSize = 200;

/**
 * Deletes a message and, unless it is the `only` one to go, the rest of its step, wherever they are kept; returns their
 * ids. Called again after a lost answer, it returns those that an earlier attempt has deleted.
 */
export function removal<M>(messageId: string, only: boolean): (attempt: Attempt<M>) => Promise<string[]> {
  let tried: string[] = [];
  return async (attempt) => {
    const ids = await removeFrom(attempt, messageId, only);
    // The messages are gone because an earlier attempt, whose answer was lost, deleted them.
    if (ids.length === 0 && attempt.call.isOpen) return tried;
    tried = ids;
    return ids;
  };
}

async function removeFrom<M>(attempt: Attempt<M>, messageId: string, only: boolean): Promise<string[]> {
  const { draft, settings } = attempt;
  const live = draft.live.byId.get(messageId);
  const kept = live === undefined ? await findRecord(messageId, attempt) : undefined;
  if (live === undefined && kept === undefined) return [];
  const target = live ?? readItem(kept as StoredRecord, settings.reader);
  const states: MessageState[] = kept?.state === "superseded" ? ["superseded"] : ["live", "evicted"];
  const step = only ? [target] : await findStep(attempt, target, states);
  draft.delete(step);
  return step.map((item) => item.id);
}

/** All messages of a step by `seq`, live or not, searched before and after the target as far as needed. */
async function findStep<M>(attempt: Attempt<M>, target: Item<M>, states: MessageState[]): Promise<Item<M>[]> {
  const { settings } = attempt;
  const { live } = attempt.draft;
  const known = live.byId.has(target.id) ? live.stepOf(target).items : [target];
  if (isAlone(target) || !settings.store.capabilities.history) return known;

  const earlier: Item<M>[] = [];
  const isComplete = seekerOf(target);
  await scanRecords({ before: target.seq, order: "descending", states, limit: pageSize }, attempt, (page) => {
    const items = page.map((kept) => readItem(kept, settings.reader));
    earlier.push(...items);
    if (!isComplete(items)) return false;
    // The first part of an answer may be on the next page.
    return grouped(earlier, target).stepOf(target).items[0] !== earlier.at(-1);
  });
  const found = grouped(earlier, target);
  await scanRecords({ after: target.seq, states, limit: pageSize }, attempt, (page) => {
    for (const kept of page) found.append(readItem(kept, settings.reader));
    const step = found.stepOf(target);
    return step.items.at(-1) !== found.items.at(-1) && !hasOpenCalls(step);
  });
  const byId = new Map([...known, ...found.stepOf(target).items].map((item) => [item.id, item]));
  return [...byId.values()].sort((a, b) => a.seq - b.seq);
}

/** Whether a message is a step of its own wherever it is. */
function isAlone<M>({ role, calls, results, approvals, meta }: Item<M>): boolean {
  if (calls.length + results.length + approvals.length > 0) return false;
  // An answer may have been stored in several messages.
  return role !== "assistant" || meta.derived !== undefined;
}

/** Returns a function that tells whether the messages before a target, newest first, hold all that it answers. */
function seekerOf<M>(target: Item<M>): (items: readonly Item<M>[]) => boolean {
  const calls = new Set(target.results.map(({ id }) => id));
  const requests = new Set<string>();
  for (const { kind, approvalId } of target.approvals) if (kind === "response") requests.add(approvalId);
  const drop = ({ calls: made, approvals }: Item<M>): void => {
    for (const { id } of made) calls.delete(id);
    for (const { kind, approvalId } of approvals) if (kind === "request") requests.delete(approvalId);
  };
  drop(target);
  return (items) => {
    items.forEach(drop);
    return calls.size + requests.size === 0;
  };
}

function grouped<M>(earlier: readonly Item<M>[], target: Item<M>): Live<M> {
  return new Live([...earlier.toReversed(), target]);
}
