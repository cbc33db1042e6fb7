import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { createChatMemory } from "@turnkeep/core";
import {
  appendUntilDone,
  expectAppendsToLand,
  expectWholeUpdates,
  historyOf,
  message,
  messages,
  OperationLog,
  update,
} from "@turnkeep/store-tests";
import { bundled, startWriter } from "@turnkeep/store-tests/processes";
import { beforeAll, expect, test, vi } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { queryOf } from "./harness.ts";
import { connectionsTo, newFile } from "./support.ts";

const file = newFile();
const open = connectionsTo(file);
const one = sqliteStore({ client: open(), ttlMs: 3_600_000 });
const other = sqliteStore({ client: open(), ttlMs: 3_600_000 });
const query = queryOf(open());
beforeAll(() => one.migrate());

async function orphans(): Promise<number> {
  const ofTable = (table: string): string =>
    `select memory_key from ${table} where memory_key not in (select memory_key from turnkeep_memories)`;
  return (await query(`${ofTable("turnkeep_messages")} union all ${ofTable("turnkeep_live")}`)).length;
}

test("64 concurrent optimistic appends over two connections all land, once and in one order", () =>
  expectAppendsToLand(one, other, randomUUID(), 64));

test("of many who begin a memory, or an expired one anew, one does, and nothing of an old life shows", async () => {
  for (const memoryId of [randomUUID(), randomUUID()]) {
    await one.updateMessages(memoryId, update(null, 4, { owner: "old", head: "1", append: messages(1, 3) }));
    await query("update turnkeep_memories set expires_at = 1 where memory_id = ?", memoryId);
    const again = { ...message(1), id: "new life" };
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? one : other).updateMessages(memoryId, update(null, 2, { append: [again] })),
      ),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "VERSION_CONFLICT" });
    }
    expect(await other.getMessages(memoryId)).toMatchObject({ nextSeq: 2, messages: [again] });
    expect(await other.getMessages(memoryId)).not.toHaveProperty("owner");
    expect((await other.getHistory(memoryId, {})).messages).toEqual([{ ...again, state: "live" }]);
  }
  expect(await orphans()).toBe(0);
});

test("what was written is no conflict where its life ends within its own batch", async () => {
  const database = open();
  const late = <A extends unknown[], R>(call: (...values: A) => R) => {
    return (...values: A): R => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3);
      return call(...values);
    };
  };
  const slow = sqliteStore({
    client: {
      memory: false,
      exec: (text) => database.exec(text),
      prepare(text) {
        const statement = database.prepare(text);
        const { reader } = statement;
        return {
          reader,
          all: late((...values) => statement.all(...values)),
          run: late((...values) => statement.run(...values)),
        };
      },
    },
  });
  const memoryId = randomUUID();
  const began = update(null, 2, { append: [message(1)], ttlMs: 1 });
  await slow.updateMessages(memoryId, began);
  const again = update(null, 2, { append: [message(1)], ttlMs: null });
  await slow.updateMessages(memoryId, again);
  const append = update(again.version, 3, { append: [message(2)], ttlMs: 1 });
  await slow.updateMessages(memoryId, append);
  expect((await other.getMessages(memoryId)).version).toBeNull();
  const conflict = { code: "VERSION_CONFLICT" };
  await expect(slow.updateMessages(memoryId, append)).rejects.toMatchObject(conflict);
  await expect(slow.updateMessages(memoryId, update(append.version, 4))).rejects.toMatchObject(conflict);
  await other.deleteMessages(memoryId);
});

test("readers meet all of an update or none", () =>
  expectWholeUpdates(one, other, { updates: 50, to: "removed" }));

test("deletes racing appends leave no orphan and no half of a memory", async () => {
  const memoryId = randomUUID();
  const writers = Array.from({ length: 40 }, (_, index) =>
    appendUntilDone(index % 2 === 0 ? one : other, memoryId, `message ${index}`),
  );
  const deleters = Array.from({ length: 15 }, () => other.deleteMessages(memoryId));
  await Promise.all([...writers, ...deleters]);
  const { messages: seen, nextSeq } = await one.getMessages(memoryId);
  expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: nextSeq - 1 }, (_, index) => index + 1));
  expect(await orphans()).toBe(0);
});

test("a sweep beside writers removes what has expired and nothing else", async () => {
  const expired = Array.from({ length: 250 }, () => randomUUID());
  const kept = Array.from({ length: 20 }, () => randomUUID());
  for (const memoryId of [...expired, ...kept]) {
    await one.updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
  }
  await query(
    "update turnkeep_memories set expires_at = 1 where memory_id in (select value from json_each(?))",
    JSON.stringify(expired),
  );
  const [swept, alsoSwept] = await Promise.all([
    one.sweep(),
    other.sweep(),
    ...kept.map((memoryId) => appendUntilDone(one, memoryId, "second")),
  ]);
  expect((swept?.removed ?? 0) + (alsoSwept?.removed ?? 0)).toBe(250);
  for (const memoryId of kept) expect((await other.getMessages(memoryId)).messages).toHaveLength(2);
  expect(await orphans()).toBe(0);
});

test("a reader is not held up by another's open transaction, and sees none of it", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 2, { append: [message(1)] });
  await one.updateMessages(memoryId, begin);
  const holder = open();
  holder.exec("begin immediate; update turnkeep_memories set version = 'half'");
  expect((await one.getMessages(memoryId)).version).toBe(begin.version);
  holder.exec("rollback");
});

/** A store whose client does not wait by itself, behind a connection that holds the lock of writers. */
function behindHolder() {
  const client = open();
  client.exec("pragma busy_timeout = 0");
  const holder = open();
  holder.exec("begin immediate");
  return { store: sqliteStore({ client }), letGo: () => holder.exec("rollback") };
}

test("a write waits for another's without holding the process, and then lands", async () => {
  const memoryId = randomUUID();
  const { store, letGo } = behindHolder();
  const call = store.updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
  // Other work goes on.
  for (let n = 1; n <= 5; n++) await new Promise((resolve) => setTimeout(resolve));
  expect((await one.getMessages(memoryId)).version).toBeNull();
  letGo();
  await call;
  expect((await one.getMessages(memoryId)).messages).toEqual([message(1)]);
});

test("a write that waits for too long is STORE_UNAVAILABLE, and for certain has not taken place", async () => {
  const memoryId = randomUUID();
  const { store, letGo } = behindHolder();
  const now = vi.spyOn(performance, "now");
  let elapsed = 0;
  now.mockImplementation(() => (elapsed += 1_000));
  await expect(
    store.updateMessages(memoryId, update(null, 2, { append: [message(1)] })),
  ).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("Nothing was written"),
  });
  now.mockRestore();
  letGo();
  expect((await one.getMessages(memoryId)).version).toBeNull();
});

test("a signal ends the wait, and the write does not take place later", async () => {
  const memoryId = randomUUID();
  const { store, letGo } = behindHolder();
  const controller = new AbortController();
  const { signal } = controller;
  const call = store.updateMessages(memoryId, update(null, 2, { append: [message(1)] }), { signal });
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: "ABORTED" });
  await store.close();
  letGo();
  expect((await one.getMessages(memoryId)).version).toBeNull();
});

test("a writing process is killed at any moment: what it was told is there, once, and others write on", async () => {
  const program = await bundled(new URL("writer.ts", import.meta.url));
  const memoryId = randomUUID();
  const logs = ["killed", "alive"].map((client) => ({ client, log: join(dirname(file), client) }));
  const [killed, alive] = logs.map((writer) =>
    startWriter(program, { ...writer, url: file, memoryId, adds: 60 }),
  );
  await killed?.acknowledged(10);
  await killed?.kill();
  await alive?.ended();
  const operations = new OperationLog();
  for (const { log } of logs) operations.takeOver(log);
  const { acknowledged } = operations;
  const ids = await historyOf(createChatMemory({ id: memoryId, store: one }));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(acknowledged));
  expect(acknowledged.filter((id) => id.startsWith("alive"))).toHaveLength(60);
  expect(await orphans()).toBe(0);
});
