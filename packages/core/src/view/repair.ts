import { joinNeighbours } from "../format/join-neighbours.ts";
import type { MessageFormat, ToolCallRef, ToolResultRef } from "../message-format.ts";
import { deepFreeze, type Item, type ItemReader, messageOf, tokensOf } from "../steps/item.ts";
import { stepsOf } from "../steps/live.ts";
import { pushAll } from "../steps/push-all.ts";
import { approvedInTime, isOneAnswer, type Step } from "../steps/step.ts";
import { type Cost, noCost } from "../window/room.ts";
import { answeredInPlace, resultsOf } from "./missing-results.ts";

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
  (inParts ? repairAnswer : repairStep)(step, mayStayOpen(step, openCalls), format, repaired);
  for (const message of repaired.messages) deepFreeze(message);
  if (openCalls === "none") earlier.set(step, { size: step.items.length, repaired });
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

function mayStayOpen<M>(step: Step<M>, openCalls: OpenCalls | "none"): MayStayOpen {
  if (openCalls !== "approved") return () => openCalls === "any";
  // Whoever runs approved calls looks for the approvals in the last message, which shows those that came one by one. It
  // may hold more: in some formats an answer has its calls and their approvals in one message.
  const behind = step.items.findLastIndex((item) => !isApproval(item)) + 1;
  const last = step.items.slice(Math.min(behind, step.items.length - 1));
  const approved = new Set(last.flatMap((item) => approvedInTime(step, item)));
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

function repairStep<M>(
  step: Step<M>,
  mayStay: MayStayOpen,
  format: MessageFormat<M>,
  repaired: Repaired<M>,
): void {
  const callers = step.items.filter((item) => item.calls.length > 0);
  const answers = step.items.filter((item) => item.calls.length === 0);
  const inTime = resultsInTime(step);
  const wanted = wantedOf(callers);
  const shown = new Set<Item<M>>();
  for (const caller of callers) {
    const open = unanswered(caller.calls, inTime, (id) => caller === callers.at(-1) && mayStay(id));
    pushAll(
      repaired.interruptedCalls,
      open.map((call) => call.id),
    );
    add(wanted.results, caller.calls);
    const callIds = new Set(caller.calls.map((call) => call.id));
    const requests = answers.filter((item) => isRequest(item, callIds));
    for (const item of requests) shown.add(item);
    // Providers refuse a message that holds only a request.
    const [first, ...apart] = joinNeighbours([caller, ...requests].map(messageOf), { format });
    const message = first as M;
    const inPlace = answeredInPlace(message, step, open, format);
    const openIds = new Set(open.map((call) => call.id));
    // A late result may be in the message of its call.
    const isLate = (id: string): boolean => openIds.has(id) && caller.meta.late?.includes(id) === true;
    const hasLate = caller.results.some((result) => isLate(result.id));
    const timely = hasLate ? format.without(message, { toolResults: isLate }) : message;
    if (hasLate) repaired.leftOut.push(caller.id);
    repaired.messages.push(inPlace ?? timely ?? message, ...apart);
    const saidBeside: M[] = [];
    const besideIds = new Set<string>();
    // Results of one id keep their order: an interrupted one goes after the others.
    let behindShared = 0;
    let approvals: M[] = [];
    let firstApproval: number | undefined;
    const endApprovals = (): void => {
      pushAll(repaired.messages, joinNeighbours(approvals, { format }));
      approvals = [];
    };
    for (const item of answers) {
      const timely = timelyAnswers(item, step, callIds, wanted);
      if (timely.count === 0) continue;
      const ids = [...timely.results].map((result) => result.id);
      shown.add(item);
      const answer = withOnly(item, timely.results, format);
      if (answer === undefined) continue;
      if (item.role === "user" || ids.some((id) => besideIds.has(id))) {
        saidBeside.push(answer);
        for (const id of ids) besideIds.add(id);
        continue;
      }
      if (isApproval(item)) {
        firstApproval ??= repaired.messages.length;
        approvals.push(answer);
        continue;
      }
      endApprovals();
      repaired.messages.push(answer);
      if (ids.some((id) => openIds.has(id))) behindShared = repaired.messages.length;
    }
    endApprovals();
    // Whoever runs approved calls looks for the approvals in the last message, and puts the results after them.
    const behind = Math.max(firstApproval ?? repaired.messages.length, behindShared);
    // Providers require all results before anything that the user says beside one of them.
    pushAll(repaired.messages, saidBeside);
    if (open.length > 0 && inPlace === undefined) {
      const place = open.some((call) => besideIds.has(call.id)) ? repaired.messages.length : behind;
      const after = repaired.messages.splice(place);
      pushAll(repaired.messages, resultsOf(step, open, format));
      pushAll(repaired.messages, after);
    }
  }
  for (const item of answers) {
    if (callers.length > 0 || item.role === "tool") {
      const isWhole = item.results.every((result) => wanted.shown.has(result));
      if (!shown.has(item) || !isWhole) repaired.leftOut.push(item.id);
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
  repaired: Repaired<M>,
): void {
  const parts = step.items.filter((item) => item.role === "assistant");
  const callIds = new Set(step.calls.keys());
  const calls = parts.flatMap((part) => part.calls);
  const wanted = wantedOf(parts);
  add(wanted.results, calls);
  const made: Counts = new Map();
  const early: M[] = [];
  const earlyIds = new Set<string>();
  for (const item of step.items) {
    if (item.role === "assistant") {
      add(made, item.calls);
      repaired.messages.push(messageOf(item));
      continue;
    }
    const timely = timelyAnswers(item, step, callIds, wanted);
    if (timely.results.size < item.results.length || timely.count === 0) repaired.leftOut.push(item.id);
    const message = timely.count === 0 ? undefined : withOnly(item, timely.results, format);
    if (message === undefined) continue;
    const ids = [...timely.results].map((result) => result.id);
    // Results of one id keep their order.
    const isEarly = ids.filter((id) => !take(made, id) || earlyIds.has(id)).length > 0;
    if (isEarly) for (const id of ids) earlyIds.add(id);
    (isEarly ? early : repaired.messages).push(message);
  }
  pushAll(repaired.messages, early);
  const open = unanswered(calls, resultsInTime(step), mayStay);
  if (open.length === 0) return;
  pushAll(repaired.messages, resultsOf(step, open, format));
  pushAll(
    repaired.interruptedCalls,
    open.map((call) => call.id),
  );
}

/** How often each id is there: calls of one message may share theirs. */
type Counts = Map<string, number>;

function add(counts: Counts, refs: readonly { readonly id: string }[], times = 1): void {
  for (const { id } of refs) counts.set(id, (counts.get(id) ?? 0) + times);
}

/** By call id, how many results came in time. */
function resultsInTime<M>({ answers }: Step<M>): Counts {
  return new Map([...answers].map(([id, { inTime }]) => [id, inTime]));
}

/** Whether the id was there, once less now. */
function take(counts: Counts, id: string): boolean {
  const count = counts.get(id) ?? 0;
  if (count > 0) counts.set(id, count - 1);
  return count > 0;
}

/** What the results of a step may still answer. */
interface Wanted {
  /** By call id, how many. */
  readonly results: Counts;
  readonly shown: Set<ToolResultRef>;
}

/** Where nothing is asked for yet: a result in the message of a call takes the place of any other. */
function wantedOf<M>(callers: readonly Item<M>[]): Wanted {
  const results: Counts = new Map();
  for (const caller of callers) add(results, caller.results, -1);
  return { results, shown: new Set() };
}

/** The calls that need an "interrupted" result. The first of an id are those that its results `inTime` answer. */
function unanswered(
  calls: readonly ToolCallRef[],
  inTime: Counts,
  mayStay: MayStayOpen,
): readonly ToolCallRef[] {
  return calls.filter(
    (call) => !take(inTime, call.id) && call.providerExecuted !== true && !mayStay(call.id),
  );
}

/** The results and approvals of `item` that answer those calls in time, as many results as calls. */
function timelyAnswers<M>(
  item: Item<M>,
  step: Step<M>,
  callIds: ReadonlySet<string>,
  wanted: Wanted,
): { readonly results: ReadonlySet<ToolResultRef>; readonly count: number } {
  const late = new Set(item.meta.late);
  const results = new Set<ToolResultRef>();
  for (const result of item.results) {
    if (wanted.shown.has(result) || late.has(result.id) || !take(wanted.results, result.id)) continue;
    wanted.shown.add(result);
    results.add(result);
  }
  const approved = approvedInTime(step, item).filter((callId) => callIds.has(callId));
  return { results, count: results.size + approved.length };
}

/** The message with these of its results, and no other. */
function withOnly<M>(
  item: Item<M>,
  results: ReadonlySet<ToolResultRef>,
  format: MessageFormat<M>,
): M | undefined {
  const message = messageOf(item);
  if (item.results.every((result) => results.has(result))) return message;
  // Asked by id: of those that share one, in their order.
  const stays = new Map<string, boolean[]>();
  for (const result of item.results.toReversed()) {
    const flags = stays.get(result.id);
    if (flags === undefined) stays.set(result.id, [results.has(result)]);
    else flags.push(results.has(result));
  }
  const isLeftOut = (id: string): boolean => {
    const flags = stays.get(id) ?? [];
    return !((flags.length > 1 ? flags.pop() : flags[0]) ?? false);
  };
  return format.without(message, { toolResults: isLeftOut });
}
