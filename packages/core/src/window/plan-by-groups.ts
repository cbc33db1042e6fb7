import type { MemorySettings } from "../memory-settings.ts";
import type { Item } from "../steps/item.ts";
import type { Live } from "../steps/live.ts";
import { pushAll } from "../steps/push-all.ts";
import { isDerived, isPinned, isPromptStep, lastSaid, type Step } from "../steps/step.ts";
import { groupsOf, withinTurn } from "./groups.ts";
import type { Limits } from "./limits.ts";
import type { PlanOptions } from "./plan.ts";
import { type Cost, noCost, Room, type WindowPlan } from "./room.ts";

/** The oldest groups of steps go, until what stays is within the target; whole steps, whatever happens. */
export function planByGroups<M>(
  live: Live<M>,
  settings: MemorySettings<M>,
  limits: Limits,
  options: PlanOptions,
): WindowPlan<M> {
  const { refill = false, slack = noCost, early = false } = options;
  const room = new Room(live.items.length, live.tokens, limits);
  room.enter(slack);
  const addedTo = addedByStep(live, settings);
  for (const step of live.unsettled) room.enter(addedTo(step));
  const share = refill ? 0 : early ? (1 + settings.window.target) / 2 : 1;
  // As it is for most messages.
  if (live.boundaries === 0 && room.fitsWithin(share))
    return { evict: none, passed: none, stays: room.total };
  return evictGroups(live, settings, room, share, options);
}

const none: readonly never[] = [];

/** What repair adds to each step. */
function addedByStep<M>(
  { unsettled, steps }: Live<M>,
  { repair, addedByRepair }: MemorySettings<M>,
): (step: Step<M>) => Cost {
  if (!repair || unsettled.size === 0) return () => noCost;
  const last = lastSaid(steps);
  return (step) => (unsettled.has(step) ? addedByRepair(step, step === last) : noCost);
}

/** The first step for which no provider's compaction stands. */
function firstBeyond<M>({ boundaries, steps }: Live<M>): number {
  if (boundaries === 0) return 0;
  const newest = steps.findLastIndex((step) => step.items.some((item) => item.boundary));
  const since = steps[newest]?.items.findLast((item) => item.boundary)?.meta.since;
  if (since === undefined) return newest;
  return steps.findIndex(
    (step) =>
      !isPromptStep(step) && step.items.some(({ seq, meta }) => (meta.derived?.through ?? seq) >= since),
  );
}

function evictGroups<M>(
  live: Live<M>,
  settings: MemorySettings<M>,
  room: Room,
  share: number,
  { refill = false, forSummary = false }: PlanOptions,
): WindowPlan<M> {
  const { window } = settings;
  const summarizes = window.summarize !== undefined;
  const addedTo = addedByStep(live, settings);
  const evict: Item<M>[] = [];
  const leave = (step: Step<M>): void => {
    const added = addedTo(step);
    pushAll(evict, step.items);
    room.leave(step.items.length + added.messages, step.tokens + added.tokens);
  };
  const beyond = firstBeyond(live);
  // What is set before a provider's compaction is the compaction's to keep.
  for (const step of live.steps.slice(0, beyond)) if (!isPromptStep(step)) leave(step);
  const passed = [...evict];
  if (room.fitsWithin(share)) return { evict, passed, stays: room.total };

  const steps = beyond === 0 ? live.steps : live.steps.slice(beyond);
  const derived = summarizes ? steps.filter(isDerived) : [];
  // If a summary is to come, what fits stays until then: to be shown, and to be summarized.
  const reached = room.goal(forSummary || refill || !summarizes ? window.target : 1, share);
  const summary = { messages: forSummary && derived.length === 0 ? 1 : 0, tokens: 0 };
  room.enter(summary);
  const { older, newest } = groupsOf(steps, window.unit);
  for (const group of older) {
    if (reached()) break;
    if (!group.some(isPinned)) group.forEach(leave);
  }
  // The newest turn alone is too long: the steps between its question and its newest step go, oldest first.
  if (!room.fits) {
    for (const group of withinTurn(newest)) {
      if (reached()) break;
      if (!group.some(isPinned)) group.forEach(leave);
    }
  }
  room.leave(summary.messages, summary.tokens);
  // A summary must not displace the newest step.
  if (!room.fits && summarizes) derived.forEach(leave);
  if (!room.fits && window.overflow === "evict" && !newest.some(isPinned)) {
    const gone = new Set(evict);
    for (const step of newest) if (!gone.has(step.items[0] as Item<M>)) leave(step);
  }
  return { evict, passed, stays: room.total };
}
