import type { Item } from "../steps/item.ts";
import type { Live } from "../steps/live.ts";
import { pushAll } from "../steps/push-all.ts";
import { isDerived, isPinned, isSystem, isUser, type Step } from "../steps/step.ts";
import type { WindowUnit } from "../window-options.ts";
import { planByMessage } from "./plan-by-message.ts";
import type { Limits, WindowPolicy } from "./policy.ts";
import { type Cost, noCost, Room, type WindowPlan } from "./room.ts";

/** What a plan depends on besides the messages and the limits. */
export interface PlanPolicy<M> {
  readonly window: WindowPolicy<M>;
  readonly repair: boolean;
  /** What repair adds to an unsettled step; repair depends on whether the step is the last. */
  readonly addedByRepair: (step: Step<M>, isLast: boolean) => Cost;
}

/** How a plan is made. */
export interface PlanOptions {
  /** Plan down to the target even below the limit, to see what may come back from history. */
  readonly refill?: boolean;
  /** What the view takes beyond the live messages and their repair. */
  readonly slack?: Cost;
  /** Half-way between target and limit already counts as full, to evict where it costs least. */
  readonly early?: boolean;
  /** Plan what to summarize: down to the target, with room for the summary. */
  readonly forSummary?: boolean;
}

/**
 * Decides what leaves: a pure function of the live messages and the limits. It calls format and counter only for the
 * results that repair will insert for open calls.
 */
export function planWindow<M>(
  live: Live<M>,
  policy: PlanPolicy<M>,
  limits: Limits,
  options: PlanOptions = {},
): WindowPlan<M> {
  const { maxMessages, maxTokens } = limits;
  const unbounded = !Number.isFinite(maxMessages) && !Number.isFinite(maxTokens);
  if (unbounded && live.boundaries === 0) {
    return { evict: [], passed: [], stays: { messages: live.items.length, tokens: live.tokens } };
  }
  const { window } = policy;
  return window.unit === "message"
    ? planByMessage(live, window, limits, options)
    : planBySteps(live, policy, limits, options);
}

function planBySteps<M>(
  live: Live<M>,
  policy: PlanPolicy<M>,
  limits: Limits,
  { refill = false, slack = noCost, early = false, forSummary = false }: PlanOptions,
): WindowPlan<M> {
  const { window } = policy;
  const summarizes = window.summarize !== undefined;
  const evict: Item<M>[] = [];
  const room = new Room(live.items.length, live.tokens, limits);
  const last = live.steps.at(-1);
  const addedTo = (step: Step<M>): Cost =>
    policy.repair && live.unsettled.has(step) ? policy.addedByRepair(step, step === last) : noCost;
  room.enter(slack);
  for (const step of live.unsettled) room.enter(addedTo(step));
  const share = refill ? 0 : early ? (1 + window.target) / 2 : 1;
  const leave = (step: Step<M>): void => {
    const added = addedTo(step);
    pushAll(evict, step.items);
    room.leave(step.items.length + added.messages, step.tokens + added.tokens);
  };
  const beyond =
    live.boundaries === 0 ? 0 : live.steps.findLastIndex((step) => step.items.some((item) => item.boundary));
  for (const step of live.steps.slice(0, beyond)) if (!isSystem(step)) leave(step);
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
    for (const step of withinTurn(newest)) {
      if (reached()) break;
      if (!isPinned(step)) leave(step);
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

/** Groups that leave together, oldest first, and the group that leaves last. */
export interface Groups<M> {
  /** Generated on demand: a window looks no further than what leaves. */
  readonly older: Iterable<readonly Step<M>[]>;
  readonly newest: readonly Step<M>[];
}

/** Steps in groups that leave together; system and derived messages are in none. */
export function groupsOf<M>(steps: readonly Step<M>[], unit: WindowUnit): Groups<M> {
  const byTurn = unit === "turn";
  const first = steps.findLastIndex((step) => isSaid(step) && (!byTurn || isUser(step)));
  const end = Math.max(0, first);
  return { older: groupsUpTo(steps, end, byTurn), newest: steps.slice(end).filter(isSaid) };
}

function* groupsUpTo<M>(steps: readonly Step<M>[], end: number, byTurn: boolean): Generator<Step<M>[]> {
  let group: Step<M>[] = [];
  for (let index = 0; index < end; index++) {
    const step = steps[index] as Step<M>;
    if (!isSaid(step)) continue;
    if (group.length > 0 && (!byTurn || isUser(step))) {
      yield group;
      group = [];
    }
    group.push(step);
  }
  if (group.length > 0) yield group;
}

function isSaid<M>(step: Step<M>): boolean {
  return !isSystem(step) && !isDerived(step);
}

/** The steps between a turn's question and its newest step; none where the newest group is one step. */
export function withinTurn<M>(newest: readonly Step<M>[]): readonly Step<M>[] {
  return newest.slice(isUser(newest[0]) ? 1 : 0, -1);
}
