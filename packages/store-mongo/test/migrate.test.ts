import { callsOf, message, update } from "@turnkeep/store-tests";
import { MongoClient, MongoServerError } from "mongodb";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { type MongoStore, mongoStore } from "../src/index.ts";
import { intercepted, newDatabase } from "./support.ts";

const url = inject("mongoUrl");
let database: string;
let client: MongoClient;
let store: MongoStore;

beforeEach(() => {
  database = newDatabase();
  client = new MongoClient(url);
  store = mongoStore({ client, database });
});
afterEach(async () => {
  await client.db(database).dropDatabase();
  await client.close();
});

async function indexes(): Promise<unknown[]> {
  const names = ["turnkeep_memories", "turnkeep_messages"];
  return (await Promise.all(names.map((name) => client.db(database).collection(name).indexes()))).flat();
}

test("before migrate every method says so and names it", async () => {
  const calls = callsOf(store);
  for (const call of calls) {
    await expect(call()).rejects.toMatchObject({
      code: "STORE_NOT_READY",
      message: expect.stringMatching(`the database "${database}" .*migrate\\(\\)`),
    });
  }
  expect(await client.db(database).listCollections().toArray()).toEqual([]);
  await store.migrate();
  for (const call of calls.filter((_, index) => index !== 2)) await call();
});

test("twice, and by many at once, it is the same", async () => {
  await Promise.all(Array.from({ length: 8 }, () => mongoStore({ client, database }).migrate()));
  const made = await indexes();
  expect(made).toHaveLength(9);
  await store.migrate();
  expect(await indexes()).toEqual(made);
});

test.each([
  [
    "does not know an operator",
    { code: 168, errmsg: "Unrecognized expression '$bsonSize'" },
    "STORE_NOT_READY",
  ],
  ["does not have a feature", { code: 303, errmsg: "Feature not supported: $$REMOVE" }, "STORE_NOT_READY"],
  ["is not a primary", { code: 10107, errmsg: "not primary" }, "STORE_UNAVAILABLE"],
])("a server that %s is told as what it is, and nothing is made", async (_, answer, code) => {
  let reads = 0;
  const other = intercepted(client, (method) => {
    // The first asks for the migration.
    if (method === "findOne" && ++reads > 1) throw new MongoServerError({ ok: 0, ...answer });
  });
  const refused = mongoStore({ client: other, database });
  await expect(refused.migrate()).rejects.toMatchObject({ code, cause: { code: answer.code } });
  expect(await client.db(database).listCollections().toArray()).toEqual([]);
});

test.each([
  ["under a name of ours", { owner: 1 }, { name: "owner" }, 86],
  ["on a key of ours", { expiresAt: 1 }, { name: "theirs", expireAfterSeconds: 0 }, 85],
])("an index of somebody else %s is named", async (_, key, options, code) => {
  const { name } = options;
  await client.db(database).collection("turnkeep_memories").createIndex(key, options);
  await expect(store.migrate()).rejects.toMatchObject({
    code: "STORE_NOT_READY",
    message: expect.stringContaining(`the index "${name}" cannot be made`),
    cause: { code },
  });
  await client.db(database).collection("turnkeep_memories").dropIndex(name);
  await store.migrate();
});

test.each([
  ["a view", { viewOn: "other", pipeline: [] }],
  ["capped", { capped: true, size: 100_000 }],
])("a collection that is %s is refused", async (_, options) => {
  await client.db(database).createCollection("turnkeep_memories", options);
  await expect(store.migrate()).rejects.toMatchObject({ code: "STORE_NOT_READY" });
});

test("collections that are dropped under an open store are missed, until migrate() makes them again", async () => {
  await store.migrate();
  const large = message(1, JSON.stringify("x".repeat(20_000)));
  for (const dropped of [
    ["memories", "messages"],
    ["memories", "messages", "migrations"],
  ]) {
    for (const name of dropped) await client.db(database).collection(`turnkeep_${name}`).drop();
    // By its writes MongoDB makes a collection anew, without an index.
    await store.updateMessages("a", update(null, 2, { owner: "o", append: [large] }));
    for (const call of [() => store.listMemories({ owner: "o" }), () => store.sweep()]) {
      await expect(call()).rejects.toMatchObject({
        code: "STORE_NOT_READY",
        message: expect.stringMatching(`the database "${database}" .*migrate\\(\\)`),
      });
    }
    await store.migrate();
    expect((await store.listMemories({ owner: "o" })).memories).toMatchObject([{ memoryId: "a" }]);
    expect(await indexes()).toHaveLength(9);
    await store.deleteMessages("a");
  }
});

test("two prefixes in one database share nothing", async () => {
  const other = mongoStore({ client, database, prefix: "other_" });
  await store.migrate();
  await expect(other.getMessages("a")).rejects.toMatchObject({ code: "STORE_NOT_READY" });
  await other.migrate();
  await store.updateMessages("a", update(null, 2, { append: [message(1)] }));
  expect((await other.getMessages("a")).version).toBeNull();
  expect((await other.listMemories({})).memories).toEqual([]);
});

test("collections of a later version are refused, and left alone", async () => {
  await store.migrate();
  const migrations = client.db(database).collection("turnkeep_migrations");
  await migrations.updateMany({}, { $set: { number: 99 } });
  await expect(store.migrate()).rejects.toMatchObject({
    code: "UNSUPPORTED_VERSION",
    message: expect.stringMatching(
      /@turnkeep\/store-mongo: upgrade this process, or, .* without migrate\(\)/,
    ),
  });
  expect(await migrations.findOne()).toMatchObject({ number: 99 });
  // While an application is brought up to date, those of the version before go on.
  const earlier = mongoStore({ client, database });
  await earlier.updateMessages("a", update(null, 2, { append: [message(1)] }));
  expect((await earlier.getMessages("a")).messages).toEqual([message(1)]);
});

test.each(["turnkeep_memories", "turnkeep_messages"])(
  "a collection that takes upper case for lower case is refused: %s",
  async (name) => {
    const collation = { locale: "en", strength: 1 };
    await client.db(database).createCollection(name, { collation });
    await expect(store.migrate()).rejects.toMatchObject({ code: "STORE_NOT_READY" });
    await expect(store.getMessages("a")).rejects.toMatchObject({ code: "STORE_NOT_READY" });
  },
);

test("the server deletes an expired memory by itself, and a sweep what stood beside it", async () => {
  await store.migrate();
  const short = mongoStore({ client, database, ttlMs: 1 });
  const large = message(1, JSON.stringify("x".repeat(20_000)));
  await short.updateMessages("expires", update(null, 2, { append: [large] }));
  const memories = client.db(database).collection("turnkeep_memories");
  // Those that tests start look each second, others each minute.
  await expect.poll(() => memories.countDocuments(), { timeout: 90_000 }).toBe(0);
  const messages = client.db(database).collection("turnkeep_messages");
  expect(await messages.countDocuments()).toBe(1);
  expect(await store.sweep()).toEqual({ removed: 1 });
  expect(await messages.countDocuments()).toBe(0);
});
