import { describeCrashes, message, stumble, update } from "@turnkeep/store-tests";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { mongoStore } from "../src/index.ts";
import { dying, dyingAt, intercepted, migrated, newDatabase } from "./support.ts";

const url = inject("mongoUrl");
const database = newDatabase();
let client: MongoClient;

beforeAll(async () => {
  await migrated(url, database);
  client = new MongoClient(url);
});
afterAll(async () => {
  await client.db(database).dropDatabase();
  await client.close();
});

describeCrashes({
  /** Inside the document, inside until there are many, and beside it. */
  bytes: [40, 40, 40, 3_000, 3_000, 20_000],
  many: 110,
  writes: 9,
  conflicts: process.env.TURNKEEP_THOROUGH ? 2_000 : 120,
  open(step) {
    const die = step === undefined ? () => {} : dyingAt({ step });
    const before = (method: string): Promise<void> => {
      die(method);
      return stumble();
    };
    return mongoStore({ client: intercepted(client, before), database });
  },
  // Its sweeps go by no clock.
  openLate: () => mongoStore({ client, database }),
  async expectClean(memoryId, kept) {
    const stored = client.db(database).collection("turnkeep_messages");
    const rows = await stored.find({ memory: memoryId }).toArray();
    const seqs = rows.map(({ seq }) => Number(seq));
    expect(new Set(seqs).size).toBe(rows.length);
    expect(seqs.filter((seq) => !kept.some((one) => one.seq === seq))).toEqual([]);
    const document = await client
      .db(database)
      .collection<{ _id: string }>("turnkeep_memories")
      .findOne({ _id: memoryId });
    if (kept.length === 0) expect(document).toBeNull();
    else expect(document).toMatchObject({ staging: [], trash: [] });
  },
});

test("the next append settles what a write that died has left", async () => {
  const memoryId = "left behind";
  const healthy = mongoStore({ client, database });
  const rows = (): Promise<number> =>
    client.db(database).collection("turnkeep_messages").countDocuments({ memory: memoryId });
  const large = JSON.stringify("x".repeat(20_000));
  const begin = update(null, 3, { append: [message(1, large), message(2)] });
  await healthy.updateMessages(memoryId, begin);
  const remove = update(begin.version, 3, { move: [{ seq: 1, to: "removed" }] });
  // The document refuses to be changed by who does not know the row, then is changed; and it dies before it deletes the row.
  await mongoStore({ client: dying(client, { step: 3 }), database }).updateMessages(memoryId, remove);
  expect(await rows()).toBe(1);
  await healthy.updateMessages(memoryId, update(remove.version, 4, { append: [message(3)] }));
  expect(await rows()).toBe(0);
});
