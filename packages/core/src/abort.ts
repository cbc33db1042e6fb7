import { TurnkeepError } from "./errors.ts";

/** `ABORTED`: the caller's signal ended the call. */
export function abortedError(cause: unknown): TurnkeepError {
  return new TurnkeepError("ABORTED", "The caller's signal ended the call.", { cause });
}

/** Throws `ABORTED`, with the signal's reason as `cause`, if `signal` has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal.reason);
}

/** Settles with the promise, or rejects with the signal's reason as soon as it fires. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
