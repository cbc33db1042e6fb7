import { throwIfAborted } from "../abort.ts";
import { isTurnkeepError, TurnkeepError } from "../errors.ts";
import type { CallOptions, ChatMemoryStore } from "../store-contract.ts";
import { quoted } from "../stores/text.ts";
import { isRepeatable } from "./deadline.ts";

/** What memories ask of a store. */
export type CodedStore = Pick<
  ChatMemoryStore,
  "capabilities" | "getMessages" | "updateMessages" | "deleteMessages" | "getHistory" | "listMemories"
>;

/**
 * The store as memories call it: every error has a code, even if the store throws one that is not ours. With `retry`, a
 * read that failed is repeated once: a connection that died while nobody used it costs nobody a call.
 */
export function codedStore(store: ChatMemoryStore, retry: boolean): CodedStore {
  async function read<T>(options: CallOptions | undefined, call: () => Promise<T>, id?: string): Promise<T> {
    try {
      return await coded(options, call, id);
    } catch (error) {
      if (!isRepeatable(error, { retry }) || options?.signal?.aborted) throw error;
      return await coded(options, call, id);
    }
  }
  return {
    capabilities: store.capabilities,
    getMessages: (id, options) => read(options, () => store.getMessages(id, options), id),
    updateMessages: (id, update, options) =>
      coded(options, () => store.updateMessages(id, update, options), id),
    deleteMessages: (id, options) => coded(options, () => store.deleteMessages(id, options), id),
    getHistory: (id, query, options) => read(options, () => store.getHistory(id, query, options), id),
    listMemories: (query, options) => read(options, () => store.listMemories(query, options)),
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
    const where = memoryId === undefined ? "" : ` on memory ${quoted(memoryId)}`;
    throw new TurnkeepError("STORE_UNAVAILABLE", `The store failed${where}; the cause has its error.`, {
      cause: error,
      details: memoryId === undefined ? undefined : { memoryId },
    });
  }
}
