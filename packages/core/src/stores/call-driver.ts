import { orAborted, throwIfAborted } from "../abort.ts";
import { storeError } from "../errors.ts";

/**
 * Runs a call of a store's driver as the contract requires: whatever the driver throws becomes a `TurnkeepError` (see
 * {@link storeError}), and `signal` ends the wait at once with `ABORTED`, even if the driver ignores it. The driver may
 * still finish what it began; nobody waits for that.
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
  try {
    const answer = call();
    return await (signal === undefined ? answer : orAborted(Promise.resolve(answer), signal));
  } catch (cause) {
    throw storeError(store, cause, signal);
  }
}
