import { joinNeighbours } from "../format/join-neighbours.ts";
import type { MessageFormat, ToolCallRef } from "../message-format.ts";
import { deepFreeze, type Item, type ItemReader, messageOf, tokensOf } from "../steps/item.ts";
import { stepsOf } from "../steps/live.ts";
import { answeredInTime, type Step } from "../steps/step.ts";
import type { Cost } from "../window/room.ts";

/** The result shown for a call whose result never came. */
export const interruptedText = "The tool call was interrupted: no result was recorded.";

/** A view's messages, and what was done to them. */
export interface Repaired<M> {
  readonly messages: M[];
  /** The calls that got an "interrupted" result. */
  readonly interruptedCalls: readonly string[];
  /** The messages from which something was left out: a result without its call, a late or a repeated one. */
  readonly leftOut: readonly string[];
}

/** Which calls of the last step may stay open: all that wait for something, or only approved ones. */
export type OpenCalls = "any" | "approved";

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
  const repaired = { messages: [] as M[], interruptedCalls: [] as string[], leftOut: [] as string[] };
  const last = steps.at(-1);
  for (const step of steps) {
    const only = step.items[0] as Item<M>;
    if (step.items.length === 1 && only.calls.length + only.results.length + only.approvals.length === 0) {
      repaired.messages.push(messageOf(only));
    } else {
      const { messages, interruptedCalls, leftOut } =
        step === last
          ? repairedStep(step, mayStayOpen(step, openCalls), format)
          : repairedEarlier(step, format);
      repaired.messages.push(...messages);
      repaired.interruptedCalls.push(...interruptedCalls);
      repaired.leftOut.push(...leftOut);
    }
  }
  return repaired;
}

/** Cache for steps that are not the last: a step only grows, and a memory has one format. */
const repairedSteps: WeakMap<object, { readonly size: number; readonly repaired: Repaired<unknown> }> =
  new WeakMap();

function repairedEarlier<M>(step: Step<M>, format: MessageFormat<M>): Repaired<M> {
  const before = repairedSteps.get(step);
  if (before?.size === step.items.length) return before.repaired as Repaired<M>;
  const repaired = repairedStep(step, noneMay, format);
  repairedSteps.set(step, { size: step.items.length, repaired });
  return repaired;
}

/** Frozen, as all messages of a view are. */
function repairedStep<M>(step: Step<M>, mayStay: MayStayOpen, format: MessageFormat<M>): Repaired<M> {
  const repaired: Growing<M> = { messages: [], interruptedCalls: [], leftOut: [] };
  const inParts = step.calls.size > 0 && step.items.some((item) => item.part);
  (inParts ? repairAnswer : repairStep)(step, mayStay, format, repaired);
  for (const message of repaired.messages) deepFreeze(message);
  return repaired;
}

/** Repairs messages outside a memory, or messages that were changed after leaving it. */
export function repairMessages<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  openCalls: OpenCalls,
): Repaired<M> {
  return repairSteps(stepsOf(messages, format), format, openCalls);
}

/** Says of a call whether it may stay unanswered. */
type MayStayOpen = (callId: string) => boolean;

const noneMay: MayStayOpen = () => false;

/** Of the last step. */
function mayStayOpen<M>(step: Step<M>, openCalls: OpenCalls): MayStayOpen {
  if (openCalls === "any") return () => true;
  // Whoever runs approved calls looks for the approvals in the last message, which shows those that came one by one. It
  // may hold more: in some formats an answer has its calls and their approvals in one message.
  const behind = step.items.findLastIndex((item) => !isApproval(item)) + 1;
  const last = step.items.slice(Math.min(behind, step.items.length - 1));
  const responses = last.flatMap(({ approvals }) => approvals.filter(({ kind }) => kind === "response"));
  const approved = new Set(responses.map(({ approvalId }) => step.approvals.get(approvalId)));
  return (callId) => approved.has(callId);
}

/** Whether a message answers approval requests and no calls. */
function isApproval<M>({ calls, results, approvals }: Item<M>): boolean {
  const isAnswer = approvals.some(({ kind }) => kind === "response");
  return isAnswer && calls.length + results.length === 0;
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
    const { messages } = repairedStep(step, isLast ? mayStayOpen(step, openCalls) : noneMay, reader.format);
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

type Growing<M> = { messages: M[]; interruptedCalls: string[]; leftOut: string[] };

function repairStep<M>(
  step: Step<M>,
  mayStay: MayStayOpen,
  format: MessageFormat<M>,
  repaired: Growing<M>,
): void {
  const callers = step.items.filter((item) => item.calls.length > 0);
  const answers = step.items.filter((item) => item.calls.length === 0);
  const answered = new Set(callers.flatMap((caller) => caller.results.map((result) => result.id)));
  const inTime = answeredInTime(step);
  const shownResults = new Map<Item<M>, number>();
  for (const caller of callers) {
    const open = unanswered(caller.calls, inTime, (id) => caller === callers.at(-1) && mayStay(id));
    repaired.interruptedCalls.push(...open.map((call) => call.id));
    const callIds = new Set(caller.calls.map((call) => call.id));
    const requests = answers.filter((item) => isRequest(item, callIds));
    for (const item of requests) shownResults.set(item, 0);
    // Providers refuse a message that holds only a request.
    const [first, ...apart] = joinNeighbours([caller, ...requests].map(messageOf), format);
    const message = first as M;
    const inPlace = open.length > 0 ? format.interrupted?.(message, open, interruptedText) : undefined;
    // A late result may be in the message of its call.
    const late = new Set(open.map((call) => call.id));
    const isLate = caller.results.some((result) => late.has(result.id));
    const timely = isLate ? format.without(message, { toolResults: (id) => late.has(id) }) : message;
    if (isLate) repaired.leftOut.push(caller.id);
    repaired.messages.push(inPlace ?? timely ?? message, ...apart);
    const saidBeside: M[] = [];
    let approval: M | undefined;
    let firstApproval: number | undefined;
    for (const item of answers) {
      const timely = timelyAnswers(item, step, callIds, answered);
      if (timely.count === 0) continue;
      shownResults.set(item, (shownResults.get(item) ?? 0) + timely.results.size);
      const answer = withOnly(item, timely.results, format);
      if (answer === undefined) continue;
      if (item.role === "user") {
        saidBeside.push(answer);
        continue;
      }
      const both = isApproval(item) && approval !== undefined ? format.joined?.(approval, answer) : undefined;
      if (both !== undefined) repaired.messages.pop();
      approval = isApproval(item) ? (both ?? answer) : undefined;
      if (approval !== undefined) firstApproval ??= repaired.messages.length;
      repaired.messages.push(both ?? answer);
    }
    if (open.length > 0 && inPlace === undefined) {
      // Whoever runs approved calls looks for the approvals in the last message, and puts the results after them.
      const place = firstApproval ?? repaired.messages.length;
      repaired.messages.splice(place, 0, ...format.interruptedResults(open, interruptedText));
    }
    // Providers require all results before anything that the user says beside one of them.
    repaired.messages.push(...saidBeside);
  }
  for (const item of answers) {
    if (callers.length > 0 || item.role === "tool") {
      const shown = shownResults.get(item);
      if (shown === undefined || shown < item.results.length) repaired.leftOut.push(item.id);
      continue;
    }
    const message = withOnly(item, new Set(), format);
    if (message !== undefined) repaired.messages.push(message);
    if (message !== item.message) repaired.leftOut.push(item.id);
  }
}

/** Whether a message asks to approve one of the calls of another. */
function isRequest<M>(item: Item<M>, callIds: ReadonlySet<string>): boolean {
  if (item.role !== "assistant" || item.results.length > 0) return false;
  return item.approvals.some((approval) => approval.kind === "request" && callIds.has(approval.toolCallId));
}

/**
 * A step whose answer may have several parts keeps their order and that of the results. Only a result that came before
 * its call moves: after the last part, where inserted results go too.
 */
function repairAnswer<M>(
  step: Step<M>,
  mayStay: MayStayOpen,
  format: MessageFormat<M>,
  repaired: Growing<M>,
): void {
  const parts = step.items.filter((item) => item.role === "assistant");
  const callIds = new Set(step.calls.keys());
  const answered = new Set(parts.flatMap((part) => part.results.map(({ id }) => id)));
  const inTime = answeredInTime(step);
  const made = new Set<string>();
  const early: M[] = [];
  for (const item of step.items) {
    if (item.role === "assistant") {
      for (const { id } of item.calls) made.add(id);
      repaired.messages.push(messageOf(item));
      continue;
    }
    const timely = timelyAnswers(item, step, callIds, answered);
    if (timely.results.size < item.results.length || timely.count === 0) repaired.leftOut.push(item.id);
    const message = timely.count === 0 ? undefined : withOnly(item, timely.results, format);
    if (message === undefined) continue;
    const isEarly = [...timely.results].some((id) => !made.has(id));
    (isEarly ? early : repaired.messages).push(message);
  }
  repaired.messages.push(...early);
  const calls = parts.flatMap((part) => part.calls);
  const open = unanswered(calls, inTime, mayStay);
  if (open.length === 0) return;
  repaired.messages.push(...format.interruptedResults(open, interruptedText));
  repaired.interruptedCalls.push(...open.map((call) => call.id));
}

/** The calls that need an "interrupted" result, one for each id. */
function unanswered(
  calls: readonly ToolCallRef[],
  inTime: ReadonlySet<string>,
  mayStay: MayStayOpen,
): ToolCallRef[] {
  const open = new Map<string, ToolCallRef>();
  for (const call of calls) {
    if (inTime.has(call.id) || call.providerExecuted === true || mayStay(call.id) || open.has(call.id))
      continue;
    open.set(call.id, call);
  }
  return [...open.values()];
}

/** The results and approvals of `item` that answer those calls in time, the first result of a call only. */
function timelyAnswers<M>(
  item: Item<M>,
  step: Step<M>,
  callIds: ReadonlySet<string>,
  answered: Set<string>,
): { readonly results: ReadonlySet<string>; readonly count: number } {
  const late = new Set(item.meta.late);
  const results = new Set<string>();
  for (const { id } of item.results) {
    if (!callIds.has(id) || answered.has(id) || late.has(id)) continue;
    answered.add(id);
    results.add(id);
  }
  const approvals = item.approvals.filter((approval) => {
    const callId = approval.kind === "response" ? step.approvals.get(approval.approvalId) : undefined;
    return callId !== undefined && callIds.has(callId) && !late.has(callId);
  });
  return { results, count: results.size + approvals.length };
}

/** The message with these of its results, each once, and no other. */
function withOnly<M>(item: Item<M>, results: ReadonlySet<string>, format: MessageFormat<M>): M | undefined {
  const message = messageOf(item);
  if (item.results.length === results.size && item.results.every(({ id }) => results.has(id))) return message;
  const kept = new Set(results);
  return format.without(message, { toolResults: (id) => !kept.delete(id) });
}
