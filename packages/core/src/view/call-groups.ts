import { joinNeighbours } from "../format/join-neighbours.ts";
import type { MessageFormat, ToolCallRef } from "../message-format.ts";
import { type Item, messageOf } from "../steps/item.ts";
import type { Step } from "../steps/step.ts";
import { type MayStayOpen, resultsInTime, unanswered } from "./step-results.ts";

/** Calls of a step that are shown with all their results directly behind them. */
export interface CallGroup<M> {
  /** The messages that make them: several if one answer was stored in parts. */
  readonly callers: readonly Item<M>[];
  readonly calls: readonly ToolCallRef[];
  /** Those that get an "interrupted" result. */
  readonly open: readonly ToolCallRef[];
  /** What the model said directly before, between two calls. */
  readonly before: readonly Item<M>[];
  /** The calls as they are shown: one message, wherever the format can join them. */
  readonly messages: readonly M[];
  /** What is shown as a part of those messages. */
  readonly joined: readonly Item<M>[];
}

/** A message that makes calls, with its place in the step. */
interface Caller<M> {
  readonly item: Item<M>;
  readonly at: number;
  readonly open: readonly ToolCallRef[];
}

/**
 * The calls of a step in groups. Messages directly after one another whose calls are answered together become one: the
 * model made these calls at once, and some providers take them only so. A call without its result keeps its own place,
 * because the model may have been shown it as interrupted before it made the next.
 */
export function callGroupsOf<M>(
  step: Step<M>,
  mayStay: MayStayOpen,
  format: MessageFormat<M>,
): CallGroup<M>[] {
  const { items } = step;
  const inTime = resultsInTime(step);
  // Where calls are answered in their messages, whoever answers them looks at the last message only.
  const inPlace = format.interrupted !== undefined;
  const newest = inPlace ? items.findLastIndex(({ calls }) => calls.length > 0) : startOfRun(items);
  const callers = items.flatMap((item, at): Caller<M>[] => {
    if (item.calls.length === 0) return [];
    return [{ item, at, open: unanswered(item.calls, inTime, (id) => at >= newest && mayStay(id)) }];
  });
  const groups: Caller<M>[][] = [];
  for (const caller of callers) {
    const group = groups.at(-1);
    const before = group?.at(-1);
    if (before !== undefined && areTogether(before, caller, items, format)) group?.push(caller);
    else groups.push([caller]);
  }
  // In some formats the user's message holds the results beside what the user says, and cannot be taken apart.
  const saidBeside = items.some(({ role, results }) => role === "user" && results.length > 0);
  let from = 0;
  const shownAs = (group: readonly Caller<M>[]): CallGroup<M>[] => {
    const whole = groupOf(group, from, step, format);
    if (group.length > 1 && whole.messages.length > 1 && !saidBeside) {
      return group.flatMap((caller) => shownAs([caller]));
    }
    from = (group.at(-1) as Caller<M>).at + 1;
    return [whole];
  };
  return groups.flatMap(shownAs);
}

/** Where the messages begin that stand directly before the last one with calls, and are part of the same answer. */
function startOfRun<M>(items: readonly Item<M>[]): number {
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
  if (format.interrupted !== undefined || first.open.length + second.open.length > 0) return false;
  return items.slice(first.at, second.at + 1).every(holdsNoResult);
}

function groupOf<M>(
  group: readonly Caller<M>[],
  from: number,
  { items, approvals }: Step<M>,
  format: MessageFormat<M>,
): CallGroup<M> {
  const callers = group.map(({ item }) => item);
  const [first, last] = [group[0] as Caller<M>, group.at(-1) as Caller<M>];
  const calls = callers.flatMap((caller) => caller.calls);
  const callIds = new Set(calls.map(({ id }) => id));
  const isApart = (item: Item<M>, at: number): boolean =>
    (at < first.at || at > last.at) && isRequest(item, callIds);
  const requests = approvals.size === 0 ? [] : items.filter(isApart);
  const joined = [...items.slice(first.at, last.at + 1), ...requests];
  return {
    callers,
    calls,
    open: group.flatMap(({ open }) => open),
    before: items.slice(from, first.at).filter(isSaidBetween),
    messages: asOne(joined, format),
    joined,
  };
}

/** What was made of messages, by the last of them: processors know a list again if it holds the same objects. */
const made = new WeakMap<
  object,
  { readonly of: readonly unknown[]; readonly messages: readonly unknown[] }
>();

function asOne<M>(items: readonly Item<M>[], format: MessageFormat<M>): readonly M[] {
  const last = items.at(-1) as Item<M>;
  if (items.length === 1) return [messageOf(last)];
  const before = made.get(last);
  const isSame = before?.of.length === items.length && items.every((item, at) => item === before.of[at]);
  if (isSame) return before.messages as readonly M[];
  const messages = joinNeighbours(items.map(messageOf), { format });
  made.set(last, { of: items, messages });
  return messages;
}

/** Whether a message of a step only says something, between its calls. */
export function isSaidBetween<M>({ role, calls, results, approvals }: Item<M>): boolean {
  return role === "assistant" && calls.length + results.length + approvals.length === 0;
}

/** Whether a message asks to approve one of the calls of another. Providers refuse one that holds only a request. */
function isRequest<M>(item: Item<M>, callIds: ReadonlySet<string>): boolean {
  if (item.role !== "assistant" || item.results.length > 0) return false;
  return item.approvals.some((approval) => approval.kind === "request" && callIds.has(approval.toolCallId));
}
