import type { Socket } from "node:net";
import mysql from "mysql2";
import { createPool, type Pool, type PoolOptions } from "mysql2/promise";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type MariaDbStore, type MariaDbStoreOptions, mariaDbStore } from "../src/index.ts";
import { type Database, message, newDatabase, rowsOf, settingsOf, through, update } from "./support.ts";

let database: Database;
let shared: MariaDbStore;
beforeAll(async () => {
  database = await newDatabase();
  shared = mariaDbStore({ client: database.pool });
  await shared.migrate();
});
afterAll(async () => {
  await shared?.close();
  await database?.drop();
});

function open(options: MariaDbStoreOptions = { url: database.url }): MariaDbStore {
  const store = mariaDbStore(options);
  onTestFinished(() => store.close());
  return store;
}

function openPool(options: PoolOptions = {}): Pool {
  const pool = createPool({ uri: database.url, ...options });
  onTestFinished(() => pool.end());
  return pool;
}

/** The connections to the test's database, without the one that asks. */
function connections(): Promise<{ id: number; info: string | null }[]> {
  return rowsOf(
    database.pool,
    "select id, info from information_schema.processlist where db = database() and id <> connection_id()",
  );
}

async function kill(which: (info: string | null) => boolean = () => true): Promise<void> {
  for (const { id, info } of await connections()) {
    if (which(info)) await database.pool.query(`kill ${id}`).catch(() => {});
  }
}

/** Holds a memory's row as a writer in another process does, until the test ends or lets go. */
async function hold(memoryId: string): Promise<() => Promise<void>> {
  const holder = await database.pool.getConnection();
  await holder.beginTransaction();
  await holder.query("select 1 from turnkeep_memories where memory_id = ? for update", [memoryId]);
  let letGo: Promise<void> | undefined;
  const release = (): Promise<void> => {
    letGo ??= holder.rollback().then(() => holder.release());
    return letGo;
  };
  onTestFinished(release);
  return release;
}

/**
 * Waits until a statement on the memory's row waits for its lock. The server's list of transactions is as old as the last
 * question for it, until nobody has asked for a tenth of a second, and may name one of an earlier test: so the statement must
 * also run at this moment.
 */
async function untilSomebodyWaits(): Promise<void> {
  const waiting = `
    select 1 from information_schema.innodb_trx t
    join information_schema.processlist p on p.id = t.trx_mysql_thread_id
    where t.trx_state = 'LOCK WAIT' and p.db = database() and p.info like '%for update'`;
  await expect.poll(() => rowsOf(database.pool, waiting), { interval: 250, timeout: 20_000 }).not.toEqual([]);
}

const refused = { url: "mysql://app:s3cret@127.0.0.1:1/chat" };

test("the factory does no I/O, and a store that was never used opens nothing when it closes", async () => {
  await mariaDbStore(refused).close();
});

test("a server that is not there is STORE_UNAVAILABLE, and the next call tries again", async () => {
  const store = open(refused);
  for (let call = 0; call < 2; call++) {
    await expect(store.getMessages("a")).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("Nothing was written"),
    });
  }
});

test("what must be mended is STORE_REFUSED, and the error says how", async () => {
  const url = new URL(database.url);
  url.pathname = "/";
  await expect(open({ url: url.href }).getMessages("a")).rejects.toMatchObject({
    code: "STORE_REFUSED",
    message: expect.stringContaining("no database is named"),
  });
  url.pathname = "/there_is_no_such_database";
  await expect(open({ url: url.href }).getMessages("a")).rejects.toMatchObject({ code: "STORE_REFUSED" });
});

test("a pool that was given stays open, with its own settings", async () => {
  const pool = openPool({ timezone: "+05:00" });
  await pool.query("select 1");
  const before = await settingsOf(pool);
  const store = mariaDbStore({ client: pool });
  await store.updateMessages("given", update(null, 2, { append: [message(1)] }));
  await store.close();
  await expect(store.getMessages("given")).rejects.toMatchObject({ code: "CLOSED" });
  expect(await settingsOf(pool)).toEqual(before);
});

test("whatever a given pool's settings say of rows, the store reads its own", async () => {
  const settings: PoolOptions = { rowsAsArray: true, nestTables: true, namedPlaceholders: true };
  const numbers: PoolOptions = { supportBigNumbers: true, bigNumberStrings: true };
  const pool = openPool({ ...settings, ...numbers, typeCast: () => "cast" });
  const store = open({ client: pool });
  const begin = update(null, 3, { append: [message(1), message(2)], owner: "o" });
  await store.updateMessages("settings", begin);
  const change = update(begin.version, 3, { move: [{ seq: 1, to: "evicted" }] });
  await store.updateMessages("settings", change);
  expect(await store.getMessages("settings")).toMatchObject({ nextSeq: 3, messages: [message(2)] });
  expect((await store.getHistory("settings", {})).messages).toMatchObject([message(1), message(2)]);
  expect((await store.listMemories({ owner: "o" })).memories).toMatchObject([{ memoryId: "settings" }]);
});

test("whatever way a given pool's connections read SQL, every message is there", async () => {
  const client = openPool({ connectionLimit: 1 });
  await client.query(
    "set session sql_mode = 'HIGH_NOT_PRECEDENCE,ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'",
  );
  const store = open({ client });
  const begun = update(null, 3, { append: [message(1), message(2)] });
  await store.updateMessages("mode", begun);
  expect((await store.getMessages("mode")).messages).toEqual([message(1), message(2)]);
  expect((await store.getMessages("mode", { known: begun.version })).messages).toEqual([]);
});

test("a pool whose connections would leave the messages of what is deleted is refused", async () => {
  const client = openPool({ connectionLimit: 1 });
  await client.query("set session foreign_key_checks = 0");
  await expect(open({ client }).migrate()).rejects.toMatchObject({
    code: "STORE_NOT_READY",
    message: expect.stringContaining("foreign_key_checks"),
  });
});

test("in whatever time zone a connection is, times are the same", async () => {
  const zones = ["-12:00", "+13:00"].map((zone) => {
    const pool = openPool();
    pool.on("connection", (connection) => {
      (connection as unknown as { query(sql: string): void }).query(`set time_zone = '${zone}'`);
    });
    return open({ client: pool, ttlMs: 60_000 });
  });
  for (const [index, store] of zones.entries()) {
    await store.updateMessages(`zone ${index}`, update(null, 1, { owner: "zones" }));
  }
  for (const store of zones) {
    const { memories } = await store.listMemories({ owner: "zones" });
    expect(memories).toHaveLength(2);
    for (const { updatedAt } of memories) expect(Math.abs(updatedAt - Date.now())).toBeLessThan(3_600_000);
  }
});

test("a pool that calls back is refused, and so is one that would lose characters", async () => {
  const callsBack = mysql.createPool(database.url);
  onTestFinished(() => callsBack.promise().end());
  expect(() => mariaDbStore({ client: callsBack as unknown as Pool })).toThrow("give pool.promise()");
  const latin = open({ client: openPool({ charset: "latin1_swedish_ci" }) });
  await expect(latin.migrate()).rejects.toMatchObject({ code: "STORE_NOT_READY", message: /latin1/ });
});

test("a pool of one connection serves many calls at once", async () => {
  const store = open({ config: { uri: database.url, connectionLimit: 1 } });
  const ids = Array.from({ length: 20 }, (_, index) => `one-${index}`);
  await Promise.all(ids.map((id) => store.updateMessages(id, update(null, 2, { append: [message(1)] }))));
  await Promise.all(ids.map(async (id) => expect((await store.getMessages(id)).messages).toHaveLength(1)));
});

test("a refused update leaves its connection outside of any transaction, and no lock", async () => {
  const pool = openPool({ connectionLimit: 1 });
  const store = open({ client: pool });
  await store.updateMessages("refused", update(null, 2, { append: [message(1)] }));
  await expect(store.updateMessages("refused", update(null, 2))).rejects.toMatchObject({
    code: "VERSION_CONFLICT",
  });
  expect(await rowsOf(pool, "select @@in_transaction as open")).toEqual([{ open: 0 }]);
});

test("connections that were killed while they were idle are replaced", async () => {
  const store = open();
  await store.getMessages("killed");
  await kill();
  await expect.poll(connections, { timeout: 20_000 }).toEqual([]);
  const begin = update(null, 2, { append: [message(1)] });
  await store.updateMessages("killed", begin);
  expect((await store.getMessages("killed")).version).toBe(begin.version);
});

test("a connection that is killed in the middle of an update leaves nothing of it, and the update can be sent again", async () => {
  const store = open();
  const begin = update(null, 2, { append: [message(1)] });
  await store.updateMessages("cut", begin);
  const letGo = await hold("cut");
  const change = update(begin.version, 3, { append: [message(2)] });
  const sent = store.updateMessages("cut", change);
  sent.catch(() => {});
  await untilSomebodyWaits();
  await kill((info) => info?.includes("for update") === true);
  await expect(sent).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await letGo();
  expect((await store.getMessages("cut")).version).toBe(begin.version);
  await store.updateMessages("cut", change);
  expect((await store.getMessages("cut")).messages).toEqual([message(1), message(2)]);
});

test("a signal that fires while a lock is waited for ends the call, and the lock is never taken", async () => {
  const store = open({ config: { uri: database.url, connectionLimit: 1 } });
  const begin = update(null, 2, { append: [message(1)] });
  await store.updateMessages("waits", begin);
  const letGo = await hold("waits");
  const controller = new AbortController();
  const { signal } = controller;
  const sent = store.updateMessages("waits", update(begin.version, 3, { append: [message(2)] }), { signal });
  sent.catch(() => {});
  await untilSomebodyWaits();
  controller.abort();
  await expect(sent).rejects.toMatchObject({ code: "ABORTED" });
  // The one connection of the pool has been cut, and makes room for another.
  expect((await store.getMessages("waits")).version).toBe(begin.version);
  await letGo();
  const next = update(begin.version, 3, { append: [message(2)] });
  await store.updateMessages("waits", next);
  expect((await store.getMessages("waits")).version).toBe(next.version);
});

test("a call that was given up does not keep the process, whatever the server does", async () => {
  await shared.updateMessages("kept", update(null, 1));
  await hold("kept");
  const client = openPool();
  const sockets: Socket[] = [];
  client.on("connection", (connection) => {
    sockets.push((connection as unknown as { stream: Socket }).stream);
  });
  const controller = new AbortController();
  const sent = open({ client }).updateMessages("kept", update("v", 1), { signal: controller.signal });
  sent.catch(() => {});
  await untilSomebodyWaits();
  controller.abort();
  await expect(sent).rejects.toMatchObject({ code: "ABORTED" });
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
});

test("a signal that has fired sends nothing", async () => {
  const sent: string[] = [];
  const store = open({
    client: through(database.pool, (call, make) => {
      sent.push(call.text);
      return make();
    }),
  });
  const options = { signal: AbortSignal.abort() };
  const calls = [
    () => store.migrate(options),
    () => store.getMessages("a", options),
    () => store.updateMessages("a", update(null, 1), options),
    () => store.deleteMessages("a", options),
    () => store.getHistory("a", {}, options),
    () => store.listMemories({}, options),
    () => store.sweep(options),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "ABORTED" });
  expect(sent).toEqual([]);
});
