import { TurnkeepError } from "@turnkeep/core";

/** Settles with the promise, or rejects with `ABORTED` as soon as the signal fires. */
export function orAborted<T>(promise: Promise<T> | T, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(abortedError(signal));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    Promise.resolve(promise)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Throws `ABORTED`, with the signal's reason as `cause`, if the signal has fired. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortedError(signal);
}

export function abortedError(signal: AbortSignal): TurnkeepError {
  return new TurnkeepError("ABORTED", "The chat was aborted by its signal.", { cause: signal.reason });
}
