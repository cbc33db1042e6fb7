import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { MemorySnapshot } from "@turnkeep/core";
import { message, messages, update } from "@turnkeep/store-tests";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type PostgresStore, postgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";
import { openPool, type RecordingClient, recording } from "./support.ts";

let pool: pg.Pool;
let client: RecordingClient;
let store: PostgresStore;
let memoryId: string;

beforeAll(async () => {
  pool = openPool(await newDatabase());
  client = recording(pool);
  store = postgresStore({ client });
  await store.migrate();
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
    expect(await count(() => store.getMessages(memoryId))).toBe(1);
    expect(await count(() => store.getHistory(memoryId, { order: "descending" }))).toBe(1);
    expect(await count(() => store.getHistory(memoryId, { ids: ["m1", "none"] }))).toBe(1);
    expect(await count(() => store.listMemories({ owner: "nobody" }))).toBe(1);
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

describe("statements that a connection keeps", () => {
  let single: pg.Pool;
  let keeping: PostgresStore;

  beforeAll(async () => {
    single = openPool(await newDatabase(), { max: 1 });
    keeping = postgresStore({ client: single });
    await keeping.migrate();
  });
  afterAll(() => single.end());

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
    // A read, an append, and appends by which one and up to four leave.
    expect(before).toHaveLength(4);
    memoryId = randomUUID();
    await converse(60, 30, [0, 1, 0, 2]);
    expect((await kept()).sort()).toEqual(before.sort());
  });

  test("are planned anew as they are used more", async () => {
    await converse(30, 120);
    const found = await single.query<{ uses: string }>(
      "select substring(name from '_(\\d+)$') as uses from pg_prepared_statements where statement like '%union all%'",
    );
    expect(found.rows.map(({ uses }) => uses).sort()).toEqual(["1", "2", "3"]);
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
  const single = new pg.Client({ connectionString: await newDatabase() });
  await single.connect();
  const own = postgresStore({ client: single });
  await own.migrate();
  const { stream } = (single as unknown as { connection: { stream: Socket } }).connection;
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
  await single.end();
});

interface Bytes {
  readonly sent: number;
  readonly received: number;
}

test("an append writes its own row and the head, and no other", async () => {
  const version = await memoryOfLength(50);
  const rows = (): Promise<string[]> =>
    pool
      .query(
        `select m.xmin || ' ' || m.ctid::text as row from turnkeep_messages m join turnkeep_memories h using (memory_key)
         where h.memory_id = $1 order by m.seq`,
        [memoryId],
      )
      .then((result) => result.rows.map(({ row }) => row));
  const before = await rows();
  await store.updateMessages(memoryId, update(version, 52, { append: [message(51)] }));
  const after = await rows();
  expect(after.slice(0, -1)).toEqual(before);
  expect(after).toHaveLength(51);
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

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: Plan[];
}

/** How the database runs the last statement: the indexes it uses, and how many rows of a table it fetches. */
interface Explained {
  readonly indexes: string[];
  readonly seqScans: string[];
  fetched(table: string): number;
}

/** Explains the last statement as planned for its parameters and as planned for all; what it does is undone. */
async function explain(): Promise<Explained> {
  const statement = client.statements.at(-1);
  if (statement === undefined) throw new Error("No statement was sent");
  const session = await pool.connect();
  try {
    const plans: Plan[][] = [];
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      await session.query(
        `begin; set local plan_cache_mode = ${mode}; prepare explained as ${statement.text}`,
      );
      const values = statement.values.map((value) =>
        value === null ? "null" : session.escapeLiteral(value),
      );
      const call = values.length === 0 ? "explained" : `explained (${values.join()})`;
      const { rows } = await session.query(`explain (analyze, format json) execute ${call}`);
      await session.query("rollback; deallocate explained");
      plans.push(scansOf(rows[0]["QUERY PLAN"][0].Plan));
    }
    const scans = plans.flat();
    return {
      indexes: [...new Set(scans.flatMap((scan) => scan["Index Name"] ?? []))].sort(),
      seqScans: scans
        .filter((scan) => scan["Node Type"] === "Seq Scan")
        .map((scan) => scan["Relation Name"] ?? ""),
      fetched: (table) => Math.max(...plans.map((plan) => fetchedIn(plan, table))),
    };
  } finally {
    session.release();
  }
}

/** The scans of a plan that took place. */
function scansOf(plan: Plan): Plan[] {
  const own = plan["Node Type"].endsWith("Scan") && plan["Actual Loops"] > 0 ? [plan] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(scansOf)];
}

function fetchedIn(scans: readonly Plan[], table: string): number {
  return scans
    .filter((scan) => scan["Relation Name"] === table)
    .map((scan) => {
      const dropped = (scan["Rows Removed by Filter"] ?? 0) + (scan["Rows Removed by Index Recheck"] ?? 0);
      return (scan["Actual Rows"] + dropped) * scan["Actual Loops"];
    })
    .reduce((sum, rows) => sum + rows, 0);
}

describe.each(["live", "evicted"])(
  "among 100,000 other rows, all %s, and 10,000 that left this memory",
  (state) => {
    beforeEach(async () => {
      await pool.query("truncate turnkeep_memories cascade");
      await pool.query(
        `with heads as (
         insert into turnkeep_memories (memory_id, version, next_seq, updated_at)
         select 'other ' || n, 'v', 1001, now() from generate_series(1, 5000) n returning memory_key)
       insert into turnkeep_messages (memory_key, seq, id, state, created_at, payload)
       select memory_key, seq, 'm' || seq, $1, 0, '{}' from heads, generate_series(1, 1000) seq where memory_key % 50 = 0`,
        [state],
      );
      await memoryOfLength(10_005);
      await pool.query("analyze turnkeep_memories, turnkeep_messages");
    });

    test("a read goes by the index of live messages and fetches no others", async () => {
      expect((await store.getMessages(memoryId)).messages).toHaveLength(5);
      const plan = await explain();
      expect(plan.indexes).toEqual(["turnkeep_memories_id_key", "turnkeep_messages_live_idx"]);
      expect(plan.seqScans).toEqual([]);
      expect(plan.fetched("turnkeep_messages")).toBe(5);
    });

    test("a read by who knows the version fetches no message, and is one statement", async () => {
      const { version } = await store.getMessages(memoryId);
      const known = { known: version ?? undefined };
      let snapshot: MemorySnapshot | undefined;
      expect(
        await count(async () => {
          snapshot = await store.getMessages(memoryId, known);
        }),
      ).toBe(1);
      expect(snapshot).toEqual({ version, nextSeq: 10_006, messages: [], unchanged: true });
      expect((await explain()).fetched("turnkeep_messages")).toBe(0);
    });

    test("a page of history fetches a page", async () => {
      expect((await store.getHistory(memoryId, { after: 3000, limit: 20 })).messages).toHaveLength(20);
      expect((await explain()).fetched("turnkeep_messages")).toBe(21);
      expect((await store.getHistory(memoryId, { order: "descending", limit: 20 })).messages).toHaveLength(
        20,
      );
      expect((await explain()).fetched("turnkeep_messages")).toBe(21);
    });

    test.each([1, 100])(
      "ids go by their index, and ids that are not there fetch nothing (limit %i)",
      async (limit) => {
        const ids = ["m7000", "m10001", ...Array.from({ length: 998 }, () => randomUUID())];
        expect((await store.getHistory(memoryId, { ids, limit })).messages).toHaveLength(Math.min(limit, 2));
        const plan = await explain();
        expect(plan.indexes).toEqual(["turnkeep_memories_id_key", "turnkeep_messages_id_idx"]);
        // The plan tells the average of a thousand look-ups, rounded.
        expect(plan.fetched("turnkeep_messages")).toBeLessThanOrEqual(2);
      },
    );

    test("a change fetches the rows that it names", async () => {
      const { version } = await store.getMessages(memoryId);
      await store.updateMessages(
        memoryId,
        update(version, 10_007, {
          append: [message(10_006)],
          replace: [message(10_005, '"changed"')],
          move: [
            { seq: 10_004, to: "evicted" },
            { seq: 50, to: "removed" },
          ],
        }),
      );
      // Back to the version before, so that the statement does its work again when it is explained.
      await pool.query(
        `with head as (update turnkeep_memories set version = $2, next_seq = 10006 where memory_id = $1 returning memory_key),
       gone as (delete from turnkeep_messages m using head where m.memory_key = head.memory_key and seq = 10006)
       insert into turnkeep_messages (memory_key, seq, id, state, created_at, payload)
       select memory_key, 50, 'm50', 'evicted', 0, '{}' from head`,
        [memoryId, version],
      );
      const plan = await explain();
      expect(plan.seqScans).toEqual([]);
      // Three rows are named: each is fetched to see that it is there, and to be changed or removed.
      expect(plan.fetched("turnkeep_messages")).toBe(6);
    });

    test("a change of 400 messages does not search the rest", async () => {
      const { version } = await store.getMessages(memoryId);
      const move = messages(1, 400).map(({ seq }) => ({ seq, to: "superseded" as const }));
      await store.updateMessages(memoryId, update(version, 10_006, { move }));
      await pool.query("update turnkeep_memories set version = $2 where memory_id = $1", [memoryId, version]);
      const plan = await explain();
      expect(plan.seqScans).toEqual([]);
      expect(plan.fetched("turnkeep_messages")).toBe(2 * 400);
    });
  },
);
