import {
  CallQueue,
  driverCalls,
  errorCode,
  invalidOption,
  ownClient,
  type StoreConnection,
  type TurnkeepError,
} from "@turnkeep/core/store-kit";
import type { Client, Pool } from "pg";
import type { PostgresConnection } from "./options.ts";
import { openPool, type Sent, StatementNames, sendOverPool, watch } from "./pool.ts";
import {
  failedTransaction,
  hasFailedBefore,
  isMisnamed,
  metOthers,
  refusedBy,
  storeName,
} from "./refusals.ts";
import type { Statement } from "./sql.ts";

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

/** How statements reach the database. */
interface Route {
  send(statement: Sent, signal: AbortSignal | undefined): Promise<QueryAnswer>;
  readonly takesNames: boolean;
  /** Each statement is a transaction of its own, so one that others have prevented may be sent again. */
  readonly repeats: boolean;
  close(): unknown;
}

/** A client in which statements have no names, and each is a transaction of its own. */
const plain = { takesNames: false, repeats: true };
/** The same over connections that keep statements by their names. */
const pooled = { takesNames: true, repeats: true };

const maxAttempts = 20;

/** Those who met would meet again if both came back at once. */
function stepAside(attempt: number): Promise<void> {
  const longestMs = Math.min(2 ** attempt, 64);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longestMs));
}

/** The driver's errors for a URL that cannot be used. */
const unreadable = new Set(["ERR_INVALID_URL", "ERR_SOCKET_BAD_PORT"]);

/** Does no I/O. `place` is where the tables are, for errors. */
export function connect(connection: PostgresConnection, place: string): StoreConnection<Calls> {
  const route = routeOf(connection);
  let { takesNames } = route;
  const names = new StatementNames();
  const calls = driverCalls(storeName);
  /** Why a transaction of the caller's has failed. */
  let failed: TurnkeepError | undefined;

  async function sendUntilDone(
    { text, values, recurs }: Statement<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<QueryAnswer> {
    for (let attempt = 1; ; attempt++) {
      const name = recurs && takesNames ? names.of(text) : undefined;
      try {
        const answer = checkAnswer(await route.send({ text, values, name }, signal));
        failed = undefined;
        return answer;
      } catch (cause) {
        if (name !== undefined && isMisnamed(cause) && !signal?.aborted) {
          takesNames = false;
          continue;
        }
        // Without the cause: a URL parser's error may quote the URL, with its password.
        if (unreadable.has(errorCode(cause))) {
          throw invalidOption("pg cannot read the url or config: check its host and port");
        }
        if (failed !== undefined && hasFailedBefore(cause)) throw failed;
        if (metOthers(cause)) {
          failed = failedTransaction(cause);
          if (!route.repeats) throw failed;
          if (attempt < maxAttempts && !signal?.aborted) {
            await stepAside(attempt);
            if (!signal?.aborted) continue;
          }
        }
        throw refusedBy(cause, place) ?? cause;
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
    // A pool that ends drops callers who still wait for one of its connections.
    close: () => calls.closeAfter(route.close),
  };
}

function routeOf({ client, url, config, folder }: PostgresConnection): Route {
  if (folder !== undefined) return overFolder(folder);
  if (client === undefined) return overOwnPool(config ?? { connectionString: url });
  if (isPool(client)) return overPool(client);
  if (isSingle(client)) return overSingle(client);
  return { ...plain, send: ({ text, values }) => client.query(text, values), close: () => undefined };
}

function overFolder(folder: string): Route {
  // Loaded where it is used: it needs files and processes, which not every place has that runs the rest.
  const open = async () => (await import("./folder/folder.ts")).openFolder(folder);
  // Whoever had it may have ended by the next call, which tries again.
  const embedded = ownClient(open, (opened) => opened.close());
  return {
    ...plain,
    send: async ({ text, values }) => (await embedded.get()).client().query(text, values),
    close: embedded.close,
  };
}

function overOwnPool(config: object): Route {
  const pool = ownClient(
    () => openPool(config),
    (opened) => opened.end(),
  );
  return {
    ...pooled,
    async send(statement, signal) {
      try {
        return await sendOverPool(await pool.get(), statement, signal);
      } catch (cause) {
        // A pool whose client could not even begin to connect would wait for it forever when it ends.
        if (unreadable.has(errorCode(cause))) pool.forget();
        throw cause;
      }
    },
    close: pool.close,
  };
}

function overPool(pool: Pool): Route {
  const send: Route["send"] = (statement, signal) => sendOverPool(pool, statement, signal);
  return { ...pooled, send, close: watch(pool).begin() };
}

/**
 * The client may be in a transaction of the caller's. An error ends that, so nothing is sent that might be refused for its
 * name, and nothing is sent again.
 */
function overSingle(client: PostgresClient & Client): Route {
  const statements = new CallQueue();
  return {
    takesNames: false,
    repeats: false,
    // A `Client` of `pg` warns of a statement sent while another is running, and from version 9 on refuses it.
    send: ({ text, values }, signal) =>
      statements.run(() => {
        // One that nobody waits for any more when its turn comes is not sent.
        signal?.throwIfAborted();
        return client.query(text, values);
      }),
    close: watch(client).begin(),
  };
}

/** A read comes before any write, so a client that does not count rows is refused before it has written. */
function checkAnswer(answer: QueryAnswer): QueryAnswer {
  if (answer.rowCount === undefined && answer.affectedRows === undefined) {
    throw invalidOption("client must answer rowCount as pg does, or affectedRows as PGlite does");
  }
  return answer;
}

function isPool(client: PostgresClient): client is PostgresClient & Pool {
  return "totalCount" in client && "idleCount" in client && "connect" in client;
}

function isSingle(client: PostgresClient): client is PostgresClient & Client {
  return "connectionParameters" in client;
}

/** Whether acknowledged writes survive the process. Only a PGlite in memory has no folder; all others have a server. */
export function isDurable({ client }: PostgresConnection): boolean {
  if (client === undefined || !("waitReady" in client)) return true;
  return client.dataDir !== undefined && !/^(memory:\/\/|$)/.test(client.dataDir);
}
