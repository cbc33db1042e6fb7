import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { HistoryMessage } from "@turnkeep/core";

export type Recorded = HistoryMessage<BaseMessage>;

/** What of the messages that a run works with is in the record, and what is to be added. */
export interface Alignment {
  /** By message; `undefined` for one that stands before what is known: a summary that took the place of others. */
  readonly known: ReadonlyMap<BaseMessage, Recorded | undefined>;
  readonly added: readonly BaseMessage[];
}

/**
 * Lays a run's messages over the newest of the record, oldest first. A graph's state names its messages, and an
 * application that hands over the past may not: behind the newest that is known, questions are compared. If none is
 * known, they are compared from the first that is given, which may long have left the window; a question that ends the
 * input is new, unless it ends the record. So is the result of a known call that has none, wherever it stands. `storedId`
 * tells what the run itself has stored.
 */
export function align(
  messages: readonly BaseMessage[],
  record: readonly Recorded[],
  storedId: (message: BaseMessage) => string | undefined,
): Alignment {
  const byOwnId = new Map(record.map((recorded) => [recorded.message.id, recorded]));
  const byId = new Map(record.map((recorded) => [recorded.id, recorded]));
  const recordedOf = (message: BaseMessage): Recorded | undefined => {
    const recorded = message.id === undefined ? undefined : byOwnId.get(message.id);
    return recorded?.message.type === message.type ? recorded : byId.get(storedId(message) ?? "");
  };
  const known = (message: BaseMessage): boolean =>
    storedId(message) !== undefined || recordedOf(message) !== undefined;
  const newest = messages.findLastIndex(known);
  const last = newest < 0 ? undefined : recordedOf(messages[newest] as BaseMessage);
  const after = newest < 0 ? -1 : (last?.seq ?? Number.POSITIVE_INFINITY);
  const asked = record.filter(
    ({ message, seq, state }) => message.type === "human" && seq > after && state !== "superseded",
  );
  const asks = messages.slice(newest + 1).filter(({ type }) => type === "human");
  const [said, says] = [asked.map(({ message }) => wordsOf(message)), asks.map(wordsOf)];
  const past = messages.at(-1)?.type === "human" ? says.slice(0, -1) : says;
  const places = newest < 0 ? placesOf(said, says, past) : rangeOf(0, beginning(said, says));
  const next = asks[places.length];
  const begin =
    places.length === 0 ? newest + 1 : next === undefined ? messages.length : messages.indexOf(next);
  const pairs = new Map(places.map((place, at) => [asks[at] as BaseMessage, asked[place]]));
  const missing = missingResults(messages, record, recordedOf);
  return splitAt(messages, begin, missing, (message) => recordedOf(message) ?? pairs.get(message));
}

/** The results of recorded calls that have none in the record, where the result of another call may stand already. */
function missingResults(
  messages: readonly BaseMessage[],
  record: readonly Recorded[],
  recordedOf: (message: BaseMessage) => Recorded | undefined,
): Set<BaseMessage> {
  const answered = new Map<string, number>();
  for (const { message, seq } of record) {
    if (message.type === "tool") answered.set((message as ToolMessage).tool_call_id, seq);
  }
  const callers = new Map<string, Recorded | undefined>();
  const isMissing = (message: BaseMessage): boolean => {
    const recorded = recordedOf(message);
    const { tool_calls: calls = [] } = message as AIMessage;
    for (const { id = "" } of calls) callers.set(id, recorded);
    const { tool_call_id: callId } = message as ToolMessage;
    const caller = callers.get(callId);
    if (recorded !== undefined || caller === undefined || caller.state === "superseded") return false;
    return (answered.get(callId) ?? -1) < caller.seq;
  };
  return new Set(messages.filter(isMissing));
}

/** A system message is added in any case: an equal one is not stored twice. */
function splitAt(
  messages: readonly BaseMessage[],
  begin: number,
  missing: ReadonlySet<BaseMessage>,
  recordedOf: (message: BaseMessage) => Recorded | undefined,
): Alignment {
  const known = new Map<BaseMessage, Recorded | undefined>();
  const added: BaseMessage[] = [];
  messages.forEach((message, at) => {
    const recorded = recordedOf(message);
    const isNew =
      at >= begin || missing.has(message) || (message.type === "system" && recorded === undefined);
    if (isNew) added.push(message);
    else known.set(message, recorded);
  });
  return { known, added };
}

/**
 * Where the first of what is given was said: all that ends the record, or, for a client that does not know the newest, all of
 * its past that was said in this order.
 */
function placesOf(said: readonly string[], given: readonly string[], past: readonly string[]): number[] {
  const common = overlap(said, given);
  if (common > 0) return rangeOf(said.length - common, said.length);
  const places: number[] = [];
  said.forEach((text, at) => {
    if (text === past[places.length]) places.push(at);
  });
  return places;
}

function rangeOf(first: number, end: number): number[] {
  return Array.from({ length: end - first }, (_, at) => first + at);
}

/** How many texts at the end of the first list begin the second: in one pass, after Knuth, Morris and Pratt. */
function overlap(all: readonly string[], beginning: readonly string[]): number {
  const borders: number[] = [];
  const next = (count: number, text: string): number => {
    let length = count;
    while (length > 0 && beginning[length] !== text) length = borders[length - 1] as number;
    return beginning[length] === text ? length + 1 : 0;
  };
  for (const text of beginning) borders.push(borders.length === 0 ? 0 : next(borders.at(-1) as number, text));
  return all.reduce(next, 0);
}

/** How many texts the two lists begin with alike. */
function beginning(one: readonly string[], other: readonly string[]): number {
  const differs = one.findIndex((text, at) => text !== other[at]);
  return differs < 0 ? one.length : differs;
}

/** What a message says and calls, without what tells of its making. */
export function wordsOf(message: BaseMessage): string {
  const { content, type } = message;
  const { tool_calls: calls = [] } = message as AIMessage;
  const { tool_call_id: answers } = message as ToolMessage;
  return JSON.stringify([type, content, answers, calls.map(({ id, name, args }) => [id, name, args])]);
}
