import { joinedWhere } from "../format/join-neighbours.ts";
import type { MessageFormat, ToolCallRef } from "../message-format.ts";
import { type Item, messageOf } from "../steps/item.ts";
import type { Step } from "../steps/step.ts";
import { append } from "../values.ts";
import { interruptedCalls, type MayStayOpen } from "./missing-results.ts";
import type { PairedResults } from "./paired-results.ts";

/** Calls of a step that are shown with all their results directly behind them. */
export interface CallGroup<M> {
  /** The messages that make them: several if one answer was stored in parts. */
  readonly callers: readonly Item<M>[];
  readonly calls: readonly ToolCallRef[];
  /** Those that get an "interrupted" result. */
  readonly interrupted: readonly ToolCallRef[];
  /** What the model said directly before, between two calls. */
  readonly saidBefore: readonly Item<M>[];
  /** The calls as they are shown: one message, wherever the format can join them. */
  readonly messages: readonly M[];
  /** What is shown as a part of those messages. */
  readonly shownItems: readonly Item<M>[];
}

/** A message that makes calls, with its index in the step. */
interface Caller<M> {
  readonly item: Item<M>;
  readonly index: number;
  readonly interrupted: readonly ToolCallRef[];
}

/**
 * The calls of a step in groups. Messages directly after one another whose calls are answered together become one: the
 * model made these calls at once, and some providers take them only so. A call without its result keeps its own place,
 * because the model may have been shown it as interrupted before it made the next.
 */
export function callGroupsOf<M>(
  step: Step<M>,
  paired: PairedResults,
  mayStay: MayStayOpen,
  format: MessageFormat<M>,
): CallGroup<M>[] {
  const groups: CallGroup<M>[] = [];
  const callers = callersOf(step, paired, mayStay, format);
  const requestsOf = requestsApart(step, callers);
  let shownUpTo = 0;
  const made = (callers: readonly Caller<M>[]): CallGroup<M> =>
    groupOf(callers, shownUpTo, step, requestsOf, format);
  const add = (callers: readonly Caller<M>[], group = made(callers)): void => {
    groups.push(group);
    shownUpTo = (callers.at(-1) as Caller<M>).index + 1;
  };
  // In some formats the user's message holds the results beside what the user says, and cannot be taken apart.
  const saidBeside = step.items.some(({ role, results }) => role === "user" && results.length > 0);
  for (const together of answeredTogether(callers, step, format)) {
    const group = made(together);
    if (together.length === 1 || group.messages.length === 1 || saidBeside) add(together, group);
    else for (const caller of together) add([caller]);
  }
  return groups;
}

function callersOf<M>(
  { items }: Step<M>,
  paired: PairedResults,
  mayStay: MayStayOpen,
  format: MessageFormat<M>,
): Caller<M>[] {
  const answered = new Set(paired.values());
  // Where calls are answered in their messages, whoever answers them looks at the last message only.
  const inPlace = format.interrupted !== undefined;
  const newest = inPlace ? items.findLastIndex(({ calls }) => calls.length > 0) : startOfNewest(items);
  return items.flatMap((item, index): Caller<M>[] => {
    if (item.calls.length === 0) return [];
    const mayBeOpen = (callId: string): boolean => index >= newest && mayStay(callId);
    return [{ item, index, interrupted: interruptedCalls(item.calls, answered, mayBeOpen) }];
  });
}

function answeredTogether<M>(
  callers: readonly Caller<M>[],
  { items }: Step<M>,
  format: MessageFormat<M>,
): Caller<M>[][] {
  const runs: Caller<M>[][] = [];
  for (const caller of callers) {
    const run = runs.at(-1);
    const previous = run?.at(-1);
    if (previous !== undefined && areTogether(previous, caller, items, format)) run?.push(caller);
    else runs.push([caller]);
  }
  return runs;
}

/** Where the newest answer with calls begins: with the messages directly before its last, which hold no result. */
function startOfNewest<M>(items: readonly Item<M>[]): number {
  let start = items.findLastIndex(({ calls }) => calls.length > 0);
  while (start > 0 && [items[start - 1], items[start]].every(holdsNoResult)) start--;
  return start;
}

function holdsNoResult<M>(item: Item<M> | undefined): boolean {
  return item?.role === "assistant" && item.results.length === 0;
}

/** Whether two messages with calls are parts of one answer, whose results all came, or may still come, behind both. */
function areTogether<M>(
  first: Caller<M>,
  second: Caller<M>,
  items: readonly Item<M>[],
  format: MessageFormat<M>,
): boolean {
  // There the results stand in the messages of their calls.
  if (format.interrupted !== undefined || first.interrupted.length + second.interrupted.length > 0)
    return false;
  return items.slice(first.index, second.index + 1).every(holdsNoResult);
}

/** The requests for approval that stand apart from calls, by their callers: the newest before them, else the first after. */
function requestsApart<M>(
  { items, approvals }: Step<M>,
  callers: readonly Caller<M>[],
): ReadonlyMap<Caller<M>, readonly number[]> {
  const requests = new Map<Caller<M>, number[]>();
  if (approvals.size === 0) return requests;
  const first = new Map(callers.toReversed().flatMap((caller) => idsOf(caller).map((id) => [id, caller])));
  const newest = new Map<string, Caller<M>>();
  const byIndex = new Map(callers.map((caller) => [caller.index, caller]));
  for (const [index, item] of items.entries()) {
    const caller = byIndex.get(index);
    if (caller !== undefined) for (const id of idsOf(caller)) newest.set(id, caller);
    else
      for (const id of requestedCalls(item)) {
        const asker = newest.get(id) ?? first.get(id);
        if (asker !== undefined) append(requests, asker, index);
      }
  }
  return requests;
}

function idsOf<M>({ item }: Caller<M>): string[] {
  return item.calls.map(({ id }) => id);
}

/** A group with what the step holds from an index on. */
function groupOf<M>(
  group: readonly Caller<M>[],
  from: number,
  { items }: Step<M>,
  requestsOf: ReadonlyMap<Caller<M>, readonly number[]>,
  format: MessageFormat<M>,
): CallGroup<M> {
  const [first, last] = [group[0] as Caller<M>, group.at(-1) as Caller<M>];
  const calls = group.flatMap(({ item }) => item.calls);
  const requests = [...new Set(group.flatMap((caller) => requestsOf.get(caller) ?? []))]
    .filter((index) => index < first.index || index > last.index)
    .sort((a, b) => a - b)
    .map((index) => items[index] as Item<M>);
  const shownItems = [...items.slice(first.index, last.index + 1), ...requests];
  return {
    callers: group.map(({ item }) => item),
    calls,
    interrupted: group.flatMap(({ interrupted }) => interrupted),
    saidBefore: items.slice(from, first.index).filter(isSaidBetween),
    messages: asOne(shownItems, format),
    shownItems,
  };
}

/** What messages were joined to, by the last of them: processors know a list again if it holds the same objects. */
const joinedBefore = new WeakMap<
  object,
  { readonly items: readonly unknown[]; readonly messages: readonly unknown[] }
>();

function asOne<M>(items: readonly Item<M>[], format: MessageFormat<M>): readonly M[] {
  const last = items.at(-1) as Item<M>;
  if (items.length === 1) return [messageOf(last)];
  const known = joinedBefore.get(last);
  const isKnown = known?.items.length === items.length && items.every((item, at) => item === known.items[at]);
  if (isKnown) return known.messages as readonly M[];
  const messages = joinedWhere(items.map(messageOf), format);
  joinedBefore.set(last, { items, messages });
  return messages;
}

/** Whether a message of a step only says something, between its calls. */
export function isSaidBetween<M>({ role, calls, results, approvals }: Item<M>): boolean {
  return role === "assistant" && calls.length + results.length + approvals.length === 0;
}

/** The calls of others that a message asks to approve. Providers refuse one that holds only a request. */
function requestedCalls<M>({ role, results, approvals }: Item<M>): string[] {
  if (role !== "assistant" || results.length > 0) return [];
  return approvals.flatMap((approval) => (approval.kind === "request" ? approval.toolCallId : []));
}
