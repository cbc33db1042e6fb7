/** Runs with this process's `Date` so far ahead, or behind; timers go on as they were. */
export async function withClock<T>(aheadMs: number, run: () => Promise<T>): Promise<T> {
  const real = globalThis.Date;
  const now = (): number => real.now() + aheadMs;
  globalThis.Date = new Proxy(real, {
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
    construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
  });
  try {
    return await run();
  } finally {
    globalThis.Date = real;
  }
}
