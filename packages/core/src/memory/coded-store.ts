import { throwIfAborted } from "../abort.ts";
import type { MemoryPolicy } from "../chat-memory-options.ts";
import { isTurnkeepError, quoted, TurnkeepError, type TurnkeepErrorDetails } from "../errors.ts";
import type { CodedStore } from "../memory-settings.ts";
import type { CallOptions, ChatMemoryStore } from "../store-contract.ts";
import { neverWaits } from "../stores/process-store.ts";
import { report } from "./report.ts";

/**
 * The store as memories call it: every error has a code, even if the store throws one that is not ours. With `retry`, a
 * read that failed is repeated once: a connection that died while nobody used it costs nobody a call. What the operator
 * must know becomes an event, whichever call is the first to read.
 */
export function codedStore(
  store: ChatMemoryStore,
  { retry, onEvent }: Pick<MemoryPolicy<never>, "retry" | "onEvent">,
): CodedStore {
  async function read<T>(options: CallOptions | undefined, call: () => Promise<T>, id?: string): Promise<T> {
    try {
      return await call();
    } catch (error) {
      const met = ownError(error, options, id);
      if (retry === false || met.code !== "STORE_UNAVAILABLE" || options?.signal?.aborted) throw met;
      return coded(options, call, id);
    }
  }
  return {
    capabilities: store.capabilities,
    neverWaits: () => neverWaits(store),
    getMessages: (id, options) =>
      read(options, () => store.getMessages(id, options), id).then((snapshot) => {
        const { warning } = snapshot;
        if (warning !== undefined) report(onEvent, { type: "warning", memoryId: id, ...warning });
        return snapshot;
      }),
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
    throw ownError(error, options, memoryId);
  }
}

/** Errors that stores have thrown, with the details that they had. */
const thrown = new WeakMap<TurnkeepError, TurnkeepErrorDetails>();

/**
 * An error with a code that belongs to this call alone: a store may answer many calls with the one that its connection
 * met, and each is to name its own memory.
 */
function ownError(
  error: unknown,
  options: CallOptions | undefined,
  memoryId: string | undefined,
): TurnkeepError {
  if (isTurnkeepError(error)) {
    const details = thrown.get(error);
    if (details !== undefined)
      return new TurnkeepError(error.code, error.message, { cause: error.cause, details });
    thrown.set(error, error.details);
    return error;
  }
  throwIfAborted(options?.signal);
  const where = memoryId === undefined ? "" : ` on memory ${quoted(memoryId)}`;
  return new TurnkeepError("STORE_UNAVAILABLE", `The store failed${where}; the cause has its error.`, {
    cause: error,
    details: memoryId === undefined ? undefined : { memoryId },
  });
}
