import { callback } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import type { ChatMemoryStore } from "../store-contract.ts";
import { ttl } from "./checks.ts";
import { processStore } from "./process-store.ts";

/** Options of {@link inMemoryStore}. */
export interface InMemoryStoreOptions {
  /** A memory expires after this many milliseconds without a write. Default: never. */
  readonly ttlMs?: number | undefined;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

const fields = {
  ttlMs: optional(ttl),
  now: optional(callback),
} satisfies Fields<InMemoryStoreOptions>;

/**
 * A store that keeps any number of memories, with their history, in this process: for tests, for development, and for
 * conversations that may end with the process. Memories that use the same store object share its data; two calls of
 * `inMemoryStore` share nothing.
 *
 * A write costs what it names and a read what is live, however long the history is. A message may have 16 MiB.
 * `listMemories` returns memories in the order in which they began. `sweep` frees expired memories; `close` frees all.
 *
 * Errors: `INVALID_OPTION` for a `ttlMs` that is not a positive whole number; in calls, those of the store contract.
 *
 * @example
 * ```ts
 * import { createChatMemory, inMemoryStore, user } from "@turnkeep/core";
 *
 * const store = inMemoryStore({ ttlMs: 60 * 60 * 1000 });
 * const memory = createChatMemory({ id: "user-1/chat-1", store });
 * await memory.add(user("Hello"));
 * ```
 */
export function inMemoryStore(options?: InMemoryStoreOptions): ChatMemoryStore {
  const { ttlMs, now } = takeOptions("inMemoryStore's argument", fields, options);
  return processStore({
    name: "inMemoryStore",
    ttlMs,
    now,
    capabilities: Object.freeze({
      durable: false,
      shared: false,
      history: true,
      list: true,
      newest: true,
      ttl: true,
      delta: true,
      readSteps: 1,
      maxMessageBytes: 16 * 1024 * 1024,
    }),
  });
}
