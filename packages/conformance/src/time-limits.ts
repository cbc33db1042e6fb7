import { ConformanceError } from "./support/expect.ts";

/** What a case may still take once something was thrown in the background: what it waits for may never come. */
const graceMs = 1_000;

/** The longest wait of a timer, some 24 days: one that is given more fires at once. */
export const longestMs: number = 2 ** 31 - 1;

/** What a case threw. */
export interface Failure {
  readonly error: unknown;
  /** It did not end within its own limit. */
  readonly late: boolean;
}

/** Timers may fire a little early; this does not. */
export async function pass(ms: number): Promise<void> {
  const end = performance.now() + ms;
  for (let left = ms; left > 0; left = end - performance.now()) {
    await new Promise((resolve) => setTimeout(resolve, Math.ceil(left)));
  }
}

/**
 * What a case threw; `undefined`: it passed. `deadline` tells the case that its time is up, and `raised` resolves if
 * something was thrown in the background.
 */
export async function outcome(
  running: Promise<unknown>,
  timeoutMs: number,
  deadline?: AbortController,
  raised?: Promise<void>,
): Promise<Failure | undefined> {
  let late = false;
  const tooLate = (cut: boolean) => {
    late = !cut;
    const error = new ConformanceError(
      cut
        ? `the case: expected an end within ${graceMs} ms after that, saw none`
        : `the case: expected an end within ${timeoutMs} ms, saw none (timeoutMs, or --timeout, gives a slow store more)`,
    );
    deadline?.abort(error);
    return error;
  };
  try {
    await within(timeoutMs, running, tooLate, raised);
    return undefined;
  } catch (error) {
    return { error, late };
  }
}

/** Whether a call ends within so many milliseconds, however it does. */
export async function ends(call: () => Promise<unknown>, ms: number): Promise<boolean> {
  const settled = Promise.allSettled([call()]);
  return (await outcome(settled, ms)) === undefined;
}

/** What comes within so many milliseconds, or soon after `raised`; rejects with `late` where nothing does. */
export async function within<T>(
  ms: number,
  running: T | Promise<T>,
  late: (cut: boolean) => Error,
  raised?: Promise<void>,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late(false)), Math.min(ms, longestMs));
    void raised?.then(() => {
      if (over || ms <= graceMs) return;
      clearTimeout(timer);
      timer = setTimeout(() => reject(late(true)), graceMs);
    });
  });
  try {
    return await Promise.race([running, end]);
  } finally {
    over = true;
    clearTimeout(timer);
  }
}
