import { createHash } from "node:crypto";
import {
  CallQueue,
  driverCalls,
  errorCode,
  importError,
  invalidOption,
  notReadyError,
  onAbort,
  type StoreConnection,
} from "@turnkeep/core/store-kit";
import type { Pool } from "pg";
import type { PostgresConnection } from "./options.ts";
import type { Statement } from "./sql.ts";

export const storeName = "postgresStore";

/** What the store needs of a client. A `Pool` and a `Client` of `pg` have it, a `PGlite` has it. */
export interface PostgresClient {
  /**
   * Runs one statement; parameters are texts or null, rows are objects by column name. How many rows a change has touched
   * is `rowCount` in `pg` and `affectedRows` in a `PGlite`.
   */
  query(text: string, values?: (string | null)[]): Promise<QueryAnswer>;
  /** Where a `PGlite` keeps its data; without a folder nothing survives the process. */
  readonly dataDir?: string | undefined;
}

/** What the store needs of an answer. */
export interface QueryAnswer {
  readonly rows: unknown[];
  readonly rowCount?: number | null | undefined;
  readonly affectedRows?: number | undefined;
}

export interface Calls {
  run<R>(statement: Statement<R>): Promise<R[]>;
  /** Runs a statement that writes; whether it has written, or has answered a row. */
  write(statement: Statement<unknown>): Promise<boolean>;
}

/** `name`: under which the connection keeps the statement, parsed and planned. */
type Sent = Pick<Statement<unknown>, "text" | "values"> & { readonly name: string | undefined };

/**
 * Refusals after which the statement is sent again: serialization failure and deadlock. Where the default isolation is
 * repeatable read or serializable, a statement that met a concurrent change is refused; nothing of it has happened.
 */
const sendAgain = new Set(["40001", "40P01"]);
const maxAttempts = 20;

/**
 * Refusals of a name, before anything has happened: no statement has it, another has, or its tables have changed. Behind
 * a pooler that moves clients between connections, such as PgBouncer before 1.21, a name that was given on one connection
 * is not known, or known already, on the next.
 */
const nameRefused = new Set(["26000", "42P05", "0A000"]);

/** What the driver says of an address that leads nowhere. */
const unreadable = new Set(["ERR_INVALID_URL", "ERR_SOCKET_BAD_PORT"]);

/** Undefined table and column. */
const notReady = new Set(["42P01", "42703"]);

/** Does no I/O. `place` is where the tables are, for errors. */
export function connect({ client, url, config }: PostgresConnection, place: string): StoreConnection<Calls> {
  let opened: Promise<Pool> | undefined;
  let takesNames = client === undefined || isOfPg(client);
  const names = new Names();
  const statements = new CallQueue();
  const calls = driverCalls(storeName);

  async function send(statement: Sent, signal: AbortSignal | undefined): Promise<QueryAnswer> {
    if (client === undefined) {
      opened ??= openPool(config ?? { connectionString: url });
      return sendOverPool(await opened, statement, signal);
    }
    if (!isSingle(client)) return query(client, statement);
    return statements.run(() => {
      // One that nobody waits for any more when its turn comes is not sent.
      signal?.throwIfAborted();
      return query(client, statement);
    });
  }

  async function sendUntilDone(
    { text, values, recurs }: Statement<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<QueryAnswer> {
    for (let attempt = 1; ; attempt++) {
      const name = recurs && takesNames ? names.of(text) : undefined;
      try {
        return checkAnswer(await send({ text, values, name }, signal));
      } catch (cause) {
        const code = errorCode(cause);
        if (name !== undefined && nameRefused.has(code) && !signal?.aborted) {
          takesNames = false;
          continue;
        }
        if (unreadable.has(code)) {
          // A pool whose client could not even begin to connect waits for it for ever when it ends.
          opened = undefined;
          // Without the cause: what parses an address may quote it, with its password.
          throw invalidOption("pg cannot read the url or config: check its host and port");
        }
        if (notReady.has(code)) throw notReadyError(storeName, `a table or column of ${place}`, cause);
        if (!sendAgain.has(code) || attempt === maxAttempts || signal?.aborted) throw cause;
      }
    }
  }

  return {
    under(signal) {
      const answer = (statement: Statement<unknown>): Promise<QueryAnswer> =>
        calls.run(() => sendUntilDone(statement, signal), signal);
      return {
        run: async <R>(statement: Statement<R>) => (await answer(statement)).rows as R[],
        async write(statement) {
          const { rows, rowCount, affectedRows } = await answer(statement);
          return rows.length > 0 || (rowCount ?? affectedRows ?? 0) > 0;
        },
      };
    },
    async close() {
      // A pool that ends forgets those who still wait for one of its connections.
      await calls.settled();
      const pool = await opened?.catch(() => undefined);
      await calls.run(() => pool?.end(), undefined);
    },
  };
}

/** The uses of a statement from which on it has another name. */
const plannedAnew = new Set([1, 10, 100, 1_000, 10_000]);

/**
 * The names of statements: each stands for its text, so that it can never mean another. A database that has a plan for all
 * parameters keeps it until its tables are analyzed, even one that was made when they were empty; so a statement is
 * planned anew under another name once it has been used 10, 100, 1,000 and 10,000 times.
 */
class Names {
  readonly #byText = new Map<string, { readonly hash: string; uses: number; name: string }>();

  of(text: string): string {
    let known = this.#byText.get(text);
    if (known === undefined) {
      known = { hash: createHash("sha256").update(text).digest("base64url"), uses: 0, name: "" };
      this.#byText.set(text, known);
    }
    known.uses++;
    if (plannedAnew.has(known.uses)) known.name = `turnkeep_${known.hash}_${String(known.uses).length}`;
    return known.name;
  }
}

/** A statement that nobody waits for any more must not keep a connection from others: its connection is cut. */
async function sendOverPool(
  pool: Pool,
  statement: Sent,
  signal: AbortSignal | undefined,
): Promise<QueryAnswer> {
  const client = await pool.connect();
  if (signal?.aborted) {
    client.release();
    throw signal.reason;
  }
  const stop = signal && onAbort(signal, () => client.release(true));
  let healthy = false;
  try {
    const result = await query(client, statement);
    healthy = true;
    return result;
  } catch (cause) {
    // After other faults, the driver's time-out for one, the connection may still wait for an answer.
    healthy = sendAgain.has(errorCode(cause)) || nameRefused.has(errorCode(cause));
    throw cause;
  } finally {
    stop?.();
    if (!signal?.aborted) client.release(!healthy);
  }
}

/** What a `Pool` or `Client` of `pg` can beside what the store needs. */
interface NamingClient {
  query(statement: Sent): Promise<QueryAnswer>;
}

function query(client: PostgresClient, { name, text, values }: Sent): Promise<QueryAnswer> {
  if (name === undefined) return client.query(text, values);
  return (client as unknown as NamingClient).query({ name, text, values });
}

/** A read comes before any write, so that a client that does not count has written nothing when it is refused. */
function checkAnswer(answer: QueryAnswer): QueryAnswer {
  if (answer.rowCount === undefined && answer.affectedRows === undefined) {
    throw invalidOption("client must answer rowCount as pg does, or affectedRows as PGlite does");
  }
  return answer;
}

/** Whether it takes statements with names: a PGlite, or what stands around a client of `pg`, may not. */
function isOfPg(client: PostgresClient): boolean {
  return ("totalCount" in client && "idleCount" in client) || isSingle(client);
}

/** A `Client` of `pg`, which warns of a statement that comes while another is under way, and of 9 will not take it. */
function isSingle(client: PostgresClient): boolean {
  return "connectionParameters" in client;
}

/** Inside of a `try`, so that bundlers do without a driver that is not installed. */
async function importDriver() {
  try {
    return await import("pg");
  } catch (cause) {
    throw importError("pg", cause);
  }
}

async function openPool(config: object): Promise<Pool> {
  const { default: pg } = await importDriver();
  const pool = new pg.Pool({ connectionTimeoutMillis: 10_000, keepAlive: true, ...config });
  // A connection that breaks is reported to these too, idle or in use, and ends the process if nobody listens. Who waits
  // for its answer is told as well; the pool drops it, and the next statement opens another, or says what is wrong.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => {});
  });
  return pool;
}

/** Whether what was acknowledged survives the process. A PGlite in memory has no folder; others have a server. */
export function isDurable({ client }: PostgresConnection): boolean {
  if (client === undefined || !("waitReady" in client)) return true;
  return client.dataDir !== undefined && !/^(memory:\/\/|$)/.test(client.dataDir);
}
