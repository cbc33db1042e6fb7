import { ConformanceError } from "./support/expect.ts";

/** Timers may fire a little early; this does not. */
export async function pass(ms: number): Promise<void> {
  const end = performance.now() + ms;
  for (let left = ms; left > 0; left = end - performance.now()) {
    await new Promise((resolve) => setTimeout(resolve, Math.ceil(left)));
  }
}

/** What a case threw, boxed; `undefined`: it passed. */
export async function outcome(
  running: Promise<unknown>,
  timeoutMs: number,
  deadline: AbortController,
): Promise<{ error: unknown } | undefined> {
  const late = () => {
    const error = new ConformanceError(
      `the case: expected an end within ${timeoutMs} ms, saw none (timeoutMs, or --timeout, gives a slow store more)`,
    );
    deadline.abort(error);
    return error;
  };
  try {
    await within(timeoutMs, running, late);
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** What comes within so many milliseconds; rejects with `late` where nothing does. */
export async function within<T>(ms: number, running: T | Promise<T>, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([running, end]);
  } finally {
    clearTimeout(timer);
  }
}
