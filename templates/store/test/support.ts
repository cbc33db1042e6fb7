import { randomBytes, randomUUID } from "node:crypto";
import { counting, type FaultOptions, failing } from "@turnkeep/conformance";
import type { MemoryUpdate, StoredMessage } from "@turnkeep/core";
import { createPool, type Pool, type RowDataPacket } from "mysql2/promise";
import type { MariaDbConnection, MariaDbPool } from "../src/index.ts";

/** An empty database of one test file, or of one run of the conformance kit. */
export interface Database {
  readonly url: string;
  /** Past the store, for what tests look at or break themselves. */
  readonly pool: Pool;
  drop(): Promise<void>;
}

/** The server that the tests use, from the environment. Its user may create databases. */
function serverUrl(): string {
  const { MARIADB_URL } = process.env;
  if (MARIADB_URL) return MARIADB_URL;
  throw new Error(
    "MARIADB_URL is not set: give the tests a server whose user may create databases, such as mysql://root@127.0.0.1:3306 of\n" +
      "  docker run --rm -p 127.0.0.1:3306:3306 -e MARIADB_ALLOW_EMPTY_ROOT_PASSWORD=1 mariadb:11.4",
  );
}

export async function newDatabase(): Promise<Database> {
  const name = `turnkeep_${randomBytes(8).toString("hex")}`;
  const url = new URL(serverUrl());
  const server = createPool({ uri: url.href, connectionLimit: 1 });
  await server.query(`create database ${name}`);
  url.pathname = `/${name}`;
  const pool = createPool({ uri: url.href });
  return {
    url: url.href,
    pool,
    async drop() {
      await pool.end();
      await server.query(`drop database if exists ${name}`);
      await server.end();
    },
  };
}

/** The rows of a statement that a test sends past the store. */
export async function rowsOf<R>(pool: Pool, text: string, values: (string | number)[] = []): Promise<R[]> {
  const [rows] = await pool.query<RowDataPacket[]>(text, values);
  return rows as R[];
}

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

/** A text column of a row that belongs to a memory, and how to find it again. */
interface Place {
  readonly table: "memories" | "messages";
  readonly key: number;
  readonly seq: number | null;
  readonly column: string;
  readonly text: string;
}

/** Every text of a memory that the store did not choose itself, and those of messages that belong to no memory. */
async function placesOf(pool: Pool, memoryId: string): Promise<Place[]> {
  const of = (table: "memories" | "messages", column: string, seq: string): string => `
    select '${table}' as \`table\`, t.memory_key as \`key\`, ${seq} as seq, '${column}' as \`column\`, t.${column} as text
    from turnkeep_${table} t left join turnkeep_memories h on h.memory_key = t.memory_key
    where t.${column} is not null and (h.memory_id = ? or h.memory_id is null)`;
  const selects = [
    ...["version", "owner", "head", "data"].map((column) => of("memories", column, "null")),
    ...["id", "payload", "meta"].map((column) => of("messages", column, "t.seq")),
  ];
  const text = `${selects.join(" union all ")} order by 1, 2, 3, 4`;
  return rowsOf<Place>(
    pool,
    text,
    selects.map(() => memoryId),
  );
}

const rowOf = ({ key, seq }: Place): string =>
  `memory_key = ${key}${seq === null ? "" : ` and seq = ${seq}`}`;

export async function rawRead(pool: Pool, memoryId: string): Promise<string[]> {
  return (await placesOf(pool, memoryId)).map(({ text }) => text);
}

export async function rawWrite(pool: Pool, memoryId: string, texts: readonly string[]): Promise<void> {
  for (const [index, place] of (await placesOf(pool, memoryId)).entries()) {
    const set = `update turnkeep_${place.table} set ${place.column} = ? where ${rowOf(place)}`;
    await pool.query(set, [texts[index] ?? place.text]);
  }
}

/** Removes the row that holds the text at this index of what `rawRead` answers. */
export async function rawRemove(pool: Pool, memoryId: string, index: number): Promise<void> {
  const place = (await placesOf(pool, memoryId))[index];
  if (place !== undefined) await pool.query(`delete from turnkeep_${place.table} where ${rowOf(place)}`);
}

/** How one call of a connection is made: as it is, counted, or not at all. */
type Around = <T>(call: Call, make: () => Promise<T>) => Promise<T>;

interface Call {
  readonly text: string;
  readonly values: readonly (string | null)[];
}

/** A pool whose connections make each of their calls through `around`; a call that it rejects also cuts the connection. */
export function through(pool: Pool, around: Around, cuts: boolean = true): MariaDbPool {
  return {
    async getConnection() {
      const connection = await pool.getConnection();
      async function made<T>(call: Call, make: () => Promise<T>): Promise<T> {
        try {
          return await around(call, make);
        } catch (cause) {
          if (cuts) connection.destroy();
          throw cause;
        }
      }
      const plain = (text: string, make: () => Promise<void>) => made({ text, values: [] }, make);
      const wrapped: MariaDbConnection = {
        execute: (options) =>
          made({ text: options.sql, values: options.values }, () => connection.execute(options)),
        beginTransaction: () => plain("start transaction", () => connection.beginTransaction()),
        commit: () => plain("commit", () => connection.commit()),
        rollback: () => plain("rollback", () => connection.rollback()),
        release: () => connection.release(),
        destroy: () => connection.destroy(),
      };
      return wrapped;
    },
  };
}

/** A pool that fails as the kit says. Without more than a `step` it dies as a process does. */
export function failingPool(pool: Pool, options: FaultOptions): MariaDbPool {
  const fault = failing(options);
  return through(pool, async ({ text }, make) => {
    if (!/^\s*(?:insert|update|delete|commit)/i.test(text)) {
      fault.read();
      return make();
    }
    const answered = fault.write();
    const answer = await make();
    answered();
    return answer;
  });
}

export function countedPool(pool: Pool): {
  readonly client: MariaDbPool;
  readonly count: () => { steps: number; bytes: number };
} {
  const { call, count } = counting();
  return { client: through(pool, call), count };
}

/** What a pool's owner could see of its connections' settings. */
export async function settingsOf(pool: Pool): Promise<unknown> {
  const names = [
    "tx_isolation",
    "autocommit",
    "time_zone",
    "sql_mode",
    "character_set_client",
    "sql_quote_show_create",
  ];
  return (await rowsOf(pool, `select ${names.map((name) => `@@${name}`).join()}, database()`))[0];
}
