import { randomUUID } from "node:crypto";
import { createChatMemory, user } from "@turnkeep/core";
import { message, messages, update } from "@turnkeep/store-tests";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type PostgresClient, type PostgresStore, postgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";
import { openPool, untilWaiting } from "./support.ts";

let pool: pg.Pool;
/** Over the pool, so in no transaction of ours. */
let outside: PostgresStore;
let memoryId: string;

beforeAll(async () => {
  pool = openPool(await newDatabase());
  outside = postgresStore({ client: pool });
  await outside.migrate();
  await pool.query("create table orders (id text primary key)");
});
afterAll(() => pool.end());
beforeEach(() => {
  memoryId = randomUUID();
});

/** A transaction of the caller's, a store in it, and what it has sent. */
async function begin(isolation = "read committed"): Promise<{
  client: pg.PoolClient;
  store: PostgresStore;
  sent: string[];
}> {
  const client = await pool.connect();
  onTestFinished(() => client.release());
  const sent: string[] = [];
  const watched = new Proxy(client, {
    get: (target, name) =>
      name === "query"
        ? (...args: [string, string[]]) => {
            sent.push(args[0]);
            return target.query(...args);
          }
        : Reflect.get(target, name),
  });
  await client.query(`begin isolation level ${isolation}; select 1`);
  return { client, store: postgresStore({ client: watched as PostgresClient }), sent };
}

const seqsOf = async (store: PostgresStore): Promise<number[]> =>
  (await store.getMessages(memoryId)).messages.map(({ seq }) => seq);

describe.each(["read committed", "repeatable read", "serializable"])(
  "a client in a transaction, %s",
  (isolation) => {
    test("writes with it: others see all of it once it commits, and it sees its own before", async () => {
      const { client, store } = await begin(isolation);
      await client.query("insert into orders values ($1)", [memoryId]);
      const first = update(null, 3, { owner: "o", append: messages(1, 2) });
      await store.updateMessages(memoryId, first);
      const second = update(first.version, 4, {
        append: [message(3)],
        replace: [message(2, '"new"')],
        move: [{ seq: 1, to: "removed" }],
      });
      await store.updateMessages(memoryId, second);
      await store.updateMessages(memoryId, second);
      expect(await seqsOf(store)).toEqual([2, 3]);
      expect(await seqsOf(outside)).toEqual([]);
      await client.query("commit");
      expect(await outside.getMessages(memoryId)).toMatchObject({ version: second.version, owner: "o" });
      expect(await seqsOf(outside)).toEqual([2, 3]);
    });

    test("takes all back with it, also for the memory's next call", async () => {
      const kept = createChatMemory({ id: memoryId, store: outside });
      await kept.add(user("kept"));
      const { client, store } = await begin(isolation);
      const memory = createChatMemory({ id: memoryId, store });
      await memory.add(user("order 1"));
      expect(await memory.messages()).toHaveLength(2);
      await client.query("rollback");
      expect((await memory.messages()).map(({ content }) => content)).toEqual(["kept"]);
      await memory.add(user("order 2"));
      expect((await kept.messages()).map(({ content }) => content)).toEqual(["kept", "order 2"]);
    });

    test("deletes with it, and a rollback brings the messages back", async () => {
      const first = update(null, 3, { append: messages(1, 2) });
      await outside.updateMessages(memoryId, first);
      const { client, store } = await begin(isolation);
      await expect(store.deleteMessages(memoryId, { expected: "other" })).rejects.toMatchObject({
        code: "VERSION_CONFLICT",
      });
      await store.deleteMessages(memoryId, { expected: first.version });
      expect(await seqsOf(store)).toEqual([]);
      await client.query("rollback");
      expect(await seqsOf(outside)).toEqual([1, 2]);
    });
  },
);

describe.each(["repeatable read", "serializable"])("who writes in between, by %s,", (isolation) => {
  const failed = {
    code: "VERSION_CONFLICT",
    message: expect.stringContaining("roll it back and run it again"),
    cause: { code: "40001" },
  };

  test.each(["a beginning", "an append", "a change", "a delete"])(
    "makes %s a conflict, and nothing is sent again",
    async (what) => {
      const first = update(null, 3, { append: messages(1, 2) });
      if (what !== "a beginning") await outside.updateMessages(memoryId, first);
      const { client, store, sent } = await begin(isolation);
      const theirs = what === "a beginning" ? first : update(first.version, 4, { append: [message(3)] });
      await outside.updateMessages(memoryId, theirs);
      const calls = {
        "a beginning": () => store.updateMessages(memoryId, update(null, 2, { append: [message(1)] })),
        "an append": () => store.updateMessages(memoryId, update(first.version, 4, { append: [message(3)] })),
        "a change": () =>
          store.updateMessages(memoryId, update(first.version, 3, { move: [{ seq: 1, to: "superseded" }] })),
        "a delete": () => store.deleteMessages(memoryId, { expected: first.version }),
      };
      await expect(calls[what as keyof typeof calls]()).rejects.toMatchObject(failed);
      expect(sent).toHaveLength(1);
      // What else is asked of it before the rollback says the same.
      await expect(store.getMessages(memoryId)).rejects.toMatchObject(failed);
      await client.query("rollback");
      expect((await store.getMessages(memoryId)).version).toBe(theirs.version);
    },
  );

  test("makes a memory's call a conflict, within its time", async () => {
    const { client, store } = await begin(isolation);
    await createChatMemory({ id: memoryId, store: outside }).add(user("somebody else"));
    await expect(createChatMemory({ id: memoryId, store }).add(user("mine"))).rejects.toMatchObject({
      code: "VERSION_CONFLICT",
    });
    await client.query("rollback");
    const memory = createChatMemory({ id: memoryId, store });
    await memory.add(user("mine"));
    expect(await memory.messages()).toHaveLength(2);
  });
});

test("by read committed, who writes in between is met like without a transaction", async () => {
  const { client, store } = await begin();
  const memory = createChatMemory({ id: memoryId, store });
  await memory.add(user("one"));
  await client.query("commit; begin");
  await createChatMemory({ id: memoryId, store: outside }).add(user("somebody else"));
  await memory.add(user("two"));
  await client.query("commit");
  expect((await outside.getMessages(memoryId)).messages).toHaveLength(3);
});

test("two transactions that wait for each other: one is a conflict, the other commits", async () => {
  const ids = [randomUUID(), randomUUID()];
  for (const id of ids) await outside.updateMessages(id, update(null, 2, { append: [message(1)] }));
  const [one, other] = [await begin(), await begin()];
  const add = (store: PostgresStore, id: string) => createChatMemory({ id, store }).add(user("in both"));
  await add(one.store, ids[0] as string);
  await add(other.store, ids[1] as string);
  const results = await Promise.allSettled(
    (
      [
        [one, ids[1]],
        [other, ids[0]],
      ] as const
    ).map(async ([{ client, store }, id]) => {
      try {
        await add(store, id as string);
        await client.query("commit");
      } catch (error) {
        await client.query("rollback");
        throw error;
      }
    }),
  );
  const rejected = results.filter((result) => result.status === "rejected");
  expect(rejected).toHaveLength(1);
  expect(rejected[0]?.reason).toMatchObject({ code: "VERSION_CONFLICT", cause: { code: "40P01" } });
});

test("a transaction that the caller's own statement has failed is STORE_REFUSED, and says what to do", async () => {
  const { client, store } = await begin();
  await expect(client.query("select 1 / 0")).rejects.toThrow();
  for (const call of [
    () => store.getMessages(memoryId),
    () => store.updateMessages(memoryId, update(null, 2, { append: [message(1)] })),
  ]) {
    await expect(call()).rejects.toMatchObject({
      code: "STORE_REFUSED",
      message: expect.stringContaining("roll it back"),
      cause: { code: "25P02" },
    });
  }
  await client.query("rollback");
  expect(await seqsOf(store)).toEqual([]);
});

test("a beginning that waited for memories that then had expired is a conflict, and no refusal", async () => {
  /** What waits for a slow transaction of somebody else, each time anew. */
  const late: PostgresClient = {
    async query(text, values) {
      if (!text.includes("on conflict")) return pool.query(text, values);
      const { client } = await begin();
      await postgresStore({ client, ttlMs: 1 }).updateMessages(memoryId, update(null, 2, { owner: "other" }));
      await client.query("select pg_sleep(0.01)");
      const commit = async (): Promise<void> => {
        await untilWaiting(pool, 1);
        await client.query("commit");
      };
      return (await Promise.all([pool.query(text, values), commit()]))[0];
    },
  };
  const beginning = update(null, 2, { owner: "own", append: [message(1)] });
  await expect(postgresStore({ client: late }).updateMessages(memoryId, beginning)).rejects.toMatchObject({
    code: "VERSION_CONFLICT",
  });
  await outside.updateMessages(memoryId, beginning);
  expect(await outside.getMessages(memoryId)).toMatchObject({ owner: "own", messages: [message(1)] });
});
