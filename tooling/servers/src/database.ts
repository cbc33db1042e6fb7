import { randomBytes } from "node:crypto";
import pg from "pg";

/** An empty database of one test file. */
export interface TestDatabase {
  readonly name: string;
  /** `postgres://user:password@host:port/name` */
  readonly url: string;
  /** Removes it, also while connections to it are open. Calling it again does nothing. */
  drop(): Promise<void>;
}

/**
 * Makes an empty database on the server at `serverUrl`, the same on every server: UTF-8, sorted by bytes.
 *
 * @example
 * ```ts
 * import { createDatabase } from "@turnkeep/servers";
 * import { afterAll, inject } from "vitest";
 *
 * const database = await createDatabase(inject("postgresUrl"));
 * afterAll(() => database.drop());
 * ```
 */
export async function createDatabase(serverUrl: string): Promise<TestDatabase> {
  const name = `turnkeep_${randomBytes(8).toString("hex")}`;
  await withClient(serverUrl, (client) =>
    client.query(`create database ${name} template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'`),
  );
  return {
    name,
    url: withDatabase(serverUrl, name),
    async drop() {
      await withClient(serverUrl, (client) => client.query(`drop database if exists ${name} with (force)`));
    },
  };
}

/** The same address with another database in it. */
export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Connects, hands the client to `use` and closes it, whatever happens. Gives up connecting after 5 seconds. */
export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // A connection that breaks while it is idle would otherwise end the process.
  client.on("error", () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}
