import { randomUUID } from "node:crypto";
import type { MemoryUpdate } from "@turnkeep/core";
import { foldUpdate, type NormalHistoryQuery } from "@turnkeep/core/store-kit";
import { message, messages, update } from "@turnkeep/store-tests";
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

const sql = new Statements(identifiersOf("turnkeep_"), 1000);

/** What a page of history asks for, unless it says otherwise. */
const page: NormalHistoryQuery = {
  after: 0,
  before: Number.MAX_SAFE_INTEGER,
  order: "ascending",
  limit: 100,
  states: ["live", "evicted", "superseded"],
  ids: undefined,
};

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
    ["list", [sql.list(undefined, 0, 10)]],
    ["list of an owner", [sql.list("o", 0, 10)]],
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
    expect((await planOf(sql.list("o", 0, 10))).join()).toContain("turnkeep_memories_owner_idx");
  });
});
