import { driverCalls, ownClient, type StoreConnection } from "@turnkeep/core/store-kit";
import type { MariaDbSource } from "./options.ts";
import { type MariaDbPool, onConnection, openPool, type Run, transact } from "./pool.ts";
import { isRepeated, storeName, toldFault } from "./refusals.ts";
import type { Statement } from "./sql.ts";

export interface Calls {
  /** One statement, which is a transaction of its own. */
  run<R>(statement: Statement<R>): Promise<R[]>;
  /**
   * Several statements, of which all take effect or none; what `work` throws undoes them. After a deadlock `work` is called
   * again from its beginning, so it changes nothing but the database.
   */
  transaction<T>(work: (run: Run) => Promise<T>): Promise<T>;
}

/** Does no I/O. */
export function connect({ client, url, config }: MariaDbSource): StoreConnection<Calls> {
  const own = ownClient(
    () => openPool(config ?? { uri: url }),
    (opened) => opened.end(),
  );
  const calls = driverCalls(storeName);

  function call<T>(attempt: (pool: MariaDbPool) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return calls.run(async () => {
      const pool = client ?? (await own.get());
      return untilDone(() => attempt(pool), signal);
    }, signal);
  }

  return {
    under: (signal) => ({
      run: (statement) => call((pool) => onConnection(pool, (run) => run(statement), signal), signal),
      transaction: (work) => call((pool) => transact(pool, work, signal), signal),
    }),
    close: () => calls.closeAfter(own.close),
  };
}

/**
 * Repeats what others have prevented, if nothing of it has happened. Whatever else fails is told: an answer that was lost
 * may have been a yes, so a memory looks before it sends its update again.
 */
async function untilDone<T>(attempt: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (cause) {
      if (signal?.aborted || !isRepeated(cause, failures)) throw toldFault(cause);
      await stepAside(failures);
    }
  }
}

/** Those who met would meet again if all came back at once. */
function stepAside(failures: number): Promise<void> {
  const longestMs = Math.min(2 ** failures, 64);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longestMs));
}
