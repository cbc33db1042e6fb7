import { describeConformance } from "@turnkeep/conformance/vitest";
import { message, update } from "@turnkeep/store-tests";
import { MongoClient as Driver } from "mongodb";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type MongoClient, mongoStore } from "../src/index.ts";
import { sharded, shardOf } from "./sharded.ts";
import { databaseNow, dying, newDatabase, rawRead, rawRemove, rawWrite } from "./support.ts";

const database = newDatabase();
const shards = [0, 1].map((index) => `${database}-${index}`);
let server: Driver;
let client: MongoClient;

beforeAll(async () => {
  server = new Driver(inject("mongoUrl"));
  client = sharded([server, server]);
  await mongoStore({ client, database }).migrate();
  // The server's own deletions would hide an expired memory that the store still shows.
  for (const shard of shards) await server.db(shard).collection("turnkeep_memories").dropIndex("expiry");
});
afterAll(async () => {
  for (const shard of shards) await server.db(shard).dropDatabase();
  await server.close();
});

/** Asks each shard for what it has of a memory, and hands over from which place on that stands among all. */
async function onEachShard(
  memoryId: string,
  use: (shard: string, from: number, to: number) => Promise<unknown>,
): Promise<string[]> {
  const all: string[] = [];
  for (const shard of shards) {
    const own = await rawRead(server, shard, memoryId);
    await use(shard, all.length, all.length + own.length);
    all.push(...own);
  }
  return all;
}

test("memories, and the rows of a large one, are on both shards", async () => {
  const store = mongoStore({ client, database });
  const large = JSON.stringify("x".repeat(20_000));
  const ids = Array.from({ length: 20 }, (_, index) => `spread ${index}`);
  for (const id of ids) await store.updateMessages(id, update(null, 2, { append: [message(1, large)] }));
  for (const id of ids) expect((await store.getMessages(id)).messages).toEqual([message(1, large)]);
  for (const [index, shard] of shards.entries()) {
    const found = await server.db(shard).collection<{ _id: string }>("turnkeep_memories").find({}).toArray();
    expect(found.map(({ _id }) => _id).sort()).toEqual(ids.filter((id) => shardOf(id, 2) === index).sort());
    expect(await server.db(shard).collection("turnkeep_messages").countDocuments()).toBeGreaterThan(0);
  }
  for (const id of ids) await store.deleteMessages(id);
});

describeConformance("MongoDB, its collections on two shards", {
  create: (options) => mongoStore({ client, database, ...options }),
  rawRead: (memoryId) => onEachShard(memoryId, async () => {}),
  async rawWrite(memoryId, texts) {
    await onEachShard(memoryId, (shard, from, to) =>
      rawWrite(server, shard, memoryId, texts.slice(from, to)),
    );
  },
  async rawRemove(memoryId, index) {
    await onEachShard(memoryId, async (shard, from) => {
      if (index >= from) await rawRemove(server, shard, memoryId, index - from);
    });
  },
  fault: (options) => mongoStore({ client: dying(client as Driver, options), database }),
  databaseNow: () => databaseNow(server),
});
