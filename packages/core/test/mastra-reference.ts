import type { Unit } from "./mastra-differences.ts";
import { isToolPart, type Marked, type MarkedPart, partsOf } from "./mastra-messages.ts";

/**
 * What Mastra's processors do, written from the description of what they were seen to do: it tells which of them made a
 * recorded chain's answer what it is. Every recorded chain is run through it first.
 */

const withParts = (message: Marked, parts: readonly MarkedPart[]): Marked =>
  ({ ...message, content: parts }) as never;
const isCall = ({ type }: MarkedPart): boolean => type === "tool-call";
const isResult = ({ type }: MarkedPart): boolean => type === "tool-result";

/** @mastra/memory 0.15.13: whole messages, results by the calls that came before. */
export function filterOld(messages: readonly Marked[], exclude: readonly string[] | undefined): Marked[] {
  if (exclude === undefined) return messages.filter((message) => !partsOf(message).some(isToolPart));
  const gone = new Set<string>();
  return messages.filter((message) => {
    const named = partsOf(message).filter((part) => isCall(part) && exclude.includes(part.toolName));
    for (const { toolCallId } of named) gone.add(toolCallId);
    if (named.length > 0) return false;
    return !(message.role === "tool" && partsOf(message).some((part) => gone.has(part.toolCallId)));
  });
}

/** @mastra/core 1.71.0: parts, calls and results by id, results by their name too. */
export function filterNew(messages: readonly Marked[], exclude: readonly string[] | undefined): Marked[] {
  if (exclude?.length === 0) return [...messages];
  const isNamed = ({ toolName }: MarkedPart): boolean => exclude?.includes(toolName) ?? true;
  const gone = new Set(
    messages
      .flatMap(partsOf)
      .filter((part) => isCall(part) && isNamed(part))
      .map(({ toolCallId }) => toolCallId),
  );
  return messages.flatMap((message) => {
    if (typeof message.content === "string") return [message];
    const kept = partsOf(message).filter(
      (part) => !isToolPart(part) || !(gone.has(part.toolCallId) || (isResult(part) && isNamed(part))),
    );
    return kept.length === 0 ? [] : [withParts(message, kept)];
  });
}

/** Counts are whole tenths of a token; divided by ten they are the fractions that Mastra adds up. */
export type Tenth = 1 | 10;

/** @mastra/memory 0.15.13: the newest messages of which none is skipped. */
export function limitOld(
  messages: readonly Marked[],
  limit: number,
  countOf: (message: Marked) => number,
  tenth: Tenth,
): Marked[] {
  const kept: Marked[] = [];
  let total = 240 / tenth;
  for (const message of messages.toReversed()) {
    total += countOf(message) / tenth;
    if (total > limit / tenth) break;
    kept.unshift(message);
  }
  return kept;
}

export function singles(messages: readonly Marked[], countOf: (message: Marked) => number): Unit[] {
  return messages.map((message) => unitOf([message], countOf));
}

/** What @mastra/core 1.71.0 keeps or leaves out at once: a call with the results right behind it. Not system messages. */
export function promptUnits(messages: readonly Marked[], countOf: (message: Marked) => number): Unit[] {
  const units: Marked[][] = [];
  for (const message of messages.filter(({ role }) => role !== "system")) {
    const before = units.at(-1);
    const asked = new Set(
      (before ?? [])
        .flatMap(partsOf)
        .filter(isCall)
        .map(({ toolCallId }) => toolCallId),
    );
    const answers =
      message.role === "tool" && partsOf(message).some(({ toolCallId }) => asked.has(toolCallId));
    if (before !== undefined && answers) before.push(message);
    else units.push([message]);
  }
  return units.map((unit) => unitOf(unit, countOf));
}

function unitOf(messages: readonly Marked[], countOf: (message: Marked) => number): Unit {
  const counts = messages.map(countOf);
  const sum = (all: readonly number[]): number => all.reduce((total, count) => total + count, 0);
  return { messages, count: sum(counts), nonNegative: sum(counts.map((count) => Math.max(0, count))) };
}

/** @mastra/core 1.71.0, its default mode: whatever fits, from the newest; `undefined` when it refuses. */
export function limitNew(
  messages: readonly Marked[],
  limit: number,
  countOf: (message: Marked) => number,
  tenth: Tenth,
): Marked[] | undefined {
  const units = promptUnits(messages, countOf);
  const system = messages.filter(({ role }) => role === "system");
  const fixed = system.reduce((sum, message) => sum + countOf(message) / tenth, 240 / tenth);
  if (units.length === 0 || fixed >= limit / tenth) return undefined;
  const kept = new Set(system);
  let total = 0;
  for (const unit of units.toReversed()) {
    if (total + unit.count / tenth > limit / tenth - fixed) continue;
    total += unit.count / tenth;
    for (const message of unit.messages) kept.add(message);
  }
  return kept.size === system.length ? undefined : messages.filter((message) => kept.has(message));
}
