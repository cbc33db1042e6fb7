import { type ChatMemoryStore, inMemoryStore, TurnkeepError } from "../src/index.ts";

/** A store that deletes what leaves, and cannot be asked for it. */
export function withoutHistory(store: ChatMemoryStore = inMemoryStore()): ChatMemoryStore {
  return {
    ...store,
    capabilities: { ...store.capabilities, history: false },
    updateMessages: (id, update, options) => {
      const move = update.move.map(({ seq }) => ({ seq, to: "removed" as const }));
      return store.updateMessages(id, { ...update, move }, options);
    },
    getHistory: () => Promise.reject(new TurnkeepError("UNSUPPORTED", "there is no history")),
  };
}
