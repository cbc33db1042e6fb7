import { type Item, readItem } from "../steps/item.ts";
import type { Attempt } from "./attempt.ts";
import { deleteMessages, goneOf } from "./delete.ts";
import { findStep } from "./find-step.ts";
import type { StoredRecord } from "./outcomes.ts";
import { findRecord } from "./stored-records.ts";
import { Ancestry, leftBehind, nodeOf, parentOf } from "./tree.ts";

/**
 * Deletes a message and, unless it is the `only` one to go, the rest of its step, wherever they are kept; returns their
 * ids. Called again after a lost answer, it returns those that an earlier attempt has deleted.
 */
export function removal<M>(messageId: string, only: boolean): (attempt: Attempt<M>) => Promise<string[]> {
  let tried: readonly Item<M>[] = [];
  return async (attempt) => {
    const step = await removeFrom(attempt, messageId, only);
    // The messages are gone because an earlier attempt, whose answer was lost, deleted them, or somebody else.
    if (step.length === 0 && attempt.call.isOpen) return idsOf(await goneOf(tried, attempt));
    tried = step;
    return idsOf(step);
  };
}

const idsOf = (messages: readonly { readonly id: string }[]): string[] => messages.map(({ id }) => id);

async function removeFrom<M>(attempt: Attempt<M>, messageId: string, only: boolean): Promise<Item<M>[]> {
  const { draft, settings } = attempt;
  const live = draft.live.byId.get(messageId);
  const kept = live === undefined ? await findRecord(messageId, attempt) : undefined;
  if (live === undefined && kept === undefined) return [];
  const target = live ?? readItem(kept as StoredRecord, settings.reader);
  const find = (): Promise<Item<M>[]> =>
    kept?.state === "superseded" ? findSuperseded(attempt, target) : findStep(attempt, draft.live, target);
  const step = only ? [target] : await find();
  await deleteMessages(step, attempt);
  return step;
}

/** What is superseded of a step on its own branch: its other versions stand beside it in history. */
async function findSuperseded<M>(attempt: Attempt<M>, target: Item<M>): Promise<Item<M>[]> {
  const { settings } = attempt;
  const { lost } = attempt.loaded;
  const parent = parentOf(target, lost);
  const ancestry = new Ancestry(parent, settings, lost);
  const leftBefore = leftBehind(target.seq);
  const branch = new Set([target.seq]);
  const superseded = new Set([target.seq]);
  const noted = (records: readonly StoredRecord[]): readonly StoredRecord[] => {
    for (const { seq, state } of records) if (state === "superseded") superseded.add(seq);
    return records;
  };
  const isBehind = (record: StoredRecord): boolean => {
    const node = nodeOf(record, settings, lost);
    const follows = node !== undefined && branch.has(leftBefore(node));
    if (follows) branch.add(record.seq);
    return follows;
  };
  const step = await findStep(attempt, attempt.draft.live, target, {
    states: undefined,
    through: parent,
    before: (page) => noted(page.filter((record) => ancestry.find(record) !== undefined)),
    behind: (page) => noted(page.filter(isBehind)),
  });
  return step.filter(({ seq }) => superseded.has(seq));
}
