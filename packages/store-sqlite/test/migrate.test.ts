import { callsOf, message, pagedIdsOf, update } from "@turnkeep/store-tests";
import { beforeEach, describe, expect, test } from "vitest";
import { connect } from "../src/client.ts";
import { type SqliteStore, sqliteStore } from "../src/index.ts";
import { identifiersOf, migrate, migrationsOf } from "../src/migrations.ts";
import { type Query, queryOf } from "./harness.ts";
import { connectionsTo, newFile } from "./support.ts";

let open: ReturnType<typeof connectionsTo>;
let store: SqliteStore;
let query: Query;
beforeEach(() => {
  open = connectionsTo(newFile());
  store = sqliteStore({ client: open() });
  query = queryOf(open());
});

const applied = (): Promise<unknown[]> => query("select number from turnkeep_migrations order by number");
const names = identifiersOf("turnkeep_");
const steps = migrationsOf(names);
const every = steps.map((_, index) => ({ number: index + 1 }));

test("before migrate() every method says so and names it", async () => {
  for (const call of callsOf(store)) {
    await expect(call()).rejects.toMatchObject({
      code: "STORE_NOT_READY",
      message: expect.stringContaining("migrate()"),
    });
  }
});

test("on the tables of an earlier version whatever needs a later step says so", async () => {
  await migrate(connect({ client: open() }).connection.under(undefined), names, steps.slice(0, 1));
  const appending = update(null, 2, { append: [message(1)] });
  for (const call of [() => store.updateMessages("a", appending), () => store.getMessages("a")]) {
    await expect(call()).rejects.toMatchObject({
      code: "STORE_NOT_READY",
      message: expect.stringContaining("migrate()"),
    });
  }
});

test("twice is once, and what is stored stays", async () => {
  await store.migrate();
  await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
  await store.migrate();
  expect(await applied()).toEqual(every);
  expect((await store.getMessages("a")).messages).toEqual([message(1)]);
});

test("many at once, over connections of their own, make each step once", async () => {
  const stores = Array.from({ length: 8 }, () => sqliteStore({ client: open() }));
  await Promise.all(stores.map((one) => one.migrate()));
  expect(await applied()).toEqual(every);
});

test("two who find a step missing at the same moment make it once", async () => {
  const calls = [1, 2].map(() => connect({ client: open() }).connection.under(undefined));
  const waiting: (() => void)[] = [];
  // Both have looked before either writes.
  const meeting = calls.map(({ batch, ...others }) => ({
    ...others,
    batch: async (statements: Parameters<typeof batch>[0]) => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 2) for (const go of waiting.splice(0)) go();
      });
      return batch(statements);
    },
  }));
  await Promise.all(meeting.map((one) => migrate(one, names, steps)));
  expect(await applied()).toEqual(every);
});

test("a later version adds its steps once; an earlier one leaves its tables alone", async () => {
  await store.migrate();
  const later = [...steps, [`alter table ${names.memories} add column note text`]];
  const calls = connect({ client: open() }).connection.under(undefined);
  await migrate(calls, names, later);
  await migrate(calls, names, later);
  expect(await applied()).toEqual([...every, { number: every.length + 1 }]);
  await expect(store.migrate()).rejects.toMatchObject({
    code: "UNSUPPORTED_VERSION",
    message: expect.stringMatching(
      /@turnkeep\/store-sqlite: upgrade this process, or, .* without migrate\(\)/,
    ),
  });
  await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
  expect((await store.getMessages("a")).messages).toEqual([message(1)]);
});

describe("tables of the version that noted no activity", () => {
  const now = "cast(round(unixepoch('now', 'subsec') * 1000) as integer)";

  /** Begins a memory as that version does, or as if it had been written to so long ago. */
  async function begin(memoryId: string, agoMs = 0): Promise<void> {
    await query(
      `insert into turnkeep_memories (memory_id, owner, version, next_seq, head, updated_at, expires_at)
       values (?, 'ann', 'v', 1, '{}', ${now} - ?, null)`,
      memoryId,
      agoMs,
    );
  }

  const newest = (limit?: number): Promise<string[]> =>
    pagedIdsOf(store, { owner: "ann", order: "newest", limit });

  test("are migrated by many at once, and what is there is listed by its last write", async () => {
    await migrate(connect({ client: open() }).connection.under(undefined), names, steps.slice(0, 1));
    await begin("newer", 60_000);
    await begin("oldest", 180_000);
    await begin("older", 120_000);
    const stores = Array.from({ length: 4 }, () => sqliteStore({ client: open() }));
    await Promise.all(stores.map((one) => one.migrate()));
    expect(await newest(1)).toEqual(["newer", "older", "oldest"]);
    await store.updateMessages("older", update("v", 2, { append: [message(1)], data: '{"title":"x"}' }));
    expect(await newest()).toEqual(["older", "newer", "oldest"]);
    expect(await store.getMessages("older")).toMatchObject({ owner: "ann", data: '{"title":"x"}' });
  });

  test("what that version goes on writing afterwards is listed by its activity too", async () => {
    await store.migrate();
    await store.updateMessages("of this version", update(null, 1, { owner: "ann" }));
    await begin("first");
    await begin("second");
    expect(await newest()).toEqual(["second", "first", "of this version"]);
    await query("update turnkeep_memories set active_at = active_at - 60000 where memory_id = 'first'");
    await query(
      `update turnkeep_memories set version = 'w', updated_at = ${now} + 1 where memory_id = 'first'`,
    );
    expect(await newest()).toEqual(["first", "second", "of this version"]);
  });
});

test("a name that is taken is told, and nothing of the step stays", async () => {
  await query("create view turnkeep_messages as select 1 as one");
  await expect(store.migrate()).rejects.toMatchObject({
    code: "STORE_NOT_READY",
    message: expect.stringContaining("another prefix"),
  });
  expect(
    await query("select name from sqlite_master where type = 'table' and name not like 'sqlite%'"),
  ).toEqual([{ name: "turnkeep_migrations" }]);
  await query("drop view turnkeep_messages");
  await store.migrate();
  expect(await applied()).toEqual(every);
});
