import type { MemorySettings } from "../memory-settings.ts";
import { deepFreeze } from "../steps/deep-freeze.ts";
import { factsOf } from "../steps/item-facts.ts";
import type { Live } from "../steps/live.ts";
import type { Prepared } from "./draft.ts";

/**
 * Changes results that have call ids of a view to the ids of the stored calls: whoever runs a call from a view knows no
 * other id. Depends only on the live messages and the memory's profile, so any process may add the result.
 */
export function underStoredIds<M>(
  messages: readonly Prepared<M>[],
  live: Live<M>,
  { profile, reader }: MemorySettings<M>,
): readonly Prepared<M>[] {
  const { format } = reader;
  const rename = format.renameCalls?.bind(format);
  if (profile?.storedCallIds === undefined || rename === undefined) return messages;
  const made = new Set(messages.flatMap(({ facts }) => facts.calls.map(({ id }) => id)));
  const isUnknown = (id: string): boolean => !made.has(id) && !live.hasCall(id);
  const unknownIn = ({ facts: { role, results } }: Prepared<M>): string[] =>
    role === "assistant" ? [] : results.flatMap(({ id }) => (isUnknown(id) ? [id] : []));
  const asked = messages.flatMap(unknownIn);
  if (asked.length === 0) return messages;
  const ids = profile.storedCallIds(
    live.items.flatMap(({ message }) => (message === undefined ? [] : [message])),
    format,
    asked,
  );
  return messages.map((prepared) => {
    if (unknownIn(prepared).length === 0) return prepared;
    const { message } = prepared.facts;
    const renamed = rename(message, (id) => (isUnknown(id) ? (ids.get(id) ?? id) : id));
    if (renamed === message) return prepared;
    const payload = format.encode(renamed);
    return { ...prepared, payload, facts: factsOf(deepFreeze(format.decode(payload)), reader) };
  });
}
