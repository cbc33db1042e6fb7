import type { MessageFormat, ToolCallRef, ToolResultRef } from "../message-format.ts";
import { type Item, messageOf } from "../steps/item.ts";
import { approvedInTime, type Step } from "../steps/step.ts";

/** Says of a call whether it may stay unanswered. */
export type MayStayOpen = (callId: string) => boolean;

/** How often each id is there: calls of one message may share theirs. */
export type Counts = Map<string, number>;

export function add(counts: Counts, refs: readonly { readonly id: string }[], times = 1): void {
  for (const { id } of refs) counts.set(id, (counts.get(id) ?? 0) + times);
}

/** By call id, how many results came in time. */
export function resultsInTime<M>({ answers }: Step<M>): Counts {
  return new Map([...answers].map(([id, { inTime }]) => [id, inTime]));
}

/** Whether the id was there, once less now. */
export function take(counts: Counts, id: string): boolean {
  const count = counts.get(id) ?? 0;
  if (count > 0) counts.set(id, count - 1);
  return count > 0;
}

/** What the results of a step may still answer. */
export interface Wanted {
  /** By call id, how many. */
  readonly results: Counts;
  readonly shown: Set<ToolResultRef>;
}

/** Where nothing is asked for yet: a result in the message of a call takes the place of any other. */
export function wantedOf<M>(callers: readonly Item<M>[]): Wanted {
  const results: Counts = new Map();
  for (const caller of callers) add(results, caller.results, -1);
  return { results, shown: new Set() };
}

/** The calls that need an "interrupted" result. The first of an id are those that its results `inTime` answer. */
export function unanswered(
  calls: readonly ToolCallRef[],
  inTime: Counts,
  mayStay: MayStayOpen,
): readonly ToolCallRef[] {
  return calls.filter(
    (call) => !take(inTime, call.id) && call.providerExecuted !== true && !mayStay(call.id),
  );
}

/** The results and approvals of `item` that answer those calls in time, as many results as calls. */
export function timelyAnswers<M>(
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
export function withOnly<M>(
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

/** Whether a message answers approval requests and no calls. */
export function isApproval<M>({ calls, results, approvals }: Item<M>): boolean {
  const isAnswer = approvals.some(({ kind }) => kind === "response");
  return isAnswer && calls.length + results.length === 0;
}
