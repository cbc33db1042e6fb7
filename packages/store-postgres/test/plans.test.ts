import { randomUUID } from "node:crypto";
import { message, messages, update } from "@turnkeep/store-tests";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { PostgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";
import { openRecorded, type RecordingClient } from "./support.ts";

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

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Total Cost": number;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: Plan[];
}

/** How the database runs the last statement: the indexes it uses, and how many rows of a table it fetches. */
interface Explained {
  readonly indexes: string[];
  readonly seqScans: string[];
  fetched(table: string): number;
  readonly cost: number;
  /** How many pages it looked at, those of values that are kept apart included. */
  readonly pages: number;
}

/** Explains the last statement as planned for its parameters and as planned for all; what it does is undone. */
async function explain(): Promise<Explained> {
  const statement = client.statements.at(-1);
  if (statement === undefined) throw new Error("No statement was sent");
  const session = await pool.connect();
  try {
    const plans: Plan[][] = [];
    const costs: number[] = [];
    const pages: number[] = [];
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      await session.query(
        `begin; set local plan_cache_mode = ${mode}; prepare explained as ${statement.text}`,
      );
      const values = statement.values.map((value) =>
        value === null ? "null" : session.escapeLiteral(value),
      );
      const call = values.length === 0 ? "explained" : `explained (${values.join()})`;
      const { rows } = await session.query(`explain (analyze, buffers, format json) execute ${call}`);
      await session.query("rollback; deallocate explained");
      const plan: Plan = rows[0]["QUERY PLAN"][0].Plan;
      plans.push(scansOf(plan));
      costs.push(plan["Total Cost"]);
      pages.push(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]);
    }
    const scans = plans.flat();
    return {
      indexes: [...new Set(scans.flatMap((scan) => scan["Index Name"] ?? []))].sort(),
      seqScans: scans
        .filter((scan) => scan["Node Type"] === "Seq Scan")
        .map((scan) => scan["Relation Name"] ?? ""),
      cost: Math.max(...costs),
      pages: Math.max(...pages),
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

/** A memory of which the last five messages are live, and the first one if it stays. */
async function memoryOfLength(length: number, first: "stays" | "leaves" = "leaves"): Promise<void> {
  const left = messages(1, length - 5).slice(first === "stays" ? 1 : 0);
  const move = left.map(({ seq }) => ({ seq, to: "evicted" as const }));
  await store.updateMessages(memoryId, update(null, length + 1, { append: messages(1, length), move }));
  await pool.query("analyze turnkeep_memories, turnkeep_messages");
}

describe.each(["live", "evicted"])(
  "among 100,000 other rows, all %s, and 10,000 that left this memory",
  (state) => {
    /** Of 10,005 messages, for the tests that change nothing in it. */
    const read = randomUUID();

    beforeAll(async () => {
      await pool.query("truncate turnkeep_memories, turnkeep_messages");
      await pool.query(
        `with heads as (
         insert into turnkeep_memories (memory_id, version, next_seq, live, updated_at)
         select 'other ' || n, 'v', 1001, $1, now() from generate_series(1, 5000) n returning memory_key)
       insert into turnkeep_messages (memory_key, seq, id, superseded, created_at, payload)
       select memory_key, seq, 'm' || seq, false, 0, '{}' from heads, generate_series(1, 1000) seq
       where memory_key % 50 = 0`,
        [state === "live" ? "{[1,1001)}" : "{}"],
      );
      memoryId = read;
      await memoryOfLength(10_005);
    });
    beforeEach(() => {
      memoryId = read;
    });

    test("a read goes by the key of messages and fetches no others than the live ones", async () => {
      expect((await store.getMessages(memoryId)).messages).toHaveLength(5);
      const plan = await explain();
      expect(plan.indexes).toEqual(["turnkeep_memories_id_key", "turnkeep_messages_pkey"]);
      expect(plan.seqScans).toEqual([]);
      expect(plan.fetched("turnkeep_messages")).toBe(5);
    });

    test("nor with a system message far from the newest, nor for a page of live history", async () => {
      memoryId = randomUUID();
      await memoryOfLength(10_000, "stays");
      const calls = [
        () => store.getMessages(memoryId),
        () => store.getHistory(memoryId, { states: ["live"] }),
        () => store.getHistory(memoryId, { states: ["live"], order: "descending", limit: 6 }),
      ];
      for (const call of calls) {
        expect((await call()).messages).toHaveLength(6);
        const plan = await explain();
        expect(plan.indexes).toEqual(["turnkeep_memories_id_key", "turnkeep_messages_pkey"]);
        expect(plan.seqScans).toEqual([]);
        expect(plan.fetched("turnkeep_messages")).toBe(6);
      }
    });

    test("a read by who knows the version fetches no message, and is one statement", async () => {
      const { version } = await store.getMessages(memoryId);
      const known = { known: version ?? undefined };
      const before = client.statements.length;
      expect(await store.getMessages(memoryId, known)).toEqual({
        version,
        nextSeq: 10_006,
        messages: [],
        unchanged: true,
      });
      expect(client.statements.length).toBe(before + 1);
      expect((await explain()).fetched("turnkeep_messages")).toBe(0);
    });

    test("a page of history fetches a page", async () => {
      expect((await store.getHistory(memoryId, { after: 3000, limit: 20 })).messages).toHaveLength(20);
      expect((await explain()).fetched("turnkeep_messages")).toBe(21);
      const newest = { order: "descending", limit: 20 } as const;
      expect((await store.getHistory(memoryId, newest)).messages).toHaveLength(20);
      expect((await explain()).fetched("turnkeep_messages")).toBe(21);
      await store.getHistory(memoryId, { ...newest, states: ["evicted"] });
      expect((await explain()).fetched("turnkeep_messages")).toBe(5 + 21);
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

    test("a page of an owner's memories goes by their index and fetches no others", async () => {
      const owned = Array.from({ length: 30 }, () => randomUUID());
      for (const id of owned) await store.updateMessages(id, update(null, 1, { owner: "alice" }));
      await pool.query("analyze turnkeep_memories");
      expect((await store.listMemories({ owner: "alice", limit: 10 })).memories).toHaveLength(10);
      const plan = await explain();
      expect(plan.indexes).toEqual(["turnkeep_memories_owner_idx"]);
      expect(plan.seqScans).toEqual([]);
      expect(plan.fetched("turnkeep_memories")).toBe(11);
    });

    test("a page of the newest goes by an index, an owner's by their own, and sorts nothing", async () => {
      await pool.query(
        "update turnkeep_memories set owner = 'ann', active_at = active_at - memory_key * interval '1 second' where memory_key % 5 = 0",
      );
      await pool.query("analyze turnkeep_memories");
      for (const owner of [undefined, "ann"]) {
        const index = owner === undefined ? "turnkeep_active_idx" : "turnkeep_owner_active_idx";
        const query = { owner, order: "newest", limit: 20 } as const;
        const first = await store.listMemories(query);
        const firstPlan = await explain();
        await store.listMemories({ ...query, cursor: first.cursor });
        for (const plan of [firstPlan, await explain()]) {
          expect(plan.indexes).toEqual([index]);
          expect(plan.fetched("turnkeep_memories")).toBe(21);
        }
      }
    });

    test("a change fetches the rows that it names", async () => {
      memoryId = randomUUID();
      await memoryOfLength(10_005);
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
       insert into turnkeep_messages (memory_key, seq, id, superseded, created_at, payload)
       select memory_key, 50, 'm50', false, 0, '{}' from head`,
        [memoryId, version],
      );
      const plan = await explain();
      expect(plan.seqScans).toEqual([]);
      // Three rows are named: each is fetched to see that it is there, and two to be changed or removed.
      expect(plan.fetched("turnkeep_messages")).toBe(5);
    });

    test("a change of 400 messages does not search the rest", async () => {
      memoryId = randomUUID();
      await memoryOfLength(10_005);
      const { version } = await store.getMessages(memoryId);
      const move = messages(1, 400).map(({ seq }) => ({ seq, to: "superseded" as const }));
      await store.updateMessages(memoryId, update(version, 10_006, { move }));
      await pool.query(
        `with head as (update turnkeep_memories set version = $2 where memory_id = $1 returning memory_key)
         update turnkeep_messages m set superseded = false from head where m.memory_key = head.memory_key`,
        [memoryId, version],
      );
      const plan = await explain();
      expect(plan.seqScans).toEqual([]);
      expect(plan.fetched("turnkeep_messages")).toBe(2 * 400);
    });
  },
);

test("a read is never taken for so much that it would be compiled", async () => {
  await pool.query("truncate turnkeep_memories, turnkeep_messages");
  await memoryOfLength(50_000);
  await store.getMessages(memoryId);
  const { rows } = await pool.query("show jit_above_cost");
  expect((await explain()).cost).toBeLessThan(Number(rows[0].jit_above_cost) / 100);
});

describe("among 100,000 memories that will expire", () => {
  beforeEach(async () => {
    await pool.query("truncate turnkeep_memories, turnkeep_messages");
    await pool.query(
      `insert into turnkeep_memories (memory_id, version, next_seq, live, updated_at, expires_at, sweep_at)
       select 'other ' || n, 'v', 1, '{}', now(), now() + interval '1 day', now() + interval '1 hour'
       from generate_series(1, 100000) n`,
    );
    await pool.query("analyze turnkeep_memories");
  });

  test("a sweep goes by their index, and where nothing has expired fetches none of them", async () => {
    expect(await store.sweep()).toEqual({ removed: 0 });
    const plan = await explain();
    expect(plan.indexes).toEqual(["turnkeep_memories_sweep_idx"]);
    expect(plan.seqScans).toEqual([]);
    expect(plan.fetched("turnkeep_memories")).toBe(0);
    expect(plan.pages).toBeLessThan(10);
  });

  test("and otherwise those whose time has come, once to find and once to remove or put off", async () => {
    await pool.query(
      `update turnkeep_memories set sweep_at = now(), expires_at = case when memory_key % 2 = 0 then now() else expires_at end
       where memory_id in (select 'other ' || n from generate_series(1, 60) n)`,
    );
    expect(await store.sweep()).toEqual({ removed: 30 });
    // As many again, so that the statement has as much to do when it is explained.
    await pool.query(
      `update turnkeep_memories set sweep_at = now(), expires_at = case when memory_key % 2 = 0 then now() else expires_at end
       where memory_id in (select 'other ' || n from generate_series(61, 120) n)`,
    );
    const plan = await explain();
    expect(plan.seqScans).toEqual([]);
    expect(plan.fetched("turnkeep_memories")).toBe(2 * 60);
  });
});

test("a sweep looks at nothing twice, even while somebody's transaction keeps what it has removed", async () => {
  await pool.query("truncate turnkeep_memories, turnkeep_messages");
  await pool.query(
    `insert into turnkeep_memories (memory_id, version, next_seq, head, live, updated_at, expires_at)
     select 'old ' || n, 'v', 1, repeat('x', 1900), '{}', now(), now() from generate_series(1, 2050) n`,
  );
  const holder = await pool.connect();
  onTestFinished(() => holder.release());
  await holder.query("begin isolation level repeatable read; select 1");
  expect(await store.sweep()).toEqual({ removed: 2_050 });
  // The last of its statements, behind all that the others removed.
  expect((await explain()).pages).toBeLessThan(100);
  await holder.query("rollback");
});

describe.each([1, 2])("of 6,000 messages, those are live whose seq is a multiple of %i", (step) => {
  const move = messages(1, 6_000).filter(({ seq }) => seq % step !== 0);
  const begin = update(null, 6_001, {
    append: messages(1, 6_000),
    move: move.map(({ seq }) => ({ seq, to: "evicted" })),
  });
  beforeEach(async () => {
    await store.updateMessages(memoryId, begin);
    await pool.query("analyze turnkeep_memories, turnkeep_messages");
  });

  test("a page of the live ones fetches a page", async () => {
    for (const query of [{ after: 3_000 }, { before: 3_000, order: "descending" }] as const) {
      const page = await store.getHistory(memoryId, { ...query, states: ["live"], limit: 20 });
      expect(page).toMatchObject({ messages: { length: 20 }, hasMore: true });
      expect((await explain()).fetched("turnkeep_messages")).toBe(21);
    }
  });

  test("which of them are live is unpacked once for all that a statement names or returns", async () => {
    const evict = update(begin.version, 6_001, {
      move: messages(1, 6_000)
        .filter(({ seq }) => seq % 6 === 0)
        .map(({ seq }) => ({ seq, to: "evicted" })),
    });
    await store.updateMessages(memoryId, evict);
    // Pages of an index and a table for each look-up by id or seq, and few for a page in the order of the key.
    const calls: [most: number, call: () => Promise<unknown>][] = [
      [200, () => store.getHistory(memoryId, { limit: 1_000 })],
      [200, () => store.getHistory(memoryId, { limit: 1_000, states: ["evicted"], order: "descending" })],
      [
        5_000,
        () => store.getHistory(memoryId, { limit: 1_000, ids: messages(1, 1_000).map(({ id }) => id) }),
      ],
      // It came twice, so the last statement asks for the state of each message that it names.
      [5_000, () => store.updateMessages(memoryId, evict)],
    ];
    for (const [most, call] of calls) {
      await call();
      expect((await explain()).pages).toBeLessThan(most);
    }
  });
});
