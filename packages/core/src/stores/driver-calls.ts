import { callDriver } from "./call-driver.ts";

/** The calls of a store's driver, of which it knows when all have ended. */
export interface DriverCalls {
  /** {@link callDriver}, under the name of this store. */
  run<T>(call: () => T | Promise<T>, signal: AbortSignal | undefined): Promise<T>;
  /**
   * When those that are under way have ended, well or not, and those that follow from them at once: a method may take
   * several. Never rejects.
   */
  settled(): Promise<void>;
}

/**
 * Runs the calls of a store's driver by {@link callDriver} and keeps track of them, so that `close()` can wait for what
 * others still wait for before it ends the connection.
 *
 * @example
 * ```ts
 * import { driverCalls } from "@turnkeep/core/store-kit";
 *
 * function connect(client: { query(): Promise<string>; end(): Promise<void> }) {
 *   const calls = driverCalls("my-store");
 *   return {
 *     read: (signal?: AbortSignal) => calls.run(() => client.query(), signal),
 *     async close() {
 *       await calls.settled();
 *       await client.end();
 *     },
 *   };
 * }
 * ```
 */
export function driverCalls(store: string): DriverCalls {
  const underWay = new Set<Promise<unknown>>();
  return {
    run(call, signal) {
      const answer = callDriver(store, call, signal);
      underWay.add(answer);
      const ended = (): unknown => underWay.delete(answer);
      answer.then(ended, ended);
      return answer;
    },
    async settled() {
      while (underWay.size > 0) {
        await Promise.allSettled(underWay);
        // Who waited for the last has gone on by the next task, however many promises stand between.
        await new Promise((resolve) => setTimeout(resolve));
      }
    },
  };
}
