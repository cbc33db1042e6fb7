import type { MessageFormat } from "../message-format.ts";
import { ById } from "../steps/by-id.ts";
import { type Item, messageOf } from "../steps/item.ts";
import { pushAll } from "../steps/push-all.ts";
import { approvedInTime, approvesOneOf, type Step } from "../steps/step.ts";
import { BehindCalls } from "./behind-calls.ts";
import { type CallGroup, callGroupsOf, isSaidBetween } from "./call-groups.ts";
import { answeredInPlace, type MayStayOpen, missingResults } from "./missing-results.ts";
import type { Repaired } from "./repair.ts";
import { ResultQuota, withOnly } from "./result-quota.ts";

/** A step under repair. */
interface StepRepair<M> {
  readonly step: Step<M>;
  readonly format: MessageFormat<M>;
  readonly repaired: Repaired<M>;
  readonly quota: ResultQuota;
  /** The messages of which something is shown. */
  readonly shownItems: Set<Item<M>>;
}

/** A step of whole answers: each group of its calls, with the results directly behind them. */
export function repairWholeAnswers<M>(
  step: Step<M>,
  mayStay: MayStayOpen,
  format: MessageFormat<M>,
  repaired: Repaired<M>,
): void {
  const groups = callGroupsOf(step, mayStay, format);
  const others = step.items.filter((item) => item.calls.length === 0);
  const answersTo = answersByCall(others, step);
  const quota = new ResultQuota(groups.flatMap(({ callers }) => callers));
  const repair: StepRepair<M> = { step, format, repaired, quota, shownItems: new Set() };
  for (const group of groups) {
    for (const call of group.interrupted) repaired.interruptedCalls.push(call.id);
    for (const item of group.shownItems) repair.shownItems.add(item);
    quota.ask(group.calls);
    const isAnswered = showCalls(group, repair);
    showAnswers(group, answersTo(group), isAnswered, repair);
  }
  showRest(others, groups, repair);
}

/** By a group of calls, the messages that answer them, in order. Looks at each message once, however many groups there are. */
function answersByCall<M>(
  items: readonly Item<M>[],
  step: Step<M>,
): (group: CallGroup<M>) => readonly Item<M>[] {
  const indices = new ById<number>();
  for (const [index, item] of items.entries()) {
    for (const { id } of item.results) indices.add(id, index);
    for (const callId of approvedInTime(step, item)) indices.add(callId, index);
  }
  return ({ calls }) => {
    const answering = new Set([...new Set(calls.map(({ id }) => id))].flatMap((id) => indices.get(id)));
    return [...answering].sort((a, b) => a - b).map((index) => items[index] as Item<M>);
  };
}

/** Shows the calls; answers whether the interrupted ones are answered in their message. */
function showCalls<M>(group: CallGroup<M>, { step, format, repaired }: StepRepair<M>): boolean {
  const { saidBefore, interrupted } = group;
  const [first, ...apart] = group.messages;
  const message = first as M;
  const inPlace = answeredInPlace(message, step, interrupted, format);
  // A late result may be in the message of its call.
  const interruptedIds = new Set(interrupted.map((call) => call.id));
  const caller = group.callers[0] as Item<M>;
  const isLate = (id: string): boolean => interruptedIds.has(id) && caller.meta.late?.includes(id) === true;
  const hasLate = caller.results.some((result) => isLate(result.id));
  const timely = hasLate ? format.without(message, { toolResults: isLate }) : message;
  if (hasLate) repaired.leftOut.push(caller.id);
  pushAll(repaired.messages, saidBefore.map(messageOf));
  repaired.messages.push(inPlace ?? timely ?? message, ...apart);
  return inPlace !== undefined;
}

/** Shows what answers the calls of a group, of messages that may. */
function showAnswers<M>(
  { calls, interrupted }: CallGroup<M>,
  items: readonly Item<M>[],
  isAnswered: boolean,
  { step, format, repaired, quota, shownItems }: StepRepair<M>,
): void {
  const callIds = new Set(calls.map((call) => call.id));
  const behind = new BehindCalls(interrupted, format);
  for (const item of items) {
    const results = quota.take(item);
    if (results.size === 0 && !approvesOneOf(callIds, step, item)) continue;
    shownItems.add(item);
    const message = withOnly(item, results, format);
    const resultIds = [...results].map((result) => result.id);
    if (message !== undefined) behind.add(item, message, resultIds);
  }
  const missing = isAnswered ? [] : missingResults(step, interrupted, format);
  pushAll(repaired.messages, behind.messages(missing));
}

/** What answers no call, and what was said behind the last one. */
function showRest<M>(
  items: readonly Item<M>[],
  groups: readonly CallGroup<M>[],
  { format, repaired, quota, shownItems }: StepRepair<M>,
): void {
  const saidBefore = new Set(groups.flatMap((group) => group.saidBefore));
  for (const item of items) {
    if (isSaidBetween(item)) {
      if (!shownItems.has(item) && !saidBefore.has(item)) repaired.messages.push(messageOf(item));
      continue;
    }
    if (groups.length > 0 || item.role === "tool") {
      if (!shownItems.has(item) || !quota.showsAll(item)) repaired.leftOut.push(item.id);
      continue;
    }
    const message = withOnly(item, new Set(), format);
    if (message !== undefined) repaired.messages.push(message);
    if (message !== item.message) repaired.leftOut.push(item.id);
  }
}
