import type { Event, GetSessionConfig } from "@google/adk";
import type { ChatMemory } from "@turnkeep/core";
import { noValues, scopesOf, type Values } from "./shared-state.ts";

/** Begins the ids of entries that set something in a session's state and are none of its events. */
export const hiddenPrefix = "turnkeep:";

/** What was said in a session from some place on, and what that set in its own state. */
export interface SessionRecord {
  readonly events: Event[];
  /** The deltas one after the other, those of entries that are no events among them; shared keys too. */
  readonly deltas: Values[];
  /** The place of the newest entry. */
  readonly seq: number;
}

/**
 * Everything that was said after that place and not taken back, whatever the window shows. Errors: `CORRUPT_RECORD` with
 * the id of an event that cannot be read, and what else a memory's history may fail with.
 */
export async function recordOf(memory: ChatMemory<Event>, after = 0): Promise<SessionRecord> {
  const events: Event[] = [];
  const deltas: Values[] = [];
  let seq = after;
  for await (const page of memory.historyPages({ after, states: ["live", "evicted"], limit: 1000 })) {
    for (const error of page.errors) throw error;
    // A history decodes its messages anew, so that they are the caller's.
    for (const { id, message, seq: at } of page.messages) {
      if (!id.startsWith(hiddenPrefix)) events.push(message);
      deltas.push(message.actions.stateDelta);
      seq = Math.max(seq, at);
    }
  }
  return { events, deltas, seq };
}

/** A session's own state: what its deltas have set, one after the other. */
export function stateOf({ deltas }: SessionRecord): Values {
  return Object.assign(noValues(), ...deltas.map((delta) => scopesOf(delta).session));
}

/** The part of a session's events that was asked for: the newest ones, those behind the last that is as old as a time. */
export function recentOf(events: Event[], { afterTimestamp, numRecentEvents }: GetSessionConfig): Event[] {
  const isOlder = ({ timestamp }: Event): boolean =>
    afterTimestamp !== undefined && timestamp <= afterTimestamp;
  const after = events.slice(events.findLastIndex(isOlder) + 1);
  return numRecentEvents ? after.slice(-numRecentEvents) : after;
}
