import { driverCalls, invalidOption, notReadyError } from "@turnkeep/core/store-kit";
import type { Pool } from "pg";
import type { PostgresConnection } from "./options.ts";
import type { Statement } from "./sql.ts";

export const storeName = "postgresStore";

/** What the store needs of a client. A `Pool` and a `Client` of `pg` have it, a `PGlite` has it. */
export interface PostgresClient {
  /** Runs one statement; parameters are texts or null, rows are objects by column name. */
  query(text: string, values?: (string | null)[]): Promise<{ rows: unknown[] }>;
  /** Where a `PGlite` keeps its data; without a folder nothing survives the process. */
  readonly dataDir?: string | undefined;
}

/** The way to the database: statements go out, the driver's faults come back as Turnkeep's errors. */
export interface Connection {
  run<R>(statement: Statement<R>, signal: AbortSignal | undefined): Promise<R[]>;
  close(): Promise<void>;
}

type Send = (statement: Statement<unknown>, signal: AbortSignal | undefined) => Promise<{ rows: unknown[] }>;

/**
 * Refusals after which the statement is sent again: serialization failure and deadlock. Where the default isolation is
 * repeatable read or serializable, a statement that met a concurrent change is refused; nothing of it has happened.
 */
const sendAgain = new Set(["40001", "40P01"]);
const maxAttempts = 20;

/** Undefined table, schema and column. */
const notReady = new Set(["42P01", "3F000", "42703"]);

/** Does no I/O. */
export function connect({ client, url, config }: PostgresConnection): Connection {
  let opened: Promise<Pool> | undefined;
  const calls = driverCalls(storeName);
  const send: Send =
    client !== undefined
      ? ({ text, values }) => client.query(text, values)
      : async (statement, signal) => {
          opened ??= openPool(config ?? { connectionString: url });
          return sendOverPool(await opened, statement, signal);
        };
  return {
    run: <R>(statement: Statement<R>, signal: AbortSignal | undefined) =>
      calls.run(() => sendUntilDone(send, statement, signal) as Promise<R[]>, signal),
    async close() {
      // A pool that ends forgets those who still wait for one of its connections.
      await calls.settled();
      const pool = await opened?.catch(() => undefined);
      await calls.run(() => pool?.end(), undefined);
    },
  };
}

async function sendUntilDone(
  send: Send,
  statement: Statement<unknown>,
  signal: AbortSignal | undefined,
): Promise<unknown[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await send(statement, signal)).rows;
    } catch (cause) {
      const code = codeOf(cause);
      // Without the cause: what parses an address may quote it, with its password.
      if (code === "ERR_INVALID_URL") throw invalidOption("pg cannot read the url: check its host and port");
      if (notReady.has(code)) throw notReadyError(storeName, "a table or column", cause);
      if (!sendAgain.has(code) || attempt === maxAttempts || signal?.aborted) throw cause;
    }
  }
}

/** A statement that nobody waits for any more must not keep a connection from others: its connection is cut. */
async function sendOverPool(
  pool: Pool,
  { text, values }: Statement<unknown>,
  signal: AbortSignal | undefined,
): Promise<{ rows: unknown[] }> {
  const client = await pool.connect();
  if (signal?.aborted) {
    client.release();
    throw signal.reason;
  }
  const cut = (): void => client.release(true);
  signal?.addEventListener("abort", cut);
  let healthy = false;
  try {
    const result = await client.query(text, values);
    healthy = true;
    return result;
  } catch (cause) {
    // After other faults, the driver's time-out for one, the connection may still wait for an answer.
    healthy = sendAgain.has(codeOf(cause));
    throw cause;
  } finally {
    signal?.removeEventListener("abort", cut);
    if (!signal?.aborted) client.release(!healthy);
  }
}

async function openPool(config: object): Promise<Pool> {
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    if (codeOf(cause) !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw invalidOption('url and config need the driver "pg": install it, or give the store a client');
  });
  const pool = new pg.Pool({ connectionTimeoutMillis: 10_000, keepAlive: true, ...config });
  // A connection that breaks is reported to these too, idle or in use, and ends the process if nobody listens. Who waits
  // for its answer is told as well; the pool drops it, and the next statement opens another, or says what is wrong.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => {});
  });
  return pool;
}

/** The SQLSTATE or code of a driver's error, `""` if it has none. */
export function codeOf(cause: unknown): string {
  const code: unknown =
    typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : "";
}

/** Whether what was acknowledged survives the process. A PGlite in memory has no folder; others have a server. */
export function isDurable({ client }: PostgresConnection): boolean {
  if (client === undefined || !("waitReady" in client)) return true;
  return client.dataDir !== undefined && !/^(memory:\/\/|$)/.test(client.dataDir);
}
