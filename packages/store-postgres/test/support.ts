import { randomUUID } from "node:crypto";
import type { MemoryUpdate, StoredMessage } from "@turnkeep/core";
import pg from "pg";
import type { PostgresClient, PostgresStore } from "../src/index.ts";

/** A change of a memory; what is left out is empty. `version` is fresh unless it is given. */
export function update(
  expected: string | null,
  nextSeq: number,
  change: Partial<MemoryUpdate> = {},
): MemoryUpdate {
  return { expected, version: randomUUID(), nextSeq, append: [], replace: [], move: [], ...change };
}

export function message(seq: number, payload: string = `{"n":${seq}}`): StoredMessage {
  return { id: `m${seq}`, seq, createdAt: 1_700_000_000_000 + seq, payload };
}

export function messages(from: number, to: number): StoredMessage[] {
  return Array.from({ length: to - from + 1 }, (_, index) => message(from + index));
}

/** Reads, appends one message to what it read, and begins again whenever somebody else was faster. */
export async function appendUntilDone(store: PostgresStore, memoryId: string, id: string): Promise<void> {
  for (;;) {
    const { version, nextSeq } = await store.getMessages(memoryId);
    const append = [{ ...message(nextSeq), id }];
    try {
      return await store.updateMessages(memoryId, update(version, nextSeq + 1, { append }));
    } catch (error) {
      if ((error as { code?: string }).code !== "VERSION_CONFLICT") throw error;
    }
  }
}

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
