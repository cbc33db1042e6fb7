import { setTimeout as delay } from "node:timers/promises";

/** Waits now and then, so that calls overtake one another. */
export async function stumble(): Promise<void> {
  if (Math.random() < 1 / 40) await delay(30 * Math.random());
}

/**
 * What the calls of a process to its database go through; it dies at the one of that number, before it is sent or before
 * the answer is there.
 */
export function mortal(diesAt: number = Number.POSITIVE_INFINITY): <A>(call: () => Promise<A>) => Promise<A> {
  let count = 0;
  return async (call) => {
    await stumble();
    if (++count < diesAt) return call();
    if (count === diesAt && diesAt % 2 === 0) await call();
    throw new Error("the process has died");
  };
}
