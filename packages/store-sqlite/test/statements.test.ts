import { randomUUID } from "node:crypto";
import type { MemoryUpdate } from "@turnkeep/core";
import { foldUpdate, type NormalHistoryQuery, type NormalListQuery } from "@turnkeep/core/store-kit";
import { message, messages, pagedIdsOf, update } from "@turnkeep/store-tests";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { identifiersOf } from "../src/migrations.ts";
import { type Statement, Statements } from "../src/sql.ts";
import { queryOf, through } from "./harness.ts";
import { connectionsTo, newFile } from "./support.ts";

const database = connectionsTo(newFile())();
const query = queryOf(database);
/** The statements of each batch. */
let batches: (readonly string[])[];
const client = through(database, (work, texts) => {
  batches.push(texts);
  return work();
});
const store = sqliteStore({ client });
let memoryId: string;
beforeAll(() => {
  batches = [];
  return store.migrate();
});
beforeEach(() => {
  memoryId = randomUUID();
  batches = [];
});

/** How many batches a call takes, and how many statements. */
async function costs(call: () => Promise<unknown>): Promise<string> {
  batches = [];
  await call();
  return `${batches.length}: ${batches.flat().length}`;
}

/** Begins a memory of so many messages, of which the last five are live. */
async function memoryOfLength(length: number): Promise<string> {
  const move = messages(1, length - 5).map(({ seq }) => ({ seq, to: "evicted" as const }));
  const begin = update(null, length + 1, { append: messages(1, length), move });
  await store.updateMessages(memoryId, begin);
  return begin.version;
}

test("every call is one batch, and an append costs the same however long the history is", async () => {
  for (const length of [10, 1_000]) {
    memoryId = randomUUID();
    const version = await memoryOfLength(length);
    const append = update(version, length + 2, {
      append: [message(length + 1)],
      move: [{ seq: length - 4, to: "evicted" }],
    });
    expect(await costs(() => store.updateMessages(memoryId, append))).toBe("1: 6");
    expect(await costs(() => store.updateMessages(memoryId, append))).toBe("1: 6");
    expect(await costs(() => store.getMessages(memoryId))).toBe("1: 1");
    expect(await costs(() => store.getHistory(memoryId, {}))).toBe("1: 1");
    expect(await costs(() => store.listMemories({}))).toBe("1: 1");
    expect(await costs(() => store.sweep())).toBe("1: 1");
    expect(await costs(() => store.deleteMessages(memoryId))).toBe("1: 2");
  }
});

test("a change of data or of the owner is an update like another, a list of the newest one statement", async () => {
  const begin = update(null, 2, { owner: "guest", append: [message(1)], data: "1" });
  expect(await costs(() => store.updateMessages(memoryId, begin))).toBe("1: 5");
  const append = update(begin.version, 3, { append: [message(2)] });
  expect(await costs(() => store.updateMessages(memoryId, append))).toBe("1: 4");
  const put = update(append.version, 3, { replace: [message(2, '"new"')] });
  expect(await costs(() => store.updateMessages(memoryId, put))).toBe("1: 4");
  const evict = update(put.version, 3, { move: [{ seq: 1, to: "evicted" }] });
  expect(await costs(() => store.updateMessages(memoryId, evict))).toBe("1: 4");
  const correct = update(evict.version, 3, { replace: [{ ...message(1, '"new"'), state: "evicted" }] });
  expect(await costs(() => store.updateMessages(memoryId, correct))).toBe("1: 3");
  const titled = update(correct.version, 3, { data: '{"title":"x"}' });
  expect(await costs(() => store.updateMessages(memoryId, titled))).toBe("1: 2");
  const assigned = update(titled.version, 3, { owner: "ann" });
  expect(await costs(() => store.updateMessages(memoryId, assigned))).toBe("1: 2");
  expect(await costs(() => store.listMemories({ owner: "ann", order: "newest" }))).toBe("1: 1");
  expect(await store.getMessages(memoryId, { known: assigned.version })).toMatchObject({
    owner: "ann",
    data: '{"title":"x"}',
  });
});

/** The columns of the memory's row that hold times. */
async function times(): Promise<{ updated: number; active: number; expires: number | null }> {
  const [row] = await query<Awaited<ReturnType<typeof times>>>(
    `select updated_at as updated, active_at as active, expires_at as expires
     from turnkeep_memories where memory_id = ?`,
    memoryId,
  );
  return row as NonNullable<typeof row>;
}

test("an append leaves the last activity as it is noted, and the indexes alone, until that is too old", async () => {
  const begin = update(null, 2, { owner: "ann", append: [message(1)] });
  await store.updateMessages(memoryId, begin);
  const { active, updated } = await times();
  expect(active).toBe(updated);
  await query("create temp table noted (at integer)");
  await query(
    "create temp trigger note_active after update of active_at, owner on main.turnkeep_memories begin insert into noted values (new.active_at); end",
  );
  let { version } = begin;
  const append = async (seq: number, by = store): Promise<void> => {
    const next = update(version, seq + 1, { append: [message(seq)] });
    await by.updateMessages(memoryId, next);
    version = next.version;
  };
  await append(2);
  expect(await query("select at from noted")).toEqual([]);
  expect((await times()).active).toBe(active);
  await query("update turnkeep_memories set active_at = active_at - 60000 where memory_id = ?", memoryId);
  await query("delete from noted");
  await append(3);
  const after = await times();
  expect(after.active).toBe(after.updated);
  expect(await query("select at from noted")).toEqual([{ at: after.active }]);
  await query("update turnkeep_memories set active_at = active_at - 1000 where memory_id = ?", memoryId);
  await append(4, sqliteStore({ client: database, activityMs: 1_000_000 }));
  expect((await times()).active).toBe(after.active - 1000);
  await append(5, sqliteStore({ client: database, activityMs: 1000 }));
  expect((await times()).active).toBe((await times()).updated);
  await query("drop trigger note_active");
});

test("the pages of the newest hold each memory once, also where all began in one millisecond", async () => {
  const ids = Array.from({ length: 10 }, (_, n) => `${memoryId} ${n}`);
  for (const id of ids) await store.updateMessages(id, update(null, 1, { owner: memoryId }));
  await query("update turnkeep_memories set active_at = 1 where owner = ?", memoryId);
  const newestFirst = ids.toReversed();
  for (const limit of [1, 3, 10]) {
    expect(await pagedIdsOf(store, { owner: memoryId, order: "newest", limit })).toEqual(newestFirst);
    expect((await pagedIdsOf(store, { order: "newest", limit })).slice(-10)).toEqual(newestFirst);
  }
});

test("an update's own time to live is set by SQLite's clock, and the store's by the next update", async () => {
  const hour = 3_600_000;
  const own = sqliteStore({ client: database, ttlMs: hour });
  let expected: string | null = null;
  for (const [ttlMs, lives] of [
    [60_000, 60_000],
    [undefined, hour],
    [2 * hour, 2 * hour],
    [null, null],
    [undefined, hour],
    [20, 20],
  ] as const) {
    const next = update(expected, 1, { ttlMs });
    await own.updateMessages(memoryId, next);
    expected = next.version;
    const { updated, expires } = await times();
    expect(expires === null ? null : expires - updated).toBe(lives);
  }
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect((await own.getMessages(memoryId)).version).toBeNull();
  expect(await store.sweep()).toEqual({ removed: 1 });
});

test("texts are few, so that a connection may keep them", async () => {
  const seen = new Set<string>();
  for (const length of [10, 20, 30]) {
    memoryId = randomUUID();
    const version = await memoryOfLength(length);
    const append = update(version, length + 4, {
      append: messages(length + 1, length + 3),
      move: [1, 2, 3].map((n) => ({ seq: length - n, to: "evicted" as const })),
    });
    await store.updateMessages(memoryId, append);
    await store.getMessages(memoryId);
  }
  for (const text of batches.flat()) seen.add(text);
  expect(seen.size).toBeLessThan(12);
});

test("an eviction writes no message again", async () => {
  const version = await memoryOfLength(10);
  await query("create temp table written (seq integer)");
  await query(
    "create temp trigger note after update on main.turnkeep_messages begin insert into written values (new.seq); end",
  );
  const evict = update(version, 11, { move: [6, 7].map((seq) => ({ seq, to: "evicted" as const })) });
  await store.updateMessages(memoryId, evict);
  expect(await query("select seq from written")).toEqual([]);
  const supersede = update(evict.version, 11, {
    move: [8, 9].map((seq) => ({ seq, to: "superseded" as const })),
  });
  await store.updateMessages(memoryId, supersede);
  expect(await query("select seq from written order by seq")).toEqual([{ seq: 8 }, { seq: 9 }]);
  await query("drop trigger note");
});

test("a read that knows the version brings the head alone", async () => {
  const version = await memoryOfLength(10);
  expect(await store.getMessages(memoryId, { known: version })).toEqual({
    version,
    nextSeq: 11,
    messages: [],
    unchanged: true,
  });
  expect((await store.getMessages(memoryId, { known: "another" })).messages).toEqual(messages(6, 10));
});

test("a superseded message that comes back and leaves again is evicted", async () => {
  const version = await memoryOfLength(6);
  const to = async (expected: string, state: "superseded" | "live" | "evicted"): Promise<string> => {
    const change = update(expected, 7, { move: [{ seq: 4, to: state }] });
    await store.updateMessages(memoryId, change);
    return change.version;
  };
  await to(await to(await to(version, "superseded"), "live"), "evicted");
  expect((await store.getHistory(memoryId, { ids: ["m4"] })).messages).toEqual([
    { ...message(4), state: "evicted" },
  ]);
});

test("an id that stands in for a lost message finds it, and only while it is lost", async () => {
  await memoryOfLength(10);
  const ofMemory = "memory_key = (select memory_key from turnkeep_memories where memory_id = ?)";
  await query(`delete from turnkeep_messages where seq = 7 and ${ofMemory}`, memoryId);
  const lost = { id: "turnkeep:lost:7", seq: 7, createdAt: 0, payload: "", state: "live" };
  const ids = [...[1, 6, 7].map((seq) => `turnkeep:lost:${seq}`), "turnkeep:lost:x", "m8"];
  const { messages: found } = await store.getHistory(memoryId, { ids });
  expect(found).toEqual([lost, { ...message(8), state: "live" }]);
  expect((await store.getHistory(memoryId, { ids, states: ["evicted"] })).messages).toEqual([]);
});

const sql = new Statements(identifiersOf("turnkeep_"), { ttlMs: 1000, activityMs: 60_000 });

/** What a page of history asks for, unless it says otherwise. */
const page: NormalHistoryQuery = {
  after: 0,
  before: Number.MAX_SAFE_INTEGER,
  order: "ascending",
  limit: 100,
  states: ["live", "evicted", "superseded"],
  ids: undefined,
};

const listed: NormalListQuery = { owner: undefined, order: "stored", after: undefined, limit: 10 };

async function planOf({ text, values }: Statement<unknown>): Promise<string[]> {
  const rows = await query<{ detail: string }>(`explain query plan ${text}`, ...values);
  return rows.map(({ detail }) => detail);
}

describe("no statement walks through more than it answers", () => {
  const change: MemoryUpdate = {
    expected: "v",
    version: "w",
    nextSeq: 5,
    append: [message(4)],
    replace: [message(1)],
    move: [
      { seq: 2, to: "superseded" },
      { seq: 3, to: "removed" },
    ],
  };
  const begin = { ...change, expected: null, replace: [], move: [] };
  test.each<[what: string, statements: readonly Statement<unknown>[]]>([
    ["read", [sql.read("a", "v")]],
    ["begin", sql.update("a", foldUpdate(begin))],
    ["change", sql.update("a", foldUpdate(change))],
    ["remove", [sql.remove("a", "v")]],
    ["history", [sql.history("a", page)]],
    ["history backwards", [sql.history("a", { ...page, order: "descending" })]],
    ["history of what is live", [sql.history("a", { ...page, states: ["live"] })]],
    ["history by ids", [sql.history("a", { ...page, ids: ["a", "turnkeep:lost:1"] })]],
    ["list", [sql.list(listed)]],
    ["list of an owner", [sql.list({ ...listed, owner: "o" })]],
    ["sweep", [sql.sweep()]],
  ])("%s", async (_what, statements) => {
    const plans = await Promise.all(statements.map(planOf));
    // What SQLite scans is a list that was sent, or the one row of the head.
    const scans = plans
      .flat()
      .filter((line) => /^SCAN (?!head\b|n\b|json_each\b|CONSTANT ROW|\(subquery)/.test(line));
    expect(scans).toEqual([]);
  });

  test("a read looks at live messages only, a page of history sorts nothing", async () => {
    expect((await planOf(sql.read("a", "v"))).join()).toContain("SEARCH l USING PRIMARY KEY");
    expect((await planOf(sql.history("a", { ...page, ids: ["a"] }))).join()).toContain(
      "turnkeep_messages_id_idx (memory_key=? AND id=?",
    );
    for (const states of [page.states, ["live"]] as const) {
      for (const order of ["ascending", "descending"] as const) {
        expect((await planOf(sql.history("a", { ...page, states, order }))).join()).not.toContain(
          "TEMP B-TREE",
        );
      }
    }
    expect((await planOf(sql.list({ ...listed, owner: "o" }))).join()).toContain(
      "turnkeep_memories_owner_idx",
    );
  });

  test.each([
    [undefined, "turnkeep_memories_active_idx (active_at<?)"],
    ["o", "turnkeep_memories_owner_active_idx (owner=? AND active_at<?)"],
  ])("a list of the newest goes along an index, and sorts nothing (owner: %s)", async (owner, index) => {
    for (const after of [undefined, "1764211234567 12"]) {
      const plan = (await planOf(sql.list({ ...listed, owner, order: "newest", after }))).join();
      expect(plan).toContain(index);
      expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
    }
  });
});
