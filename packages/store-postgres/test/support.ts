import { type ConformanceHarness, counting, type FaultOptions, failing } from "@turnkeep/conformance";
import { bundled, until } from "@turnkeep/store-tests";
import pg from "pg";
import { type PostgresClient, type PostgresStore, postgresStore } from "../src/index.ts";

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

/** A store without `ttlMs` as it was before memories had that column, or a later one, which its statements do not name. */
export function storeBefore(column: "sweep_at" | "data", client: PostgresClient): PostgresStore {
  // A parameter must be named somewhere, and neither of these is given.
  const withoutData = (text: string): string =>
    text
      .replace(/\s+active_at = case .* end,/, "")
      .replace("live, data,", "live,")
      .replace("$5::text, $6::int8multirange, $7::text,", "coalesce($5::text, $7::text), $6::int8multirange,")
      .replace("data = coalesce($10::text, h.data),", "")
      .replace("head = coalesce($5::text,", "head = coalesce($5::text, $10::text,")
      .replace(/union all\s+select '\+', h\.data.*\n/, "");
  const withoutSweepAt = (text: string): string =>
    text
      .replace("expires_at, sweep_at)", "expires_at)")
      .replace(/(, [^,\n]+)\1\n/, "$1\n")
      .replace(/, sweep_at = least.*\n/, "\n");
  const before = (text: string): string =>
    column === "data" ? withoutData(text) : withoutSweepAt(withoutData(text));
  return postgresStore({ client: { query: (text, values) => client.query(before(text), values) } });
}

/** A pool that hears without harm when a server, or a database under it, goes away. */
export function openPool(url: string, config: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, ...config });
  pool.on("error", () => {});
  return pool;
}

/** A store whose tables are made, over a pool, and the client that keeps its statements. */
export async function openRecorded(
  url: string,
): Promise<{ pool: pg.Pool; client: RecordingClient; store: PostgresStore }> {
  const pool = openPool(url);
  const client = recording(pool);
  const store = postgresStore({ client });
  await store.migrate();
  return { pool, client, store };
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

/**
 * Until so many statements wait for a lock in the watcher's database: other files use other databases of the same server at the
 * same time. The watcher is in no transaction: there it would see the same again and again.
 */
export async function untilWaiting(watcher: PostgresClient, count: number): Promise<void> {
  const waiting =
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await until(async () => (await watcher.query(waiting)).rows.length === count);
}

/** Everything that the database holds for a memory but its id and numbers, and texts of rows of no memory. */
export async function rawRead(client: PostgresClient, memoryId: string): Promise<string[]> {
  return (await placesOf(client, memoryId)).map(({ text }) => text);
}

/** Puts these texts in place of those that `rawRead` answers. */
export async function rawWrite(
  client: PostgresClient,
  memoryId: string,
  texts: readonly string[],
): Promise<void> {
  for (const [index, { table, name, key, seq }] of (await placesOf(client, memoryId)).entries()) {
    const rest = seq === null ? "" : ` and seq = ${seq}`;
    await client.query(`update ${table} set ${name} = $1 where memory_key = ${key}${rest}`, [
      texts[index] ?? "",
    ]);
  }
}

/** Removes the row that holds the text at this index of what `rawRead` answers. */
export async function rawRemove(client: PostgresClient, memoryId: string, index: number): Promise<void> {
  const place = (await placesOf(client, memoryId))[index];
  if (place === undefined) return;
  const rest = place.seq === null ? "" : ` and seq = ${place.seq}`;
  await client.query(`delete from ${place.table} where memory_key = ${place.key}${rest}`, []);
}

interface Place {
  readonly table: string;
  readonly name: string;
  readonly key: string;
  readonly seq: string | null;
  readonly text: string;
}

async function placesOf(client: PostgresClient, memoryId: string): Promise<Place[]> {
  const { rows } = await client.query(
    `select 'turnkeep_memories' as table, c.name, h.memory_key::text as key, null as seq, c.text
     from turnkeep_memories h
     cross join lateral (values ('version', h.version), ('owner', h.owner), ('head', h.head), ('data', h.data)) as c (name, text)
     where h.memory_id = $1 and c.text is not null
     union all
     select 'turnkeep_messages', c.name, m.memory_key::text, m.seq::text, c.text
     from turnkeep_messages m left join turnkeep_memories h using (memory_key)
     cross join lateral (values ('id', m.id), ('payload', m.payload), ('meta', m.meta)) as c (name, text)
     where (h.memory_id = $1 or h.memory_id is null) and c.text is not null
     order by 1, 3, 4 nulls first, 2`,
    [memoryId],
  );
  return rows as Place[];
}

/** A client whose statement number `step`, from 1, fails: unless it is told otherwise, the process is gone then. */
export function dying(client: PostgresClient, options: FaultOptions): PostgresClient {
  const fault = failing(options);
  return {
    async query(text, values) {
      const answered = fault.write();
      const rows = await client.query(text, values);
      answered();
      return rows;
    },
  };
}

/** What the kit does with a database of a server, from this process and another. */
export function serverAccess(
  client: () => PostgresClient,
  url: () => string,
): Pick<ConformanceHarness, "elsewhere" | "unreachable" | "counted" | "databaseNow"> {
  return {
    elsewhere: async () => ({ module: await bundled(new URL("elsewhere.ts", import.meta.url)), data: url() }),
    unreachable: () => ({
      store: postgresStore({ url: "postgres://app:s3cret@127.0.0.1:1/chat" }),
      secret: "s3cret",
    }),
    counted() {
      const { call, count } = counting();
      const query: PostgresClient["query"] = (text, values) =>
        call([text, values], () => client().query(text, values));
      return { store: postgresStore({ client: { query } }), count };
    },
    async databaseNow() {
      const { rows } = await client().query("select extract(epoch from clock_timestamp()) * 1000 as now", []);
      return Number((rows as { now: string }[])[0]?.now);
    },
  };
}

/** What the kit does to a database beside its stores; `client` is what `given` and `fault` are made over. */
export function rawAccess(
  client: () => PostgresClient,
): Pick<ConformanceHarness, "rawRead" | "rawWrite" | "rawRemove" | "fault" | "given"> {
  return {
    rawRead: (memoryId) => rawRead(client(), memoryId),
    rawWrite: (memoryId, texts) => rawWrite(client(), memoryId, texts),
    rawRemove: (memoryId, index) => rawRemove(client(), memoryId, index),
    fault: (options) => postgresStore({ client: dying(client(), options) }),
    given: () => ({
      store: postgresStore({ client: client() }),
      isOpen: () =>
        client()
          .query("select 1")
          .then(
            () => true,
            () => false,
          ),
    }),
  };
}
