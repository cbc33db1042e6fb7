import { abortedError, type TurnkeepError } from "./errors.ts";
import { type Check, wrongOption } from "./option-checks.ts";

/** `INVALID_OPTION` for anything but a signal. */
export function wrongSignal(signal: AbortSignal | undefined): TurnkeepError | undefined {
  // To read a signal's members is slow, and each call does so; those of another realm are signals too.
  if (signal === undefined || signal instanceof AbortSignal) return undefined;
  const { aborted, addEventListener, removeEventListener } = (signal ?? {}) as Partial<AbortSignal>;
  const isSignal =
    typeof aborted === "boolean" &&
    typeof addEventListener === "function" &&
    typeof removeEventListener === "function";
  return isSignal ? undefined : wrongOption("signal", signal, "an AbortSignal");
}

/**
 * A signal that ends a call.
 *
 * @example
 * ```ts
 * import { abortSignal, optional } from "@turnkeep/core/store-kit";
 *
 * const fields = { signal: optional(abortSignal) };
 * ```
 */
export const abortSignal: Check<AbortSignal> = (_, value) => {
  const wrong = wrongSignal(value as AbortSignal);
  if (wrong !== undefined) throw wrong;
};

/**
 * Throws `ABORTED`, with the signal's reason as `cause`, if `signal` has fired; `INVALID_OPTION` for anything but a
 * signal.
 */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  const wrong = wrongSignal(signal);
  if (wrong !== undefined) throw wrong;
  if (signal?.aborted) throw abortedError(signal.reason);
}

/** Those who wait for a signal. */
interface Waiting {
  readonly callbacks: Set<() => void>;
  /** For when nobody waits any more. */
  readonly forget?: () => void;
}

const ownWaiting: unique symbol = Symbol("waiting");

/** Bears those who wait for it: an entry in a `WeakMap` for every call would cost the collector more than the signal. */
interface OwnSignal extends AbortSignal {
  [ownWaiting]?: Waiting;
}

/** By signals that others made. */
const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * A signal and the function that makes it fire. Waiting for it with {@link onAbort} adds no listener: each call of a
 * memory has its own signal, and adding a listener is slow.
 */
export function ownSignal(): { readonly signal: AbortSignal; readonly abort: (reason: unknown) => void } {
  const controller = new AbortController();
  const signal: OwnSignal = controller.signal;
  const callbacks = new Set<() => void>();
  signal[ownWaiting] = { callbacks };
  const abort = (reason: unknown): void => {
    controller.abort(reason);
    tell(callbacks);
  };
  return { signal, abort };
}

/**
 * Calls back when the signal fires, unless the returned function was called before. However many callers wait for a
 * signal, it has one listener, and only while somebody waits: Node warns of a leak above ten. So what would leave its own
 * there, as `fetch` does, gets another signal.
 *
 * @example
 * ```ts
 * import { onAbort } from "@turnkeep/core/store-kit";
 *
 * async function read(url: string, signal: AbortSignal): Promise<string> {
 *   const own = new AbortController();
 *   const stop = onAbort(signal, () => own.abort(signal.reason));
 *   try {
 *     return await (await fetch(url, { signal: own.signal })).text();
 *   } finally {
 *     stop();
 *   }
 * }
 * ```
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, forget } = (signal as OwnSignal)[ownWaiting] ?? waiting.get(signal) ?? listenTo(signal);
  // A function for each call, in case two pass the same one.
  const own = (): void => callback();
  callbacks.add(own);
  return () => {
    if (callbacks.delete(own) && callbacks.size === 0) forget?.();
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const callbacks = new Set<() => void>();
  const listener = (): void => tell(callbacks);
  const forget = (): void => {
    waiting.delete(signal);
    signal.removeEventListener("abort", listener);
  };
  const made = { callbacks, forget };
  waiting.set(signal, made);
  signal.addEventListener("abort", listener, { once: true });
  return made;
}

function tell(callbacks: ReadonlySet<() => void>): void {
  for (const callback of [...callbacks]) {
    if (!callbacks.has(callback)) continue;
    try {
      callback();
    } catch (error) {
      // As with a listener: the error is reported, and the others are still told.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
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
