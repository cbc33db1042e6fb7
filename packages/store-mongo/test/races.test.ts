import { randomUUID } from "node:crypto";
import { expectAppendsToLand, expectWholeUpdates, message, messages, update } from "@turnkeep/store-tests";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type MongoStore, mongoStore } from "../src/index.ts";
import { intercepted, migrated, newDatabase, rawRead } from "./support.ts";

const url = inject("mongoUrl");
const database = newDatabase();
const large = (seq: number, text: string) => message(seq, JSON.stringify(text.padEnd(20_000, "x")));
let client: MongoClient;
let one: MongoStore;
let other: MongoStore;

beforeAll(async () => {
  await migrated(url, database);
  client = new MongoClient(url);
  one = mongoStore({ url, database });
  other = mongoStore({ client, database });
});
afterAll(async () => {
  await one.close();
  await client.db(database).dropDatabase();
  await client.close();
});

/** Runs `meanwhile` once, just before the store's `step`-th call of that method. */
function interrupted(method: string, step: number, meanwhile: () => Promise<unknown>): MongoStore {
  let count = 0;
  const before = async (called: string): Promise<void> => {
    if (called === method && ++count === step) await meanwhile();
  };
  return mongoStore({ client: intercepted(client, before), database });
}

/** Does something before the store reads rows, and waits for it. */
function beforeRows(meanwhile: () => Promise<unknown>): MongoStore {
  return mongoStore({
    database,
    client: {
      db: (name) => ({
        collection(which, options) {
          const target = client.db(name).collection(which, options);
          if (!which.endsWith("messages")) return target;
          return new Proxy(target, {
            get(_, method: string) {
              if (method !== "find") return Reflect.get(target, method, target).bind(target);
              return (...args: Parameters<typeof target.find>) => ({
                toArray: async () => {
                  await meanwhile();
                  return target.find(...args).toArray();
                },
              });
            },
          });
        },
      }),
    },
  });
}

test("64 concurrent optimistic appends by two clients all land, once and in one order", async () => {
  const memoryId = randomUUID();
  await expectAppendsToLand(one, other, memoryId, 64);
});

test("readers meet all of an update or none", () =>
  expectWholeUpdates(one, other, { updates: 50, to: "evicted" }));

test("of many who begin an expired memory anew, one does, and nothing of the old life stays", async () => {
  const memoryId = randomUUID();
  const short = mongoStore({ client, database, ttlMs: 1 });
  const old = [large(1, "old life"), ...messages(2, 3)];
  await short.updateMessages(memoryId, update(null, 4, { head: "1", owner: "old", append: old }));
  while ((await one.getMessages(memoryId)).version !== null);
  const again = { ...large(1, "next"), id: "new life" };
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? one : other).updateMessages(memoryId, update(null, 2, { append: [again] })),
    ),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await other.getMessages(memoryId)).toMatchObject({ nextSeq: 2, messages: [again] });
  expect((await other.getHistory(memoryId, {})).messages).toEqual([{ ...again, state: "live" }]);
  expect((await one.listMemories({ owner: "old" })).memories).toEqual([]);
  await one.sweep();
  const raw = await rawRead(client, database, memoryId);
  expect(raw.join()).not.toContain("old life");
  expect(raw.filter((text) => text.includes("next"))).toHaveLength(1);
});

test.each(["begins", "goes on"])(
  "a sweep that meets an update half way: it %s all the same, whole",
  async (what) => {
    const memoryId = randomUUID();
    let expected: string | null = null;
    if (what === "goes on") {
      const begin = update(null, 2, { append: [message(1)] });
      await one.updateMessages(memoryId, begin);
      expected = begin.version;
    }
    // The last write of the update: its row is staged, and the sweep takes it for one that was left behind.
    const store = interrupted("updateOne", 1, () => other.sweep());
    const change = update(expected, 3, { append: [large(2, "kept")] });
    await store.updateMessages(memoryId, change);
    expect((await one.getMessages(memoryId)).messages.at(-1)).toEqual(change.append[0]);
    await one.sweep();
    expect((await one.getMessages(memoryId)).messages.at(-1)).toEqual(change.append[0]);
  },
);

test.each(["updateOne", "insertMany"])(
  "what an update that died before %s left is removed by the next write",
  async (method) => {
    const memoryId = randomUUID();
    const begin = update(null, 2, { append: [message(1)] });
    await one.updateMessages(memoryId, begin);
    let dead = false;
    const before = (called: string): void => {
      dead ||= called === method && method === "insertMany";
      if (dead) throw new Error("the process has died");
      if (called === "insertMany") dead = true;
    };
    const store = mongoStore({ client: intercepted(client, before), database });
    const lost = update(begin.version, 3, { append: [large(2, "draft")] });
    await expect(store.updateMessages(memoryId, lost)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((await one.getMessages(memoryId)).messages).toEqual([message(1)]);
    expect((await rawRead(client, database, memoryId)).join().includes("draft")).toBe(
      method !== "insertMany",
    );
    await one.updateMessages(memoryId, update(begin.version, 3, { append: [message(2)] }));
    expect((await rawRead(client, database, memoryId)).join()).not.toContain("draft");
    expect((await one.getHistory(memoryId, {})).messages).toHaveLength(2);
  },
);

test("a sweep leaves a damaged memory as it is, and settles the others", async () => {
  const [damaged, other] = ["a damaged memory", "another"];
  for (const memoryId of [damaged, other]) {
    const begin = update(null, 2, { append: [large(1, "content")] });
    await one.updateMessages(memoryId, begin);
    const dying = interrupted("updateOne", 1, () => Promise.reject(new Error("the process has died")));
    const lost = update(begin.version, 3, { append: [large(2, "draft")] });
    await expect(dying.updateMessages(memoryId, lost)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  }
  await client
    .db(database)
    .collection<{ _id: string }>("turnkeep_memories")
    .updateOne({ _id: damaged }, { $set: { live: "damaged" } });
  await one.sweep();
  expect((await rawRead(client, database, damaged)).join()).toContain("content");
  const settled = (await rawRead(client, database, other)).join();
  expect(settled).toContain("content");
  expect(settled).not.toContain("draft");
  await one.deleteMessages(damaged);
});

test("a delete that comes late does not meet the next life", async () => {
  const memoryId = randomUUID();
  await one.updateMessages(memoryId, update(null, 2, { append: [message(1)] }));
  const next = update(null, 2, { append: [large(1, "next life")] });
  const slow = interrupted("findOneAndDelete", 1, async () => {
    await other.deleteMessages(memoryId);
    await other.updateMessages(memoryId, next);
  });
  await slow.deleteMessages(memoryId);
  expect((await one.getMessages(memoryId)).messages).toEqual(next.append);
});

test("an update that comes late does not bring back what was deleted", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 2, { append: [message(1)] });
  await one.updateMessages(memoryId, begin);
  const slow = interrupted("updateOne", 1, () => other.deleteMessages(memoryId));
  const late = update(begin.version, 3, { append: [large(2, "late")] });
  await expect(slow.updateMessages(memoryId, late)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  expect(await one.getMessages(memoryId)).toEqual({ version: null, nextSeq: 1, messages: [] });
  expect(await rawRead(client, database, memoryId)).toEqual([]);
});

test("a reader whose row was deleted between its two steps reads again", async () => {
  const memoryId = randomUUID();
  const begin = update(null, 2, { append: [large(1, "first")] });
  await one.updateMessages(memoryId, begin);
  const change = update(begin.version, 2, { replace: [large(1, "second")] });
  let finds = 0;
  const slow = beforeRows(() => {
    finds++;
    return other.updateMessages(memoryId, change);
  });
  expect((await slow.getMessages(memoryId)).messages).toEqual(change.replace);
  expect(finds).toBe(2);
});

test("an update that names a row which is removed meanwhile is VERSION_CONFLICT", async () => {
  const memoryId = randomUUID();
  let version: string | null = null;
  // Until what has left memory stands in rows alone.
  for (let from = 1; from <= 13; from += 4) {
    const append = [0, 1, 2, 3].map((n) => message(from + n, JSON.stringify("x".repeat(15_000))));
    const move = append.map(({ seq }) => ({ seq, to: "evicted" as const }));
    const more = update(version, from + 4, { append, move });
    await one.updateMessages(memoryId, more);
    version = more.version;
  }
  const settled = update(version, 18, { append: [message(17)] });
  await one.updateMessages(memoryId, settled);
  const to = (seq: number) => update(settled.version, 18, { move: [{ seq, to: "removed" }] });
  let removing: Promise<void> | undefined;
  const slow = beforeRows(() => {
    removing ??= other.updateMessages(memoryId, to(1));
    return removing;
  });
  await expect(slow.updateMessages(memoryId, to(1))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  // What never was there is still a mistake of the caller's.
  const { version: now } = await one.getMessages(memoryId);
  const wrong = update(now, 18, { move: [{ seq: 1, to: "removed" }] });
  await expect(one.updateMessages(memoryId, wrong)).rejects.toMatchObject({ code: "INVALID_OPTION" });
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
