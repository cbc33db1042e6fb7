import type { MessageFormat } from "../message-format.ts";
import type { ProviderProfile } from "../provider-profile.ts";
import { deepFreeze } from "../steps/deep-freeze.ts";
import { type Item, type ItemReader, messageOf } from "../steps/item.ts";
import { tokensOf } from "../steps/item-facts.ts";
import { stepsOf } from "../steps/live.ts";
import { pushAll } from "../steps/push-all.ts";
import { approvedInTime, isOneAnswer, lastSaid, type Step } from "../steps/step.ts";
import { type Cost, noCost } from "../window/room.ts";
import { isApproval } from "./behind-calls.ts";
import type { MayStayOpen } from "./missing-results.ts";
import { repairAnswerParts } from "./repair-answer-parts.ts";
import { repairWholeAnswers } from "./repair-whole-answers.ts";

/** A view's messages, and what was done to them. */
export interface Repaired<M> {
  readonly messages: M[];
  /** The calls that got an "interrupted" result. */
  readonly interruptedCalls: string[];
  /** The messages from which something was left out: a result without its call, a late or a repeated one. */
  readonly leftOut: string[];
}

/** Which calls of the last step may stay open: all that wait for something, or only approved ones. */
export type OpenCalls = "any" | "approved";

/** A list in the shape of a provider is meant to be sent now; behind any other, tools may be running. */
export function openCallsFor(profile: ProviderProfile | undefined): OpenCalls {
  return profile === undefined ? "any" : "approved";
}

/**
 * The default repair: every result is directly after its call, none is without its call, and every call before the last
 * step is answered. Approvals that came one by one become one message. A call once shown to the model as interrupted
 * stays so, even if its result came late. Depends on the steps only: no clock, no randomness.
 */
export function repairSteps<M>(
  steps: readonly Step<M>[],
  format: MessageFormat<M>,
  openCalls: OpenCalls,
): Repaired<M> {
  const repaired: Repaired<M> = { messages: [], interruptedCalls: [], leftOut: [] };
  const last = steps.at(-1);
  for (const step of steps) {
    const only = step.items[0] as Item<M>;
    if (step.items.length === 1 && only.calls.length + only.results.length + only.approvals.length === 0) {
      repaired.messages.push(messageOf(only));
      continue;
    }
    const { messages, interruptedCalls, leftOut } = repairedStep(
      step,
      step === last ? openCalls : "none",
      format,
    );
    pushAll(repaired.messages, messages);
    pushAll(repaired.interruptedCalls, interruptedCalls);
    pushAll(repaired.leftOut, leftOut);
  }
  return repaired;
}

/** Cache for steps that are not the last: a step only grows, and a memory has one format. */
const earlier: WeakMap<object, { readonly size: number; readonly repaired: Repaired<unknown> }> =
  new WeakMap();

/** One step, `none` of whose calls may stay open unless it is the last. Frozen, as all messages of a view are. */
function repairedStep<M>(
  step: Step<M>,
  openCalls: OpenCalls | "none",
  format: MessageFormat<M>,
): Repaired<M> {
  const before = openCalls === "none" ? earlier.get(step) : undefined;
  if (before?.size === step.items.length) return before.repaired as Repaired<M>;
  const repaired: Repaired<M> = { messages: [], interruptedCalls: [], leftOut: [] };
  const inParts = step.calls.size > 0 && step.items.some((item) => item.part);
  if (!inParts && isInOrder(step, openCalls)) pushAll(repaired.messages, step.items.map(messageOf));
  else
    (inParts ? repairAnswerParts : repairWholeAnswers)(step, mayStayOpen(step, openCalls), format, repaired);
  for (const message of repaired.messages) deepFreeze(message);
  if (openCalls === "none") earlier.set(step, { size: step.items.length, repaired });
  return repaired;
}

/** Whether a step is one message with calls, and behind it nothing but their results: as nearly every one is. */
function isInOrder<M>(
  { items, calls, answers, unanswered }: Step<M>,
  openCalls: OpenCalls | "none",
): boolean {
  const [caller] = items;
  if (
    caller === undefined ||
    caller.calls.length === 0 ||
    caller.results.length + caller.approvals.length > 0
  )
    return false;
  if (unanswered > 0 && openCalls !== "any") return false;
  for (let index = 1; index < items.length; index++) {
    const { role, calls, results, approvals } = items[index] as Item<M>;
    if (role !== "tool" || calls.length + approvals.length > 0 || results.length === 0) return false;
  }
  for (const [id, { results, inTime }] of answers) {
    const call = calls.get(id);
    if (call === undefined || call.providerExecuted || results !== inTime || inTime > call.made) return false;
  }
  return true;
}

/** Repairs messages outside a memory, or messages that were changed after leaving it. */
export function repairMessages<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  openCalls: OpenCalls,
): Repaired<M> {
  return repairSteps(openCallsLast(stepsOf(messages, format), format, openCalls), format, openCalls);
}

function mayStayOpen<M>(step: Step<M>, openCalls: OpenCalls | "none"): MayStayOpen {
  if (openCalls !== "approved") return () => openCalls === "any";
  // Whoever runs approved calls looks for the approvals in the last message, which shows those that came one by one. It
  // may hold more: in some formats an answer has its calls and their approvals in one message.
  const behind = step.items.findLastIndex((item) => !isApproval(item)) + 1;
  const last = step.items.slice(Math.min(behind, step.items.length - 1));
  const approved = new Set(last.flatMap((item) => approvedInTime(step, item)));
  return (callId) => approved.has(callId);
}

/**
 * The steps with those whose calls stay open last, behind what the application said since: a system message is nobody's turn,
 * and whoever runs approved calls looks for the approvals in the last message.
 */
export function openCallsLast<M>(
  steps: readonly Step<M>[],
  format: MessageFormat<M>,
  openCalls: OpenCalls,
): readonly Step<M>[] {
  const last = lastSaid(steps);
  if (last === undefined || last === steps.at(-1) || last.unanswered === 0) return steps;
  const interrupted = (mayStay: OpenCalls | "none"): number =>
    repairedStep(last, mayStay, format).interruptedCalls.length;
  if (interrupted(openCalls) === interrupted("none")) return steps;
  return [...steps.filter((step) => step !== last), last];
}

/**
 * Counts what repair adds to an unsettled step, so that the window can make room for it. Never negative, so that what
 * the view leaves out still counts, and leaves memory in its turn.
 */
export function addedByRepair<M>(
  reader: ItemReader<M>,
  openCalls: OpenCalls,
): (step: Step<M>, isLast: boolean) => Cost {
  const costs = new WeakMap<
    Step<M>,
    { readonly size: number; readonly isLast: boolean; readonly cost: Cost }
  >();
  const measure = (step: Step<M>, isLast: boolean): Cost => {
    // All its calls may stay open, and nothing is joined: what grows with each of many results is not repaired anew.
    if (isLast && openCalls === "any" && isOneAnswer(step) && step.approvals.size === 0) return noCost;
    const { messages } = repairedStep(step, isLast ? openCalls : "none", reader.format);
    const tokens = tokensOf(messages, step.items, reader) - step.tokens;
    return { messages: Math.max(0, messages.length - step.items.length), tokens: Math.max(0, tokens) };
  };
  return (step, isLast) => {
    const before = costs.get(step);
    if (before?.size === step.items.length && before.isLast === isLast) return before.cost;
    const cost = measure(step, isLast);
    costs.set(step, { size: step.items.length, isLast, cost });
    return cost;
  };
}
