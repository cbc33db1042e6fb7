import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
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
      await withClient(serverUrl, async (client) => {
        await untilLeft(client, name);
        await client.query(`drop database if exists ${name} with (force)`);
      });
    },
  };
}

/**
 * Waits until nobody is connected, for a second at most. A pool's `end` resolves before its connections have closed, and
 * one that is cut just then raises an error that no code can catch any more.
 */
async function untilLeft(client: pg.Client, database: string): Promise<void> {
  const deadline = Date.now() + 1_000;
  for (;;) {
    const { rows } = await client.query("select from pg_stat_activity where datname = $1 limit 1", [
      database,
    ]);
    if (rows.length === 0 || Date.now() > deadline) return;
    await delay(10);
  }
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
