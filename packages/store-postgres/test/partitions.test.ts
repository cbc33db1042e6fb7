import { message, messages, update } from "@turnkeep/store-tests";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PostgresStore, postgresStore } from "../src/index.ts";
import { partition } from "./partitions.ts";
import { newDatabase } from "./server.ts";
import { openPool } from "./support.ts";

let pool: pg.Pool;
let store: PostgresStore;

const ids = Array.from({ length: 64 }, (_, index) => `m${index}`);
const begin = () => update(null, 4, { append: messages(1, 3) });
const begun = new Map(ids.map((id) => [id, begin()]));

beforeAll(async () => {
  pool = openPool(await newDatabase());
  store = postgresStore({ client: pool });
  await store.migrate();
  for (const id of ids.slice(0, 32)) await store.updateMessages(id, begun.get(id) ?? begin());
  await partition(pool);
  for (const id of ids.slice(32)) await store.updateMessages(id, begun.get(id) ?? begin());
});
afterAll(() => pool.end());

/** The partitions that hold messages. */
async function partitions(): Promise<number> {
  const { rows } = await pool.query("select distinct tableoid from turnkeep_messages");
  return rows.length;
}

test("what was there is in partitions, and stays as it was", async () => {
  expect(await partitions()).toBe(16);
  for (const id of ids) expect((await store.getMessages(id)).messages).toEqual(messages(1, 3));
  await store.migrate();
});

test("a row is changed in its own partition, whatever stands in its place in the others", async () => {
  const [id = ""] = ids;
  const changed = { ...message(2), payload: '"changed"' };
  const move = [
    { seq: 1, to: "superseded" as const },
    { seq: 3, to: "removed" as const },
  ];
  const version = begun.get(id)?.version ?? "";
  await store.updateMessages(id, update(version, 4, { replace: [changed], move }));
  expect((await store.getMessages(id)).messages).toEqual([changed]);
  expect((await store.getHistory(id, {})).messages.map(({ seq }) => seq)).toEqual([1, 2]);
  for (const other of ids.slice(1)) {
    expect((await store.getHistory(other, {})).messages).toMatchObject(messages(1, 3));
  }
});

test("a delete takes a memory's messages along, and no others", async () => {
  await store.deleteMessages(ids.at(-1) ?? "");
  const { rows } = await pool.query("select memory_key, count(*)::int from turnkeep_messages group by 1");
  expect(rows).toHaveLength(ids.length - 1);
});

/** The partitions that a statement looks into, as it is planned for its parameters and for all. What it does is undone. */
async function lookedInto(text: string, values: readonly (string | null)[]): Promise<string[]> {
  const session = await pool.connect();
  try {
    const found = new Set<string>();
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      await session.query(`begin; set local plan_cache_mode = ${mode}; prepare looked as ${text}`);
      const given = values.map((value) => (value === null ? "null" : session.escapeLiteral(value)));
      const { rows } = await session.query(`explain analyze execute looked (${given.join()})`);
      await session.query("rollback; deallocate looked");
      for (const line of rows.map((row) => String(row["QUERY PLAN"]))) {
        const [, part] = /Scan .*on (turnkeep_messages_\d+) .*\(actual /.exec(line) ?? [];
        if (part !== undefined) found.add(part);
      }
    }
    return [...found];
  } finally {
    session.release();
  }
}

test("each call looks into the partition of its memory alone", async () => {
  // Of a table of few pages, Postgres would rather read all.
  await pool.query(`
    with heads as (
      insert into turnkeep_memories (memory_id, version, next_seq, live, updated_at)
      select 'other ' || n, 'v', 501, '{[1,501)}', now() from generate_series(1, 100) n returning memory_key)
    insert into turnkeep_messages (memory_key, seq, id, superseded, created_at, payload)
    select memory_key, seq, 'm' || seq, false, 0, '{}' from heads, generate_series(1, 500) seq`);
  await pool.query("analyze turnkeep_memories, turnkeep_messages");
  const parts: string[][] = [];
  const looking = postgresStore({
    client: {
      async query(text, values = []) {
        parts.push(await lookedInto(text, values));
        return pool.query(text, values);
      },
    },
  });
  const [, id = ""] = ids;
  const version = begun.get(id)?.version ?? "";
  const last = update(version, 5, { append: [message(4)], replace: [{ ...message(2), payload: '"new"' }] });
  await looking.updateMessages(id, last);
  const move = [1, 2].map((seq) => ({ seq, to: "removed" as const }));
  await looking.updateMessages(id, update(last.version, 5, { move }));
  await looking.getMessages(id);
  for (const query of [{}, { states: ["live" as const] }, { ids: [message(3).id] }]) {
    await looking.getHistory(id, query);
  }
  expect(parts.map((part) => part.length)).toEqual([1, 1, 1, 1, 1, 1]);
  expect(new Set(parts.flat()).size).toBe(1);
});
