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
import type { OpenFolder } from "./folder.ts";
import type { PostgresConnection } from "./options.ts";
import type { Statement } from "./sql.ts";

export const storeName = "postgresStore";

/** What the store needs from a client. A `Pool` or `Client` of `pg`, and a `PGlite`, provide it. */
export interface PostgresClient {
  /**
   * Runs one statement. Parameters are texts or null; rows are objects by column name. The number of rows that a change
   * touched is `rowCount` in `pg` and `affectedRows` in a `PGlite`.
   */
  query(text: string, values?: (string | null)[]): Promise<QueryAnswer>;
  /** The folder in which a `PGlite` keeps its data; without one, nothing survives the process. */
  readonly dataDir?: string | undefined;
}

/** What the store needs from a result. */
export interface QueryAnswer {
  readonly rows: unknown[];
  readonly rowCount?: number | null | undefined;
  readonly affectedRows?: number | undefined;
}

export interface Calls {
  run<R>(statement: Statement<R>): Promise<R[]>;
  /** Runs a statement that writes; returns whether it wrote, or returned a row. */
  write(statement: Statement<unknown>): Promise<boolean>;
}

/** `name`: the name under which the connection keeps the statement, parsed and planned. */
type Sent = Pick<Statement<unknown>, "text" | "values"> & { readonly name: string | undefined };

/**
 * Errors after which the statement is sent again: serialization failure and deadlock. If the default isolation level is
 * repeatable read or serializable, a statement that met a concurrent change is refused, and nothing of it has happened.
 */
const sendAgain = new Set(["40001", "40P01"]);
const maxAttempts = 20;

/**
 * Errors about a statement's name, before anything has happened: no statement has it, another has it, or its tables
 * have changed. Behind a pooler that moves clients between connections, such as PgBouncer before 1.21, a name given on
 * one connection may be unknown, or taken, on the next.
 */
const nameRefused = new Set(["26000", "42P05", "0A000"]);

/** The driver's errors for a URL that cannot be used. */
const unreadable = new Set(["ERR_INVALID_URL", "ERR_SOCKET_BAD_PORT"]);

/** Undefined table and column. */
const notReady = new Set(["42P01", "42703"]);

/** Does no I/O. `place` is where the tables are, for errors. */
export function connect(
  { client, url, config, folder }: PostgresConnection,
  place: string,
): StoreConnection<Calls> {
  let opened: Promise<Pool> | undefined;
  let openedFolder: Promise<OpenFolder> | undefined;
  let takesNames = folder === undefined && (client === undefined || isOfPg(client));
  const names = new Names();
  const statements = new CallQueue();
  const calls = driverCalls(storeName);

  async function send(statement: Sent, signal: AbortSignal | undefined): Promise<QueryAnswer> {
    if (folder !== undefined) {
      openedFolder ??= openFolderIn(folder).catch((cause) => {
        // Whoever had it may have ended by the next call.
        openedFolder = undefined;
        throw cause;
      });
      return query((await openedFolder).client(), statement);
    }
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
          // A pool whose client could not even begin to connect would wait for it forever when it ends.
          opened = undefined;
          // Without the cause: a URL parser's error may quote the URL, with its password.
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
      // A pool that ends drops callers who still wait for one of its connections.
      await calls.settled();
      const pool = await opened?.catch(() => undefined);
      await calls.run(() => pool?.end(), undefined);
      const embedded = await openedFolder?.catch(() => undefined);
      await calls.run(() => embedded?.close(), undefined);
    },
  };
}

/** The numbers of uses from which on a statement gets another name. */
const plannedAnew = new Set([1, 10, 100, 1_000, 10_000]);

/**
 * The names of statements. Each name is derived from one text, so it never means another. Once Postgres has a plan for
 * all parameters, it keeps it until its tables are analyzed, even one made when they were empty. So a statement is
 * planned anew, under another name, after 10, 100, 1,000 and 10,000 uses.
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

/** A statement that nobody waits for must not keep its connection from others, so the connection is cut. */
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
    // After other errors, such as the driver's time-out, the connection may still wait for a result.
    healthy = sendAgain.has(errorCode(cause)) || nameRefused.has(errorCode(cause));
    throw cause;
  } finally {
    stop?.();
    if (!signal?.aborted) client.release(!healthy);
  }
}

/** What a `Pool` or `Client` of `pg` offers beyond what the store needs. */
interface NamingClient {
  query(statement: Sent): Promise<QueryAnswer>;
}

function query(client: PostgresClient, { name, text, values }: Sent): Promise<QueryAnswer> {
  if (name === undefined) return client.query(text, values);
  return (client as unknown as NamingClient).query({ name, text, values });
}

/** A read comes before any write, so a client that does not count rows is refused before it has written. */
function checkAnswer(answer: QueryAnswer): QueryAnswer {
  if (answer.rowCount === undefined && answer.affectedRows === undefined) {
    throw invalidOption("client must answer rowCount as pg does, or affectedRows as PGlite does");
  }
  return answer;
}

/** Whether it takes named statements: a PGlite, or a wrapper around a client of `pg`, may not. */
function isOfPg(client: PostgresClient): boolean {
  return ("totalCount" in client && "idleCount" in client) || isSingle(client);
}

/** A `Client` of `pg` warns of a statement sent while another is running, and from version 9 on refuses it. */
function isSingle(client: PostgresClient): boolean {
  return "connectionParameters" in client;
}

/** Inside a `try`, so that bundlers do without a driver that is not installed. */
async function importDriver() {
  try {
    return await import("pg");
  } catch (cause) {
    throw importError("pg", cause);
  }
}

/** Loaded where it is used: it needs files and processes, which not every place has that runs the rest. */
async function openFolderIn(folder: string): Promise<OpenFolder> {
  return (await import("./folder.ts")).openFolder(folder);
}

async function openPool(config: object): Promise<Pool> {
  const { default: pg } = await importDriver();
  const pool = new pg.Pool({ connectionTimeoutMillis: 10_000, keepAlive: true, ...config });
  // A broken connection is also reported to these listeners, idle or in use; without one, the process would end.
  // Whoever waits for its result is told too; the pool drops it, and the next statement opens another or says why not.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => {});
  });
  return pool;
}

/** Whether acknowledged writes survive the process. Only a PGlite in memory has no folder; all others have a server. */
export function isDurable({ client }: PostgresConnection): boolean {
  if (client === undefined || !("waitReady" in client)) return true;
  return client.dataDir !== undefined && !/^(memory:\/\/|$)/.test(client.dataDir);
}
