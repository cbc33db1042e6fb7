import { TurnkeepError } from "@turnkeep/core";
import { onAbort } from "@turnkeep/core/store-kit";

/** Settles with the promise, or rejects with `ABORTED` as soon as the signal fires. */
export function orAborted<T>(promise: Promise<T> | T, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const end = (): void => reject(abortedError(signal));
    if (signal.aborted) end();
    const stop = onAbort(signal, end);
    Promise.resolve(promise).then(resolve, reject).finally(stop);
  });
}

/** Throws `ABORTED`, with the signal's reason as `cause`, if the signal has fired. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortedError(signal);
}

export function abortedError(signal: AbortSignal): TurnkeepError {
  return new TurnkeepError("ABORTED", "The chat was aborted by its signal.", { cause: signal.reason });
}
