import { createPool } from "mysql2/promise";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type MariaDbStore, mariaDbStore } from "../src/index.ts";
import { now } from "../src/sql.ts";
import { inProcesses } from "./processes.ts";
import { type Database, message, newDatabase, rowsOf, through, update } from "./support.ts";

let database: Database;
let store: MariaDbStore;
beforeAll(async () => {
  database = await newDatabase();
  store = mariaDbStore({ url: database.url });
  await store.migrate();
});
afterAll(async () => {
  await store?.close();
  await database?.drop();
});

// The next three hold of any database that several processes use.
test("four processes append to one memory, and every message lands once, in one order", async () => {
  const count = 25;
  const answers = await inProcesses(4, { url: database.url, work: "append", count });
  expect(answers).toEqual(["done", "done", "done", "done"]);
  const { messages, nextSeq } = await store.getMessages("crowded");
  expect(nextSeq).toBe(4 * count + 1);
  expect(messages.map(({ seq }) => seq)).toEqual(Array.from({ length: 4 * count }, (_, index) => index + 1));
  expect(new Set(messages.map(({ id }) => id)).size).toBe(4 * count);
}, 120_000);

test("four processes begin the same memories, and each is begun once", async () => {
  const count = 25;
  const answers = await inProcesses(4, { url: database.url, work: "begin", count });
  expect(answers.map(Number).reduce((sum, begun) => sum + begun, 0)).toBe(count);
}, 120_000);

test("a reader is not held up by another's open transaction, and sees none of it", async () => {
  const begin = update(null, 2, { append: [message(1)] });
  await store.updateMessages("a", begin);
  const other = await database.pool.getConnection();
  await other.beginTransaction();
  await other.query("update turnkeep_memories set version = 'half'");
  expect((await store.getMessages("a")).version).toBe(begin.version);
  await other.rollback();
  other.release();
});

// For another database: what it answers to those that it has prevented.
const answers = {
  deadlock: { code: "ER_LOCK_DEADLOCK", errno: 1213, sqlState: "40001" },
  "row that changed": { code: "ER_CHECKREAD", errno: 1020, sqlState: "HY000" },
  "wait for a lock": { code: "ER_LOCK_WAIT_TIMEOUT", errno: 1205, sqlState: "HY000" },
};

/** A store whose writes of messages fail so many times with that answer, and what it has sent. */
function prevented(times: number, answer: (typeof answers)[keyof typeof answers]) {
  const sent: string[] = [];
  let left = times;
  const client = through(
    database.pool,
    (call, make) => {
      sent.push(call.text.trim().split(/\s+/).slice(0, 2).join(" "));
      if (!/insert into `turnkeep_messages`/.test(call.text) || left-- <= 0) return make();
      throw Object.assign(new Error("prevented"), answer);
    },
    false,
  );
  return { store: mariaDbStore({ client }), sent };
}

test.each(Object.entries(answers))(
  "after a %s the whole transaction is undone, and repeated",
  async (what, answer) => {
    const { store, sent } = prevented(1, answer);
    const begin = update(null, 2, { append: [message(1)] });
    await store.updateMessages(what, begin);
    expect(sent.filter((text) => text === "start transaction")).toHaveLength(2);
    expect(sent.filter((text) => text === "rollback")).toHaveLength(1);
    expect((await store.getMessages(what)).messages).toEqual([message(1)]);
  },
);

test("what is prevented again and again is told, as nothing that was written", async () => {
  const { store, sent } = prevented(Number.POSITIVE_INFINITY, answers.deadlock);
  await expect(
    store.updateMessages("never", update(null, 2, { append: [message(1)] })),
  ).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("Nothing was written"),
  });
  expect(sent.filter((text) => text === "start transaction")).toHaveLength(21);
  expect((await store.getMessages("never")).version).toBeNull();
});

test("a fault that may have been a yes is not repeated", async () => {
  const { store, sent } = prevented(1, { ...answers.deadlock, code: "PROTOCOL_CONNECTION_LOST" });
  await expect(store.updateMessages("open", update(null, 2, { append: [message(1)] }))).rejects.toMatchObject(
    {
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("open"),
    },
  );
  expect(sent.filter((text) => text === "start transaction")).toHaveLength(1);
});

test("two memories that lie side by side do not wait for each other, whatever the pool's isolation level", async () => {
  for (const level of ["read committed", "repeatable read", "serializable"]) {
    const pool = createPool({ uri: database.url });
    onTestFinished(() => pool.end());
    pool.on("connection", (connection) => {
      (connection as unknown as { query(sql: string): void }).query(
        `set session transaction isolation level ${level}`,
      );
    });
    const store = mariaDbStore({ client: pool });
    const ids = Array.from({ length: 8 }, (_, index) => `${level} ${index}`);
    await Promise.all(
      ids.map(async (id) => {
        let version: string | null = null;
        for (let seq = 1; seq <= 10; seq++) {
          const next = update(version, seq + 1, {
            append: [message(seq)],
            move: seq > 2 ? [{ seq: seq - 2, to: seq % 2 === 0 ? "evicted" : "removed" }] : [],
          });
          await store.updateMessages(id, next);
          version = next.version;
        }
      }),
    );
    for (const id of ids) expect((await store.getMessages(id)).messages).toEqual([message(9), message(10)]);
  }
}, 60_000);

/** Until so many transactions wait for a lock, in the database of this file: others have theirs on the same server. */
async function untilWaiting(count: number): Promise<void> {
  // The server answers what it looked up before, until nobody has asked for a tenth of a second.
  const waiting = `
    select 1 from information_schema.innodb_trx t
    join information_schema.processlist p on p.id = t.trx_mysql_thread_id
    where t.trx_state = 'LOCK WAIT' and p.db = database()`;
  const read = () => rowsOf(database.pool, waiting);
  await expect.poll(read, { interval: 250, timeout: 20_000 }).toHaveLength(count);
}

test("an update that waits while its memory is deleted, or begun anew, is a conflict", async () => {
  const begin = update(null, 2, { append: [message(1)] });
  await store.updateMessages("moved", begin);
  const other = await database.pool.getConnection();
  await other.beginTransaction();
  await other.query("delete from turnkeep_memories where memory_id = 'moved'");
  const sent = store.updateMessages("moved", update(begin.version, 3, { append: [message(2)] }));
  sent.catch(() => {});
  await untilWaiting(1);
  await other.commit();
  other.release();
  await expect(sent).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  expect(
    await rowsOf(
      database.pool,
      "select 1 from turnkeep_messages m join turnkeep_memories h using (memory_key) where h.memory_id = 'moved'",
    ),
  ).toEqual([]);
});

test("an update that waits past its memory's end counts from when it came, before who begins it anew", async () => {
  const mortal = mariaDbStore({ url: database.url, ttlMs: 3_600_000 });
  onTestFinished(() => mortal.close());
  const begin = update(null, 2, { append: [message(1)] });
  await mortal.updateMessages("late", begin);
  // Long enough that the update comes before it.
  await rowsOf(
    database.pool,
    `update turnkeep_memories set expires_at = ${now} + 10000 where memory_id = 'late'`,
  );
  const other = await database.pool.getConnection();
  await other.beginTransaction();
  await other.query("select 1 from turnkeep_memories where memory_id = 'late' for update");
  const late = mortal.updateMessages("late", update(begin.version, 3, { append: [message(2)] }));
  late.catch(() => {});
  await untilWaiting(1);
  const read = async () => (await store.getMessages("late")).version;
  await expect.poll(read, { interval: 100, timeout: 60_000 }).toBeNull();
  const anew = mortal.updateMessages("late", update(null, 2, { append: [message(1)] }));
  anew.catch(() => {});
  await untilWaiting(2);
  await other.commit();
  other.release();
  await late;
  await expect(anew).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  expect(await store.getMessages("late")).toMatchObject({ nextSeq: 3, messages: [message(1), message(2)] });
});
