import { type Item, readItem } from "../steps/item.ts";
import { isAssistants } from "../steps/kinds.ts";
import { Live } from "../steps/live.ts";
import { hasOpenCalls } from "../steps/pairing.ts";
import type { HistoryQuery, MessageState } from "../store-contract.ts";
import type { Attempt, Reading } from "./attempt.ts";
import { deleteMessages, goneOf } from "./delete.ts";
import type { StoredRecord } from "./outcomes.ts";
import { findRecord, scanRecords } from "./stored-records.ts";
import { Ancestry, leftBehind, nodeOf, parentOf } from "./tree.ts";

/** The rest of a step is rarely far away: one page should hold it, and not much more. */
const pageSize = 200;

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

/** Where the rest of a step is looked for. */
interface Range {
  readonly states: MessageState[] | undefined;
  /** The `seq` up to which what was said before is asked for. */
  readonly through?: number;
  /** Those of a page that may belong to it; told of all pages in order. */
  readonly before: (page: readonly StoredRecord[]) => readonly StoredRecord[];
  readonly behind: (page: readonly StoredRecord[]) => readonly StoredRecord[];
}

const standing: Range = { states: ["live", "evicted"], before: (page) => page, behind: (page) => page };

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

/** All messages of a step by `seq`, live or not, searched before and after the target as far as needed. */
export async function findStep<M>(
  reading: Reading<M>,
  live: Live<M>,
  target: Item<M>,
  range: Range = standing,
): Promise<Item<M>[]> {
  const { settings } = reading;
  const known = live.byId.has(target.id) ? live.stepOf(target).items : [target];
  if (isAlone(target) || !settings.store.capabilities.history) return known;

  const earlier: Item<M>[] = [];
  let isComplete = seekerOf(target);
  let isAnswerRead = false;
  const { states, through = target.seq - 1 } = range;
  const before: HistoryQuery = { before: through + 1, order: "descending", states, limit: pageSize };
  await scanRecords(before, reading, (page) => {
    const items = range.before(page).map((kept) => readItem(kept, settings.reader));
    earlier.push(...items);
    const isFound = isComplete(items);
    const newest = isAnswerRead ? undefined : earlier.find(isAssistants);
    if (earlier.length === 0 || (!isFound && newest === undefined)) return false;
    const found = grouped(earlier, target);
    // The first part of an answer may be on the next page.
    const isWhole = (item: Item<M>): boolean => found.stepOf(item).items[0]?.seq !== earlier.at(-1)?.seq;
    if (isFound) return isWhole(target);
    isAnswerRead = newest !== undefined && isWhole(newest);
    // A result that bears no id is held with that of a call of the newest answer.
    isComplete = seekerOf(found.byId.get(target.id) ?? target);
    return isComplete(earlier) && isWhole(target);
  });
  const found = grouped(earlier, target);
  await scanRecords({ after: target.seq, states, limit: pageSize }, reading, (page) => {
    const items = range.behind(page).map((kept) => readItem(kept, settings.reader));
    for (const item of items) found.append(item);
    const step = found.stepOf(target);
    const isWhole = items.length === 0 || step.items.at(-1) !== found.items.at(-1);
    return isWhole && !hasOpenCalls(step);
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
