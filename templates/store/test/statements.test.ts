import { DatabaseSync } from "@photostructure/sqlite";
import type { MemoryUpdate } from "@turnkeep/core";
import { foldUpdate, type NormalHistoryQuery, type NormalListQuery } from "@turnkeep/core/store-kit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { identifiersOf } from "../src/migrations.ts";
import { type Statement, Statements } from "../src/sql.ts";

const database = new DatabaseSync(":memory:");
/** What a page of history asks for, unless it says otherwise. */
const page: NormalHistoryQuery = {
  after: 0,
  before: Number.MAX_SAFE_INTEGER,
  order: "ascending",
  limit: 100,
  states: ["live", "evicted", "superseded"],
  ids: undefined,
};
const sql = new Statements(identifiersOf("turnkeep_"), { ttlMs: 1000, activityMs: 60_000 });
const listing: NormalListQuery = { owner: undefined, order: "stored", after: undefined, limit: 10 };
beforeAll(() => sqliteStore({ client: database }).migrate());
afterAll(() => database.close());

function planOf({ text, values }: Statement<unknown>): string[] {
  const rows = database.prepare(`explain query plan ${text}`).all(...values) as { detail: string }[];
  return rows.map(({ detail }) => detail);
}

describe("no statement walks through more than it answers", () => {
  const message = (id: string, seq: number) => ({ id, seq, createdAt: 0, payload: "{}" });
  const update: MemoryUpdate = {
    expected: "v",
    version: "w",
    nextSeq: 5,
    append: [message("d", 4)],
    replace: [message("a", 1)],
    move: [
      { seq: 2, to: "evicted" },
      { seq: 3, to: "removed" },
    ],
  };
  const folded = foldUpdate(update);
  test.each<[what: string, statements: readonly Statement<unknown>[]]>([
    ["read", [sql.read("a")]],
    ["look", [sql.look("a", [1, 2])]],
    ["begin", sql.begin("a", folded)],
    ["change", sql.change("a", folded)],
    ["remove", sql.remove("a")],
    ["history", [sql.history("a", page)]],
    ["history backwards", [sql.history("a", { ...page, order: "descending" })]],
    ["history by ids", [sql.history("a", { ...page, ids: ["a"] })]],
    ["list", [sql.list(listing)]],
    ["list of an owner", [sql.list({ ...listing, owner: "o" })]],
    ["the newest", [sql.list({ ...listing, order: "newest" })]],
    ["the newest of an owner", [sql.list({ ...listing, order: "newest", owner: "o" })]],
    ["expired", [sql.expired()]],
    ["sweep", sql.sweep([1])],
  ])("%s", (_what, statements) => {
    const plans = statements.map(planOf);
    expect(plans.length).toBeGreaterThan(0);
    // What SQLite scans is a list that was sent, or the one row of the head.
    const scans = plans.flat().filter((line) => /^SCAN (?!head\b|json_each\b|CONSTANT ROW)/.test(line));
    expect(scans).toEqual([]);
  });

  test("a read looks at live messages only, a page of history sorts nothing", () => {
    expect(planOf(sql.read("a")).join()).toContain("SEARCH l USING PRIMARY KEY");
    expect(planOf(sql.history("a", page)).join()).not.toContain("TEMP B-TREE");
    expect(planOf(sql.list({ ...listing, owner: "o" })).join()).toContain("turnkeep_memories_owner_idx");
    const newest = planOf(sql.list({ ...listing, order: "newest", owner: "o" })).join();
    expect(newest).toContain("turnkeep_memories_owner_active_idx");
    expect(newest).not.toContain("TEMP B-TREE");
  });
});
