import { randomUUID } from "node:crypto";
import { callsOf, message, messages, pagedIdsOf, update } from "@turnkeep/store-tests";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type PostgresStore, postgresStore } from "../src/index.ts";
import {
  identifiersOf,
  longestSuffix,
  migrateStatements,
  migrationsOf,
  throwMigrationError,
} from "../src/migrations.ts";
import { newDatabase } from "./server.ts";
import { openPool, storeBefore, withClient } from "./support.ts";

const names = identifiersOf("public", "turnkeep_");
const steps = migrationsOf(names);
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

/** Brings the tables of schema public to these steps, as a version of the package that has them. */
async function migrateTo(steps: readonly string[]): Promise<void> {
  for (const { text } of migrateStatements(names, steps)) await pool.query(text);
}

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
    expect(applied.rows.map(({ number }) => number).sort()).toEqual(steps.map((_, index) => index + 1));
  },
);

describe("another version's tables", () => {
  const later = [...steps, `alter table ${names.memories} add column note text;`];

  test("a later version adds its steps to what an earlier one made, once, even from many processes", async () => {
    const store = postgresStore({ client: pool });
    await store.migrate();
    const begin = update(null, 2, { append: [message(1)] });
    await store.updateMessages("a", begin);
    await Promise.all(Array.from({ length: 8 }, () => migrateTo(later)));
    expect((await pool.query("select note from turnkeep_memories")).rows).toEqual([{ note: null }]);
    const applied = await pool.query("select number from turnkeep_migrations order by number");
    expect(applied.rows.map(({ number }) => number)).toEqual(later.map((_, index) => index + 1));
    expect(await store.getMessages("a")).toMatchObject({ version: begin.version, messages: [message(1)] });
  });

  test("an earlier version says what to do, does not touch what a later one made, and works", async () => {
    await migrateTo(later);
    const store = postgresStore({ client: pool });
    await expect(store.migrate()).rejects.toMatchObject({
      code: "UNSUPPORTED_VERSION",
      message: expect.stringMatching(
        /@turnkeep\/store-postgres: upgrade this process, or, .* without migrate\(\)/,
      ),
    });
    await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
    expect((await store.getMessages("a")).messages).toEqual([message(1)]);
    expect((await store.listMemories({ order: "newest" })).memories).toMatchObject([{ memoryId: "a" }]);
    await store.deleteMessages("a");
  });

  test("a step that fails leaves nothing of itself behind", async () => {
    await postgresStore({ client: pool }).migrate();
    const before = await catalog();
    await expect(migrateTo([...steps, "create table public.half (); select 1 / 0;"])).rejects.toThrow();
    expect(await catalog()).toEqual(before);
    await postgresStore({ client: pool }).migrate();
  });
});

describe("tables of the version whose trigger deleted as the caller", () => {
  const withTrigger = steps.slice(0, 1);

  /** Messages of no memory, as the trigger left them where a policy hid them from it. */
  async function leaveOrphans(): Promise<void> {
    await pool.query(`
      insert into turnkeep_messages (memory_key, seq, id, superseded, created_at, payload)
      select 1000000 + n, 1, 'm', false, 0, '"orphan"' from generate_series(1, 100) n`);
  }

  async function expectMigrated(): Promise<void> {
    const orphans = await pool.query(
      "select from turnkeep_messages where memory_key not in (select memory_key from turnkeep_memories)",
    );
    expect(orphans.rowCount).toBe(0);
    const keys = await pool.query("select convalidated from pg_constraint where contype = 'f'");
    expect(keys.rows).toEqual([{ convalidated: true }]);
    const triggers = await pool.query("select from pg_trigger where not tgisinternal");
    const functions = await pool.query("select from pg_proc where pronamespace = 'public'::regnamespace");
    expect([triggers.rowCount, functions.rowCount]).toEqual([0, 0]);
  }

  test("lose the orphans, and keep what is in memories", async () => {
    await migrateTo(withTrigger);
    const store = postgresStore({ client: pool });
    const begin = update(null, 4, { owner: "o", head: "1", append: messages(1, 3) });
    const earlier = storeBefore("sweep_at", pool);
    await earlier.updateMessages("a", begin);
    const before = await earlier.getMessages("a");
    await leaveOrphans();
    await store.migrate();
    await expectMigrated();
    expect(await store.getMessages("a")).toEqual(before);
    await store.deleteMessages("a");
    expect((await pool.query("select from turnkeep_messages")).rowCount).toBe(0);
  });

  test("are migrated by many at once while others write, delete and read, and no call fails", async () => {
    await migrateTo(withTrigger);
    await leaveOrphans();
    const stores = Array.from({ length: 4 }, () => postgresStore({ url }));
    let migrating = true;
    const use = async (store: PostgresStore, index: number): Promise<number> => {
      let calls = 0;
      for (; migrating || calls < 20; calls++) {
        const memoryId = `${index} ${calls}`;
        const begin = update(null, 3, { append: messages(1, 2) });
        await store.updateMessages(memoryId, begin);
        const move = [{ seq: 1, to: "superseded" as const }];
        const next = update(begin.version, 4, { append: [message(3)], move });
        await store.updateMessages(memoryId, next);
        expect((await store.getMessages(memoryId)).messages).toEqual(messages(2, 3));
        if (calls % 2 === 0) await store.deleteMessages(memoryId);
      }
      return calls;
    };
    const users = stores.map(() => storeBefore("sweep_at", pool)).map(use);
    await Promise.all(stores.map((store) => store.migrate())).finally(() => {
      migrating = false;
    });
    const calls = await Promise.all(users);
    await expectMigrated();
    const kept = await pool.query("select from turnkeep_memories");
    expect(kept.rowCount).toBe(calls.reduce((sum, count) => sum + Math.floor(count / 2), 0));
    await Promise.all(stores.map((store) => store.close()));
  });
});

describe("tables of the version whose sweep looked at every memory", () => {
  const withoutIndex = steps.slice(0, 3);

  /** What that version wrote: so many memories that have expired, that will, and that never do. */
  async function fill(count: number): Promise<void> {
    await pool.query(
      `insert into turnkeep_memories (memory_id, version, next_seq, live, updated_at, expires_at)
       select kind || n, 'v', 1, '{}', now(), expiry from generate_series(1, $1) n
       cross join (values ('expired ', now()), ('expires ', now() + interval '1 hour'), ('stays ', null)) as k (kind, expiry)`,
      [count],
    );
  }

  async function sweepTimes(): Promise<unknown[]> {
    const found = await pool.query(
      `select split_part(memory_id, ' ', 1) as kind, sweep_at is not distinct from expires_at as known, count(*)::int
       from turnkeep_memories group by 1, 2 order by 1`,
    );
    return found.rows;
  }

  test("are swept once as a whole, some at a time, and then no further than what has expired", async () => {
    await migrateTo(withoutIndex);
    await fill(250);
    const store = postgresStore({ client: pool });
    await store.migrate();
    expect(await store.sweep()).toEqual({ removed: 250 });
    expect(await sweepTimes()).toEqual([
      { kind: "expires", known: true, count: 250 },
      { kind: "stays", known: true, count: 250 },
    ]);
    expect(await store.sweep()).toEqual({ removed: 0 });
  });

  test("what that version goes on writing afterwards is swept too", async () => {
    const store = postgresStore({ client: pool });
    await store.migrate();
    await fill(3);
    expect(await store.sweep()).toEqual({ removed: 3 });
    expect(await store.sweep()).toEqual({ removed: 0 });
  });

  test("are migrated by many at once while others write and read, and no call fails", async () => {
    await migrateTo(withoutIndex);
    await fill(500);
    const stores = Array.from({ length: 4 }, () => postgresStore({ url }));
    const before = storeBefore("sweep_at", pool);
    let migrating = true;
    const use = async (_: unknown, user: number): Promise<void> => {
      for (let call = 0; migrating || call < 20; call++) {
        const memoryId = `expires ${1 + ((4 * call + user) % 500)}`;
        const { version, nextSeq } = await before.getMessages(memoryId);
        const append = update(version, nextSeq + 1, { append: [message(nextSeq)] });
        await before.updateMessages(memoryId, append);
        await before.updateMessages(`begun ${user} ${call}`, update(null, 2, { append: [message(1)] }));
      }
    };
    const users = stores.map(use);
    await Promise.all(stores.map((store) => store.migrate())).finally(() => {
      migrating = false;
    });
    await Promise.all(users);
    const swept = await Promise.all(stores.map((store) => store.sweep()));
    expect(swept.reduce((sum, { removed }) => sum + removed, 0)).toBe(500);
    expect(await sweepTimes()).toMatchObject([{ known: true }, { known: true }, { known: true }]);
    await Promise.all(stores.map((store) => store.close()));
  });
});

describe("tables of the version that noted no activity", () => {
  const withoutActivity = steps.slice(0, 5);

  const newest = (store: PostgresStore, limit?: number): Promise<string[]> =>
    pagedIdsOf(store, { owner: "ann", order: "newest", limit });

  test("list what is there in the order in which it began, until it is written to", async () => {
    await migrateTo(withoutActivity);
    const earlier = storeBefore("data", pool);
    const begun = ["a", "b", "c"].map((memoryId) => ({
      memoryId,
      begin: update(null, 2, { owner: "ann", append: [message(1)] }),
    }));
    for (const { memoryId, begin } of begun) await earlier.updateMessages(memoryId, begin);
    const store = postgresStore({ client: pool });
    await store.migrate();
    expect(await newest(store, 1)).toEqual(["c", "b", "a"]);
    const version = begun[0]?.begin.version ?? null;
    const titled = update(version, 3, { append: [message(2)], data: '{"title":"x"}' });
    await store.updateMessages("a", titled);
    expect(await newest(store, 1)).toEqual(["a", "c", "b"]);
    expect(await store.getMessages("a")).toMatchObject({ owner: "ann", data: '{"title":"x"}' });
    // The version before goes on, and what it begins comes first at once.
    await earlier.updateMessages("a", update(titled.version, 4, { append: [message(3)] }));
    await earlier.updateMessages("d", update(null, 2, { owner: "ann", append: [message(1)] }));
    expect(await newest(store, 1)).toEqual(["d", "a", "c", "b"]);
    expect(await store.getMessages("a")).toMatchObject({ data: '{"title":"x"}', messages: messages(1, 3) });
  });

  test("are migrated by many at once while others write and read, and no call fails", async () => {
    await migrateTo(withoutActivity);
    const stores = Array.from({ length: 4 }, () => postgresStore({ url }));
    const earlier = storeBefore("data", pool);
    let migrating = true;
    const use = async (_: unknown, user: number): Promise<number> => {
      let calls = 0;
      for (; migrating || calls < 20; calls++) {
        const memoryId = `${user} ${calls}`;
        const begin = update(null, 3, { owner: "ann", append: messages(1, 2) });
        await earlier.updateMessages(memoryId, begin);
        const move = [{ seq: 1, to: "superseded" as const }];
        await earlier.updateMessages(memoryId, update(begin.version, 4, { append: [message(3)], move }));
        expect((await earlier.getMessages(memoryId)).messages).toEqual(messages(2, 3));
      }
      return calls;
    };
    const users = stores.map(use);
    await Promise.all(stores.map((store) => store.migrate())).finally(() => {
      migrating = false;
    });
    const calls = await Promise.all(users);
    expect(await newest(stores[0] as PostgresStore)).toHaveLength(
      calls.reduce((sum, count) => sum + count, 0),
    );
    await Promise.all(stores.map((store) => store.close()));
  });
});

test.each([
  ["a table", "create table turnkeep_messages (id int)"],
  ["an index", "create table other (id int); create index turnkeep_messages_id_idx on other (id)"],
  [
    "a function",
    "create function turnkeep_delete_messages() returns trigger language plpgsql as 'begin end'",
  ],
])("where %s of another has a name of ours, migrate() says so and makes nothing", async (_, made) => {
  await pool.query(made);
  const before = await catalog();
  await expect(postgresStore({ client: pool }).migrate()).rejects.toMatchObject({
    code: "STORE_NOT_READY",
    message: expect.stringContaining("another prefix or schema"),
  });
  expect(await catalog()).toEqual(before);
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
  // No server is as new as this.
  const [first] = migrateStatements(names, steps, 990_000);
  const cause = await pool.query(first?.text ?? "").catch((error: unknown) => error);
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

describe("partitions", () => {
  const partsOf = {
    "of the memories": "create table turnkeep_memories (memory_key bigint) partition by hash (memory_key)",
    "of the messages by their seq":
      "create table turnkeep_messages (memory_key bigint, seq bigint) partition by range (seq)",
    "of the messages by their memory and seq":
      "create table turnkeep_messages (memory_key bigint, seq bigint) partition by hash (memory_key, seq)",
    "of the messages by what is computed of their memory":
      "create table turnkeep_messages (memory_key bigint) partition by range ((memory_key / 1000))",
    "of the messages by their memory, which are in partitions by their seq": `
      create table turnkeep_messages (memory_key bigint, seq bigint) partition by hash (memory_key);
      create table half partition of turnkeep_messages for values with (modulus 2, remainder 0) partition by range (seq);
      create table old partition of half for values from (minvalue) to (1000)`,
  };

  test.each(Object.entries(partsOf))("%s are refused", async (_of, sql) => {
    const store = postgresStore({ client: pool });
    await store.migrate();
    await pool.query(`drop table ${/turnkeep_\w+/.exec(sql)?.[0]} cascade`);
    await pool.query(sql);
    await expect(store.migrate()).rejects.toMatchObject({
      code: "STORE_NOT_READY",
      message: expect.stringMatching(
        /only the messages may be, by their memory_key alone .*docs\/postgres\.md/,
      ),
      cause: expect.objectContaining({ code: "TK005" }),
    });
  });
});
