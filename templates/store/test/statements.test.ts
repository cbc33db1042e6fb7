import type { MemoryUpdate } from "@turnkeep/core";
import {
  foldUpdate,
  type NormalHistoryQuery,
  type NormalListQuery,
  storedRows,
} from "@turnkeep/core/store-kit";
import { createPool } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { mariaDbStore } from "../src/index.ts";
import { identifiersOf } from "../src/migrations.ts";
import { type Statement, Statements } from "../src/sql.ts";
import { type Database, message, newDatabase, rowsOf, through, update } from "./support.ts";

// For another database: all of it, since every one of them shows its plans in its own way.
let database: Database;
beforeAll(async () => {
  database = await newDatabase();
  const store = mariaDbStore({ client: database.pool });
  await store.migrate();
  await fill();
});
afterAll(() => database?.drop());

/** Enough for the optimizer to tell a search from a walk: 200 memories, of which one has 2,000 messages, 20 of them live. */
async function fill(): Promise<void> {
  await database.pool.query(`insert into turnkeep_memories
    (memory_id, owner, version, next_seq, updated_at, active_at, expires_at)
    select concat('m', seq), concat('o', seq mod 10), 'v', 2001, seq, seq, if(seq mod 2, seq, null) from seq_1_to_200`);
  await database.pool.query(`insert into turnkeep_messages
    (memory_key, seq, id, superseded, created_at, payload)
    select memory_key, seq, concat('i', seq), 0, 0, '{}' from turnkeep_memories join seq_1_to_2000 where memory_id = 'm100'`);
  await database.pool.query(`insert into turnkeep_live
    select memory_key, seq from turnkeep_memories join seq_1981_to_2000 where memory_id = 'm100'`);
  await database.pool.query("analyze table turnkeep_memories, turnkeep_messages, turnkeep_live");
}

const sql = new Statements(identifiersOf("turnkeep_"), { ttlMs: 1000, activityMs: 60_000 });
/** What a page of history asks for, unless it says otherwise. */
const page: NormalHistoryQuery = {
  after: 0,
  before: Number.MAX_SAFE_INTEGER,
  order: "ascending",
  limit: 100,
  states: ["live", "evicted", "superseded"],
  ids: undefined,
};
const listing: NormalListQuery = { owner: undefined, order: "stored", after: undefined, limit: 10 };
const changed: MemoryUpdate = update("v", 2003, {
  append: [message(2001), message(2002)],
  replace: [{ ...message(1990), id: "i1990" }],
  move: [
    { seq: 1981, to: "evicted" },
    { seq: 1982, to: "superseded" },
    { seq: 1983, to: "removed" },
  ],
});

/** What it would walk through is nothing, and is told as all. */
const isInsertOfValues = (text: string): boolean => /^insert into/.test(text);

interface Plan {
  readonly table: string;
  readonly type: string;
  readonly rows: string | null;
  readonly Extra: string;
}

async function planOf({ text, values }: Statement<unknown>): Promise<Plan[]> {
  const [rows] = await database.pool.execute(`explain ${text}`, values);
  return (rows as Plan[]).filter(({ table }) => table !== null);
}

describe("no statement walks through more than it answers", () => {
  const key = "100";
  test.each<[what: string, statements: readonly Statement<unknown>[], sorts?: true]>([
    ["read", [sql.read("m100", undefined)]],
    ["look", [sql.look("m100", [1, 2])]],
    [
      "change",
      sql.change(key, foldUpdate(changed), storedRows(1, [])).filter(({ text }) => !isInsertOfValues(text)),
    ],
    ["remove", [sql.remove("m100"), sql.removeKey(key)]],
    ["history", [sql.history("m100", page), sql.history("m100", { ...page, order: "descending" })], true],
    ["history of live ones", [sql.history("m100", { ...page, states: ["live"] })]],
    ["history of others", [sql.history("m100", { ...page, states: ["evicted"], order: "descending" })]],
    ["history by ids", [sql.history("m100", { ...page, ids: ["i5", "i1990"] })], true],
    [
      "history by ids of lost ones",
      [sql.history("m100", { ...page, ids: ["i5", "turnkeep:lost:1990"] })],
      true,
    ],
    ["list", [sql.list(listing), sql.list({ ...listing, owner: "o1" })]],
    [
      "the newest",
      [sql.list({ ...listing, order: "newest" }), sql.list({ ...listing, order: "newest", owner: "o1" })],
    ],
  ])("%s", async (_what, statements, sorts) => {
    for (const statement of statements) {
      for (const { table, type, rows, Extra } of await planOf(statement)) {
        // What is walked through whole is the list that was sent, or the union of two pages.
        if (["n", "<derived2>", "<derived3>", "<union1,2>", "<union1,3>"].includes(table)) continue;
        expect(type, statement.text).not.toMatch(/^(?:ALL|index)$/);
        expect(Extra).not.toContain("temporary");
        if (!sorts) expect(Extra, statement.text).not.toContain("filesort");
        expect(Number(rows)).toBeLessThanOrEqual(2001);
      }
    }
  });
});

test("the prepared statements of a connection do not grow with what is sent", async () => {
  const pool = createPool({ uri: database.url, connectionLimit: 1 });
  onTestFinished(() => pool.end());
  const texts = new Set<string>();
  const client = through(pool, (call, make) => {
    texts.add(call.text);
    return make();
  });
  const store = mariaDbStore({ client });
  let version: string | null = null;
  let nextSeq = 1;
  for (const size of [...Array.from({ length: 20 }, (_, index) => index + 1), 64, 65, 72, 79]) {
    const append = Array.from({ length: size }, (_, index) => message(nextSeq + index));
    const moved = Array.from({ length: size - 1 }, (_, index) => ({
      seq: nextSeq - 1 - index,
      to: "evicted" as const,
    }));
    const next = update(version, nextSeq + size, { append, move: moved.slice(0, nextSeq - 1) });
    await store.updateMessages("growing", next);
    [version, nextSeq] = [next.version, nextSeq + size];
    await store.getMessages("growing");
    await store.getHistory("growing", { limit: size, ids: append.map(({ id }) => id) });
    await store.listMemories({ limit: size });
  }
  expect(texts.size).toBeLessThanOrEqual(25);
  const [own] = await rowsOf<{ Value: string }>(pool, "show session status like 'Com_stmt_prepare'");
  // Each once, and what makes and ends transactions is not prepared.
  expect(Number(own?.Value)).toBeLessThanOrEqual(texts.size);
}, 60_000);

test("what is sent at once stays below a server's limit of a packet, and 8 MiB are one message", async () => {
  const store = mariaDbStore({ url: database.url });
  onTestFinished(() => store.close());
  const [limit] = await rowsOf<{ bytes: number }>(database.pool, "select @@max_allowed_packet as bytes");
  expect(limit?.bytes).toBe(16 * 1024 * 1024);
  const long = JSON.stringify("é".repeat(4_190_000));
  const many = Array.from({ length: 64 }, (_, index) =>
    message(index + 1, JSON.stringify("x".repeat(300_000))),
  );
  const begin = update(null, 66, { append: [...many, message(65, long)] });
  await store.updateMessages("large", begin);
  const { messages } = await store.getMessages("large");
  expect(messages.map(({ payload }) => payload.length)).toEqual([
    ...many.map(({ payload }) => payload.length),
    long.length,
  ]);
  expect(messages.at(-1)?.payload).toBe(long);
}, 60_000);
