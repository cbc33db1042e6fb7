import {
  callsOfResults,
  isToolPart,
  type Left,
  type Marked,
  type MarkedPart,
  messagesLeft,
  partsOf,
} from "./mastra-messages.ts";

/**
 * Why a recorded case is answered differently: what Mastra's answer does that ours never does. Each is a fault that can be
 * read from that answer, so that a case is different exactly when it has one. `docs/coming-from-mastra.md` says the same
 * in words.
 */
export const reasons = {
  text: "it leaves out text or other parts with a call",
  pair: "it leaves a call without its result, or a result without its call",
  otherTool:
    "it leaves out a call that was not named: one with the same id, or with a result that bears the name",
  spared: "it keeps a call that was to go: one with an empty id, or with the id of one that stays",
  running: "it leaves out the results that the model is to answer next",
  empty: "it leaves nothing to send",
  blank: "it keeps a message in which nothing but empty text is left",
  untouched: "it leaves out an empty message that has nothing to do with tools",
  system: "it leaves out the system message",
  step: "it keeps a part of a step without the rest",
  negative: "it counts some messages below zero, which makes room for others",
  gaps: "it leaves out a message and keeps older ones",
  float: "its sums of fractions miss a limit that they meet",
  throws: "it throws",
  noRoom: "the limit leaves no room for messages, and it answers nothing in silence",
  emptyList: "it refuses an empty list",
} as const;
export type Reason = keyof typeof reasons;

export interface FilterRun {
  readonly exclude?: readonly string[];
  readonly filterAfterToolSteps?: number;
}

/** What is wrong with what a filter left. */
export function filterFaults(messages: readonly Marked[], left: Left, run: FilterRun): Set<Reason> {
  const faults = new Set<Reason>();
  if (run.exclude?.length === 0) return faults;
  const calls = callsOfResults(messages);
  const kept = keptParts(messages, left);
  const steps = stepsThatStay(messages, run);
  const callOf = (message: Marked, part: MarkedPart): MarkedPart | undefined =>
    part.type === "tool-call" ? part : calls.get(`${message.index}:${part.part}`);
  for (const message of messages) {
    const isKept = left.some(([index]) => index === message.index);
    if (!isKept && partsOf(message).length === 0) {
      faults.add(typeof message.content === "string" ? "text" : "untouched");
    }
    for (const part of partsOf(message)) {
      if (!isToolPart(part)) {
        if (!kept.has(part)) faults.add("text");
        continue;
      }
      const call = callOf(message, part);
      const isNamed = run.exclude?.includes((call ?? part).toolName) ?? true;
      const stays = call !== undefined && steps.parts.has(call);
      if (call !== undefined && kept.has(call) !== kept.has(part)) faults.add("pair");
      if (kept.has(part) && isNamed && !stays) faults.add("spared");
      if (kept.has(part)) continue;
      if (!isNamed) faults.add("otherTool");
      else if (stays) faults.add(steps.isRunning ? "running" : "pair");
    }
  }
  if (messagesLeft(messages, left).some((message) => isBlank(message) && !messages.includes(message)))
    faults.add("blank");
  const isSaid = ({ role }: Marked): boolean => role !== "system";
  if (messages.some(isSaid) && !messagesLeft(messages, left).some(isSaid)) faults.add("empty");
  return faults;
}

function isBlank(message: Marked): boolean {
  const texts = partsOf(message).map((part) => (part as { readonly text?: unknown }).text);
  return texts.every((text) => typeof text === "string" && text.trim() === "");
}

function keptParts(messages: readonly Marked[], left: Left): Set<MarkedPart> {
  const kept = messagesLeft(messages, left).flatMap((message) =>
    partsOf(message).map(({ part }) => `${message.index}:${part}`),
  );
  return new Set(
    messages.flatMap((message) =>
      partsOf(message).filter(({ part }) => kept.includes(`${message.index}:${part}`)),
    ),
  );
}

/** The calls that no filter should touch: those of the newest steps, or those of the turn that still runs. */
function stepsThatStay(
  messages: readonly Marked[],
  { filterAfterToolSteps }: FilterRun,
): { readonly parts: ReadonlySet<MarkedPart>; readonly isRunning: boolean } {
  const callsIn = (some: readonly Marked[]): Set<MarkedPart> =>
    new Set(some.flatMap(partsOf).filter(({ type }) => type === "tool-call"));
  if (filterAfterToolSteps !== undefined) {
    const callers = messages.filter((message) => callsIn([message]).size > 0);
    return {
      parts: callsIn(filterAfterToolSteps === 0 ? [] : callers.slice(-filterAfterToolSteps)),
      isRunning: false,
    };
  }
  const last = messages.at(-1);
  const calls = callsOfResults(messages);
  const endsInCall =
    last !== undefined &&
    (callsIn([last]).size > 0 ||
      partsOf(last).some(({ part }) => calls.get(`${last.index}:${part}`) !== undefined));
  const asked = messages.findLastIndex(({ role }) => role === "user");
  return { parts: endsInCall ? callsIn(messages.slice(asked + 1)) : new Set(), isRunning: true };
}

/** Messages that a limiter keeps or leaves out at once, with what they count in tenths of a token. */
export interface Unit {
  readonly messages: readonly Marked[];
  readonly count: number;
  /** The same with no message below zero. */
  readonly nonNegative: number;
}

/** What is wrong with what a limiter kept of units, given the room that there was for them. */
export function limiterFaults(
  messages: readonly Marked[],
  kept: readonly Marked[],
  units: readonly Unit[],
  room: { readonly theirs: number; readonly ours: number },
): Set<Reason> {
  const faults = new Set<Reason>();
  const isKept = (message: Marked): boolean => kept.includes(message);
  if (messages.some((message) => message.role === "system" && !isKept(message))) faults.add("system");
  const calls = callsOfResults(messages);
  const callers = new Map(
    messages.flatMap((message) => partsOf(message).map((part) => [part, message] as const)),
  );
  for (const message of messages) {
    for (const part of partsOf(message)) {
      const call = calls.get(`${message.index}:${part.part}`);
      const caller = call === undefined ? undefined : callers.get(call);
      if (caller !== undefined && isKept(caller) !== isKept(message)) faults.add("step");
    }
  }
  const said = messages.filter(({ role }) => role !== "system");
  const first = said.findIndex(isKept);
  if (first >= 0 && said.slice(first).some((message) => !isKept(message))) faults.add("gaps");
  const nonNegative = units.map((unit) => ({ ...unit, count: unit.nonNegative }));
  const fitting = newestThatFit(units, room.theirs).length;
  if (fitting !== newestThatFit(nonNegative, room.ours).length) faults.add("negative");
  return faults;
}

/** The newest units of which none is skipped and whose counts fit. */
export function newestThatFit(units: readonly Unit[], room: number): readonly Unit[] {
  let left = room;
  let first = units.length;
  while (first > 0) {
    left -= (units[first - 1] as Unit).count;
    if (left < 0) break;
    first--;
  }
  return units.slice(first);
}
