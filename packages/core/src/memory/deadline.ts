import { onAbort, orAborted, ownSignal, throwIfAborted } from "../abort.ts";
import { abortedError, isTurnkeepError, TurnkeepError } from "../errors.ts";

/** How long a call may take, and what ends it earlier. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** See {@link Call.repeatUntil}; absent for a call that asks no store. */
  readonly repeatUntil?: number | undefined;
}

/**
 * A running call: what it checks and passes on. Its timer and its signal are made once something may wait: in most calls
 * over a store in this process nothing does, and the two would cost as much as the rest.
 */
export class Call {
  /** Until when what met a store that could not be reached is repeated, as `performance.now()`. */
  readonly repeatUntil: number;
  /** What to report if time runs out during retries: the newest conflict, or why the store could not be reached. */
  failure: TurnkeepError | undefined;
  /** Whether an earlier attempt may have taken effect although it failed. */
  isOpen = false;
  readonly #limits: CallLimits;
  readonly #until: number;
  readonly #reject: (error: TurnkeepError) => void;
  #own: ReturnType<typeof ownSignal> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stop: (() => void) | undefined;

  constructor(limits: CallLimits, reject: (error: TurnkeepError) => void) {
    const { timeoutMs, signal, repeatUntil = 0 } = limits;
    this.repeatUntil = repeatUntil;
    this.#limits = limits;
    this.#until = performance.now() + timeoutMs;
    this.#reject = reject;
    if (signal !== undefined) this.mayWait();
  }

  /** From here on time ends the call, or the caller's signal, whatever it waits for. */
  mayWait(): void {
    this.#own ??= this.#begin();
  }

  /** Fires when the call ends. Whoever asks for it may wait. */
  get signal(): AbortSignal {
    this.#own ??= this.#begin();
    return this.#own.signal;
  }

  /** The signal for a store: none for one that never waits, unless something else may. */
  signalFor(store: { neverWaits(): boolean }): AbortSignal | undefined {
    return store.neverWaits() ? this.#own?.signal : this.signal;
  }

  get hasEnded(): boolean {
    return this.#own?.signal.aborted === true;
  }

  throwIfEnded(): void {
    this.#own?.signal.throwIfAborted();
  }

  /** Nothing is waited for any more. */
  settle(): void {
    clearTimeout(this.#timer);
    this.#stop?.();
  }

  #begin(): ReturnType<typeof ownSignal> {
    const { timeoutMs, signal } = this.#limits;
    const own = ownSignal();
    const end = (reason: unknown, error: TurnkeepError): void => {
      this.settle();
      own.abort(reason);
      this.#reject(error);
    };
    const expire = (): void => {
      const late = new TurnkeepError("STORE_UNAVAILABLE", `The call took longer than ${timeoutMs} ms.`);
      end(late, this.failure ?? unanswered(timeoutMs, late));
    };
    this.#timer = setTimeout(expire, Math.ceil(this.#until - performance.now()));
    this.#stop = signal && onAbort(signal, () => end(signal.reason, abortedError(signal.reason)));
    return own;
  }
}

/**
 * Runs a call that ends with the caller's signal or the time-out, even if what it waits for ignores them. Errors:
 * `ABORTED` by the caller; after the time-out what the last attempt met, else `STORE_UNAVAILABLE`.
 */
export function withDeadline<T>(limits: CallLimits, run: (call: Call) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    throwIfAborted(limits.signal);
    const call = new Call(limits, reject);
    run(call).then(
      (value) => {
        call.settle();
        resolve(value);
      },
      (error: unknown) => {
        call.settle();
        reject(error);
      },
    );
  });
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
      call.throwIfEnded();
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
  "BUSY",
  "TURN_LOST",
  "MESSAGE_TOO_LARGE",
  "MEMORY_FULL",
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
