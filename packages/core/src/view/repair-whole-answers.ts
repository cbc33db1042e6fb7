import type { MessageFormat } from "../message-format.ts";
import { type Item, messageOf } from "../steps/item.ts";
import { pushAll } from "../steps/push-all.ts";
import type { Step } from "../steps/step.ts";
import { Answers } from "./answers.ts";
import { BehindCalls } from "./behind-calls.ts";
import { type CallGroup, callGroupsOf, isSaidBetween } from "./call-groups.ts";
import { answeredInPlace, type MayStayOpen, missingResults, unapprovedCalls } from "./missing-results.ts";
import { pairedResults } from "./paired-results.ts";
import type { Repaired } from "./repair.ts";
import { withOnly } from "./with-only.ts";

/** A step under repair. */
interface StepRepair<M> {
  readonly format: MessageFormat<M>;
  readonly repaired: Repaired<M>;
  readonly answers: Answers<M>;
  /** The ids of the calls that wait for the user. */
  readonly unapproved: ReadonlySet<string>;
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
  const callers = step.items.filter((item) => item.calls.length > 0);
  const others = step.items.filter((item) => item.calls.length === 0);
  const paired = pairedResults(step, callers, format);
  const groups = callGroupsOf(step, paired, mayStay, format);
  const answers = new Answers(others, step, groups, paired, format);
  const unapproved = unapprovedCalls(step);
  const repair: StepRepair<M> = { format, repaired, answers, unapproved, shownItems: new Set() };
  for (const [place, group] of groups.entries()) {
    for (const call of group.interrupted) repaired.interruptedCalls.push(call.id);
    for (const item of group.shownItems) repair.shownItems.add(item);
    const isAnswered = showCalls(group, repair);
    showAnswers(group, answers.of(place), isAnswered, repair);
  }
  showRest(others, groups, repair);
}

/** Shows the calls; answers whether the interrupted ones are answered in their message. */
function showCalls<M>(group: CallGroup<M>, { unapproved, format, repaired }: StepRepair<M>): boolean {
  const { saidBefore, interrupted } = group;
  const [first, ...apart] = group.messages;
  const message = first as M;
  const inPlace = answeredInPlace(message, unapproved, interrupted, format);
  // A late result may be in the message of its call.
  const interruptedIds = new Set(interrupted.map((call) => call.id));
  const caller = group.callers[0] as Item<M>;
  const lateIds = new Set(caller.meta.late);
  const isLate = (id: string): boolean => interruptedIds.has(id) && lateIds.has(id);
  const hasLate = caller.results.some((result) => isLate(result.id));
  const timely = hasLate ? format.without(message, { toolResults: isLate }) : message;
  if (hasLate) repaired.leftOut.push(caller.id);
  pushAll(repaired.messages, saidBefore.map(messageOf));
  repaired.messages.push(inPlace ?? timely ?? message, ...apart);
  return inPlace !== undefined;
}

/** Shows what answers the calls of a group. */
function showAnswers<M>(
  { interrupted }: CallGroup<M>,
  answers: ReturnType<Answers<M>["of"]>,
  isAnswered: boolean,
  { unapproved, format, repaired, shownItems }: StepRepair<M>,
): void {
  const behind = new BehindCalls(interrupted, format);
  for (const { item, results, message } of answers) {
    shownItems.add(item);
    const resultIds = [...results].map((result) => result.id);
    if (message !== undefined) behind.add(item, message, resultIds);
  }
  const missing = isAnswered ? [] : missingResults(unapproved, interrupted, format);
  pushAll(repaired.messages, behind.messages(missing));
}

/** What answers no call, and what was said behind the last one. */
function showRest<M>(
  items: readonly Item<M>[],
  groups: readonly CallGroup<M>[],
  { format, repaired, answers, shownItems }: StepRepair<M>,
): void {
  const saidBefore = new Set(groups.flatMap((group) => group.saidBefore));
  for (const item of items) {
    if (isSaidBetween(item)) {
      if (!shownItems.has(item) && !saidBefore.has(item)) repaired.messages.push(messageOf(item));
      continue;
    }
    if (groups.length > 0 || item.role === "tool") {
      if (!shownItems.has(item) || !answers.showsAll(item)) repaired.leftOut.push(item.id);
      continue;
    }
    const message = withOnly(item, new Set(), format);
    if (message !== undefined) repaired.messages.push(message);
    if (message !== item.message) repaired.leftOut.push(item.id);
  }
}
