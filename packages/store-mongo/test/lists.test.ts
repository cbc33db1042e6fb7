import type { ChatMemoryStore } from "@turnkeep/core";
import {
  begin,
  change,
  expectOneOwner,
  idsOf,
  message,
  messages,
  newestOf,
  pagedIdsOf,
  update,
} from "@turnkeep/store-tests";
import { BSON, type CommandStartedEvent, type Document, MongoClient } from "mongodb";
import { afterEach, beforeEach, expect, inject, test, vi } from "vitest";
import { mongoStore } from "../src/index.ts";
import { newDatabase } from "./support.ts";

const url = inject("mongoUrl");
let database: string;
let client: MongoClient;
let store: ChatMemoryStore;
const commands: CommandStartedEvent[] = [];

beforeEach(async () => {
  database = newDatabase();
  client = new MongoClient(url, { monitorCommands: true });
  client.on("commandStarted", (event) => commands.push(event));
  const made = mongoStore({ client, database });
  await made.migrate();
  store = made;
  await store.getMessages("the first call asks whether migrate has run");
});
afterEach(async () => {
  vi.useRealTimers();
  await client.db(database).dropDatabase();
  await client.close();
});

const memories = () => client.db(database).collection<{ _id: string }>("turnkeep_memories");

/** Moves the activity that is noted back. */
async function age(ms: number): Promise<void> {
  await memories().updateMany({}, [{ $set: { "active.s": { $subtract: ["$active.s", ms] } } }]);
}

test("an append is one command with no more bytes than one that noted nothing", async () => {
  const sizes = async (ttlMs: number | undefined): Promise<number[]> => {
    const own = mongoStore({ client, database, ttlMs });
    const id = `a${ttlMs}`;
    await own.updateMessages(id, { ...update(null, 4, { append: messages(1, 3) }), version: "0" });
    commands.length = 0;
    const move = [{ seq: 1, to: "evicted" as const }];
    const plain = update("0", 5, { append: [message(4)] });
    await own.updateMessages(id, { ...plain, version: "1" });
    await own.updateMessages(id, { ...update("1", 6, { append: [message(5)], move }), version: "2" });
    expect(commands.map(({ commandName }) => commandName)).toEqual(["update", "update"]);
    return commands.map(({ command }) => BSON.calculateObjectSize(command.updates[0] as Document));
  };
  // Before, with the same ids and texts: 1,253 and 1,300.
  const [append = 0, evict = 0] = await sizes(undefined);
  expect(append).toBeLessThanOrEqual(1_253);
  expect(evict).toBeLessThanOrEqual(1_300);
});

test("an append changes what is noted once in a period of activityMs, and is then the newest at once", async () => {
  const noted = async (): Promise<unknown> => (await memories().findOne<Document>({ _id: "a" }))?.active;
  // The middle of a period: a test that begins at its end would see the next.
  while (Date.now() % 60_000 > 55_000) await new Promise((resolve) => setTimeout(resolve, 100));
  await begin(store, "a", "o");
  const first = await noted();
  expect(first).toEqual({ s: expect.any(Date), r: expect.any(Number) });
  await begin(store, "b", "o");
  await change(store, "a");
  await change(store, "a", { replace: [message(1, '"new"')] });
  expect(await noted()).toEqual(first);
  for (const query of [{}, { owner: "o" }]) expect(await newestOf(store, query)).toEqual(["b", "a"]);
  await age(60_000);
  await change(store, "a");
  for (const query of [{}, { owner: "o" }]) expect(await newestOf(store, query)).toEqual(["a", "b"]);
  // In one period the later one comes first, and so does what begins.
  await change(store, "b");
  expect(await newestOf(store, { owner: "o" })).toEqual(["b", "a"]);
  await begin(store, "c", "o");
  expect(await newestOf(store, { owner: "o" })).toEqual(["c", "b", "a"]);
  expect(await idsOf(store, { owner: "o" })).toEqual(["a", "b", "c"]);
});

test("activity is noted by the server's clock, with ttlMs and without", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3 * 60 * 60_000 });
  for (const ttlMs of [undefined, 60_000]) {
    const wrong = mongoStore({ client, database, ttlMs, activityMs: 1 });
    await begin(wrong, `m${ttlMs}`);
    const stored = await memories().findOne<{ active: { s: Date }; updatedAt: Date }>({ _id: `m${ttlMs}` });
    const [active, updated] = [Number(stored?.active.s), Number(stored?.updatedAt)];
    expect(Math.abs(active - updated)).toBeLessThan(60_000);
  }
});

test("the newest come in pages over ties, and while somebody writes", async () => {
  const eager = mongoStore({ client, database, activityMs: 1 });
  const ids = Array.from({ length: 30 }, (_, index) => `m${index}`).sort();
  for (const id of ids) await begin(eager, id, "o");
  // Three groups of ten, within which all is equal, and the last without any.
  const active = { s: new Date(60_000), r: -7 };
  await memories().updateMany({ _id: { $in: ids.slice(0, 10) } }, { $set: { active } });
  await memories().updateMany(
    { _id: { $in: ids.slice(10, 20) } },
    { $set: { active: { ...active, r: -3 } } },
  );
  await memories().updateMany({ _id: { $in: ids.slice(20) } }, { $unset: { active: "" } });
  for (const owner of ["o", undefined]) {
    for (const limit of [1, 3, 10, 29, 30]) {
      const found = await pagedIdsOf(store, { owner, order: "newest", limit }, async (n) => {
        if (owner !== undefined) await begin(eager, `later ${limit} ${n}`, "another");
      });
      expect(found.filter((id) => !id.startsWith("later"))).toEqual(ids);
    }
  }
  const found = await pagedIdsOf(store, { owner: "o", order: "newest", limit: 4 }, async (n) => {
    await change(eager, ids[n % 3] ?? "");
    await begin(eager, `more ${n}`, "o");
  });
  const quiet = ids.slice(3);
  expect(found.filter((id) => quiet.includes(id)).toSorted()).toEqual(quiet);
});

test.each([undefined, "o"])(
  "a page of the newest reads a page from the index and sorts nothing (owner: %s)",
  async (owner) => {
    const ids = Array.from({ length: 60 }, (_, index) => `m${index}`);
    for (const id of ids) await begin(store, id, "o");
    const first = await store.listMemories({ owner, order: "newest", limit: 20 });
    commands.length = 0;
    const second = await store.listMemories({ owner, order: "newest", limit: 5, cursor: first.cursor });
    expect(second.memories).toHaveLength(5);
    expect(commands.map(({ commandName }) => commandName)).toEqual(["find"]);
    const { find, filter, sort, hint, limit, projection } = commands[0]?.command ?? {};
    const explained = await client
      .db(database)
      .command(
        { explain: { find, filter, sort, hint, limit, projection }, verbosity: "executionStats" },
        { ignoreUndefined: true },
      );
    const plan = JSON.stringify(explained.queryPlanner.winningPlan);
    expect(plan).not.toContain('"SORT"');
    expect(plan).toContain(owner === undefined ? '"newest"' : '"owner_newest"');
    expect(explained.executionStats.totalKeysExamined).toBeLessThan(20);
  },
);

test("a change of owner is one command, and shows in both lists at once", async () => {
  for (const id of ["a", "b", "c"]) await begin(store, id, id === "a" ? "guest" : "ann");
  const { version, nextSeq } = await store.getMessages("a");
  commands.length = 0;
  const assign = update(version, nextSeq, { owner: "ann", data: '{"title":"A"}' });
  await store.updateMessages("a", assign);
  expect(commands.map(({ commandName }) => commandName)).toEqual(["update"]);
  expect(await store.getMessages("a")).toMatchObject({ owner: "ann", data: '{"title":"A"}' });
  for (const order of ["stored", "newest"] as const) {
    expect(await idsOf(store, { owner: "guest", order })).toEqual([]);
    expect((await idsOf(store, { owner: "ann", order })).toSorted()).toEqual(["a", "b", "c"]);
    const { memories: listed } = await store.listMemories({ owner: "ann", order });
    expect(listed.find(({ memoryId }) => memoryId === "a")).toMatchObject({ data: '{"title":"A"}' });
  }
});

test("of an append and a change of owner at once one is in place, and the lists follow it", async () => {
  for (let round = 0; round < 20; round++) await expectOneOwner(store, `raced ${round}`);
});

test("an update's own time to live comes before the store's: shorter, longer, never, then the store's", async () => {
  const own = mongoStore({ client, database, ttlMs: 100_000 });
  const lives = async (): Promise<number | undefined> => {
    const stored = await memories().findOne<{ expiresAt?: Date; updatedAt: Date }>({ _id: "a" });
    return stored?.expiresAt && Number(stored.expiresAt) - Number(stored.updatedAt);
  };
  await own.updateMessages("a", update(null, 4, { append: messages(1, 3), ttlMs: 200_000 }));
  expect(await lives()).toBe(200_000);
  const large = message(9, JSON.stringify("x".repeat(20 * 1024)));
  for (const ttlMs of [undefined, 10_000, 500_000, null, undefined]) {
    await change(own, "a", { ttlMs });
    expect(await lives()).toBe(ttlMs === undefined ? 100_000 : (ttlMs ?? undefined));
    const { version, nextSeq } = await own.getMessages("a");
    const apart = { ...large, id: `large ${nextSeq}`, seq: nextSeq };
    await own.updateMessages("a", update(version, nextSeq + 1, { append: [apart], ttlMs }));
    expect(await lives()).toBe(ttlMs === undefined ? 100_000 : (ttlMs ?? undefined));
  }
  await change(store, "a", { ttlMs: 1 });
  while ((await store.getMessages("a")).version !== null);
  for (const query of [{}, { order: "newest" as const }]) expect(await idsOf(store, query)).toEqual([]);
});

test("collections of the release before are not ready until migrate(), which notes what was written last", async () => {
  await begin(store, "a", "o");
  await begin(store, "b", "o");
  await memories().updateMany({}, { $unset: { active: "" } });
  const names = ["newest", "owner_newest"];
  for (const name of names) await memories().dropIndex(name);
  const migrations = client.db(database).collection<{ _id: string }>("turnkeep_migrations");
  await migrations.updateOne({ _id: "collections" }, { $set: { number: 1 } });
  const newer = mongoStore({ client, database });
  await expect(newer.listMemories({})).rejects.toMatchObject({ code: "STORE_NOT_READY" });
  // A process of that release goes on writing meanwhile.
  await Promise.all([newer.migrate(), mongoStore({ client, database }).migrate()]);
  for (const query of [{}, { owner: "o" }]) expect(await newestOf(newer, query)).toEqual(["b", "a"]);
  await begin(newer, "c", "o");
  await memories().updateOne({ _id: "c" }, { $unset: { active: "" } });
  expect(await newestOf(newer, { owner: "o" })).toEqual(["b", "a", "c"]);
  await change(newer, "c");
  expect(await newestOf(newer, { owner: "o" })).toEqual(["c", "b", "a"]);
  const [stored] = (await memories().indexes()).filter(({ name }) => name === "owner_newest");
  expect(stored?.partialFilterExpression).toEqual({ owner: { $exists: true } });
});
