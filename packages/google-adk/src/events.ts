import { createEvent, createEventActions, type Event } from "@google/adk";
import { invalidMessage } from "@turnkeep/core/format-kit";

/** An event as JSON would have it, which is how ADK's own database keeps it. */
export function plainEvent(event: Event): Event {
  let text: string | undefined;
  try {
    text = JSON.stringify(event);
  } catch {
    throw invalidMessage("cannot be made JSON", "Give an event without cycles and bigints.");
  }
  return text === undefined ? event : JSON.parse(text);
}

/** With ADK's mark of an event, which JSON does not hold. */
export function eventOf(members: Event): Event {
  // `createEvent` takes 0 for no time at all.
  return { ...createEvent(members), timestamp: members.timestamp };
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
