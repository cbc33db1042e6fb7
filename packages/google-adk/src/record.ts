import type { Event, GetSessionConfig } from "@google/adk";
import type { ChatMemory } from "@turnkeep/core";
import { noValues, scopesOf, type Values, withoutUnset } from "./shared-state.ts";

/** Begins the ids of entries that set something in a session's state and are none of its events. */
export const hiddenPrefix = "turnkeep:";

/** An event, or an entry that is none, and what it set, shared keys too. */
export interface Step {
  readonly event: Event | undefined;
  readonly delta: Values;
}

/** What was said in a session from some place on, and what that set in its own state. */
export interface SessionRecord {
  readonly steps: Step[];
  /** The place of the newest entry. */
  readonly seq: number;
}

/**
 * Everything that was said after that place and not taken back, whatever the window shows. Errors: `CORRUPT_RECORD` with
 * the id of an event that cannot be read, and what else a memory's history may fail with.
 */
export async function recordOf(memory: ChatMemory<Event>, after = 0): Promise<SessionRecord> {
  const steps: Step[] = [];
  let seq = after;
  for await (const page of memory.historyPages({ after, states: ["live", "evicted"], limit: 1000 })) {
    for (const error of page.errors) throw error;
    // A history decodes its messages anew, so that they are the caller's.
    for (const { id, message, seq: at } of page.messages) {
      const event = id.startsWith(hiddenPrefix) ? undefined : message;
      steps.push({ event, delta: message.actions.stateDelta });
      seq = Math.max(seq, at);
    }
  }
  return { steps, seq };
}

export function eventsOf({ steps }: Pick<SessionRecord, "steps">): Event[] {
  return steps.flatMap(({ event }) => event ?? []);
}

/** A session's own state: what its deltas have set, one after the other. */
export function stateOf({ steps }: Pick<SessionRecord, "steps">): Values {
  const state = noValues();
  for (const { delta } of steps) Object.assign(state, scopesOf(delta).session);
  return withoutUnset(state);
}

/** The part of a session's events that was asked for: the newest ones, those behind the last that is as old as a time. */
export function recentOf(events: Event[], { afterTimestamp, numRecentEvents }: GetSessionConfig): Event[] {
  const isOlder = ({ timestamp }: Event): boolean =>
    afterTimestamp !== undefined && timestamp <= afterTimestamp;
  const after = events.slice(events.findLastIndex(isOlder) + 1);
  return numRecentEvents ? after.slice(-numRecentEvents) : after;
}
