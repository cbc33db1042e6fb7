import { joinNeighbours } from "../format/join-neighbours.ts";
import type { MessageFormat } from "../message-format.ts";
import { type Item, messageOf } from "../steps/item.ts";
import { pushAll } from "../steps/push-all.ts";
import { approvedInTime, type Step } from "../steps/step.ts";
import { type CallGroup, callGroupsOf, isSaidBetween } from "./call-groups.ts";
import { answeredInPlace, resultsOf } from "./missing-results.ts";
import type { Repaired } from "./repair.ts";
import {
  add,
  isApproval,
  type MayStayOpen,
  timelyAnswers,
  type Wanted,
  wantedOf,
  withOnly,
} from "./step-results.ts";

/** What is repaired of one step. */
interface Repair<M> {
  readonly step: Step<M>;
  readonly format: MessageFormat<M>;
  readonly repaired: Repaired<M>;
  readonly wanted: Wanted;
  /** The messages of which something is shown. */
  readonly shown: Set<Item<M>>;
}

/** A step of whole answers: each group of its calls, with the results directly behind them. */
export function repairStep<M>(
  step: Step<M>,
  mayStay: MayStayOpen,
  format: MessageFormat<M>,
  repaired: Repaired<M>,
): void {
  const groups = callGroupsOf(step, mayStay, format);
  const answers = step.items.filter((item) => item.calls.length === 0);
  const answersTo = answersByCall(answers, step);
  const wanted = wantedOf(groups.flatMap(({ callers }) => callers));
  const repair: Repair<M> = { step, format, repaired, wanted, shown: new Set() };
  for (const group of groups) {
    for (const call of group.open) repaired.interruptedCalls.push(call.id);
    for (const item of group.joined) repair.shown.add(item);
    add(wanted.results, group.calls);
    const isAnswered = showCalls(group, repair);
    showResults(group, answersTo(group), isAnswered, repair);
  }
  showRest(answers, groups, repair);
}

/** By a group of calls, the messages that answer them, in order. Looks at each message once, however many groups there are. */
function answersByCall<M>(
  answers: readonly Item<M>[],
  step: Step<M>,
): (group: CallGroup<M>) => readonly Item<M>[] {
  const places = new Map<string, number[]>();
  for (const [place, item] of answers.entries()) {
    const ids = [...item.results.map(({ id }) => id), ...approvedInTime(step, item)];
    for (const id of new Set(ids)) {
      const known = places.get(id);
      if (known === undefined) places.set(id, [place]);
      else known.push(place);
    }
  }
  return ({ calls }) => {
    const ids = new Set(calls.map(({ id }) => id));
    const found = new Set([...ids].flatMap((id) => places.get(id) ?? []));
    return [...found].sort((a, b) => a - b).map((place) => answers[place] as Item<M>);
  };
}

/** Shows the calls; answers whether those without a result are answered in their message. */
function showCalls<M>(group: CallGroup<M>, { step, format, repaired }: Repair<M>): boolean {
  const { before, open } = group;
  const [first, ...apart] = group.messages;
  const message = first as M;
  const inPlace = answeredInPlace(message, step, open, format);
  // A late result may be in the message of its call.
  const openIds = new Set(open.map((call) => call.id));
  const caller = group.callers[0] as Item<M>;
  const isLate = (id: string): boolean => openIds.has(id) && caller.meta.late?.includes(id) === true;
  const hasLate = caller.results.some((result) => isLate(result.id));
  const timely = hasLate ? format.without(message, { toolResults: isLate }) : message;
  if (hasLate) repaired.leftOut.push(caller.id);
  pushAll(repaired.messages, before.map(messageOf));
  repaired.messages.push(inPlace ?? timely ?? message, ...apart);
  return inPlace !== undefined;
}

function showResults<M>(
  { calls, open }: CallGroup<M>,
  answers: readonly Item<M>[],
  isAnswered: boolean,
  { step, format, repaired, wanted, shown }: Repair<M>,
): void {
  const callIds = new Set(calls.map((call) => call.id));
  const openIds = new Set(open.map((call) => call.id));
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
  if (open.length === 0 || isAnswered) return;
  const place = open.some((call) => besideIds.has(call.id)) ? repaired.messages.length : behind;
  const after = repaired.messages.splice(place);
  pushAll(repaired.messages, resultsOf(step, open, format));
  pushAll(repaired.messages, after);
}

/** What answers no call, and what was said behind the last one. */
function showRest<M>(
  answers: readonly Item<M>[],
  groups: readonly CallGroup<M>[],
  { format, repaired, wanted, shown }: Repair<M>,
): void {
  const said = new Set(groups.flatMap(({ before }) => before));
  for (const item of answers) {
    if (isSaidBetween(item)) {
      if (!shown.has(item) && !said.has(item)) repaired.messages.push(messageOf(item));
      continue;
    }
    if (groups.length > 0 || item.role === "tool") {
      const isWhole = item.results.every((result) => wanted.shown.has(result));
      if (!shown.has(item) || !isWhole) repaired.leftOut.push(item.id);
      continue;
    }
    const message = withOnly(item, new Set(), format);
    if (message !== undefined) repaired.messages.push(message);
    if (message !== item.message) repaired.leftOut.push(item.id);
  }
}
