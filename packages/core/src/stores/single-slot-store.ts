import { invalidOption, show } from "../errors.ts";
import { takeOptions } from "../option-fields.ts";
import type { ChatMemoryStore } from "../store-contract.ts";
import { processStore } from "./process-store.ts";

/**
 * A store for one memory, in this process; a chat memory without a store uses it. The first id that is written takes
 * the slot. Until that memory is deleted, a call with another id is `INVALID_OPTION`, so that two conversations can
 * never mix. It has history and no listing (`listMemories` is `UNSUPPORTED`).
 *
 * @example
 * ```ts
 * import { createChatMemory, singleSlotStore } from "@turnkeep/core";
 *
 * const memory = createChatMemory({ id: "scratch", store: singleSlotStore() });
 * ```
 */
export function singleSlotStore(): ChatMemoryStore;
export function singleSlotStore(options?: object): ChatMemoryStore {
  // An option of another store, such as `ttlMs`, would silently do nothing.
  takeOptions("singleSlotStore", {}, options);
  return processStore({
    name: "singleSlotStore",
    capabilities: Object.freeze({
      durable: false,
      shared: false,
      history: true,
      list: false,
      newest: false,
      ttl: false,
      delta: true,
      readSteps: 1,
      maxMessageBytes: 16 * 1024 * 1024,
    }),
    admit: (memoryId, held) => {
      if (held.size === 0 || held.has(memoryId)) return;
      throw invalidOption(
        `singleSlotStore holds one memory, and one other than ${show(memoryId)} has taken its slot: ` +
          "give createChatMemory a store for many, such as inMemoryStore()",
      );
    },
  });
}
