import { onAbort, orAborted, ownSignal, throwIfAborted } from "../abort.ts";
import { isTurnkeepError, TurnkeepError } from "../errors.ts";

/** How long a call may take, and what ends it earlier. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** See {@link Call.repeatUntil}; absent for a call that asks no store. */
  readonly repeatUntil?: number | undefined;
}

/** What a running call checks and passes on. */
export interface Call {
  readonly signal: AbortSignal;
  /** Until when what met a store that could not be reached is repeated, as `performance.now()`. */
  readonly repeatUntil: number;
  /** What to report if time runs out during retries: the newest conflict, or why the store could not be reached. */
  failure: TurnkeepError | undefined;
  /** Whether an earlier attempt may have taken effect although it failed. */
  isOpen: boolean;
}

/**
 * Runs a call that ends with the caller's signal or the time-out, even if what it waits for ignores them. Errors:
 * `ABORTED` by the caller; after the time-out what the last attempt met, else `STORE_UNAVAILABLE`.
 */
export async function withDeadline<T>(limits: CallLimits, run: (call: Call) => Promise<T>): Promise<T> {
  const { timeoutMs, signal, repeatUntil = 0 } = limits;
  throwIfAborted(signal);
  const own = ownSignal();
  const call: Call = { signal: own.signal, repeatUntil, failure: undefined, isOpen: false };
  let timedOut = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stop: (() => void) | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      const end = (reason: unknown): void => {
        own.abort(reason);
        reject(reason);
      };
      timer = setTimeout(() => {
        timedOut = true;
        end(new TurnkeepError("STORE_UNAVAILABLE", `The call took longer than ${timeoutMs} ms.`));
      }, timeoutMs);
      stop = signal && onAbort(signal, () => end(signal.reason));
      run(call).then(resolve, reject);
    });
  } catch (error) {
    throwIfAborted(signal);
    if (!timedOut) throw error;
    throw call.failure ?? unanswered(timeoutMs, error);
  } finally {
    clearTimeout(timer);
    stop?.();
  }
}

function unanswered(timeoutMs: number, cause: unknown): TurnkeepError {
  return new TurnkeepError(
    "STORE_UNAVAILABLE",
    `The call did not end within ${timeoutMs} ms (timeoutMs): the store, or a function of yours that the call waited for, ` +
      "took longer. If it was a write, it may or may not have been made; messages with ids of your own can be added again " +
      "without standing twice.",
    { cause },
  );
}

/** The same promise, but rejected with `ABORTED` if the caller's signal fires while it waits for its turn. */
export async function endedBy<T>(signal: AbortSignal, turn: Promise<T>): Promise<T> {
  try {
    return await orAborted(turn, signal);
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  }
}

/** Waits before another attempt: longer each time, and randomly, so that competing writers drift apart. */
export function backOff(attempt: number, signal: AbortSignal, mostMs = 100): Promise<void> {
  const longest = Math.min(5 * 2 ** attempt, mostMs);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.random() * longest);
  });
  return orAborted(wait, signal).finally(() => clearTimeout(timer));
}

/** The longest pause while a store cannot be reached: it may be away for long, and many processes may wait for it. */
const mostAwayMs = 2000;

/**
 * Until when a call that is made now is repeated. One that has waited for its turn that long is not: the calls before it
 * have found the store away, and each would wait as long again.
 */
export function repeatUntil({
  retry,
  timeoutMs,
}: {
  readonly retry: boolean;
  readonly timeoutMs: number;
}): number {
  return retry ? performance.now() + timeoutMs : 0;
}

/** Whether the same may succeed later, as far as the store can tell, and there is time for it. */
export function isRepeatable(
  error: unknown,
  { repeatUntil }: Pick<Call, "repeatUntil">,
): error is TurnkeepError {
  return isTurnkeepError(error, "STORE_UNAVAILABLE") && performance.now() < repeatUntil;
}

/** Repeats a read that the store could not serve, until it does or the call ends. */
export async function persist<T>(call: Call, read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      call.signal.throwIfAborted();
      if (!isRepeatable(error, call)) throw error;
      // What an unanswered write met says more: it may have been made.
      if (!call.isOpen) call.failure = error;
      await awayBackOff(attempt, call.signal);
    }
  }
}

/** Waits until a store that could not be reached may be back. */
export function awayBackOff(attempt: number, signal: AbortSignal): Promise<void> {
  return backOff(attempt, signal, mostAwayMs);
}

const definite = new Set([
  "VERSION_CONFLICT",
  "INVALID_OPTION",
  "INVALID_MESSAGE",
  "ID_CONFLICT",
  "MESSAGE_TOO_LARGE",
  "CORRUPT_RECORD",
  "UNSUPPORTED_VERSION",
  "STORE_NOT_READY",
  "STORE_REFUSED",
  "NOT_FOUND",
  "UNSUPPORTED",
  "CLOSED",
]);

/** Whether a failed write may have taken effect. */
export function isOpenOutcome(error: unknown): boolean {
  return !(isTurnkeepError(error) && definite.has(error.code));
}
