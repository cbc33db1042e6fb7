import { isTurnkeepError, quoted, TurnkeepError } from "../errors.ts";
import type { MemorySettings } from "../memory-settings.ts";
import type { MessageFormat } from "../message-format.ts";
import { applyProcessors } from "../processors/apply-processors.ts";
import type { ProviderProfile, ShapedView, ViewStage } from "../provider-profile.ts";
import { deepFreeze } from "../steps/deep-freeze.ts";
import { type Item, messageOf } from "../steps/item.ts";
import { tokensOf } from "../steps/item-facts.ts";
import type { Live } from "../steps/live.ts";
import { pushAll } from "../steps/push-all.ts";
import { isPromptStep, isStanding, type Step, stepWith } from "../steps/step.ts";
import { withInstructions } from "../window/groups.ts";
import type { Limits } from "../window/limits.ts";
import { planWindow } from "../window/plan.ts";
import { type Cost, noCost, type Overflow, overflowOf, type WindowPlan } from "../window/room.ts";
import type { EvictionUnit } from "../window/units/unit.ts";
import type { WindowOverflow } from "../window-options.ts";
import { asOneSetting } from "./in-force.ts";
import { afterChanges, withoutStaleReasoning } from "./reasoning.ts";
import { type OpenCalls, openCallsLast, type Repaired, repairMessages, repairSteps } from "./repair.ts";

/** What a view is made of. */
export interface ViewRequest<M> {
  readonly live: Live<M>;
  /** The memory's epoch: reasoning of an earlier epoch was made after a beginning that has changed since. */
  readonly epoch: number;
  readonly settings: MemorySettings<M>;
  readonly limits: Limits;
  readonly profile: ProviderProfile | undefined;
  /** The model that the view is for. */
  readonly model: string | undefined;
  /** Names the tools of the request that the view is for. */
  readonly toolsKey: string | undefined;
  readonly openCalls: OpenCalls;
  /** Fires when the call ends; asked for by whoever may wait. */
  readonly call: { readonly signal: AbortSignal };
  /** Shows what a processor or the profile refuses as too much all the same, to explain it. */
  readonly explains?: boolean | undefined;
}

/** What exceeds a limit: the window's, a processor's or the provider's. */
type Excess = Pick<Overflow, "needed" | "limit">;

/** What the model is shown, and how it came about. */
export interface View<M> extends Repaired<M> {
  /** What memory holds but the window does not show. */
  readonly hidden: readonly Item<M>[];
  /** The messages after repair, then after each processor, after the next repair, and after each rule. */
  readonly stages: readonly (ViewStage<M> & { readonly by: "repair" | "processor" | "rule" })[];
  /** Set if the view is shown although it exceeds a limit. */
  readonly overflow: Excess | undefined;
}

/**
 * What the model is shown: the window, repaired, then the processors, then the shape that the provider accepts. Does
 * not change `live`. What processors and the profile add is measured, and the window makes room for it.
 *
 * Throws `WINDOW_OVERFLOW`, and the errors of shown records that cannot be read.
 */
export function buildView<M>(request: ViewRequest<M>): View<M> | Promise<View<M>> {
  const { live, settings, limits, profile, openCalls } = request;
  const isPlanned = profile === undefined && openCalls === "any" && settings.processors.length === 0;
  if (!isPlanned) return measuredView(request);
  const plan = planWindow(live, settings, limits);
  const overflow = overflowOf(plan.stays, limits);
  if (overflow !== undefined && !isShownAllTheSame(request)) throw overflowError(settings, overflow);
  const { messages, interruptedCalls, leftOut } = shownByWindow(request, plan);
  const stages = [repairedTo(messages)];
  return { messages, interruptedCalls, leftOut, hidden: plan.evict, stages, overflow };
}

/** A view, against the limits. */
interface Measured<M> {
  readonly view: View<M>;
  readonly evicted: number;
  /** What it exceeds. */
  readonly beyond: Overflow | undefined;
  /** How much more than planned must leave. */
  readonly slack: Cost;
}

/** Plans again with what was beyond a limit, until the view fits or nothing more may leave. */
async function measuredView<M>(request: ViewRequest<M>): Promise<View<M>> {
  const { settings } = request;
  const { overflow, unit } = settings.window;
  // Older messages may make room for what is added: the newest goes only if that is not enough.
  const ways = overflow === "evict" && unit.sparesNewest ? [keeping(settings), settings] : [settings];
  let last = await measured(request, settings, noCost);
  for (const way of ways) {
    for (let evicted = -1; last.beyond !== undefined && last.evicted !== evicted; ) {
      evicted = last.evicted;
      const next = await measured(request, way, last.slack);
      // What remains may be nothing that is shown, such as a result without its call. Never empty silently.
      if (overflow !== "evict" && !saysAnything(next.view, settings) && saysAnything(last.view, settings))
        break;
      last = next;
    }
  }
  return allowed(request, last);
}

async function measured<M>(
  request: ViewRequest<M>,
  settings: MemorySettings<M>,
  slack: Cost,
): Promise<Measured<M>> {
  const { live, limits } = request;
  const plan = planWindow(live, settings, limits, { slack });
  const view = await render(request, plan);
  const cost = costOf(view.messages, request);
  return {
    view,
    evicted: plan.evict.length,
    beyond: overflowOf(cost, limits),
    slack: {
      messages: Math.max(slack.messages, cost.messages - plan.stays.messages + slack.messages),
      tokens: Math.max(slack.tokens, cost.tokens - plan.stays.tokens + slack.tokens),
    },
  };
}

/** A view within the limits, or beyond them where the window shows it all the same. */
function allowed<M>(request: ViewRequest<M>, { view, beyond }: Measured<M>): View<M> {
  if (beyond === undefined) return view;
  if (isShownAllTheSame(request)) return { ...view, overflow: beyond };
  throw overflowError(request.settings, beyond);
}

function isShownAllTheSame<M>({ live, settings: { window } }: ViewRequest<M>): boolean {
  return window.overflow === "evict" ? window.unit.showsWhatStays(live) : window.overflow === "keep";
}

/** The same settings, but what does not fit is shown all the same. */
export function keeping<P extends { readonly window: { readonly overflow: WindowOverflow } }>(
  settings: P,
): P {
  return { ...settings, window: { ...settings.window, overflow: "keep" } };
}

async function render<M>(request: ViewRequest<M>, plan: WindowPlan<M>): Promise<View<M>> {
  const { settings, profile, openCalls, call } = request;
  const { format } = settings.reader;
  const shown = shownByWindow(request, plan);
  const stages = [repairedTo(shown.messages)];
  const interruptedCalls = [...shown.interruptedCalls];
  let messages: readonly M[] = shown.messages;
  let overflow: Excess | undefined;
  const refuse = (error: unknown): undefined => {
    overflow ??= excessOf(error, request);
  };
  for (const processor of settings.processors) {
    const processed = await applyProcessors(messages, [processor], { format, signal: call.signal }).catch(
      refuse,
    );
    messages = processed ?? messages;
    stages.push({ by: "processor", name: processor.name, messages });
  }
  if (settings.processors.length > 0) {
    if (settings.repair || profile !== undefined) {
      const repaired = repairMessages(messages, format, openCalls);
      pushAll(interruptedCalls, repaired.interruptedCalls);
      messages = repaired.messages;
    }
    if (profile?.reasoning === "bound")
      messages = afterChanges(messages, stages, settings.processors, format);
    stages.push(repairedTo(messages));
  }
  const shaped = await shapedBy(profile, messages, format).catch(refuse);
  for (const stage of shaped?.stages ?? []) stages.push({ by: "rule", ...stage });
  for (const message of shaped?.messages ?? []) deepFreeze(message);
  return {
    messages: shaped?.messages ?? [...messages],
    interruptedCalls,
    leftOut: shown.leftOut,
    hidden: plan.evict,
    stages,
    overflow,
  };
}

function repairedTo<M>(messages: readonly M[]): View<M>["stages"][number] {
  return { by: "repair", name: "repair", messages };
}

async function shapedBy<M>(
  profile: ProviderProfile | undefined,
  messages: readonly M[],
  format: MessageFormat<M>,
): Promise<ShapedView<M> | undefined> {
  return profile?.shape(messages, format);
}

/** What a processor or a profile refused as too much. Throws any other error, and this one too where it must not be shown. */
function excessOf<M>(error: unknown, { explains }: ViewRequest<M>): Excess {
  if (explains !== true || !isTurnkeepError(error, "WINDOW_OVERFLOW")) throw error;
  const { needed, limit } = error.details as Partial<Excess>;
  return { needed: Number(needed), limit: Number(limit) };
}

// Shared, because most views hide nothing.
const nothing: ReadonlySet<never> = new Set();

/** The messages that the window leaves, repaired. */
function shownByWindow<M>(
  { live, epoch, settings, profile, model, toolsKey, openCalls }: ViewRequest<M>,
  plan: WindowPlan<M>,
): Repaired<M> {
  const hidden = plan.evict.length === 0 ? nothing : new Set(plan.evict);
  const { window, reader } = settings;
  let steps = shownSteps(live, hidden, window.unit, profile);
  if (!settings.repair && profile === undefined) {
    const messages = itemsOfSteps(steps, live, hidden).map(messageOf);
    return { messages, interruptedCalls: [], leftOut: [] };
  }
  if (hidden.size > 0) steps = steps.map((step) => without(step, hidden));
  if (profile !== undefined && !settings.systemFirst) steps = promptFirst(steps);
  const ordered = openCallsLast(steps, reader.format, openCalls);
  const isMoved = ordered !== steps;
  steps = asOneSetting(ordered, reader.format);
  if (profile?.reasoning === "bound") {
    // What the window hides but memory still holds was there when the reasoning was made, and what is shown before its
    // time was not.
    const changed = hidden.size > 0 || isMoved ? Number.POSITIVE_INFINITY : epoch;
    steps = withoutStaleReasoning(steps, { epoch: changed, model, toolsKey, format: reader.format });
  }
  return repairSteps(steps, reader.format, openCalls);
}

/** A provider has one place for the prompt, wherever the memory leaves it. */
function promptFirst<M>(steps: readonly Step<M>[]): readonly Step<M>[] {
  return [...steps.filter(isPromptStep), ...steps.filter((step) => !isPromptStep(step))];
}

function saysAnything<M>({ messages }: View<M>, { reader }: MemorySettings<M>): boolean {
  return messages.some((message) => reader.format.role(message) !== "system");
}

function costOf<M>(messages: readonly M[], { live, settings }: ViewRequest<M>): Cost {
  return { messages: messages.length, tokens: tokensOf(messages, live.items, settings.reader) };
}

function overflowError<M>({ memoryId, window }: MemorySettings<M>, overflow: Overflow): TurnkeepError {
  const { unit, needed, limit } = overflow;
  const of = `memory ${quoted(memoryId)}`;
  const [what, help] =
    window.overflow === "evict"
      ? [`What is never evicted of ${of}`, 'pin less, or set window.overflow to "keep"']
      : [
          `The newest step of ${of} with what is never evicted`,
          'or set window.overflow to "keep" or "evict"',
        ];
  return new TurnkeepError(
    "WINDOW_OVERFLOW",
    `${what} needs ${needed} ${unit}; the limit is ${limit}. Raise the limit, shorten the messages, ${help}. Nothing is lost.`,
    { details: { memoryId, needed, limit } },
  );
}

/**
 * The steps of which a view shows something, given the messages that the window hides. Behind the system message it starts
 * as the unit requires. A profile that requires the user's message first opens the view itself, and loses nothing.
 */
export function shownSteps<M>(
  live: Live<M>,
  hidden: ReadonlySet<Item<M>>,
  unit: EvictionUnit,
  profile: ProviderProfile | undefined,
): readonly Step<M>[] {
  const isShown = (step: Step<M>): boolean => step.items.some((item) => !hidden.has(item));
  const steps = hidden.size > 0 ? live.steps.filter(isShown) : live.steps;
  if (unit.opensView === undefined || profile?.firstMessage === "user") return steps;
  const first = steps.findIndex(unit.opensView);
  if (first < 0) return profile === undefined ? steps.filter(isStanding) : steps;
  const start = withInstructions(steps, first);
  return [...steps.slice(0, start).filter(isStanding), ...steps.slice(start)];
}

/** The messages of those steps without hidden ones, in view order. */
export function itemsOfSteps<M>(
  steps: readonly Step<M>[],
  live: Live<M>,
  hidden: ReadonlySet<Item<M>>,
): Item<M>[] {
  const shown = new Set(steps);
  return live.items.filter((item) => !hidden.has(item) && shown.has(live.stepOf(item)));
}

/** Unit `message` may evict a part of a step. */
function without<M>(step: Step<M>, hidden: ReadonlySet<unknown>): Step<M> {
  const items = step.items.filter((item) => !hidden.has(item));
  return items.length === step.items.length ? step : stepWith(items);
}
