import { randomUUID } from "node:crypto";
import type { MemoryUpdate, StoredMessage } from "@turnkeep/core";
import { unreadableMessage } from "@turnkeep/core/store-kit";
import { message, update } from "@turnkeep/store-tests";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type MongoStore, mongoStore } from "../src/index.ts";
import { migrated, newDatabase } from "./support.ts";

const url = inject("mongoUrl");
const database = newDatabase();
const large = (seq: number, text: string) => message(seq, JSON.stringify(text.padEnd(20_000, "x")));
const memories = () => client.db(database).collection<{ _id: string }>("turnkeep_memories");
let client: MongoClient;
let one: MongoStore;

beforeAll(async () => {
  await migrated(url, database);
  client = new MongoClient(url);
  one = mongoStore({ client, database });
});
afterAll(async () => {
  await client.db(database).dropDatabase();
  await client.close();
});

const rows = () => client.db(database).collection("turnkeep_messages");
const seqsIn = async (memoryId: string): Promise<string[]> =>
  (await one.getHistory(memoryId, {})).messages.map(({ seq, state }) => `${seq} ${state}`);

describe("a live message whose row somebody else has deleted", () => {
  /** Four messages, all beside the document; the second is lost. */
  async function withoutRow(): Promise<{ memoryId: string; version: string; append: StoredMessage[] }> {
    const memoryId = randomUUID();
    const append = [1, 2, 3, 4].map((seq) => large(seq, "kept"));
    const begin = update(null, 5, { append });
    await one.updateMessages(memoryId, begin);
    await rows().deleteOne({ memory: memoryId, seq: 2 });
    return { memoryId, version: begin.version, append };
  }

  test("stands in its place under its id, and hides no other", async () => {
    const { memoryId, version, append } = await withoutRow();
    const expected = append.with(1, unreadableMessage(2, "m2"));
    expect(await one.getMessages(memoryId)).toEqual({ version, nextSeq: 5, messages: expected });
    const { messages: page } = await one.getHistory(memoryId, {});
    expect(page).toEqual(expected.map((message) => ({ ...message, state: "live" })));
    expect((await one.getHistory(memoryId, { ids: ["m2"] })).messages).toEqual([page[1]]);
  });

  test("can be replaced, also by a small one", async () => {
    for (const replacement of [large(2, "again"), message(2)]) {
      const { memoryId, version, append } = await withoutRow();
      await one.updateMessages(memoryId, update(version, 5, { replace: [replacement] }));
      expect((await one.getMessages(memoryId)).messages).toEqual(append.with(1, replacement));
    }
  });

  test.each(["evicted", "superseded", "removed"] as const)("can be %s, beside an append", async (to) => {
    const { memoryId, version, append } = await withoutRow();
    const change = update(version, 6, { append: [message(5)], move: [{ seq: 2, to }] });
    await one.updateMessages(memoryId, change);
    const rest = [...append.filter(({ seq }) => seq !== 2), message(5)];
    expect((await one.getMessages(memoryId)).messages).toEqual(rest);
    const left = to === "removed" ? [] : [`2 ${to}`];
    expect(await seqsIn(memoryId)).toEqual(["1 live", ...left, "3 live", "4 live", "5 live"]);
    expect(await memories().findOne({ _id: memoryId })).toMatchObject({ trash: [], staging: [] });
  });
});

/** A memory with one message, whose document has been damaged so. */
async function damaged(damage: Record<string, unknown>): Promise<{ memoryId: string; version: string }> {
  const memoryId = randomUUID();
  const begin = update(null, 2, { owner: memoryId, head: "{}", append: [message(1)] });
  await one.updateMessages(memoryId, begin);
  await memories().updateOne({ _id: memoryId }, { $set: damage });
  return { memoryId, version: begin.version };
}

test.each([
  { version: "" },
  { version: 7 },
  { next: 1.5 },
  { owner: 7 },
  { head: {} },
  { live: [] },
  { live: { x: { i: "m1", a: 1, p: "1" } } },
])("a memory that is damaged so is CORRUPT_RECORD to who reads it: %j", async (damage) => {
  const { memoryId } = await damaged(damage);
  const corrupt = { code: "CORRUPT_RECORD", details: { memoryId } };
  await expect(one.getMessages(memoryId)).rejects.toMatchObject(corrupt);
});

const sound = { i: "m1", a: 1, p: "1" };
describe.each<[damage: unknown, id: string | undefined]>([
  [{ ...sound, p: 7 }, "m1"],
  [{ ...sound, a: "1" }, "m1"],
  [{ ...sound, m: 7 }, "m1"],
  [{ ...sound, r: 7 }, "m1"],
  [{ ...sound, r: { $gt: "" } }, "m1"],
  [{ ...sound, i: 7 }, undefined],
  [{ ...sound, i: "" }, undefined],
  [{}, undefined],
  [null, undefined],
  ["damaged", undefined],
  [[sound], undefined],
])("a message of which this is kept: %j", (damage, id) => {
  const lost = unreadableMessage(1, id);
  const isReadable = typeof damage === "object" && damage !== null && "p" in damage && damage.p === "1";
  const shown = isReadable && id === undefined ? { ...lost, createdAt: 1, payload: "1" } : lost;

  test("is unreadable, or shown without its id, and can be found", async () => {
    const { memoryId } = await damaged({ "live.1": damage });
    expect((await one.getMessages(memoryId)).messages).toEqual([shown]);
    const page = [{ ...shown, state: "live" }];
    expect((await one.getHistory(memoryId, {})).messages).toEqual(page);
    expect((await one.getHistory(memoryId, { ids: [shown.id] })).messages).toEqual(page);
  });

  test.each([
    ["replaced", { replace: [{ ...message(1), id: lost.id }] }, ["1 live"]],
    ["replaced by a large one", { replace: [{ ...large(1, "new"), id: lost.id }] }, ["1 live"]],
    ["evicted", { move: [{ seq: 1, to: "evicted" }] }, ["1 evicted"]],
    ["removed", { move: [{ seq: 1, to: "removed" }] }, []],
  ] as [string, Partial<MemoryUpdate>, string[]][])("can be %s", async (_, change, seqs) => {
    const { memoryId, version } = await damaged({ "live.1": damage });
    await one.updateMessages(memoryId, update(version, 3, { append: [message(2)], ...change }));
    expect((await one.getMessages(memoryId)).messages).toEqual([...(change.replace ?? []), message(2)]);
    expect(await seqsIn(memoryId)).toEqual([...seqs, "2 live"]);
  });
});

test("what is damaged keeps no document from being settled", async () => {
  const { memoryId, version } = await damaged({ "live.1": { ...sound, p: 7 } });
  const payload = JSON.stringify("x".repeat(15_000));
  let last = version;
  for (let seq = 2; seq < 20; seq++) {
    const change = update(last, seq + 1, { append: [message(seq, payload)] });
    await one.updateMessages(memoryId, change);
    last = change.version;
  }
  expect(await rows().countDocuments({ memory: memoryId })).toBeGreaterThan(0);
  expect((await one.getMessages(memoryId)).messages[0]).toEqual(unreadableMessage(1, "m1"));
});

test("a row that is damaged is unreadable, live and in history", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 3, { append: [large(1, "a"), large(2, "b")] });
  await one.updateMessages(memoryId, begin);
  await rows().updateMany({ memory: memoryId }, { $set: { p: 7, i: 7, a: "now" } });
  const lost = [unreadableMessage(1, "m1"), unreadableMessage(2, "m2")];
  expect((await one.getMessages(memoryId)).messages).toEqual(lost);
  await one.updateMessages(memoryId, update(begin.version, 3, { move: [{ seq: 1, to: "evicted" }] }));
  expect((await one.getHistory(memoryId, { states: ["evicted"] })).messages).toMatchObject([lost[0]]);
});

test.each([{ live: [] }, { evicted: [] }, { trash: null }, { staging: null }])(
  "an append leaves a memory that is damaged so to who can restore it: %j",
  async (damage) => {
    const { memoryId, version } = await damaged(damage);
    const append = update(version, 3, { append: [message(2)] });
    const corrupt = { code: "CORRUPT_RECORD", details: { memoryId } };
    await expect(one.updateMessages(memoryId, append)).rejects.toMatchObject(corrupt);
    expect(await memories().findOne({ _id: memoryId })).toMatchObject({ version, ...damage });
  },
);

test("a memory that has lost its life neither shows the messages of others nor takes them along", async () => {
  const others = randomUUID();
  const append = [large(1, "of others")];
  const begin = update(null, 2, { append });
  await one.updateMessages(others, begin);
  await one.updateMessages(others, update(begin.version, 2, { move: [{ seq: 1, to: "evicted" }] }));
  const { memoryId } = await damaged({ generation: 1 });
  await memories().updateOne({ _id: memoryId }, { $unset: { life: "" } });
  await expect(one.getHistory(memoryId, {})).rejects.toMatchObject({ code: "CORRUPT_RECORD" });
  await one.deleteMessages(memoryId);
  expect((await one.getMessages(memoryId)).version).toBeNull();
  expect((await one.getHistory(others, {})).messages).toMatchObject(append);
});

test("a page of history ends, with CORRUPT_RECORD, where the generation is none", async () => {
  for (const generation of [Number.NaN, {}, [5], new Date(0)]) {
    const memoryId = randomUUID();
    await one.updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
    await memories().updateOne({ _id: memoryId }, { $set: { generation } });
    const page = one.getHistory(memoryId, {}, { signal: AbortSignal.timeout(30_000) });
    await expect(page).rejects.toMatchObject({ code: "CORRUPT_RECORD", details: { memoryId } });
  }
});
