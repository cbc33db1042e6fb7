import {
  type ConformanceHarness,
  type ConformanceResult,
  type FaultOptions,
  failing,
} from "@turnkeep/conformance";
import { driverOf, type LibsqlClient, type SqliteClient, type SqliteValue } from "../src/drivers.ts";
import { sqliteStore } from "../src/index.ts";

// What stands here runs in any process, in a Worker too: nothing of Node's.

/** Asks a database past the store. */
export type Query = <Row>(text: string, ...values: SqliteValue[]) => Promise<Row[]>;

export function queryOf(client: SqliteClient): Query {
  const driver = driverOf(client);
  return async <Row>(text: string, ...values: SqliteValue[]) =>
    (await driver.batch([{ text, values }]))[0] as Row[];
}

/** A client whose batches go through `call`, which may count them, or end in one of them. */
export function through(
  client: SqliteClient,
  call: <T>(work: () => Promise<T>, texts: readonly string[]) => Promise<T>,
): LibsqlClient {
  const driver = driverOf(client);
  return {
    async batch(sent) {
      const statements = sent.map(({ sql: text, args: values }) => ({ text, values }));
      const texts = statements.map(({ text }) => text.trim());
      const answers = await call(async () => driver.batch(statements), texts);
      return answers.map((rows) => ({ rows }));
    },
  };
}

/** A client whose write number `step`, from 1, fails: unless it is told otherwise, the process is gone then. */
export function dying(client: SqliteClient, options: FaultOptions): LibsqlClient {
  const fault = failing(options);
  return through(client, async (work, texts) => {
    const isRead = texts.every((text) => /^(?:select|with)\b/i.test(text));
    const answered = isRead ? fault.read() : fault.write();
    const answer = await work();
    answered?.();
    return answer;
  });
}

interface Place {
  readonly table: string;
  readonly name: string;
  readonly key: number;
  readonly seq: number | null;
  readonly text: string;
}

/** Every text of a memory but its id, and those of messages of no memory. */
async function placesOf(query: Query, memoryId: string): Promise<Place[]> {
  const parts = ["version", "owner", "head", "data"].map(
    (
      name,
    ) => `select 'turnkeep_memories' as "table", '${name}' as name, h.memory_key as key, null as seq, h.${name} as text
      from turnkeep_memories h where h.memory_id = ?`,
  );
  const rest = ["id", "payload", "meta"].map(
    (
      name,
    ) => `select 'turnkeep_messages' as "table", '${name}' as name, m.memory_key as key, m.seq, m.${name} as text
      from turnkeep_messages m left join turnkeep_memories h on h.memory_key = m.memory_key
      where h.memory_id = ? or h.memory_id is null`,
  );
  const found: Place[] = [];
  for (const part of [...parts, ...rest]) found.push(...(await query<Place>(part, memoryId)));
  return found.filter(({ text }) => text !== null);
}

async function rawRemove(query: Query, memoryId: string, index: number): Promise<void> {
  const place = (await placesOf(query, memoryId))[index];
  if (place === undefined) return;
  const { table, key, seq } = place;
  const ofMessage = seq === null ? "" : `and seq = ${seq}`;
  await query(`delete from ${table} where memory_key = ? ${ofMessage}`, key);
}

async function rawWrite(query: Query, memoryId: string, texts: readonly string[]): Promise<void> {
  for (const [index, { table, name, key, seq, text }] of (await placesOf(query, memoryId)).entries()) {
    const ofMessage = seq === null ? "" : `and seq = ${seq}`;
    await query(
      `update ${table} set ${name} = ? where memory_key = ? ${ofMessage}`,
      texts[index] ?? text,
      key,
    );
  }
}

/** The kit over clients that a test makes, and ends itself. */
export function harnessOver(open: () => SqliteClient): ConformanceHarness {
  const query: Query = (text, ...values) => queryOf(open())(text, ...values);
  return {
    async create(options) {
      const store = sqliteStore({ client: open(), ...options });
      await store.migrate();
      return store;
    },
    rawRead: async (memoryId) => (await placesOf(query, memoryId)).map(({ text }) => text),
    rawWrite: (memoryId, texts) => rawWrite(query, memoryId, texts),
    rawRemove: (memoryId, index) => rawRemove(query, memoryId, index),
    fault: (options) => sqliteStore({ client: dying(open(), options) }),
    given() {
      const client = open();
      const isOpen = (): Promise<boolean> =>
        queryOf(client)("select 1").then(
          () => true,
          () => false,
        );
      return { store: sqliteStore({ client }), isOpen };
    },
  };
}

/** Results for another process: what was thrown stays here, and its message is among them. */
export function sent(results: readonly ConformanceResult[]): string {
  return JSON.stringify(results, (name, value) => (name === "error" ? undefined : value));
}
