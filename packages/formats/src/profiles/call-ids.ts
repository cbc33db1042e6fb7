import type { MessageFormat } from "@turnkeep/core";
import { methodOf } from "./method-of.ts";

/** How a provider wants the ids of calls to look. */
export interface CallIdRule {
  readonly pattern: RegExp;
  readonly unique: boolean;
}

/**
 * The messages with ids that the provider takes, call and results alike. An id that it takes stays; any other becomes
 * nine letters and digits that depend on the id and, where ids must be unique, on how many calls before it bore the same.
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
  const current = new Map<string, string>();
  return messages.map((message) => {
    const calls = format.toolCalls(message);
    for (const { id, providerExecuted } of calls) {
      const times = unique ? (seen.get(id) ?? 0) : 0;
      seen.set(id, times + 1);
      const stays = providerExecuted === true || (pattern.test(id) && times === 0);
      const key = `${times}:${id}`;
      if (!stays && !names.has(key)) names.set(key, made(key, taken));
      current.set(id, names.get(key) ?? id);
    }
    const results = format.toolResults(message);
    const isNamed = ({ id }: { id: string }): boolean => (current.get(id) ?? id) !== id;
    if (!calls.some(isNamed) && !results.some(isNamed)) return message;
    return methodOf(format, "renameCalls")(message, (id) => current.get(id) ?? id);
  });
}

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
