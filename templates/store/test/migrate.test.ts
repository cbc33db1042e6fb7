import { afterEach, beforeEach, expect, test } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { identifiersOf, migrate, migrationsOf } from "../src/migrations.ts";
import type { Statement } from "../src/sql.ts";
import { inProcesses } from "./processes.ts";
import { type Database, type DatabaseFile, message, newDatabaseFile, update } from "./support.ts";

let file: DatabaseFile;
let database: Database;
beforeEach(() => {
  file = newDatabaseFile();
  database = file.open();
});
afterEach(() => {
  database.close();
  file.remove();
});

const run = <R>({ text, values }: Statement<R>): R[] => database.prepare(text).all(...values) as R[];

function applied(): unknown[] {
  return database.prepare("select number from turnkeep_migrations order by number").all();
}

test("before migrate every method says so and names it", async () => {
  const store = sqliteStore({ url: file.url });
  const calls = [
    () => store.getMessages("a"),
    () => store.updateMessages("a", update(null, 2, { append: [message(1)] })),
    () => store.deleteMessages("a"),
    () => store.getHistory("a", {}),
    () => store.listMemories({}),
    () => store.sweep(),
  ];
  for (const call of calls) {
    await expect(call()).rejects.toMatchObject({
      code: "STORE_NOT_READY",
      message: expect.stringContaining("migrate()"),
    });
  }
  await store.close();
});

test("twice is once, and what is stored stays", async () => {
  const store = sqliteStore({ client: database });
  await store.migrate();
  await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
  await store.migrate();
  expect(applied()).toEqual([{ number: 1 }]);
  expect((await store.getMessages("a")).messages).toEqual([message(1)]);
});

test("six processes at once, on a file that is not there yet", async () => {
  const answers = await inProcesses(6, { url: file.url, work: "migrate" });
  expect(answers).toEqual(Array.from({ length: 6 }, () => "done"));
  expect(applied()).toEqual([{ number: 1 }]);
  expect(database.prepare("pragma journal_mode").get()).toEqual({ journal_mode: "wal" });
});

test("a later version adds its steps once; an earlier one leaves its tables alone", async () => {
  const store = sqliteStore({ client: database });
  await store.migrate();
  const names = identifiersOf("turnkeep_");
  const later = [...migrationsOf(names), [`alter table ${names.memories} add column note text`]];
  migrate(run, names, later);
  migrate(run, names, later);
  expect(applied()).toEqual([{ number: 1 }, { number: 2 }]);
  await expect(store.migrate()).rejects.toMatchObject({
    code: "UNSUPPORTED_VERSION",
    message: expect.stringContaining("upgrade this process"),
  });
  await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
});

test("a step that fails leaves nothing of the migration", async () => {
  database.exec("create view turnkeep_messages as select 1 as one");
  await expect(sqliteStore({ client: database }).migrate()).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
  });
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
  expect(tables).toEqual([]);
});
