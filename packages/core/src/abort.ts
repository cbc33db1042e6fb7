import { TurnkeepError } from "./errors.ts";

/** `ABORTED`: the caller's signal ended the call. */
export function abortedError(cause: unknown): TurnkeepError {
  return new TurnkeepError("ABORTED", "The caller's signal ended the call.", { cause });
}

/** Throws `ABORTED`, with the signal's reason as `cause`, if `signal` has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal.reason);
}

/** Who waits for a signal. */
class Waiting {
  readonly callbacks: Set<() => void> = new Set();
  /** Whether whoever makes the signal fire tells them, without a listener. */
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
        // As of a listener: it is reported, and keeps nobody else from being told.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  };
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * A signal, and what makes it fire. Who waits for it by {@link onAbort} costs it no listener: each call of a memory has a
 * signal of its own, and to add a listener to a signal takes long.
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
  const { callbacks, tell, isOwn } = waiting.get(signal) ?? listenTo(signal);
  // A function of its own for each, should two hand in the same.
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
