import pg from "pg";
import type { PostgresClient } from "../src/index.ts";

export interface RecordingClient extends PostgresClient {
  readonly statements: { readonly text: string; readonly values: (string | null)[] }[];
}

/** Passes every statement on and keeps it. */
export function recording(client: PostgresClient): RecordingClient {
  const statements: RecordingClient["statements"] = [];
  return {
    statements,
    query(text, values = []) {
      statements.push({ text, values });
      return client.query(text, values);
    },
  };
}

/** A pool that hears without harm when a server, or a database under it, goes away. */
export function openPool(url: string, config: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, ...config });
  pool.on("error", () => {});
  return pool;
}

/** A client for what tests look at or break themselves. */
export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Everything that the database holds for a memory, and rows of no memory, as text. */
export async function rawRead(client: PostgresClient, memoryId: string): Promise<string[]> {
  const { rows } = await client.query(
    `select h::text as row from turnkeep_memories h where memory_id = $1
     union all
     select m::text from turnkeep_messages m left join turnkeep_memories h using (memory_key)
     where h.memory_id = $1 or h.memory_id is null`,
    [memoryId],
  );
  return (rows as { row: string }[]).map(({ row }) => row);
}
