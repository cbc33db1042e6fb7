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
  const byKey = new Map<string, number[]>();
  const byWords = new Map<string, number[]>();
  const stored = new Calls();
  for (const [place, { message, state }] of record.entries()) {
    for (const key of stored.keysOf(message)) append(byKey, key, place);
    stored.note(message, place);
    if (state !== "superseded") append(byWords, wordsOf(message), place);
  }
  for (const places of byWords.values()) places.reverse();
  const given = new Calls(stored);
  let next = 0;
  /** Adapters may begin anew with the ids of calls in each turn: then the order decides, and the message's own id. */
  const named = (keys: readonly string[]): number | undefined => {
    const [places = [], sameIds = []] = keys
      .map((key) => byKey.get(key))
      .filter((found) => found !== undefined);
    if (places.length < 2) return places[0];
    const same = places.find((place) => sameIds.includes(place));
    if (same !== undefined) return same;
    const ahead = places.filter((place) => place >= next);
    return ahead.find((place) => record[place]?.state !== "superseded") ?? ahead[0];
  };
  return (message: ModelMessage, mayHaveWords: boolean): Recorded | undefined => {
    const keys = given.keysOf(message);
    const places = byWords.get(wordsOf(message)) ?? [];
    const isNamed = keys.length > 0 && (isQuestion(message) || keys.some((key) => byKey.has(key)));
    while ((places.at(-1) ?? next) < next) places.pop();
    const place = named(keys) ?? (mayHaveWords && !isNamed ? places.at(-1) : undefined);
    given.note(message, place);
    if (place === undefined) return undefined;
    next = Math.max(next, place + 1);
    return record[place];
  };
}

/** Where in the record the newest call with an id stands, of the messages so far: a result is of that one. */
class Calls {
  readonly #places: Map<string, number | undefined>;

  constructor(before?: Calls) {
    this.#places = new Map(before === undefined ? [] : before.#places);
  }

  note({ toolCalls = [] }: ModelMessage, place: number | undefined): void {
    for (const { id } of toolCalls) this.#places.set(id, place);
  }

  keysOf(message: ModelMessage): readonly string[] {
    const keys = keysOf(message);
    if (message.role !== "tool") return keys;
    return keys.map((key) => `${key} ${this.#places.get(message.toolCallId ?? "")}`);
  }
}
