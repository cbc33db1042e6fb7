import { TurnkeepError } from "./errors.ts";

/** `ABORTED`: the caller's signal ended the call. */
export function abortedError(cause: unknown): TurnkeepError {
  return new TurnkeepError("ABORTED", "The caller's signal ended the call.", { cause });
}

/** Throws `ABORTED`, with the signal's reason as `cause`, if `signal` has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal.reason);
}

/** Those who wait for a signal. */
class Waiting {
  readonly callbacks: Set<() => void> = new Set();
  /** Whether {@link ownSignal} made the signal, and tells them itself, without a listener. */
  readonly isOwn: boolean;

  constructor(isOwn: boolean) {
    this.isOwn = isOwn;
  }

  readonly tell = (): void => {
    for (const callback of [...this.callbacks]) {
      if (!this.callbacks.has(callback)) continue;
      try {
        callback();
      } catch (error) {
        // As with a listener: the error is reported, and the others are still told.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  };
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * A signal and the function that makes it fire. Waiting for it with {@link onAbort} adds no listener: each call of a
 * memory has its own signal, and adding a listener is slow.
 */
export function ownSignal(): { readonly signal: AbortSignal; readonly abort: (reason: unknown) => void } {
  const controller = new AbortController();
  const { signal } = controller;
  const own = new Waiting(true);
  waiting.set(signal, own);
  const abort = (reason: unknown): void => {
    controller.abort(reason);
    own.tell();
  };
  return { signal, abort };
}

/**
 * Calls back when the signal fires, unless the returned function was called before. However many callers wait for a
 * signal, it has one listener, and only while somebody waits: Node warns of a leak above ten.
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
  const { callbacks, tell, isOwn } = waiting.get(signal) ?? listenTo(signal);
  // A function for each call, in case two pass the same one.
  const own = (): void => callback();
  callbacks.add(own);
  return () => {
    if (!callbacks.delete(own) || callbacks.size > 0 || isOwn) return;
    waiting.delete(signal);
    signal.removeEventListener("abort", tell);
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const made = new Waiting(false);
  waiting.set(signal, made);
  signal.addEventListener("abort", made.tell, { once: true });
  return made;
}

/** Settles with the promise, or rejects with the signal's reason as soon as it fires. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    const stop = onAbort(signal, end);
    promise.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}
