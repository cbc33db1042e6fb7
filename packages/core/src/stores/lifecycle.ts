import { throwIfAborted } from "../abort.ts";
import type { CallOptions } from "../store-contract.ts";
import { checkMemoryId } from "./checks.ts";
import type { StoreConnection } from "./define-store.ts";
import { closedError } from "./store-errors.ts";

/** How each method of a store begins, and how the store closes. */
export interface Lifecycle<Calls> {
  /** What a method makes its calls with. `CLOSED` after `close()`, `ABORTED` if the caller's signal has fired. */
  enter(options: CallOptions | undefined): Calls;
  /** The same for a method of one memory; also `INVALID_OPTION` for an id that the contract does not allow. */
  enterFor(memoryId: string, options: CallOptions | undefined): Calls;
  /** Closes the connection, once: every call returns the same promise. */
  close(): Promise<void>;
}

/**
 * The beginning of every method of a store, and its `close`, over a connection whose calls end with a signal.
 *
 * @param store The name that errors show: `"myStore"`.
 *
 * @example
 * ```ts
 * import { lifecycle } from "@turnkeep/core/store-kit";
 *
 * const { enter, close } = lifecycle("myStore", {
 *   under: (signal?: AbortSignal) => async (query: string) => fetch("http://localhost", { body: query, signal: signal ?? null }),
 *   close: async () => {},
 * });
 * const ask = enter({ signal: AbortSignal.timeout(1_000) });
 * ```
 */
export function lifecycle<Calls>(store: string, connection: StoreConnection<Calls>): Lifecycle<Calls> {
  let closing: Promise<void> | undefined;
  function enter(options: CallOptions | undefined): Calls {
    if (closing !== undefined) throw closedError(store);
    throwIfAborted(options?.signal);
    return connection.under(options?.signal);
  }
  return {
    enter,
    enterFor(memoryId, options) {
      const calls = enter(options);
      checkMemoryId(memoryId);
      return calls;
    },
    close() {
      closing ??= connection.close();
      return closing;
    },
  };
}
