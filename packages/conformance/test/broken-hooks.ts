import type { KeyValueHooks } from "../src/index.ts";
import { roundTrip } from "./reference-store.ts";

export type Hooks = KeyValueHooks<number> & Required<Pick<KeyValueHooks<number>, "list">>;

/** What all clients of one database share. */
export interface Values {
  readonly entries: Map<string, { value: string; revision: number }>;
  /** One for all keys. */
  revisions: number;
}

export const newValues = (): Values => ({ entries: new Map(), revisions: 0 });

/** Correct hooks, with a round trip in each call. */
export function hooksOf(values: Values): Hooks {
  const { entries } = values;
  return {
    async get(key) {
      await roundTrip();
      const entry = entries.get(key);
      return entry && { ...entry };
    },
    async compareAndSet(key, value, revision) {
      await roundTrip();
      if (entries.get(key)?.revision !== revision) return false;
      entries.set(key, { value, revision: ++values.revisions });
      return true;
    },
    async delete(key, revision) {
      await roundTrip();
      return (revision === undefined || entries.get(key)?.revision === revision) && entries.delete(key);
    },
    async list({ after = "", limit }) {
      await roundTrip();
      const keys = [...entries.keys()].sort();
      return keys.filter((key) => key > after).slice(0, limit);
    },
  };
}

const call = {};

/** What each fault is, the hooks that have it, and the case that must find it. */
export const brokenHooks: readonly (readonly [
  fault: string,
  change: (hooks: Hooks, values: Values) => Partial<Hooks>,
  name: string,
])[] = [
  [
    "count revisions from 1 for each key, also after a delete",
    (_, { entries }) => ({
      async compareAndSet(key, value, revision) {
        await roundTrip();
        const entry = entries.get(key);
        if (entry?.revision !== revision) return false;
        entries.set(key, { value, revision: (entry?.revision ?? 0) + 1 });
        return true;
      },
    }),
    "a revision does not come back after a delete",
  ],
  [
    "take any revision for that of what was deleted",
    (hooks) => ({
      delete: (key) => hooks.delete(key, undefined, call),
    }),
    "a delete removes the revision that it names, or else whatever there is",
  ],
  [
    "keep what they have read",
    (hooks) => {
      const read = new Map<string, Awaited<ReturnType<Hooks["get"]>>>();
      return {
        async get(key) {
          const entry = read.get(key) ?? (await hooks.get(key, call));
          read.set(key, entry);
          return entry;
        },
        async compareAndSet(key, ...given) {
          read.delete(key);
          return hooks.compareAndSet(key, ...given);
        },
        async delete(key, ...given) {
          read.delete(key);
          return hooks.delete(key, ...given);
        },
      };
    },
    "every client gets what was set last",
  ],
  [
    "get an empty text where nothing is",
    (hooks) => ({
      get: async (key) => (await hooks.get(key, call)) ?? { value: "", revision: 0 },
    }),
    "there is nothing under a key that is new or deleted",
  ],
  [
    "write over what is there when no revision is given",
    (hooks, { entries }) => ({
      async compareAndSet(key, value, revision) {
        return hooks.compareAndSet(key, value, revision ?? entries.get(key)?.revision, call);
      },
    }),
    "a write without a revision happens where there is nothing, and only there",
  ],
  [
    "begin a key anew that was deleted, whatever the revision",
    (hooks, { entries }) => ({
      async compareAndSet(key, value, revision) {
        return hooks.compareAndSet(key, value, entries.has(key) ? revision : undefined, call);
      },
    }),
    "a write with a revision happens over that one, and only over it",
  ],
  [
    "look at the revision, then write",
    (hooks, values) => ({
      async compareAndSet(key, value, revision) {
        const entry = await hooks.get(key, call);
        if (entry?.revision !== revision) return false;
        await roundTrip();
        values.entries.set(key, { value, revision: ++values.revisions });
        return true;
      },
    }),
    "of many writes at once over one revision, one happens",
  ],
  [
    "look at the revision, then write, where two clients add to a value",
    (_, values) => ({
      async compareAndSet(key, value, revision) {
        const entry = values.entries.get(key);
        if (entry?.revision !== revision) return false;
        if (entry !== undefined && /^\d+$/.test(value) && value !== "2" && value !== "3") await roundTrip();
        values.entries.set(key, { value, revision: ++values.revisions });
        return true;
      },
    }),
    "what two clients add to one value at once is all there",
  ],
  [
    "look at the revision, then delete",
    (hooks, { entries }) => ({
      async delete(key, revision) {
        const entry = await hooks.get(key, call);
        if (entry === undefined || (revision !== undefined && entry.revision !== revision)) return false;
        await roundTrip();
        return entries.delete(key);
      },
    }),
    "of a write and a delete at once over one revision, one happens",
  ],
  [
    "fold letters to lower case",
    (hooks) => ({
      get: (key) => hooks.get(key.toLowerCase(), call),
      compareAndSet: (key, ...given) => hooks.compareAndSet(key.toLowerCase(), ...given),
      delete: (key, ...given) => hooks.delete(key.toLowerCase(), ...given),
    }),
    "keys of every kind are kept apart",
  ],
  [
    "trim values",
    (hooks) => ({
      compareAndSet: (key, value, ...given) => hooks.compareAndSet(key, value.trim(), ...given),
    }),
    "a value comes back character for character",
  ],
  [
    "take less than the limit that they declare",
    (hooks) => ({
      maxMemoryBytes: 1_500_000,
      async compareAndSet(key, value, ...given) {
        if (Buffer.byteLength(key + value) > 1_500_000) throw new Error("the request is too large");
        return hooks.compareAndSet(key, value, ...given);
      },
    }),
    "a value comes back character for character",
  ],
  [
    "lose their place when the key that a page ended with is deleted",
    (_, { entries }) => ({
      async list({ after, limit }) {
        const keys = [...entries.keys()].sort();
        const start = after === undefined ? 0 : keys.indexOf(after) + 1;
        return keys.slice(start, start + limit);
      },
    }),
    "a list holds each key once, in one order, page by page",
  ],
];
