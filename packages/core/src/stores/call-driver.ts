import { storeError, throwIfAborted } from "./store-errors.ts";

/**
 * Runs a call of a store's driver as the contract asks: what the driver throws becomes a `TurnkeepError` by
 * {@link storeError}, and `signal` ends the wait at once with `ABORTED`, even if the driver does not listen to it.
 * What the call had begun may still happen then; nobody waits for it.
 *
 * @example
 * ```ts
 * import { callDriver } from "@turnkeep/core/store-kit";
 *
 * async function read(query: () => Promise<string>, signal?: AbortSignal): Promise<string> {
 *   return await callDriver("my-store", query, signal);
 * }
 * ```
 */
export async function callDriver<T>(
  store: string,
  call: () => T | Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  throwIfAborted(signal);
  let stop: (() => void) | undefined;
  try {
    if (signal === undefined) return await call();
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener("abort", stop);
    });
    return await Promise.race([call(), aborted]);
  } catch (cause) {
    throw storeError(store, cause, signal);
  } finally {
    if (stop !== undefined) signal?.removeEventListener("abort", stop);
  }
}
