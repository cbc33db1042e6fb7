import { callsOfResults, isToolPart, type Marked, type MarkedPart, partsOf } from "./mastra-messages.ts";

/**
 * What the documents of `toolCallFilter` and `tokenLimiter` say, done the slow and obvious way, for messages without
 * approvals, reasoning items and compactions.
 */

const isCall = ({ type }: MarkedPart): boolean => type === "tool-call";
const callsIn = (message: Marked): MarkedPart[] => partsOf(message).filter(isCall);

/** Blanks beside a call say nothing. */
function isBlank(part: MarkedPart): boolean {
  const { text } = part as { readonly text?: unknown };
  return part.type === "text" && String(text).trim() === "";
}

/** By message, the messages with the calls that its results answer. */
function askersOf(messages: readonly Marked[], at: number): number[] {
  const calls = callsOfResults(messages);
  const message = messages[at] as Marked;
  return partsOf(message).flatMap(({ part }) => {
    const call = calls.get(`${message.index}:${part}`);
    const asker = messages.findIndex((other) => call !== undefined && partsOf(other).includes(call));
    return asker < 0 ? [] : [asker];
  });
}

/** The message with the calls of whose step a message is a part, or itself. */
function stepOf(messages: readonly Marked[], at: number): number {
  if ((messages[at] as Marked).role !== "tool") return at;
  const askers = askersOf(messages, at);
  const newest = messages.findLastIndex(({ role }, place) => place < at && role === "assistant");
  return askers.includes(newest) ? newest : (askers[0] ?? at);
}

/** The place of the first message whose step keeps its calls. */
function keptFrom(messages: readonly Marked[], keepLastSteps: number | undefined): number {
  if (keepLastSteps !== undefined) {
    const callers = [...messages.keys()].filter((at) => callsIn(messages[at] as Marked).length > 0);
    // The border moves by a quarter of what is kept.
    const grid = Math.max(1, Math.ceil(keepLastSteps / 4));
    const before = Math.floor(Math.max(0, callers.length - keepLastSteps) / grid) * grid;
    return callers[before] ?? messages.length;
  }
  const last = messages.length - 1;
  if (last < 0) return 0;
  const step = stepOf(messages, last);
  const made = callsIn(messages[step] as Marked).map(({ toolCallId }) => toolCallId);
  const answered = [...messages.keys()]
    .filter((at) => stepOf(messages, at) === step)
    .flatMap((at) => partsOf(messages[at] as Marked).filter(({ type }) => type === "tool-result"));
  const open = made.filter((id) => {
    const place = answered.findIndex(({ toolCallId }) => toolCallId === id);
    if (place >= 0) answered.splice(place, 1);
    return place < 0;
  });
  const { role, content } = messages[last] as Marked;
  const lastPart = typeof content === "string" ? { type: "text" } : partsOf(messages[last] as Marked).at(-1);
  const hasSpoken = open.length === 0 && role === "assistant" && lastPart?.type === "text";
  if (made.length === 0 || hasSpoken) return messages.length;
  return messages.findLastIndex((message) => message.role === "user") + 1;
}

export function naiveFilter(
  messages: readonly Marked[],
  {
    exclude,
    keepLastSteps,
  }: { readonly exclude?: readonly string[] | undefined; readonly keepLastSteps?: number | undefined },
): Marked[] {
  if (exclude?.length === 0) return [...messages];
  const from = keptFrom(messages, keepLastSteps);
  const calls = callsOfResults(messages);
  const isNamed = ({ toolName }: MarkedPart): boolean => exclude?.includes(toolName) ?? true;
  /** Calls of one message that share an id go together, once all their tools are left out. */
  const isOut = (call: MarkedPart): boolean => {
    const at = messages.findIndex((message) => partsOf(message).includes(call));
    const twins = callsIn(messages[at] as Marked).filter(({ toolCallId }) => toolCallId === call.toolCallId);
    return at < from && twins.every(isNamed);
  };
  const shown = messages.map((message): Marked | undefined => {
    if (!partsOf(message).some(isToolPart)) return message;
    const kept = partsOf(message).filter((part) => {
      if (!isToolPart(part)) return true;
      const call = isCall(part) ? part : calls.get(`${message.index}:${part.part}`);
      return !(call === undefined ? isNamed(part) : isOut(call));
    });
    if (kept.length === partsOf(message).length) return message;
    return kept.every(isBlank) ? undefined : ({ ...message, content: kept } as never);
  });
  const left = shown.filter((message) => message !== undefined);
  const says = ({ role, content }: Marked): boolean =>
    role !== "system" && (typeof content === "string" || content.some((part) => part.type !== "reasoning"));
  if (left.some(says)) return left;
  // Nothing would be left to send: the newest step stays as it is.
  const newest = Math.max(-1, ...[...messages.keys()].map((at) => stepOf(messages, at)));
  return messages.filter((_, at) => shown[at] !== undefined || stepOf(messages, at) === newest);
}

/** The newest messages that fit, without parting what belongs together; `undefined` where not even the newest do. */
export function naiveLimit(
  messages: readonly Marked[],
  room: number,
  countOf: (message: Marked) => number,
  overflow: "evict" | "throw",
): Marked[] | undefined {
  const groupOf = [...messages.keys()].map((at) => at);
  const join = (one: number, other: number): void => {
    const [a, b] = [groupOf[one] as number, groupOf[other] as number];
    for (const [at, group] of groupOf.entries()) if (group === a || group === b) groupOf[at] = Math.min(a, b);
  };
  for (const at of messages.keys()) {
    const askers = askersOf(messages, at);
    // A result that came before its call stands where the call does.
    for (const asker of askers) join(at, asker);
  }
  const total = (some: readonly Marked[]): number =>
    some.reduce((sum, one) => sum + Math.max(0, countOf(one)), 0);
  const fixed = messages.filter(({ role }) => role === "system");
  const others = messages.filter(({ role }) => role !== "system");
  if (total(messages) <= room) return [...messages];
  const placeOf = (group: number): number => {
    const members = [...messages.keys()].filter((at) => groupOf[at] === group);
    const inTime = members.filter((at) => askersOf(messages, at).every((asker) => asker < at));
    return Math.min(...(inTime.length > 0 ? inTime : members));
  };
  const groups = [...new Set(others.map((message) => groupOf[messages.indexOf(message)] as number))];
  const kept = new Set(fixed);
  const newestFirst = groups.sort((a, b) => placeOf(b) - placeOf(a));
  for (const group of newestFirst) {
    const members = others.filter((message) => groupOf[messages.indexOf(message)] === group);
    if (total([...kept, ...members]) > room) break;
    for (const message of members) kept.add(message);
  }
  if (kept.size === fixed.length && overflow === "throw") return undefined;
  return messages.filter((message) => kept.has(message));
}
