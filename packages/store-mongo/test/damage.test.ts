import { randomUUID } from "node:crypto";
import { message, update } from "@turnkeep/store-tests";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
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

test("a content that is gone for good is CORRUPT_RECORD and hides no other", async () => {
  const memoryId = randomUUID();
  await one.updateMessages(memoryId, update(null, 3, { append: [large(1, "gone"), message(2)] }));
  await client.db(database).collection("turnkeep_messages").deleteMany({ memory: memoryId });
  for (const call of [() => one.getMessages(memoryId), () => one.getHistory(memoryId, {})]) {
    await expect(call()).rejects.toMatchObject({ code: "CORRUPT_RECORD", details: { memoryId } });
  }
  expect((await one.getHistory(memoryId, { after: 1 })).messages).toHaveLength(1);
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
  { live: { 1: null } },
])("a memory that is damaged so is CORRUPT_RECORD to who reads it: %j", async (damage) => {
  const { memoryId } = await damaged(damage);
  const corrupt = { code: "CORRUPT_RECORD", details: { memoryId } };
  await expect(one.getMessages(memoryId)).rejects.toMatchObject(corrupt);
});

test.each([{ p: 7 }, { a: "1" }, { m: 7 }])(
  "a message that is damaged so is CORRUPT_RECORD, which names it: %j",
  async (damage) => {
    const { memoryId } = await damaged({ "live.1": { i: "m1", a: 1, p: "1", ...damage } });
    const corrupt = { code: "CORRUPT_RECORD", details: { memoryId, messageIds: ["m1"] } };
    await expect(one.getMessages(memoryId)).rejects.toMatchObject(corrupt);
    await expect(one.getHistory(memoryId, {})).rejects.toMatchObject(corrupt);
  },
);

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
    const page = one.getHistory(memoryId, {}, { signal: AbortSignal.timeout(1_000) });
    await expect(page).rejects.toMatchObject({ code: "CORRUPT_RECORD", details: { memoryId } });
  }
});
