import { callDriver } from "./call-driver.ts";

/** Runs the calls of a store's driver and knows when all have ended. */
export type DriverCalls = {
  /** {@link callDriver}, under the name of this store. */
  run<T>(call: () => T | Promise<T>, signal: AbortSignal | undefined): Promise<T>;
  /**
   * Resolves when the running calls have ended, successfully or not, together with those that directly follow them,
   * since one method may make several. Never rejects.
   */
  settled(): Promise<void>;
  /** Waits for the running calls as `settled` does, then closes the connection. What that throws is told as a call's. */
  closeAfter(close: () => unknown): Promise<void>;
};

/**
 * Runs the calls of a store's driver with {@link callDriver} and keeps track of them, so that `close()` can wait for
 * calls in progress before it ends the connection.
 *
 * @example
 * ```ts
 * import { driverCalls } from "@turnkeep/core/store-kit";
 *
 * function connect(client: { query(): Promise<string>; end(): Promise<void> }) {
 *   const calls = driverCalls("my-store");
 *   return {
 *     read: (signal?: AbortSignal) => calls.run(() => client.query(), signal),
 *     close: () => calls.closeAfter(() => client.end()),
 *   };
 * }
 * ```
 */
export function driverCalls(store: string): DriverCalls {
  let underWay = 0;
  /** Those who wait until no call is under way. */
  let waiting: (() => void)[] = [];
  const ended = (): void => {
    if (--underWay > 0) return;
    for (const go of waiting) go();
    waiting = [];
  };
  async function settled(): Promise<void> {
    while (underWay > 0) {
      await new Promise<void>((resolve) => waiting.push(resolve));
      // Whoever waited for the last call has continued by the next task, however many promises are in between.
      await new Promise((resolve) => setTimeout(resolve));
    }
  }
  return {
    run(call, signal) {
      underWay++;
      const answer = callDriver(store, call, signal);
      answer.then(ended, ended);
      return answer;
    },
    settled,
    async closeAfter(close) {
      await settled();
      await callDriver(store, async () => void (await close()), undefined);
    },
  };
}
