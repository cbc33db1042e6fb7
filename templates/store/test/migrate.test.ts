import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { type MariaDbStore, mariaDbStore } from "../src/index.ts";
import { identifiersOf, migrate, migrationsOf } from "../src/migrations.ts";
import type { Run } from "../src/pool.ts";
import { inProcesses } from "./processes.ts";
import { type Database, message, newDatabase, rowsOf, through, update } from "./support.ts";

let database: Database;
let store: MariaDbStore;
beforeEach(async () => {
  database = await newDatabase();
  store = mariaDbStore({ client: database.pool });
});
afterEach(() => database?.drop());

const names = identifiersOf("turnkeep_");
const run: Run = async ({ text, values }) => {
  const [rows] = await database.pool.query(text, values);
  return Array.isArray(rows) ? (rows as never[]) : [];
};

function applied(): Promise<unknown[]> {
  return rowsOf(database.pool, "select number from turnkeep_migrations order by number");
}

function tables(): Promise<unknown[]> {
  return rowsOf(
    database.pool,
    "select table_name as name from information_schema.tables where table_schema = database() order by 1",
  );
}

test("before migrate every method says so and names it", async () => {
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
});

test("twice is once, and what is stored stays", async () => {
  await store.migrate();
  await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
  await store.migrate();
  expect(await applied()).toEqual([{ number: 1 }]);
  expect((await store.getMessages("a")).messages).toEqual([message(1)]);
});

test("six processes at once, in an empty database", async () => {
  const answers = await inProcesses(6, { url: database.url, work: "migrate" });
  expect(answers).toEqual(Array.from({ length: 6 }, () => "done"));
  expect(await applied()).toEqual([{ number: 1 }]);
}, 120_000);

test("a later version adds its steps once; an earlier one leaves its tables alone, and says how to go on", async () => {
  await store.migrate();
  const later = [
    ...migrationsOf(names),
    [`alter table ${names.memories} add column if not exists note text`],
  ];
  await migrate(run, names, later);
  await migrate(run, names, later);
  expect(await applied()).toEqual([{ number: 1 }, { number: 2 }]);
  await expect(store.migrate()).rejects.toMatchObject({
    code: "UNSUPPORTED_VERSION",
    message: expect.stringContaining("upgrade this process"),
  });
  await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
});

// What a database undoes by itself needs no such test; one that does not, as this one, needs it for each statement.
test("a process that dies anywhere in a migration leaves what the next one completes", async () => {
  let whole = Number.POSITIVE_INFINITY;
  for (let dies = 1; dies <= whole; dies++) {
    const place = await newDatabase();
    onTestFinished(() => place.drop());
    let calls = 0;
    const client = through(place.pool, (_call, make) => {
      if (++calls === dies) throw Object.assign(new Error("killed"), { code: "ECONNRESET" });
      return make();
    });
    const ended = await mariaDbStore({ client })
      .migrate()
      .then(
        () => true,
        () => false,
      );
    if (ended) whole = dies;
    const next = mariaDbStore({ client: place.pool });
    await next.migrate();
    await next.updateMessages("a", update(null, 2, { append: [message(1)] }));
    expect((await next.getMessages("a")).messages).toEqual([message(1)]);
  }
  expect(whole).toBeGreaterThan(5);
}, 60_000);

test("a server that is not fit is told before there is any table", async () => {
  const said = async (row: object): Promise<unknown> => {
    const asked: Run = async <R>() => [row as R];
    return migrate(asked, names, []).catch((error: unknown) => error);
  };
  const fit = { version: "10.6.1-MariaDB", charset: "utf8mb4", isolation: "READ-COMMITTED" };
  const given = { autocommit: 1, deletes: 1, mode: "STRICT_TRANS_TABLES" };
  for (const [row, words] of [
    [{ version: "10.5.9-MariaDB-log" }, "10.6 or later"],
    [{ version: "8.4.0" }, "MariaDB 10.6 or later, and the server is 8.4.0"],
    [{ charset: "latin1" }, "speaks latin1"],
    [{ isolation: "READ-UNCOMMITTED" }, "READ COMMITTED"],
    [{ autocommit: "0" }, "leave autocommit on"],
    [{ deletes: 0 }, "no foreign_key_checks"],
    [{ mode: "STRICT_TRANS_TABLES,EMPTY_STRING_IS_NULL" }, "EMPTY_STRING_IS_NULL"],
  ] as const) {
    expect(await said({ ...fit, ...given, ...row })).toMatchObject({
      code: "STORE_NOT_READY",
      message: expect.stringContaining(words),
    });
  }
  expect(await tables()).toEqual([]);
});

test("the server's own collation and time zone do not matter", async () => {
  await database.pool.query("alter database character set latin1 collate latin1_swedish_ci");
  await store.migrate();
  for (const id of ["a", "A", "a ", "á", "😀"]) await store.updateMessages(id, update(null, 1));
  expect((await store.listMemories({})).memories).toHaveLength(5);
});
