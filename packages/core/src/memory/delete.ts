import type { Item } from "../steps/item.ts";
import type { Attempt, Reading } from "./attempt.ts";
import type { Gap } from "./head.ts";
import type { StoredRecord } from "./outcomes.ts";
import { scanRecords, statesNow } from "./stored-records.ts";
import { beginsBranch, gapAt, parentOf } from "./tree.ts";

/** How many gaps are known. Of more, the oldest are forgotten: a head stays small. */
const mostLost = 20;

/** Deletes messages, live or not. Where a branch loses its first, what followed that is known from the head from then on. */
export async function deleteMessages<M>(
  messages: readonly (Item<M> | StoredRecord)[],
  attempt: Attempt<M>,
): Promise<void> {
  const { draft } = attempt;
  draft.delete(messages);
  const firsts = messages.filter(beginsBranch);
  const forgotten = new Set(firsts.slice(0, -mostLost));
  const gone = new Set(messages.map(({ seq }) => seq));
  for (const message of [...messages].sort((a, b) => a.seq - b.seq)) {
    const { seq } = message;
    const parent = parentOf(message, draft.lost);
    if (parent === seq - 1 || forgotten.has(message) || gapAt(seq, draft.lost) !== undefined) continue;
    draft.lost = withGap(draft.lost, { from: seq, through: await lastGone(seq, gone, attempt), parent });
  }
}

/** The last message behind this one, itself if there is none, up to which the rest of its branch is gone too. */
async function lastGone<M>(first: number, gone: ReadonlySet<number>, attempt: Attempt<M>): Promise<number> {
  const { draft } = attempt;
  let seq = first;
  // A store would have to be asked for each of them.
  while (gone.has(seq + 1)) seq++;
  let next = Math.min(draft.nextSeq, ...draft.lost.map(({ from }) => from).filter((from) => from > seq));
  await scanRecords({ after: seq, before: next, limit: 1 }, attempt, ([left]) => {
    next = left?.seq ?? next;
    return left !== undefined;
  });
  return next - 1;
}

/** One that goes on where another ends is that one, gone on. */
function withGap(lost: readonly Gap[], gap: Gap): Gap[] {
  const before = lost.find(({ through, parent }) => through === gap.from - 1 && parent === gap.parent);
  const others = lost.filter((other) => other !== before);
  const whole = { ...gap, from: before?.from ?? gap.from };
  return [...others, whole].sort((a, b) => a.from - b.from).slice(-mostLost);
}

/** Those that are not there any more. */
export async function goneOf<T extends { readonly id: string; readonly seq: number }, M>(
  tried: readonly T[],
  reading: Reading<M>,
): Promise<T[]> {
  const states = await statesNow(tried, reading);
  return tried.filter(({ seq }) => !states.has(seq));
}
