import type { Socket } from "node:net";
import { importError, isTurnkeepError, onAbort, throwIfAborted } from "@turnkeep/core/store-kit";
import { isFromServer } from "./refusals.ts";
import type { Statement } from "./sql.ts";

/** What the store needs of a pool. A `Pool` of `mysql2/promise` has it. */
export interface MariaDbPool {
  getConnection(): Promise<MariaDbConnection>;
}

/** What the store needs of a pool's connection. */
export interface MariaDbConnection {
  /** Sends a statement whose text it keeps prepared, and the values apart from it. */
  execute(options: MariaDbExecution): Promise<[answer: unknown, fields: unknown]>;
  beginTransaction(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  /** Gives it back to the pool. */
  release(): void;
  /** Takes it out of the pool and cuts it. */
  destroy(): void;
}

/** A statement, and how its rows are to come, whatever the pool's owner has set. */
export interface MariaDbExecution {
  readonly sql: string;
  readonly values: (string | null)[];
  readonly rowsAsArray: false;
  readonly namedPlaceholders: false;
  readonly nestTables: false;
  readonly typeCast: (field: unknown, next: () => unknown) => unknown;
}

/** A pool that the store opened itself. */
export interface OwnPool extends MariaDbPool {
  end(): Promise<void>;
}

/** Runs one statement and answers its rows. */
export type Run = <R>(statement: Statement<R>) => Promise<R[]>;

/** Inside of a `try`, so that bundlers do without a driver that is not installed. */
async function importDriver() {
  try {
    return await import("mysql2/promise");
  } catch (cause) {
    throw importError("mysql2", cause);
  }
}

/**
 * The driver would keep 16,000 prepared statements for each connection, about as many as a server allows to all of them
 * together. The store has some thirty texts: none of them depends on how much is sent.
 */
const defaults = { maxPreparedStatements: 100, connectTimeout: 10_000, charset: "utf8mb4" };

/**
 * A server's own level is most often REPEATABLE READ, which locks the gaps between rows that a statement has looked at: two
 * memories that lie side by side would wait for each other, and more of them would end as deadlocks. At READ COMMITTED a
 * statement locks the rows that it names. Either level is right for this store, which locks a memory's row before it
 * decides anything; so a pool that was given keeps its own.
 */
const isolation = "set session transaction isolation level read committed";

const ignore = (): void => {};

export async function openPool(config: object): Promise<OwnPool> {
  const { createPool } = await importDriver();
  const pool = createPool({ ...defaults, ...config });
  // Ahead of a connection's first statement. The event hands over a connection that calls back.
  pool.on("connection", (connection) => {
    (connection as unknown as { query(sql: string, done: () => void): void }).query(isolation, ignore);
  });
  return pool;
}

/**
 * Gives `use` a connection of the pool, and the pool the connection afterwards. One that nobody waits for any more is cut:
 * the server then undoes its transaction. So is one that may still be in the middle of something.
 */
export async function onConnection<T>(
  pool: MariaDbPool,
  use: (run: Run, connection: MariaDbConnection) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const connection = await pool.getConnection();
  if (signal?.aborted) {
    connection.release();
    throwIfAborted(signal);
  }
  const stop = signal && onAbort(signal, () => cut(connection));
  let isFree = false;
  try {
    const answer = await use(runOn(connection), connection);
    isFree = true;
    return answer;
  } catch (cause) {
    isFree = isFromServer(cause) || isTurnkeepError(cause);
    throw cause;
  } finally {
    stop?.();
    if (isFree && !signal?.aborted) connection.release();
    else cut(connection);
  }
}

/**
 * The driver itself only says goodbye: its socket, and with it the process, would stay until the server has said so too, which
 * waits for a lock, or is frozen.
 */
function cut(connection: MariaDbConnection): void {
  connection.destroy();
  const { connection: inner } = connection as { readonly connection?: { readonly stream?: Socket } };
  inner?.stream?.destroy();
}

/** All or nothing, on one connection: what `work` throws undoes what it did. */
export function transact<T>(
  pool: MariaDbPool,
  work: (run: Run) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  return onConnection(
    pool,
    async (run, connection) => {
      try {
        await connection.beginTransaction();
        const answer = await work(run);
        await connection.commit();
        return answer;
      } catch (cause) {
        // A lock that was waited for too long undoes its statement alone: the rest would be committed with what comes next.
        await connection.rollback().catch(() => cut(connection));
        throw cause;
      }
    },
    signal,
  );
}

/** Whatever a given pool's owner has set: rows are objects, and columns as the driver reads them. */
const asTheyAre = {
  rowsAsArray: false,
  namedPlaceholders: false,
  nestTables: false,
  typeCast: (_field: unknown, next: () => unknown): unknown => next(),
} as const;

function runOn(connection: MariaDbConnection): Run {
  return async <R>({ text, values }: Statement<R>) => {
    const [answer] = await connection.execute({ sql: text, values, ...asTheyAre });
    // What answers no rows answers how many it changed.
    return Array.isArray(answer) ? (answer as R[]) : [];
  };
}
