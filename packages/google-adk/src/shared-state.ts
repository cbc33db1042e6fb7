import { type Event, State } from "@google/adk";
import type { ChatMemories, ChatMemory } from "@turnkeep/core";
import { despiteConflicts } from "@turnkeep/core/store-kit";
import { stateEvent } from "./events.ts";
import { memoryOf, type Names } from "./keys.ts";

/** The keys of a state or of a delta, each with its value. */
export type Values = Record<string, unknown>;

/** A delta by what shares it. The keys of `app` and `user` have no prefix. */
export interface Scopes {
  readonly app: Values;
  readonly user: Values;
  readonly session: Values;
}

/** Splits a delta; what is temporary is left out. */
export function scopesOf(delta: Readonly<Values> = {}): Scopes {
  const scopes = { app: noValues(), user: noValues(), session: noValues() };
  for (const [key, value] of Object.entries(delta)) {
    if (key.startsWith(State.APP_PREFIX)) scopes.app[key.slice(State.APP_PREFIX.length)] = value;
    else if (key.startsWith(State.USER_PREFIX)) scopes.user[key.slice(State.USER_PREFIX.length)] = value;
    else if (!key.startsWith(State.TEMP_PREFIX)) scopes.session[key] = value;
  }
  return scopes;
}

/** A key may be `__proto__`. */
export function noValues(): Values {
  return Object.create(null);
}

/** Without the keys that were set to `undefined`: as in ADK's database, they are no longer there. */
export function withoutUnset(values: Values): Values {
  for (const [key, value] of Object.entries(values)) if (value === undefined) delete values[key];
  return values;
}

export function isNothing(values: Values): boolean {
  return Object.keys(values).length === 0;
}

/** What the sessions of an app, and of a user of it, share: each in a memory of its own, which holds one event. */
export class SharedState {
  readonly #memories: ChatMemories<Event>;

  constructor(memories: ChatMemories<Event>) {
    this.#memories = memories;
  }

  async read({ appName, userId }: Names): Promise<Omit<Scopes, "session">> {
    const [app, user] = await Promise.all(
      [{ appName }, { appName, userId }].map(async (names) => {
        const [stored] = await memoryOf(this.#memories, names).entries();
        return withoutUnset(valuesOf(stored?.message));
      }),
    );
    return { app: app as Values, user: user as Values };
  }

  async write({ appName, userId }: Names, { app, user }: Omit<Scopes, "session">): Promise<void> {
    if (!isNothing(app)) await merge(memoryOf(this.#memories, { appName }), app);
    if (!isNothing(user)) await merge(memoryOf(this.#memories, { appName, userId }), user);
  }
}

const stateId = "state";

function merge(memory: ChatMemory<Event>, delta: Values): Promise<void> {
  return untilAlone(() =>
    memory.transaction(async (transaction) => {
      const [stored] = await transaction.entries();
      transaction.put(stateId, stateEvent(withoutUnset(Object.assign(valuesOf(stored?.message), delta))));
    }),
  );
}

/**
 * Of two who read and write at once, the second does it again, so that what both have set is there. It ends: each time,
 * somebody else is done.
 */
export function untilAlone(change: () => Promise<void>): Promise<void> {
  return despiteConflicts(change, Number.POSITIVE_INFINITY);
}

/** A copy, which may be changed and handed out. */
function valuesOf(event: Event | undefined): Values {
  return Object.assign(noValues(), structuredClone(event?.actions.stateDelta ?? {}));
}
