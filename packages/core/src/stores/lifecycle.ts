import { throwIfAborted } from "../abort.ts";
import type { CallOptions } from "../store-contract.ts";
import { closedError } from "./store-errors.ts";

/** How each method of a store begins, and how the store ends. */
export interface Lifecycle<Calls> {
  /** What a method makes its calls by. `CLOSED` after `close()`, `ABORTED` once the caller's signal has fired. */
  enter(options: CallOptions | undefined): Calls;
  /** Closes the connection, once: each call answers the same promise. */
  close(): Promise<void>;
}

/**
 * The beginning of every method of a store, and its end, over a connection that makes calls under a signal.
 *
 * @param store The name that errors give: `"myStore"`.
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
export function lifecycle<Calls>(
  store: string,
  connection: {
    /** Calls whose wait the signal ends. */
    under(signal: AbortSignal | undefined): Calls;
    close(): Promise<void>;
  },
): Lifecycle<Calls> {
  let closing: Promise<void> | undefined;
  return {
    enter(options) {
      if (closing !== undefined) throw closedError(store);
      throwIfAborted(options?.signal);
      return connection.under(options?.signal);
    },
    close() {
      closing ??= connection.close();
      return closing;
    },
  };
}
