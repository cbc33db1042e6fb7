import { type Item, readItem } from "../steps/item.ts";
import { isAssistants } from "../steps/kinds.ts";
import { Live } from "../steps/live.ts";
import { hasOpenCalls } from "../steps/pairing.ts";
import type { HistoryQuery, MessageState } from "../store-contract.ts";
import type { Reading } from "./attempt.ts";
import type { StoredRecord } from "./outcomes.ts";
import { scanRecords } from "./stored-records.ts";

/** The rest of a step is rarely far away: one page should hold it, and not much more. */
const pageSize = 200;

/** Where the rest of a step is looked for. */
export interface StepRange {
  readonly states: MessageState[] | undefined;
  /** The `seq` up to which what was said before is asked for. */
  readonly through?: number;
  /** Those of a page that may belong to it; told of all pages in order. */
  readonly before: (page: readonly StoredRecord[]) => readonly StoredRecord[];
  readonly behind: (page: readonly StoredRecord[]) => readonly StoredRecord[];
}

const standing: StepRange = { states: ["live", "evicted"], before: (page) => page, behind: (page) => page };

/** All messages of a step by `seq`, live or not, searched before and after the target as far as needed. */
export async function findStep<M>(
  reading: Reading<M>,
  live: Live<M>,
  target: Item<M>,
  range: StepRange = standing,
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
