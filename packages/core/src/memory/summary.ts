import type { MemorySettings } from "../memory-settings.ts";
import { type Item, messageOf } from "../steps/item.ts";
import type { Live } from "../steps/live.ts";
import { newStep, type Step } from "../steps/step.ts";
import { repairSteps } from "../view/repair.ts";
import type { Limits } from "../window/limits.ts";
import { planWindow } from "../window/plan.ts";
import { Room } from "../window/room.ts";
import type { SummarizeFailure } from "../window-options.ts";
import type { Attempt } from "./attempt.ts";
import { checkReplacement, putInPlace } from "./change.ts";
import type { Prepared } from "./draft.ts";
import { prepare } from "./prepare.ts";
import { sizeOf } from "./size.ts";

/** What to summarize, as it was when that was decided. */
export interface SummaryPlan<M> {
  /** The derived messages that the summary replaces: one, or none. */
  readonly derived: readonly Item<M>[];
  /** Whole steps. */
  readonly items: readonly Item<M>[];
  /** The same messages as the model was shown them: first the derived message, then the others, repaired. */
  readonly messages: readonly M[];
  readonly previous: M | undefined;
  readonly through: number;
  /** How large the summary may be: in tokens, or, without a counter, in characters. */
  readonly maxSize: number;
  /** Why the summarizer is not asked. */
  readonly refusal: SummarizeFailure | undefined;
  readonly early: boolean;
}

/** Decides what to summarize, `early` or because it does not fit; `undefined` if nothing. */
export function planSummary<M>(
  live: Live<M>,
  settings: MemorySettings<M>,
  limits: Limits,
  early: boolean,
): SummaryPlan<M> | undefined {
  const { evict, passed, stays } = planWindow(live, settings, limits, { forSummary: true, early });
  if (evict.length === passed.length) return undefined;
  const room = new Room(stays.messages, stays.tokens, limits);
  const gone = new Set(passed);
  const leaving = evict.filter((item) => !gone.has(item));
  const derived = live.items.filter((item) => item.meta.derived !== undefined && !gone.has(item));
  for (const item of derived) if (!leaving.includes(item)) room.leave(1, item.tokens);
  const items = leaving.filter((item) => item.meta.derived === undefined);
  const all = [...derived, ...items];
  const steps = new Set(all.map((item) => live.stepOf(item)));
  const messages = asShown(
    live.steps.filter((step) => steps.has(step)),
    settings,
  );
  const most = room.tokensForOneMore(sizeOf(all, settings.reader));
  for (const item of leaving) gone.add(item);
  const kept = live.items.filter((item) => !gone.has(item));
  let refusal: SummarizeFailure | undefined;
  if (kept.some((item) => item.boundary)) refusal = "boundary";
  else if (messages.length === 0) refusal = "unreadable";
  else if (most < 1) refusal = "no-room";
  const through = [...steps].reduce((seq, { items: [first] }) => {
    return Math.max(seq, first?.meta.derived?.through ?? first?.seq ?? 0);
  }, 0);
  const previous = derived[0]?.message;
  return { derived, items, messages, previous, through, maxSize: Math.max(0, most), refusal, early };
}

/** Goes last, so that repair does not take any real step for one that still waits for results. */
const nothingMore: Step<never> = newStep();

/** The readable messages of the steps, as a view shows them. */
function asShown<M>(steps: readonly Step<M>[], settings: MemorySettings<M>): readonly M[] {
  const readable = steps.filter((step) => step.items.every((item) => item.error === undefined));
  if (!settings.repair) return readable.flatMap((step) => step.items.map(messageOf));
  return repairSteps([...readable, nothingMore], settings.reader.format, "any").messages;
}

/** Turns the answer into a message that can be stored in place of its input, or says why it cannot. */
export function acceptSummary<M>(
  answer: M | undefined,
  { maxSize }: SummaryPlan<M>,
  settings: MemorySettings<M>,
): Prepared<M> | SummarizeFailure {
  if (answer === undefined) return "empty";
  const { reader } = settings;
  let summary: Prepared<M>;
  try {
    summary = prepare(answer, reader);
    if (reader.format.isEmpty(summary.facts.message)) return "empty";
    checkReplacement(summary, settings);
  } catch {
    return "invalid";
  }
  return sizeOf([summary.facts], reader) > maxSize ? "too-long" : summary;
}

/** Replaces messages by their summary, unless they have changed or fit by now; then the draft stays unchanged. */
export function putSummary<M>(
  { draft, settings, limits }: Attempt<M>,
  { derived, items, through, early }: SummaryPlan<M>,
  summary: Prepared<M>,
): Item<M> | undefined {
  const { live } = draft;
  const covered = asItWas(live, items);
  const replaced = asItWas(live, derived);
  const isOnly = live.items.filter((item) => item.meta.derived !== undefined).length === derived.length;
  const isDue = planSummary(live, settings, limits, early) !== undefined;
  if (covered === undefined || replaced === undefined || !isOnly || !isDue) return undefined;
  return putInPlace(draft, { derived: replaced, covered, through }, summary);
}

/** The same messages as they are live now, if each is unchanged and no other has joined their steps. */
function asItWas<M>(live: Live<M>, items: readonly Item<M>[]): Item<M>[] | undefined {
  const ids = new Set(items.map((item) => item.id));
  const found = items.flatMap(({ id, payload }) => {
    const item = live.byId.get(id);
    const isSame = item?.payload === payload && live.stepOf(item).items.every((member) => ids.has(member.id));
    return isSame ? [item] : [];
  });
  return found.length === items.length ? found : undefined;
}
