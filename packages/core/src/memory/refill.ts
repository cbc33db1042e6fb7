import type { MemorySettings } from "../memory-settings.ts";
import { type Item, readItem, seqsOf } from "../steps/item.ts";
import type { Live } from "../steps/live.ts";
import { pushAll } from "../steps/push-all.ts";
import { isStanding } from "../steps/step.ts";
import type { HistoryQuery } from "../store-contract.ts";
import { withInstructions } from "../window/groups.ts";
import type { Limits } from "../window/limits.ts";
import { planWindow } from "../window/plan.ts";
import type { Attempt } from "./attempt.ts";
import { scanRecords } from "./stored-records.ts";

/** Up to which `seq` a derived message stands for what was said. */
export function coveredBy<M>({ items }: Live<M>): number {
  return items.find(({ meta }) => meta.derived !== undefined)?.meta.derived?.through ?? 0;
}

/**
 * Brings back from history what the window now has room for, newest first and only whole steps or turns, from the
 * messages between the two seqs (exclusive).
 */
export async function refill<M>(attempt: Attempt<M>, after: number, before: number): Promise<void> {
  const candidates = await readCandidates(attempt, after, before);
  if (candidates.length === 0) return;
  const { draft, settings, limits } = attempt;
  const covered = await readBegun(attempt, after);
  draft.restore(chooseReturning(draft.live, candidates, settings, limits, covered));
}

/** What has left memory up to that `seq`, from its last question on: a step or turn in it may continue after that. */
export async function readBegun<M>(attempt: Attempt<M>, through: number): Promise<Item<M>[]> {
  const begun: Item<M>[] = [];
  if (through === 0) return begun;
  const query: HistoryQuery = { before: through + 1, order: "descending", states: ["evicted"], limit: 100 };
  await scanRecords(query, attempt, (page) => {
    for (const kept of page) {
      const item = readItem(kept, attempt.settings.reader);
      if (item.error !== undefined) continue;
      begun.push(item);
      if (item.role === "user") return true;
    }
    return false;
  });
  return begun;
}

/** The messages of all steps that one of these is part of. */
export function stepsWith<M>(items: readonly Item<M>[], { steps }: Live<M>): readonly Item<M>[] {
  const wanted = seqsOf(items);
  const found = steps.filter((step) => step.items.some(({ seq }) => wanted.has(seq)));
  return found.flatMap((step) => step.items);
}

/** Reads evicted messages, newest first, until there are more than could come back. */
async function readCandidates<M>(attempt: Attempt<M>, after: number, before: number): Promise<Item<M>[]> {
  const { settings, limits } = attempt;
  const { live } = attempt.draft;
  const candidates: Item<M>[] = [];
  let { tokens } = live;
  const query: HistoryQuery = { after, before, order: "descending", states: ["evicted"], limit: 100 };
  await scanRecords(query, attempt, (page) => {
    for (const kept of page) {
      const item = readItem(kept, settings.reader);
      if (item.error !== undefined) continue;
      candidates.push(item);
      tokens += item.tokens;
    }
    const messages = live.items.length + candidates.length;
    return messages > limits.maxMessages || limits.taken(tokens) > limits.maxTokens;
  });
  return candidates;
}

/**
 * The candidates that the window would have kept. Messages of a step that begins in what a derived message covers do
 * not come back.
 */
export function chooseReturning<M>(
  live: Live<M>,
  candidates: readonly Item<M>[],
  settings: MemorySettings<M>,
  limits: Limits,
  covered: readonly Item<M>[] = [],
): Item<M>[] {
  const whole = live.copy([...covered, ...candidates]);
  const fresh = seqsOf(candidates);
  const away = stepsWith(covered, whole);
  whole.remove(away);
  const cut: Item<M>[] = [];
  const { unit } = settings.window;
  const first = whole.steps.findIndex((step) => unit.beginsGroup(step));
  const start = first < 0 ? whole.steps.length : withInstructions(whole.steps, first);
  for (const [index, step] of whole.steps.entries()) {
    if (isStanding(step)) continue;
    const answersNothing = step.items.every((item) => item.role === "tool");
    const leaves = answersNothing || index < start;
    if (leaves && step.items.every(({ seq }) => fresh.has(seq))) pushAll(cut, step.items);
  }
  whole.remove(cut);
  const { evict } = planWindow(whole, settings, limits, { refill: true });
  const gone = seqsOf([...away, ...cut, ...evict]);
  return candidates.filter(({ seq }) => !gone.has(seq));
}
