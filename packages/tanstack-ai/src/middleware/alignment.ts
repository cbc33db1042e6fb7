import type { ModelMessage } from "@tanstack/ai";
import { append } from "@turnkeep/core/format-kit";
import { isQuestion, keysOf, wordsOf } from "./messages.ts";
import type { Recorded } from "./record.ts";

/** What of the messages that a run was given is in the record, and what is to be added. */
export interface Alignment {
  readonly known: ReadonlyMap<ModelMessage, Recorded>;
  readonly added: readonly ModelMessage[];
}

/**
 * Lays the messages that `chat` was given over the record: all that a browser shows, or only what is new. What stands behind
 * the newest that is known is new, and so is the result of a known call. What stands before it and is not known, such as a
 * summary that the application has put in place of others, is left out.
 */
export function align(messages: readonly ModelMessage[], record: readonly Recorded[]): Alignment {
  const find = finder(record);
  const known = new Map<ModelMessage, Recorded>();
  let newest = -1;
  messages.forEach((message, at) => {
    // A question without an id that stands last is asked anew, though in the words of an old one.
    const recorded = find(message, at < messages.length - 1 || !isQuestion(message));
    if (recorded === undefined) return;
    known.set(message, recorded);
    newest = at;
  });
  const calls = new Set(record.flatMap(({ message }) => message.toolCalls?.map(({ id }) => id) ?? []));
  const added = messages.filter(
    (message, at) => !known.has(message) && (at > newest || calls.has(message.toolCallId ?? "")),
  );
  return { known, added };
}

/** Finds messages in the record in the order in which they are asked for: by what names them, else by their words. */
function finder(record: readonly Recorded[]) {
  const byKey = new Map<string, number>();
  const byWords = new Map<string, number[]>();
  for (const [place, { message, state }] of record.entries()) {
    for (const key of keysOf(message)) byKey.set(key, place);
    if (state !== "superseded") append(byWords, wordsOf(message), place);
  }
  for (const places of byWords.values()) places.reverse();
  let next = 0;
  return (message: ModelMessage, mayHaveWords: boolean): Recorded | undefined => {
    const keys = keysOf(message);
    const key = keys.find((key) => byKey.has(key));
    const places = byWords.get(wordsOf(message)) ?? [];
    const isNamed = isQuestion(message) && keys.length > 0;
    while ((places.at(-1) ?? next) < next) places.pop();
    const place = key !== undefined ? byKey.get(key) : mayHaveWords && !isNamed ? places.at(-1) : undefined;
    if (place === undefined) return undefined;
    next = Math.max(next, place + 1);
    return record[place];
  };
}
