import { throwIfAborted } from "../abort.ts";
import { isTurnkeepError, TurnkeepError } from "../errors.ts";
import type { CallOptions, ChatMemoryStore } from "../store-contract.ts";

/** What memories ask of a store. */
export type CodedStore = Pick<
  ChatMemoryStore,
  "capabilities" | "getMessages" | "updateMessages" | "deleteMessages" | "getHistory" | "listMemories"
>;

/** The store as memories call it: every error has a code, even if the store throws one that is not ours. */
export function codedStore(store: ChatMemoryStore): CodedStore {
  return {
    capabilities: store.capabilities,
    getMessages: (id, options) => coded(options, () => store.getMessages(id, options), id),
    updateMessages: (id, update, options) =>
      coded(options, () => store.updateMessages(id, update, options), id),
    deleteMessages: (id, options) => coded(options, () => store.deleteMessages(id, options), id),
    getHistory: (id, query, options) => coded(options, () => store.getHistory(id, query, options), id),
    listMemories: (query, options) => coded(options, () => store.listMemories(query, options)),
  };
}

async function coded<T>(
  options: CallOptions | undefined,
  call: () => Promise<T>,
  memoryId?: string,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (isTurnkeepError(error)) throw error;
    throwIfAborted(options?.signal);
    const where = memoryId === undefined ? "" : ` on memory ${JSON.stringify(memoryId)}`;
    throw new TurnkeepError("STORE_UNAVAILABLE", `The store failed${where}; the cause has its error.`, {
      cause: error,
      details: memoryId === undefined ? undefined : { memoryId },
    });
  }
}
