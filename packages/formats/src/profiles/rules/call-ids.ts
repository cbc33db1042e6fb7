import type { CallPlace, MessageFormat } from "@turnkeep/core";
import { append } from "../../reshape.ts";
import { methodOf } from "../method-of.ts";

/** How a provider wants the ids of calls to look. */
export interface CallIdRule {
  readonly pattern: RegExp;
  readonly unique: boolean;
}

/**
 * The messages with ids that the provider takes, call and results alike. An id that it takes stays; any other becomes
 * nine letters and digits that depend on the id and, where ids must be unique, on how many calls before it bore the same.
 * Where calls of one answer bear the same, the nth result is that of the nth.
 */
export function withCallIds<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  { pattern, unique }: CallIdRule,
): M[] {
  const all = messages.flatMap((message) => format.toolCalls(message).map(({ id }) => id));
  const taken = new Set(all.filter((id) => pattern.test(id)));
  if (taken.size === all.length) return [...messages];
  const seen = new Map<string, number>();
  const names = new Map<string, string>();
  /** By id, the name of the newest call: for what belongs to none of those that wait, or does not say what it is. */
  const newest = new Map<string, string>();
  /** By id, the names of the calls whose results are still to come. */
  const waiting: Names = new Map();
  return messages.map((message) => {
    const calls = format.toolCalls(message);
    const own: Names = new Map();
    for (const { id, providerExecuted } of calls) {
      const times = unique ? (seen.get(id) ?? 0) : 0;
      seen.set(id, times + 1);
      const stays = providerExecuted === true || (pattern.test(id) && times === 0);
      const key = `${times}:${id}`;
      if (!stays && !names.has(key)) names.set(key, made(key, taken));
      const name = names.get(key) ?? id;
      newest.set(id, name);
      if (providerExecuted !== true) append(own, id, name);
    }
    for (const [id, added] of own) {
      if (format.answersInParts !== true) waiting.delete(id);
      for (const name of added) append(waiting, id, name);
    }
    const results = format.toolResults(message);
    const answers: Names = new Map();
    for (const { id } of results) {
      const name = waiting.get(id)?.shift();
      if (name !== undefined) append(answers, id, name);
    }
    const isNamed = ({ id }: { id: string }): boolean => (newest.get(id) ?? id) !== id;
    if (!calls.some(isNamed) && !results.some(isNamed)) return message;
    const requests: Names = new Map([...own].map(([id, all]) => [id, [...all]]));
    const left: Readonly<Record<CallPlace, Names>> = { call: own, result: answers, request: requests };
    const nameOf = (id: string, of?: CallPlace): string | undefined => of && left[of].get(id)?.shift();
    return methodOf(format, "renameCalls")(message, (id, of) => nameOf(id, of) ?? newest.get(id) ?? id);
  });
}

/** By id, names for the calls that bear it, or for what belongs to them, in their order. */
type Names = Map<string, string[]>;

/** The ids of the calls, by those that they bear in a view. */
export function storedCallIds<M>(
  messages: readonly M[],
  format: MessageFormat<M>,
  rule: CallIdRule | undefined,
): ReadonlyMap<string, string> {
  if (rule === undefined) return new Map();
  const idsOf = (message: M): string[] => format.toolCalls(message).map(({ id }) => id);
  const stored = messages.flatMap(idsOf);
  const shown = withCallIds(messages, format, rule).flatMap(idsOf);
  return new Map(shown.map((id, index) => [id, stored[index] ?? id]));
}

function made(key: string, taken: Set<string>): string {
  for (let attempt = 0; ; attempt++) {
    const name = hash(`${attempt}:${key}`);
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}

const length = 9;

/** Nine letters and digits: two FNV-1a hashes of 32 bits (Fowler, Noll, Vo), the second over the text reversed. */
function hash(text: string): string {
  let forward = 0x811c9dc5;
  let backward = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    forward = Math.imul(forward ^ text.charCodeAt(index), 0x01000193);
    backward = Math.imul(backward ^ text.charCodeAt(text.length - 1 - index), 0x01000193);
  }
  // 21 bits of one and 32 of the other are what a number holds exactly.
  const number = ((forward >>> 11) * 2 ** 32 + (backward >>> 0)) % 36 ** length;
  return number.toString(36).padStart(length, "0");
}
