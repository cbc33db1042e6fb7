import { createEvent, createEventActions, type Event } from "@google/adk";
import { invalidMessage, isObject } from "@turnkeep/core/format-kit";

/** The keys to which an event sets `undefined`, which JSON leaves out: they are no longer set. */
const unset = "turnkeep:unset";

/** An event as JSON would have it, which is how ADK's own database keeps it, with the keys that it takes away. */
export function plainEvent(event: Event): Event {
  let text: string | undefined;
  try {
    text = JSON.stringify(event);
  } catch {
    throw invalidMessage("cannot be made JSON", "Give an event without cycles and bigints.");
  }
  if (text === undefined) return event;
  const plain = JSON.parse(text);
  const kept = plain?.actions?.stateDelta;
  if (!isObject(kept)) return plain;
  const keys = Object.keys(event.actions.stateDelta).filter((key) => !Object.hasOwn(kept, key));
  return keys.length === 0 ? plain : { ...plain, actions: { ...plain.actions, [unset]: keys } };
}

/** With ADK's mark of an event, which JSON does not hold. */
export function eventOf(members: Event): Event {
  // `createEvent` takes 0 for no time at all.
  const event = { ...createEvent(members), timestamp: members.timestamp };
  const { [unset]: keys, ...actions } = event.actions as Event["actions"] & { [unset]?: string[] };
  if (keys === undefined) return event;
  const taken = Object.fromEntries(keys.map((key) => [key, undefined]));
  return { ...event, actions: { ...actions, stateDelta: { ...actions.stateDelta, ...taken } } };
}

/** An event that says nothing: it holds what was set in a state. */
export function stateEvent(stateDelta: Record<string, unknown>): Event {
  return eventOf({
    id: "state",
    invocationId: "",
    actions: createEventActions({ stateDelta }),
    timestamp: 0,
  });
}
