import { checkObject } from "../option-checks.ts";
import type { ChatMemoryStore } from "../store-contract.ts";
import { processStore } from "./process-store.ts";

export interface InMemoryStoreOptions {
  /** A memory untouched by writes for so many milliseconds is gone. Default: never. */
  readonly ttlMs?: number | undefined;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * A store that keeps any number of memories, with their history, in this process: for tests, for development, and for
 * conversations that may end with the process. Memories that are given the same store object share its data; two
 * calls of `inMemoryStore` share nothing.
 *
 * Writes cost what they name, reads what is live, however long the history is. A message may have 16 MiB.
 * `listMemories` lists in the order in which the memories began. `sweep` frees what has expired. `close` frees all.
 *
 * Errors: `INVALID_OPTION` for a `ttlMs` that is not a positive whole number; in calls, what the store contract names.
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
export function inMemoryStore(options: InMemoryStoreOptions = {}): ChatMemoryStore {
  checkObject("inMemoryStore's argument", options, ["ttlMs", "now"]);
  return processStore({
    name: "inMemoryStore",
    ttlMs: options.ttlMs,
    now: options.now,
    capabilities: Object.freeze({
      durable: false,
      shared: false,
      history: true,
      list: true,
      ttl: true,
      delta: true,
      readSteps: 1,
      maxMessageBytes: 16 * 1024 * 1024,
    }),
  });
}
