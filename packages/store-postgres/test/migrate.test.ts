import { randomUUID } from "node:crypto";
import { callsOf, message, update } from "@turnkeep/store-tests";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type PostgresStore, postgresStore } from "../src/index.ts";
import {
  longestSuffix,
  migrateStatement,
  migrationsOf,
  namesOf,
  throwMigrationError,
} from "../src/migrations.ts";
import { newDatabase } from "./server.ts";
import { openPool, withClient } from "./support.ts";

let url: string;
let pool: pg.Pool;

beforeAll(async () => {
  url = await newDatabase();
  pool = openPool(url);
});
afterAll(() => pool.end());
beforeEach(async () => {
  const { rows } = await pool.query(
    "select oid::regnamespace as schema from pg_namespace where oid >= 16384 or nspname = 'public'",
  );
  for (const { schema } of rows) await pool.query(`drop schema ${schema} cascade`);
  await pool.query("create schema public");
});

/** Everything of a schema that we name: tables, indexes, constraints. Postgres 18 names `not null` itself. */
async function catalog(schema: string = "public"): Promise<string[]> {
  const found = await pool.query(
    `select relkind::text || ' ' || relname::text as name from pg_class where relnamespace = (select oid from pg_namespace where nspname = $1)
     union all
     select 'constraint ' || conname::text from pg_constraint where contype <> 'n' and connamespace = (select oid from pg_namespace where nspname = $1)
     order by 1`,
    [schema],
  );
  return found.rows.map(({ name }) => name);
}

async function works(store: PostgresStore): Promise<void> {
  const memoryId = randomUUID();
  const begin = update(null, 3, { append: [message(1), message(2)] });
  await store.updateMessages(memoryId, begin);
  const move = [{ seq: 1, to: "evicted" as const }];
  await store.updateMessages(memoryId, update(begin.version, 4, { append: [message(3)], move }));
  expect((await store.getMessages(memoryId)).messages).toEqual([message(2), message(3)]);
  expect((await store.getHistory(memoryId, {})).messages).toHaveLength(3);
  expect((await store.listMemories({})).memories).toMatchObject([{ memoryId }]);
  await store.deleteMessages(memoryId);
  expect(await store.listMemories({})).toEqual({ memories: [] });
  expect(await store.sweep()).toEqual({ removed: 0 });
}

test("before migrate every method says so and names it", async () => {
  for (const schema of ["public", "missing"]) {
    const store = postgresStore({ client: pool, schema });
    for (const call of callsOf(store)) {
      await expect(call()).rejects.toMatchObject({
        code: "STORE_NOT_READY",
        message: expect.stringMatching(`schema ${JSON.stringify(schema)} .*migrate\\(\\)`),
        cause: expect.objectContaining({ code: "42P01" }),
      });
    }
  }
});

test("tables that lack a column are out of date", async () => {
  const store = postgresStore({ client: pool });
  await store.migrate();
  await pool.query("alter table turnkeep_memories rename column live to other");
  await expect(store.getMessages("a")).rejects.toMatchObject({
    code: "STORE_NOT_READY",
    cause: expect.objectContaining({ code: "42703" }),
  });
});

test("many prefixes at once, in a schema that is missing", async () => {
  const stores = Array.from({ length: 12 }, (_, n) =>
    postgresStore({ url, schema: "chat", prefix: `p${n}_` }),
  );
  try {
    await Promise.all(stores.map((store) => store.migrate()));
    for (const store of stores) await works(store);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
});

test("twice is once", async () => {
  const store = postgresStore({ client: pool });
  await store.migrate();
  const first = await catalog();
  expect(first).toContain("r turnkeep_messages");
  await store.migrate();
  expect(await catalog()).toEqual(first);
  await works(store);
});

test.each(["read committed", "repeatable read", "serializable"])(
  "twelve at once, by %s",
  async (isolation) => {
    const database = new URL(url).pathname.slice(1);
    await pool.query(`alter database ${database} set default_transaction_isolation = '${isolation}'`);
    const stores = Array.from({ length: 12 }, () => postgresStore({ url, schema: "chat" }));
    try {
      await Promise.all(stores.map((store) => store.migrate()));
      await works(stores[0] as PostgresStore);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
      await pool.query(`alter database ${database} reset default_transaction_isolation`);
    }
    const applied = await pool.query("select number from chat.turnkeep_migrations");
    expect(applied.rows).toEqual([{ number: 1 }]);
  },
);

describe("another version's tables", () => {
  const names = namesOf("public", "turnkeep_");
  const later = [...migrationsOf(names), `alter table ${names.memories} add column note text;`];

  test("a later version adds its steps to what an earlier one made, once, even from many processes", async () => {
    const store = postgresStore({ client: pool });
    await store.migrate();
    const begin = update(null, 2, { append: [message(1)] });
    await store.updateMessages("a", begin);
    await Promise.all(Array.from({ length: 8 }, () => pool.query(migrateStatement(names, later).text)));
    expect((await pool.query("select note from turnkeep_memories")).rows).toEqual([{ note: null }]);
    expect((await pool.query("select number from turnkeep_migrations order by number")).rows).toEqual([
      { number: 1 },
      { number: 2 },
    ]);
    expect(await store.getMessages("a")).toMatchObject({ version: begin.version, messages: [message(1)] });
  });

  test("an earlier version does not touch what a later one made", async () => {
    await pool.query(migrateStatement(names, later).text);
    await expect(postgresStore({ client: pool }).migrate()).rejects.toMatchObject({
      code: "UNSUPPORTED_VERSION",
      message: expect.stringContaining("upgrade"),
    });
  });

  test("a step that fails leaves nothing behind", async () => {
    const broken = [...migrationsOf(names), "create table public.half (); select 1 / 0;"];
    await expect(pool.query(migrateStatement(names, broken).text)).rejects.toThrow();
    expect(await catalog()).toEqual([]);
  });
});

describe("names", () => {
  const hostile = [
    `x"; drop table victims; --`,
    `x'; drop table victims; --`,
    `x'); drop table victims; end $$; --`,
    "back\\slash\\' % %I $body$ {}",
    "Groß und klein 🙂",
    " ",
  ];

  test.each(hostile)("schema and prefix %j are names and nothing more", async (name) => {
    await pool.query("create table victims ()");
    const before = await catalog();
    const store = postgresStore({ client: pool, schema: name, prefix: name });
    await store.migrate();
    await store.migrate();
    await works(store);
    expect(await catalog()).toEqual(before);
    expect(await catalog(name)).toContain(`r ${name}messages`);
  });

  test.each(["on", "off"])("names are the same with standard_conforming_strings %s", async (setting) => {
    const name = "back\\slash\\'quote";
    const own = openPool(url, { options: `-c standard_conforming_strings=${setting}` });
    const store = postgresStore({ client: own, schema: name, prefix: name });
    await store.migrate();
    await store.migrate();
    await works(store);
    expect(await catalog(name)).toContain(`r ${name}messages`);
    await own.end();
  });

  test("schemas and prefixes are worlds of their own", async () => {
    const places = [{}, { schema: "a" }, { schema: "A" }, { prefix: "a" }, { prefix: "A" }, { prefix: "" }];
    const stores = places.map((place) => postgresStore({ client: pool, ...place }));
    for (const store of stores) await store.migrate();
    for (const [index, store] of stores.entries()) {
      await store.updateMessages("same", update(null, 2, { append: [{ ...message(1), id: `of ${index}` }] }));
    }
    for (const [index, store] of stores.entries()) {
      expect((await store.getMessages("same")).messages.map(({ id }) => id)).toEqual([`of ${index}`]);
    }
  });

  test("a prefix as long as allowed leaves every name whole", async () => {
    const prefix = "é".repeat(Math.floor((63 - longestSuffix) / 2));
    const store = postgresStore({ client: pool, prefix });
    await store.migrate();
    const names = await catalog();
    const ours = names.filter((name) => !name.endsWith("_seq"));
    expect(ours.filter((name) => name.endsWith("memories_owner_idx"))).toHaveLength(1);
    expect(ours.every((name) => name.includes(prefix))).toBe(true);
    for (const name of ours) {
      const suffix = name.slice(name.indexOf(prefix) + prefix.length);
      expect(suffix.length).toBeLessThanOrEqual(longestSuffix);
    }
    await works(store);
  });
});

test("a role with rights on the rows alone can do everything, migrate() of a finished schema included", async () => {
  await postgresStore({ client: pool, schema: "chat" }).migrate();
  const role = `app_${randomUUID().replaceAll("-", "")}`;
  await pool.query(`
    create role ${role} login password 'app';
    grant usage on schema chat to ${role};
    grant select, insert, update, delete on chat.turnkeep_memories, chat.turnkeep_messages to ${role};
    grant select on chat.turnkeep_migrations to ${role};`);
  const restricted = new URL(url);
  restricted.username = role;
  restricted.password = "app";
  const store = postgresStore({ url: restricted.href, schema: "chat" });
  await store.migrate();
  await works(store);
  await store.close();
  await pool.query(`drop owned by ${role}; drop role ${role}`);
});

test("a role that may not create the tables is told so, and so is one that may not read them", async () => {
  const role = `app_${randomUUID().replaceAll("-", "")}`;
  await pool.query(`create role ${role} login password 'app'`);
  const restricted = new URL(url);
  restricted.username = role;
  restricted.password = "app";
  // As managed servers do it since Postgres 15.
  await pool.query("revoke create on schema public from public");
  for (const make of [async () => {}, () => postgresStore({ client: pool }).migrate()]) {
    await make();
    const store = postgresStore({ url: restricted.href });
    await expect(store.migrate()).rejects.toMatchObject({
      code: "STORE_NOT_READY",
      message: expect.stringMatching(/role .*grant/),
      cause: expect.objectContaining({ code: "42501" }),
    });
    await store.close();
  }
  await pool.query(`drop owned by ${role}; drop role ${role}`);
});

test("a database that speaks the protocol and lacks something is refused before anything is made", async () => {
  /** Refuses whatever contains that word, as such a database does, and passes the rest on. */
  function without(word: string, code: string) {
    return {
      query(text: string, values?: (string | null)[]) {
        if (text.includes(word)) throw Object.assign(new Error(`no ${word}`), { code });
        return pool.query(text, values);
      },
    };
  }
  for (const [word, code] of [
    // Aurora DSQL has no PL/pgSQL, YugabyteDB no ctid, others no multiranges.
    ["do E'", "0A000"],
    ["do E'", "42601"],
    ["ctid", "0A000"],
    ["int8multirange", "42704"],
    ["hashtextextended", "42883"],
  ] as const) {
    await expect(postgresStore({ client: without(word, code) }).migrate()).rejects.toMatchObject({
      code: "STORE_NOT_READY",
      message: expect.stringContaining("only speaks its protocol"),
      cause: expect.objectContaining({ code }),
    });
  }
  expect(await catalog()).toEqual([]);
});

test("a server that is too old is refused before anything is made", async () => {
  const names = namesOf("public", "turnkeep_");
  // No server is as new as this.
  const { text } = migrateStatement(names, migrationsOf(names), 990_000);
  const cause = await pool.query(text).catch((error: unknown) => error);
  expect(() => throwMigrationError(new Error("of the connection", { cause }))).toThrow(
    expect.objectContaining({
      code: "STORE_NOT_READY",
      message: expect.stringContaining("Postgres 14 or later"),
      cause: expect.objectContaining({ message: expect.stringMatching(/^the server is Postgres \d/) }),
    }),
  );
  expect(await catalog()).toEqual([]);
});

test("a database of another encoding is refused", async () => {
  const latin = new URL(url);
  latin.pathname += "_latin1";
  const name = latin.pathname.slice(1);
  await pool.query(`create database ${name} encoding 'LATIN1' template template0 locale 'C'`);
  await withClient(latin.href, async (client) => {
    await expect(postgresStore({ client }).migrate()).rejects.toMatchObject({
      code: "STORE_NOT_READY",
      message: expect.stringContaining("UTF8"),
    });
  });
  await pool.query(`drop database ${name}`);
});
