import { driverCalls, ownClient, type StoreConnection, throwIfAborted } from "@turnkeep/core/store-kit";
import { type Driver, defaultMaxMessageBytes, driverOf, nodeSqlite, overDatabase } from "./drivers.ts";
import type { SqliteConnection } from "./options.ts";
import { isBusy, refusedBy, storeName } from "./refusals.ts";
import type { Statement } from "./sql.ts";

export interface Calls {
  /** One statement. */
  run<R>(statement: Statement<R>): Promise<R[]>;
  /** Several in one transaction: all or none, with no other write between them. Answers the rows of each. */
  batch(statements: readonly Statement<unknown>[]): Promise<unknown[][]>;
  /** Lets whatever else the process has to do come first. To `close()` it is a call that is under way. */
  pause(): Promise<void>;
}

export interface Connected {
  readonly connection: StoreConnection<Calls>;
  /** Whether what was acknowledged survives the process. */
  readonly durable: boolean;
  readonly maxMessageBytes: number;
}

type OwnDriver = Driver & { close(): void };

/**
 * Of a file that the store opens. The log lets others read while one writes, and stays the file's mode. An acknowledged write
 * survives a crash of the machine. Whoever is in the way is told of at once: the store waits by itself.
 */
const settings = "pragma busy_timeout = 0; pragma journal_mode = wal; pragma synchronous = full";

/** How long a call waits for the writes of others. */
const waitsMs = 5_000;

/** Those who met would meet again if both came back at once. */
function stepAside(attempt: number): Promise<void> {
  const longestMs = Math.min(2 ** attempt, 32);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longestMs));
}

/** Calls again while another connection is in the way. Other work goes on meanwhile: SQLite's own wait would hold it up. */
async function untilFree<T>(call: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const until = performance.now() + waitsMs;
  for (let attempt = 1; ; attempt++) {
    throwIfAborted(signal);
    try {
      return await call();
    } catch (cause) {
      if (!isBusy(cause) || performance.now() > until) throw refusedBy(cause) ?? cause;
    }
    await stepAside(attempt);
  }
}

/** Does no I/O. */
export function connect({ client, file }: SqliteConnection): Connected {
  const given = client && driverOf(client);
  const own = ownClient(opener(file), (opened) => opened.close());
  const calls = driverCalls(storeName);
  const connection: StoreConnection<Calls> = {
    under(signal) {
      const batch: Calls["batch"] = (statements) =>
        calls.run(
          () => untilFree(async () => (given ?? (await own.get())).batch(statements), signal),
          signal,
        );
      const pause = () => calls.run(() => new Promise<void>((resolve) => setTimeout(resolve)), signal);
      return {
        batch,
        pause,
        run: async <R>(statement: Statement<R>) => (await batch([statement]))[0] as R[],
      };
    },
    close: () => calls.closeAfter(own.close),
  };
  const { durable = true, maxMessageBytes = defaultMaxMessageBytes } = given ?? {};
  return { connection, durable, maxMessageBytes };
}

/** Opens a file that may be new; what others do at that moment is waited for, as in any call. */
function opener(file: string | undefined): () => Promise<OwnDriver> {
  if (file === undefined) return () => Promise.reject(new Error("A client was given"));
  const { DatabaseSync } = nodeSqlite();
  return async () => {
    const database = new DatabaseSync(file);
    const close = (): void => database.close();
    try {
      database.exec(settings);
      return { ...overDatabase(database), close };
    } catch (cause) {
      close();
      throw cause;
    }
  };
}
