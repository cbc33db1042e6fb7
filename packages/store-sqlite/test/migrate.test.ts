import { callsOf, message, update } from "@turnkeep/store-tests";
import { beforeEach, expect, test } from "vitest";
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
const first = [{ number: 1 }];

test("before migrate() every method says so and names it", async () => {
  for (const call of callsOf(store)) {
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
  expect(await applied()).toEqual(first);
  expect((await store.getMessages("a")).messages).toEqual([message(1)]);
});

test("many at once, over connections of their own, make each step once", async () => {
  const stores = Array.from({ length: 8 }, () => sqliteStore({ client: open() }));
  await Promise.all(stores.map((one) => one.migrate()));
  expect(await applied()).toEqual(first);
});

test("two who find a step missing at the same moment make it once", async () => {
  const names = identifiersOf("turnkeep_");
  const calls = [1, 2].map(() => connect({ client: open() }).connection.under(undefined));
  let waiting: (() => void)[] = [];
  // Both have looked before either writes.
  const meeting = calls.map(({ run, batch }) => ({
    run,
    batch: async (statements: Parameters<typeof batch>[0]) => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 2) for (const go of waiting) go();
      });
      return batch(statements);
    },
  }));
  await Promise.all(meeting.map((one) => migrate(one, names, migrationsOf(names))));
  waiting = [];
  expect(await applied()).toEqual(first);
});

test("a later version adds its steps once; an earlier one leaves its tables alone", async () => {
  await store.migrate();
  const names = identifiersOf("turnkeep_");
  const later = [...migrationsOf(names), [`alter table ${names.memories} add column note text`]];
  const calls = connect({ client: open() }).connection.under(undefined);
  await migrate(calls, names, later);
  await migrate(calls, names, later);
  expect(await applied()).toEqual([...first, { number: 2 }]);
  await expect(store.migrate()).rejects.toMatchObject({ code: "UNSUPPORTED_VERSION" });
  await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
  expect((await store.getMessages("a")).messages).toEqual([message(1)]);
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
  expect(await applied()).toEqual(first);
});
