import { isTurnkeepError, TurnkeepError, type TurnkeepErrorDetails } from "@turnkeep/core";
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

/** Throws `ABORTED`, with the signal's reason as `cause`, if the signal has fired; `TURN_LOST` if that is why. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortedError(signal);
}

export function abortedError({ reason }: AbortSignal, details?: TurnkeepErrorDetails): TurnkeepError {
  if (isTurnkeepError(reason, "TURN_LOST")) return reason;
  const isOurs = isTurnkeepError(reason, "ABORTED");
  if (isOurs && details === undefined) return reason;
  const text = isOurs ? reason.message : "The chat was aborted by its signal.";
  return new TurnkeepError("ABORTED", text, { cause: reason, details });
}

/** Runs under a signal that fires with the given one, and with `ABORTED` once the time is up. */
export async function withTimeout<T>(
  timeoutMs: number | undefined,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeoutMs === undefined) return run(signal);
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  const stop = onAbort(signal, () => controller.abort(signal.reason));
  const timer = setTimeout(() => {
    const text = `The turn took longer than ${timeoutMs} ms (timeoutMs); its model, a tool or systemMessage did not end.`;
    controller.abort(new TurnkeepError("ABORTED", text));
  }, timeoutMs);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    stop();
  }
}
