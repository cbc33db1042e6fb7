import { TurnkeepError } from "./errors.ts";

/** `ABORTED`: the caller's signal ended the call. */
export function abortedError(cause: unknown): TurnkeepError {
  return new TurnkeepError("ABORTED", "The caller's signal ended the call.", { cause });
}

/** Throws `ABORTED`, with the signal's reason as `cause`, if `signal` has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal.reason);
}

/** Who waits for a signal, and the one listener that tells them. */
interface Waiting {
  readonly callbacks: Set<() => void>;
  readonly tell: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls back when the signal fires, unless the function that is answered has been called by then. However many wait for
 * a signal, it has one listener, as long as somebody waits: Node warns of a leak where one has more than ten.
 *
 * @example
 * ```ts
 * import { onAbort } from "@turnkeep/core/store-kit";
 *
 * async function send(request: { cancel(): void; done: Promise<void> }, signal: AbortSignal): Promise<void> {
 *   const stop = onAbort(signal, () => request.cancel());
 *   await request.done.finally(stop);
 * }
 * ```
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, tell } = waiting.get(signal) ?? listenTo(signal);
  // A function of its own for each, should two hand in the same.
  const own = (): void => callback();
  callbacks.add(own);
  return () => {
    if (!callbacks.delete(own) || callbacks.size > 0) return;
    waiting.delete(signal);
    signal.removeEventListener("abort", tell);
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const callbacks = new Set<() => void>();
  const tell = (): void => {
    for (const callback of [...callbacks]) callback();
  };
  const made = { callbacks, tell };
  waiting.set(signal, made);
  signal.addEventListener("abort", tell, { once: true });
  return made;
}

/** Settles with the promise, or rejects with the signal's reason as soon as it fires. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    const stop = onAbort(signal, end);
    promise.then(resolve, reject).finally(stop);
  });
}
