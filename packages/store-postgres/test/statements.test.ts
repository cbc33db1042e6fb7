import { randomUUID } from "node:crypto";
import { Socket } from "node:net";
import { message, messages, pagedIdsOf, update } from "@turnkeep/store-tests";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type PostgresStore, postgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";
import { openPool, openRecorded, type RecordingClient } from "./support.ts";

let pool: pg.Pool;
let client: RecordingClient;
let store: PostgresStore;
let memoryId: string;

beforeAll(async () => {
  ({ pool, client, store } = await openRecorded(await newDatabase()));
});
afterAll(() => pool.end());
beforeEach(() => {
  memoryId = randomUUID();
});

/** How many statements a call took. */
async function count(call: () => Promise<unknown>): Promise<number> {
  const before = client.statements.length;
  await call();
  return client.statements.length - before;
}

/** A memory of that length of which the last five are live. Answers its version. */
async function memoryOfLength(length: number): Promise<string> {
  const move = messages(1, length - 5).map(({ seq }) => ({ seq, to: "evicted" as const }));
  const first = update(null, length + 1, { append: messages(1, length), move });
  await store.updateMessages(memoryId, first);
  return first.version;
}

describe.each([10, 3000])("statements for a memory of %i messages", (length) => {
  test("every call is one, whatever its kind", async () => {
    const begin = update(null, length + 1, { append: messages(1, length) });
    expect(await count(() => store.updateMessages(memoryId, begin))).toBe(1);

    const append = update(begin.version, length + 2, { append: [message(length + 1)] });
    expect(await count(() => store.updateMessages(memoryId, append))).toBe(1);

    const everything = update(append.version, length + 3, {
      head: "{}",
      append: [message(length + 2)],
      replace: [message(length, '"changed"')],
      move: [
        { seq: 1, to: "evicted" },
        { seq: 2, to: "removed" },
      ],
    });
    expect(await count(() => store.updateMessages(memoryId, everything))).toBe(1);
    const corrected = update(everything.version, length + 3, {
      replace: [{ ...message(1, '"corrected"'), state: "evicted" }],
    });
    expect(await count(() => store.updateMessages(memoryId, corrected))).toBe(1);
    expect(await count(() => store.getMessages(memoryId))).toBe(1);
    expect(await count(() => store.getHistory(memoryId, { order: "descending" }))).toBe(1);
    expect(await count(() => store.getHistory(memoryId, { ids: ["m1", "none"] }))).toBe(1);
    const described = update(corrected.version, length + 3, { data: "{}", owner: "somebody", ttlMs: null });
    expect(await count(() => store.updateMessages(memoryId, described))).toBe(1);
    expect(await count(() => store.listMemories({ owner: "nobody" }))).toBe(1);
    expect(await count(() => store.listMemories({ owner: "somebody", order: "newest" }))).toBe(1);
    expect(await count(() => store.deleteMessages(memoryId))).toBe(1);
    expect(await count(() => store.sweep())).toBe(1);
  });

  test("a conflict and a replay are two", async () => {
    const version = await memoryOfLength(length);
    const append = update(version, length + 2, { append: [message(length + 1)] });
    await store.updateMessages(memoryId, append);
    expect(await count(() => store.updateMessages(memoryId, append))).toBe(2);
    const late = update(version, length + 2, { append: [message(length + 1)] });
    expect(
      await count(() =>
        expect(store.updateMessages(memoryId, late)).rejects.toMatchObject({ code: "VERSION_CONFLICT" }),
      ),
    ).toBe(2);
  });
});

test("no parameter has a type for which a driver may have a form of its own, such as JSON", async () => {
  const begin = update(null, 2001, { owner: "o", head: "{}", data: "{}", append: messages(1, 2000) });
  const replaced = update(begin.version, 2001, { replace: messages(101, 1500) });
  const move = messages(1, 100).map(({ seq }) => ({ seq, to: "removed" as const }));
  client.statements.length = 0;
  await store.updateMessages(memoryId, begin);
  await store.updateMessages(memoryId, replaced);
  const moved = update(replaced.version, 2001, { move });
  await store.updateMessages(memoryId, moved);
  await store.updateMessages(
    memoryId,
    update(moved.version, 2001, { data: "1", owner: "p", ttlMs: 1_000_000 }),
  );
  await store.getHistory(memoryId, { ids: ["m1"] });
  await store.listMemories({ owner: "p", order: "newest" });
  const types = new Set<string>();
  const single = await pool.connect();
  for (const { text } of client.statements) {
    await single.query(`prepare given as ${text}`);
    const found = await single.query(
      "select unnest(parameter_types)::text as type from pg_prepared_statements where name = 'given'",
    );
    for (const { type } of found.rows) types.add(type);
    await single.query("deallocate given");
  }
  single.release();
  expect([...types].sort()).toEqual(["bigint", "bigint[]", "int8multirange", "text", "text[]"]);
});

describe("statements that a connection keeps", () => {
  let shared: pg.Pool;
  let single: pg.Pool;
  let keeping: PostgresStore;

  beforeAll(async () => {
    shared = openPool(await newDatabase(), { max: 1 });
    await postgresStore({ client: shared }).migrate();
  });
  afterAll(() => shared.end());
  // A store that was refused a name once gives none any more.
  beforeEach(() => {
    single = shared;
    keeping = postgresStore({ client: single });
  });

  /** Those of the connection, without the number at the end of a name. */
  async function kept(): Promise<string[]> {
    const found = await single.query<{ name: string }>("select name from pg_prepared_statements");
    return [...new Set(found.rows.map(({ name }) => name.replace(/_\d+$/, "")))];
  }

  /** A memory of which the last twenty messages are live, then so many appends, by which in turn so many leave. */
  async function converse(length: number, appends: number, leave = [0, 1, 0, 3]): Promise<void> {
    const left = messages(1, length - 20).map(({ seq }) => ({ seq, to: "evicted" as const }));
    const first = update(null, length + 1, { append: messages(1, length), move: left });
    await keeping.updateMessages(memoryId, first);
    let version = first.version;
    let oldest = length - 19;
    for (let seq = length + 1; seq <= length + appends; seq++) {
      const move = Array.from({ length: leave[seq % 4] ?? 0 }, () => ({
        seq: oldest++,
        to: "evicted" as const,
      }));
      const next = update(version, seq + 1, { append: [message(seq)], move });
      await keeping.updateMessages(memoryId, next);
      await keeping.getMessages(memoryId);
      version = next.version;
    }
  }

  test("are few, however many messages leave", async () => {
    await converse(30, 30);
    const before = await kept();
    // A read and an append, whatever leaves by it.
    expect(before).toHaveLength(2);
    memoryId = randomUUID();
    await converse(60, 30, [0, 1, 0, 2]);
    expect((await kept()).sort()).toEqual(before.sort());
  });

  test("are few more for small changes, and none for large ones, of which there are too many kinds", async () => {
    await converse(30, 4);
    const before = await kept();
    const { messages: live, version, nextSeq } = await keeping.getMessages(memoryId);
    let expected = version;
    let next = nextSeq;
    async function send(over: Parameters<typeof update>[2]): Promise<void> {
      next += over?.append?.length ?? 0;
      const change = update(expected, next, over);
      await keeping.updateMessages(memoryId, change);
      expected = change.version;
    }
    for (const count of [2, 3, 4]) await send({ replace: live.slice(0, count) });
    await send({ append: messages(next, next + 4), replace: live.slice(0, 1) });
    for (const count of [5, 6]) await send({ append: messages(next, next + count - 1) });
    for (const count of [5, 6]) {
      await keeping.updateMessages(randomUUID(), update(null, count + 1, { append: messages(1, count) }));
    }
    const some = messages(1, 10).map(({ seq }) => seq);
    async function supersede(count: number): Promise<void> {
      const seqs = [...some, ...live.map(({ seq }) => seq)].slice(0, count);
      await send({ move: seqs.map((seq) => ({ seq, to: "superseded" as const })) });
    }
    for (const count of [17, 18]) await supersede(count);
    expect((await kept()).sort()).toEqual(before.sort());
    // One message that is replaced, as an answer still streaming is, and one, up to four and up to sixteen that move.
    for (const payload of ["1", "2"])
      await send({ replace: live.slice(-1).map((one) => ({ ...one, payload })) });
    for (const count of [1, 2, 3, 4, 5, 16]) await supersede(count);
    expect(await kept()).toHaveLength(before.length + 4);
    // One with a time to live of its own, or that says something about the conversation, has the text of any other.
    for (const over of [{ ttlMs: 1_000_000 }, { ttlMs: null }, { data: "1" }, { owner: "o" }]) {
      for (const _ of [1, 2]) await send({ ...over, append: [message(next)] });
    }
    expect(await kept()).toHaveLength(before.length + 4);
  });

  test("are fifty texts at most for all stores over a pool, and the others go on in full", async () => {
    single = openPool(await newDatabase(), { max: 1 });
    onTestFinished(() => single.end());
    for (let n = 1; n <= 20; n++) {
      keeping = postgresStore({ client: single, schema: `tenant ${n}` });
      await keeping.migrate();
      memoryId = "the same";
      await converse(30, 10);
      const change = update((await keeping.getMessages(memoryId)).version, 41, {
        move: [{ seq: 40, to: "superseded" }],
      });
      await keeping.updateMessages(memoryId, change);
      expect((await keeping.getMessages(memoryId)).messages.at(-1)).toEqual(message(39));
    }
    expect(await kept()).toHaveLength(50);
  });

  test("are planned anew as they are used more", async () => {
    await converse(30, 120);
    const found = await single.query<{ uses: string }>(
      "select substring(name from '_(\\d+)$') as uses from pg_prepared_statements where statement like '%union all%'",
    );
    expect(found.rows.map(({ uses }) => uses).sort()).toEqual(["1", "2", "3"]);
  });

  test("whose tables have changed meanwhile are sent in full", async () => {
    await converse(30, 5);
    const before = await keeping.getMessages(memoryId);
    await single.query(`
      alter table turnkeep_memories alter head type varchar;
      alter table turnkeep_messages alter payload type varchar`);
    expect(await keeping.getMessages(memoryId)).toEqual(before);
  });

  test("that were lost are sent in full, once", async () => {
    await converse(30, 5);
    await single.query("deallocate all");
    const { version } = await keeping.getMessages(memoryId);
    await keeping.updateMessages(memoryId, update(version, 37, { append: [message(36)] }));
    const { messages: live } = await keeping.getMessages(memoryId);
    expect(live.filter(({ seq }) => seq === 36)).toEqual([message(36)]);
    expect(await kept()).toEqual([]);
  });
});

test("neither an append nor a read sends or answers more when the history has grown", async () => {
  const stream = new Socket();
  const config = { connectionString: await newDatabase(), max: 1, stream: () => stream };
  const own = postgresStore({ config });
  await own.migrate();
  async function bytes(call: () => Promise<unknown>): Promise<{ sent: number; received: number }> {
    const [written, read] = [stream.bytesWritten, stream.bytesRead];
    await call();
    return { sent: stream.bytesWritten - written, received: stream.bytesRead - read };
  }
  async function costs(length: number): Promise<{ append: Bytes; read: Bytes }> {
    const move = messages(1, length - 5).map(({ seq }) => ({ seq, to: "evicted" as const }));
    const begin = update(null, length + 1, { append: messages(1, length), move });
    await own.updateMessages(`of ${length}`, begin);
    let version = begin.version;
    let append: Bytes = { sent: 0, received: 0 };
    // The last of some: until then a connection may be told the statement's text.
    for (let seq = length + 1; seq <= length + 9; seq++) {
      const next = update(version, seq + 1, {
        append: [message(seq)],
        move: [{ seq: seq - 5, to: "evicted" }],
      });
      append = await bytes(() => own.updateMessages(`of ${length}`, next));
      version = next.version;
      await own.getMessages(`of ${length}`);
    }
    return { append, read: await bytes(() => own.getMessages(`of ${length}`)) };
  }
  const [small, large] = [await costs(10), await costs(5_000)];
  // Five messages' longer numbers and ids.
  for (const operation of ["append", "read"] as const) {
    expect(large[operation].sent - small[operation].sent).toBeLessThan(60);
    expect(large[operation].received - small[operation].received).toBeLessThan(60);
  }
  expect(small.append.sent + small.append.received).toBeLessThan(700);
  await own.close();
});

interface Bytes {
  readonly sent: number;
  readonly received: number;
}

/** Where each row of a memory's messages lies, and who wrote it there, by seq. */
async function rows(): Promise<string[]> {
  const found = await pool.query(
    `select m.xmin || ' ' || m.ctid::text as row from turnkeep_messages m join turnkeep_memories h using (memory_key)
     where h.memory_id = $1 order by m.seq`,
    [memoryId],
  );
  return found.rows.map(({ row }) => row);
}

test("a write by a store without ttlMs ends the expiry", async () => {
  const begin = update(null, 3, { append: messages(1, 2) });
  await postgresStore({ client: pool, ttlMs: 3_600_000 }).updateMessages(memoryId, begin);
  const expires = async (): Promise<unknown> =>
    (await pool.query("select expires_at from turnkeep_memories where memory_id = $1", [memoryId])).rows[0];
  expect(await expires()).toEqual({ expires_at: expect.any(Date) });
  await store.updateMessages(memoryId, update(begin.version, 4, { append: [message(3)] }));
  expect(await expires()).toEqual({ expires_at: null });
});

interface Times {
  /** In milliseconds after the last write, which the database's clock has noted. */
  readonly expires: number | null;
  readonly active: number;
}

async function times(): Promise<Times> {
  const after = (column: string): string => `extract(epoch from ${column} - updated_at)::float8 * 1000`;
  const found = await pool.query<Times>(
    `select ${after("expires_at")} as expires, ${after("active_at")} as active
     from turnkeep_memories where memory_id = $1`,
    [memoryId],
  );
  return found.rows[0] as Times;
}

test("an update's own time to live comes before the store's, and the store's is back with the next", async () => {
  const hour = 3_600_000;
  const own = postgresStore({ client: pool, ttlMs: hour });
  for (const append of [[], [message(1)]]) {
    memoryId = randomUUID();
    const nextSeq = append.length + 1;
    let expected: string | null = null;
    for (const [ttlMs, lives] of [
      [60_000, 60_000],
      [undefined, hour],
      [2 * hour, 2 * hour],
      [null, null],
      [undefined, hour],
      [1, 1],
    ] as const) {
      const next = update(expected, nextSeq, { ttlMs, append: expected === null ? append : [] });
      await own.updateMessages(memoryId, next);
      expected = next.version;
      expect((await times()).expires).toBe(lives);
    }
    await pool.query("select pg_sleep(0.01)");
    expect((await own.getMessages(memoryId)).version).toBeNull();
    expect(await store.sweep()).toEqual({ removed: 1 });
  }
});

test("the last activity is noted by the database's clock, when what was noted is too old", async () => {
  const begin = update(null, 2, { owner: "o", append: [message(1)] });
  await store.updateMessages(memoryId, begin);
  expect((await times()).active).toBe(0);
  let { version } = begin;
  let seq = 2;
  const append = async (by: PostgresStore = store): Promise<void> => {
    const next = update(version, seq + 1, { append: [message(seq++)] });
    await by.updateMessages(memoryId, next);
    version = next.version;
  };
  const makeOlder = (ms: number): Promise<unknown> =>
    pool.query(
      "update turnkeep_memories set active_at = active_at - $2 * interval '1 millisecond' where memory_id = $1",
      [memoryId, ms],
    );
  await append();
  expect((await times()).active).toBeLessThan(0);
  await makeOlder(60_000);
  await append();
  expect((await times()).active).toBe(0);
  await makeOlder(5_000);
  await append(postgresStore({ client: pool, activityMs: 1_000_000 }));
  expect((await times()).active).toBeLessThan(-5_000);
  await append(postgresStore({ client: pool, activityMs: 5_000 }));
  expect((await times()).active).toBe(0);
  await makeOlder(60_000);
  await store.updateMessages(memoryId, update(version, seq, { data: "1" }));
  expect((await times()).active).toBe(0);
});

test("the pages of the newest hold each memory once, also where all began in one microsecond", async () => {
  const ids = Array.from({ length: 10 }, (_, n) => `${memoryId} ${n}`);
  for (const id of ids) await store.updateMessages(id, update(null, 1, { owner: memoryId }));
  await pool.query(
    "update turnkeep_memories set active_at = '2001-02-03T04:05:06.789123Z' where memory_id = any($1)",
    [ids],
  );
  const newestFirst = ids.toReversed();
  for (const limit of [1, 3, 10]) {
    expect(await pagedIdsOf(store, { owner: memoryId, order: "newest", limit })).toEqual(newestFirst);
    expect((await pagedIdsOf(store, { order: "newest", limit })).slice(-10)).toEqual(newestFirst);
  }
});

describe("when a sweep looks at a memory", () => {
  const hour = 3_600_000;

  async function sweptAtExpiry(): Promise<boolean | null> {
    const found = await pool.query(
      "select sweep_at = expires_at as same from turnkeep_memories where memory_id = $1",
      [memoryId],
    );
    return found.rows[0].same;
  }

  test("stays as it was while writes prolong its life, so that none of them touches an index", async () => {
    const session = await pool.connect();
    onTestFinished(() => session.release());
    const own = postgresStore({ client: session, ttlMs: hour });
    const begin = update(null, 2, { owner: "o", append: [message(1)] });
    await own.updateMessages(memoryId, begin);
    expect(await sweptAtExpiry()).toBe(true);
    const updatesInPlace = async (): Promise<number> => {
      const counter = "pg_stat_get_xact_tuples_hot_updated('turnkeep_memories'::regclass)::int";
      return (await session.query(`select ${counter} as hot`)).rows[0].hot;
    };
    await session.query("begin");
    const before = await updatesInPlace();
    await own.updateMessages(memoryId, update(begin.version, 3, { append: [message(2)] }));
    expect(await updatesInPlace()).toBe(before + 1);
    await session.query("commit");
    expect(await sweptAtExpiry()).toBe(false);
  });

  test("is put off by a sweep that finds it alive", async () => {
    const own = postgresStore({ client: pool, ttlMs: hour });
    const begin = update(null, 2, { append: [message(1)] });
    await own.updateMessages(memoryId, begin);
    await own.updateMessages(memoryId, update(begin.version, 3, { append: [message(2)] }));
    await pool.query("update turnkeep_memories set sweep_at = now() where memory_id = $1", [memoryId]);
    expect(await own.sweep()).toEqual({ removed: 0 });
    expect(await sweptAtExpiry()).toBe(true);
    expect((await own.getMessages(memoryId)).messages).toEqual(messages(1, 2));
  });

  test.each([
    [hour, { ttlMs: 1 }, {}],
    [undefined, { ttlMs: 1 }, {}],
    [hour, {}, { ttlMs: 1 }],
    [undefined, {}, { ttlMs: 1 }],
  ])("comes forward where a write shortens its life (from %s, %j, %j)", async (ttlMs, options, own) => {
    const begin = update(null, 2, { append: [message(1)] });
    await postgresStore({ client: pool, ttlMs }).updateMessages(memoryId, begin);
    const short = postgresStore({ client: pool, ...options });
    await short.updateMessages(memoryId, update(begin.version, 3, { append: [message(2)], ...own }));
    await pool.query("select pg_sleep(0.01)");
    expect(await short.sweep()).toEqual({ removed: 1 });
    const left = await pool.query("select from turnkeep_memories where memory_id = $1", [memoryId]);
    expect(left.rowCount).toBe(0);
  });

  test("is never, once it has been asked, for one that does not expire", async () => {
    const begin = update(null, 2, { append: [message(1)] });
    await postgresStore({ client: pool, ttlMs: hour }).updateMessages(memoryId, begin);
    await store.updateMessages(memoryId, update(begin.version, 3, { append: [message(2)] }));
    await pool.query("update turnkeep_memories set sweep_at = now() where memory_id = $1", [memoryId]);
    expect(await store.sweep()).toEqual({ removed: 0 });
    const { rows } = await pool.query("select sweep_at from turnkeep_memories where memory_id = $1", [
      memoryId,
    ]);
    expect(rows).toEqual([{ sweep_at: null }]);
  });
});

test("an append writes its own row and the head, and no row that it evicts", async () => {
  const version = await memoryOfLength(50);
  const before = await rows();
  const move = [46, 47].map((seq) => ({ seq, to: "evicted" as const }));
  const append = update(version, 52, { append: [message(51)], move });
  await store.updateMessages(memoryId, append);
  const after = await rows();
  expect(after.slice(0, -1)).toEqual(before);
  expect(after).toHaveLength(51);
  expect((await store.getMessages(memoryId)).messages).toEqual(messages(48, 51));

  const change = update(append.version, 52, {
    replace: [message(51, '"changed"')],
    move: [48, 49].map((seq) => ({ seq, to: "evicted" as const })),
  });
  await store.updateMessages(memoryId, change);
  expect((await rows()).slice(0, -1)).toEqual(before);
  expect((await store.getMessages(memoryId)).messages).toEqual([message(50), message(51, '"changed"')]);
});

test("an append finds room for the new head beside the old one, and so touches no index", async () => {
  const own = openPool(await newDatabase());
  const store = postgresStore({ client: own });
  await store.migrate();
  await own.query(
    `insert into turnkeep_memories (memory_id, version, next_seq, live, updated_at)
     select 'memory ' || n, 'v', 1, '{}', now() from generate_series(1, 1000) n`,
  );
  const pages = async (): Promise<unknown[]> => {
    const sql = "select split_part(ctid::text, ',', 1) as page from turnkeep_memories order by memory_key";
    return (await own.query(sql)).rows;
  };
  const before = await pages();
  // One in a page, whose first rows these are.
  for (let n = 1; n <= 1000; n += 100) {
    await store.updateMessages(`memory ${n}`, update("v", 2, { append: [message(1)] }));
  }
  expect(await pages()).toEqual(before);
  await own.end();
});

/** Of ten messages the ninth is superseded. */
async function memoryWithSuperseded(): Promise<string> {
  const superseded = update(await memoryOfLength(10), 11, { move: [{ seq: 9, to: "superseded" }] });
  await store.updateMessages(memoryId, superseded);
  return superseded.version;
}

test("what is evicted without being live takes a look and a second write", async () => {
  const version = await memoryWithSuperseded();
  const evicted = update(version, 12, {
    append: [message(11)],
    move: [8, 9].map((seq) => ({ seq, to: "evicted" as const })),
  });
  expect(await count(() => store.updateMessages(memoryId, evicted))).toBe(3);
  const { messages: all } = await store.getHistory(memoryId, {});
  expect(all.map(({ state }) => state)).toEqual([
    ...Array.from({ length: 5 }, () => "evicted"),
    ...["live", "live", "evicted", "evicted", "live", "live"],
  ]);
});

test("an update that is longer than any text is refused, and the next one works", async () => {
  const payload = JSON.stringify("x".repeat(540_000));
  const append = messages(1, 1_001).map((one) => ({ ...one, payload }));
  await expect(store.updateMessages(memoryId, update(null, 1_002, { append }))).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message: expect.stringContaining("1001 messages"),
  });
  await store.updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
});

test("a write that takes a second statement keeps to what it was given", async () => {
  const version = await memoryWithSuperseded();
  const evicted = update(version, 12, {
    append: [message(11)],
    move: [{ seq: 9, to: "evicted" }],
  });
  const { version: given } = evicted;
  const call = store.updateMessages(memoryId, evicted);
  Object.assign(evicted, { version: "changed meanwhile", head: '"changed meanwhile"' });
  await call;
  expect(await store.getMessages(memoryId)).toEqual({
    version: given,
    nextSeq: 12,
    messages: [...messages(6, 8), ...messages(10, 11)],
  });
});

test("a large message that leaves memory is not written again", async () => {
  const payload = JSON.stringify(Array.from({ length: 40_000 }, () => Math.random().toString(36)));
  const begin = update(null, 2, { append: [{ ...message(1), payload }] });
  await store.updateMessages(memoryId, begin);
  const stored = (): Promise<number> =>
    pool
      .query(
        `select pg_relation_size(reltoastrelid)::int as bytes from pg_class where oid = 'turnkeep_messages'::regclass`,
      )
      .then((result) => result.rows[0].bytes);
  const before = await stored();
  expect(before).toBeGreaterThan(payload.length / 2);
  const move = update(begin.version, 2, { move: [{ seq: 1, to: "superseded" }] });
  await store.updateMessages(memoryId, move);
  await store.updateMessages(memoryId, update(move.version, 2, { move: [{ seq: 1, to: "live" }] }));
  expect(await stored()).toBe(before);
  expect((await store.getMessages(memoryId)).messages[0]?.payload).toBe(payload);
});
