import {
  driverCalls,
  importError,
  ownClient,
  type StoreConnection,
  throwIfAborted,
} from "@turnkeep/core/store-kit";
import type { SqliteConnection } from "./options.ts";
import { isBusy, storeName, toldFault } from "./refusals.ts";
import type { Statement } from "./sql.ts";

/** What the store needs of a database. A `DatabaseSync` of `@photostructure/sqlite` has it, one of `node:sqlite` has it. */
export interface SqliteClient {
  exec(sql: string): void;
  prepare(sql: string): { all(...values: (string | number | null)[]): unknown[] };
  /** The file; `null` or `""` for a database in memory. */
  location(): string | null;
}

/** Runs one statement and answers its rows. */
export type Run = <R>(statement: Statement<R>) => R[];

export interface Calls {
  /** One statement, which is a transaction of its own. */
  run<R>(statement: Statement<R>): Promise<R[]>;
  /** Several statements that no other writer comes between; what `work` throws undoes all of them. */
  transaction<T>(work: (run: Run) => T): Promise<T>;
}

/** A database that the store opened itself. */
interface OwnClient extends SqliteClient {
  close(): void;
}

const maxAttempts = 100;

/** Does no I/O. */
export function connect({ client, url, config }: SqliteConnection): StoreConnection<Calls> {
  const own = ownClient(
    () => openDatabase(config ?? { path: url as string }),
    (opened) => opened.close(),
  );
  const calls = driverCalls(storeName);
  const prepared = new Map<string, ReturnType<SqliteClient["prepare"]>>();

  function runOn(target: SqliteClient): Run {
    return <R>({ text, values }: Statement<R>) => {
      let statement = prepared.get(text);
      if (statement === undefined) {
        statement = target.prepare(text);
        prepared.set(text, statement);
      }
      return statement.all(...values) as R[];
    };
  }

  function transact<T>(target: SqliteClient, work: (run: Run) => T): T {
    // A transaction that reads first and writes later could be refused in the middle; this one waits here.
    target.exec("begin immediate");
    try {
      const answer = work(runOn(target));
      target.exec("commit");
      return answer;
    } catch (cause) {
      rollBack(target);
      throw cause;
    }
  }

  /** The work itself is synchronous: once it has begun, nothing of this process comes between. */
  function call<T>(work: (target: SqliteClient) => T, signal: AbortSignal | undefined): Promise<T> {
    return calls.run(async () => {
      const target = client ?? (await own.get());
      throwIfAborted(signal);
      try {
        return work(target);
      } catch (cause) {
        throw toldFault(cause);
      }
    }, signal);
  }

  return {
    under: (signal) => ({
      run: (statement) => call((target) => runOn(target)(statement), signal),
      transaction: (work) => call((target) => transact(target, work), signal),
    }),
    close: () => calls.closeAfter(own.close),
  };
}

/** SQLite has undone the transaction by itself after some faults, a full disk for one; the first fault is the one to report. */
function rollBack(target: SqliteClient): void {
  try {
    target.exec("rollback");
  } catch {
    // There was no transaction left.
  }
}

/** Inside of a `try`, so that bundlers do without a driver that is not installed. */
async function importDriver() {
  try {
    return await import("@photostructure/sqlite");
  } catch (cause) {
    throw importError("@photostructure/sqlite", cause);
  }
}

async function openDatabase({ path, ...options }: { readonly path: string }): Promise<OwnClient> {
  const { DatabaseSync } = await importDriver();
  const database = new DatabaseSync(path, { timeout: 5_000, ...options });
  try {
    useWriteAheadLog(database);
    database.exec("pragma synchronous = full");
    return database;
  } catch (cause) {
    database.close();
    throw cause;
  }
}

/**
 * The mode stays with the file. SQLite refuses the change at once, without its usual wait, while others use the file:
 * so wait for them, in the one way that SQLite has, and ask again.
 */
function useWriteAheadLog(database: SqliteClient): void {
  for (let attempt = 1; ; attempt++) {
    try {
      database.exec("pragma journal_mode = wal");
      return;
    } catch (cause) {
      if (!isBusy(cause) || attempt === maxAttempts) throw cause;
      database.exec("begin exclusive; commit");
    }
  }
}

/** Whether what was acknowledged survives the process: a database in memory has no file. */
export function isDurable({ client }: SqliteConnection): boolean {
  return client === undefined || Boolean(client.location());
}
