import { invalidOption } from "@turnkeep/core/store-kit";
import type { Statement } from "./sql.ts";

/** What a statement takes and answers. */
export type SqliteValue = string | number | null;

/** A database of `node:sqlite`, `better-sqlite3` or `libsql`: calls return when they are done. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqlitePrepared;
  /** Where `node:sqlite` keeps it; nothing: in memory. */
  location?(): string | null;
  /** Whether it is in memory, as `better-sqlite3` and `libsql` tell. */
  readonly memory?: boolean;
}

type SqlitePrepared = {
  all(...values: SqliteValue[]): unknown[];
  run(...values: SqliteValue[]): unknown;
  /** `false`: it returns no rows, and may refuse `all`. */
  readonly reader?: boolean;
};

/** A client of `@libsql/client`, or anything whose `batch` runs statements in one transaction. */
export interface LibsqlClient {
  batch(
    statements: { sql: string; args: SqliteValue[] }[],
    mode: "write" | "deferred",
  ): Promise<{ readonly rows: unknown[] }[]>;
}

/** A D1 database of Cloudflare. */
export interface D1Client {
  prepare(sql: string): { bind(...values: SqliteValue[]): object };
  batch(statements: object[]): Promise<{ readonly results?: unknown[] | undefined }[]>;
}

/** The storage of a Durable Object whose class is backed by SQLite. */
export interface DurableObjectClient {
  readonly sql: { exec(sql: string, ...values: SqliteValue[]): { toArray(): unknown[] } };
  transactionSync<T>(work: () => T): T;
}

/** What the store takes as its database. */
export type SqliteClient = SqliteDatabase | LibsqlClient | D1Client | DurableObjectClient;

/** A client as the store uses it. */
export interface Driver {
  /** Runs the statements in their order, in one transaction that no other write comes between. Answers the rows of each. */
  batch(statements: readonly Statement<unknown>[]): unknown[][] | Promise<unknown[][]>;
  /** Whether what was acknowledged survives the process. Absent: it does. */
  readonly durable?: boolean;
  /** The largest message that a row has room for. Absent: {@link defaultMaxMessageBytes}. */
  readonly maxMessageBytes?: number;
}

export const defaultMaxMessageBytes: number = 16 * 1024 * 1024;

/** A row of Cloudflare's has two million bytes; an id, times and SQLite's own header take some of them. */
const maxMessageBytesOfCloudflare = 2_000_000 - 1_000;

export function driverOf(client: SqliteClient): Driver {
  if (isDurableObject(client)) return overDurableObject(client);
  if (isD1(client)) return overD1(client);
  return isDatabase(client) ? overDatabase(client) : overLibsql(client);
}

/** Whether it is a client that has no `batch`. */
export function isClient(client: unknown): client is SqliteClient {
  return typeof client === "object" && client !== null && (isDurableObject(client) || isDatabase(client));
}

function isDurableObject(client: object): client is DurableObjectClient {
  return "transactionSync" in client && "sql" in client;
}

function isD1(client: object): client is D1Client {
  return "batch" in client && "prepare" in client;
}

function isDatabase(client: object): client is SqliteDatabase {
  return "exec" in client && "prepare" in client;
}

export function overDatabase(database: SqliteDatabase): Driver {
  const kept = new Map<string, SqlitePrepared>();

  function run({ text, values }: Statement<unknown>): unknown[] {
    const statement = kept.get(text) ?? database.prepare(text);
    kept.set(text, statement);
    if (statement.reader !== false) return statement.all(...values);
    statement.run(...values);
    return [];
  }

  return {
    durable: !isInMemory(database),
    batch(statements) {
      // A statement is a transaction of its own.
      if (statements.length === 1) return statements.map(run);
      // It waits for its turn here: one that only reads at first could be refused in the middle.
      database.exec("begin immediate");
      try {
        const answers = statements.map(run);
        database.exec("commit");
        return answers;
      } catch (cause) {
        rollBack(database);
        throw cause;
      }
    },
  };
}

function isInMemory(database: SqliteDatabase): boolean {
  return database.memory ?? (database.location !== undefined && !database.location());
}

/** SQLite has ended the transaction by itself after some faults, a full disk for one; the first fault is the one to report. */
function rollBack(database: SqliteDatabase): void {
  try {
    database.exec("rollback");
  } catch {
    // No transaction was left.
  }
}

function overLibsql(client: LibsqlClient): Driver {
  return {
    async batch(statements) {
      const sent = statements.map(({ text, values }) => ({ sql: text, args: [...values] }));
      // One that reads must not wait behind those who write.
      const answers = await client.batch(sent, statements.length === 1 ? "deferred" : "write");
      return answers.map(({ rows }) => rows);
    },
  };
}

function overD1(client: D1Client): Driver {
  return {
    maxMessageBytes: maxMessageBytesOfCloudflare,
    async batch(statements) {
      const answers = await client.batch(
        statements.map(({ text, values }) => client.prepare(text).bind(...values)),
      );
      return answers.map(({ results }) => results ?? []);
    },
  };
}

function overDurableObject(storage: DurableObjectClient): Driver {
  return {
    maxMessageBytes: maxMessageBytesOfCloudflare,
    batch: (statements) =>
      storage.transactionSync(() =>
        statements.map(({ text, values }) => storage.sql.exec(text, ...values).toArray()),
      ),
  };
}

/** Asked for and not imported, so that a bundle for a place without it needs no settings. */
export function nodeSqlite(): {
  readonly DatabaseSync: new (path: string) => SqliteDatabase & { close(): void };
} {
  const sqlite: unknown = globalThis.process?.getBuiltinModule?.("node:sqlite");
  if (sqlite !== undefined) return sqlite as ReturnType<typeof nodeSqlite>;
  throw invalidOption(
    `file needs node:sqlite, which Node ${globalThis.process?.versions?.node} does not have: use Node 22.13 or later, or install better-sqlite3 or libsql, and give a database of it as client`,
  );
}
