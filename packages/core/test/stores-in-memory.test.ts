import { afterEach, describe, expect, test, vi } from "vitest";
import type { ListQuery } from "../src/store-contract.ts";
import { inMemoryStore } from "../src/stores/in-memory-store.ts";
import { keyValueStore } from "../src/stores/key-value-store.ts";
import { encodeCursor } from "../src/stores/queries.ts";
import { Timeline } from "../src/stores/timeline.ts";
import { mapHooks, message, moveAll, seed, update } from "./stores-support.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const absent = { version: null, nextSeq: 1, messages: [] };

describe.each([
  ["inMemoryStore", (ttlMs: number, now: () => number) => inMemoryStore({ ttlMs, now })],
  ["keyValueStore", (ttlMs: number, now: () => number) => keyValueStore({ ...mapHooks(), ttlMs, now })],
] as const)("%s: expiry", (_, create) => {
  test("a memory untouched by writes that long is absent in every method at once", async () => {
    let time = 1000;
    const store = create(500, () => time);
    const v1 = await seed(store, "a", 2, { owner: "me" });
    time = 1499;
    expect(await store.getMessages("a")).toMatchObject({ version: v1 });
    expect((await store.listMemories({})).memories).toEqual([
      { memoryId: "a", owner: "me", updatedAt: 1000 },
    ]);
    time = 1500;
    expect(await store.listMemories({})).toEqual({ memories: [] });
    expect(await store.listMemories({ owner: "me" })).toEqual({ memories: [] });
    expect(await store.getHistory("a", {})).toEqual({ messages: [], hasMore: false });
    expect(await store.getHistory("a", { ids: ["m1"] })).toEqual({ messages: [], hasMore: false });
    await expect(store.updateMessages("a", update(v1, { append: [message(3)] }))).rejects.toMatchObject({
      code: "VERSION_CONFLICT",
    });
    expect(await store.getMessages("a")).toEqual(absent);
  });

  test("a write prolongs the life of all of it; reads and refused writes do not", async () => {
    let time = 0;
    const store = create(100, () => time);
    const v1 = await seed(store, "a", 2);
    time = 99;
    const second = update(v1, { nextSeq: 3 });
    await store.updateMessages("a", second);
    time = 198;
    expect((await store.getMessages("a")).messages).toEqual([message(1), message(2)]);
    await expect(store.updateMessages("a", update(v1))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    await store.updateMessages("a", second);
    time = 199;
    expect(await store.getMessages("a")).toEqual(absent);
  });

  test("nothing of an earlier life shows in a later one", async () => {
    let time = 0;
    const store = create(100, () => time);
    const v1 = await seed(store, "a", 3, { owner: "old", head: "old" });
    await store.updateMessages("a", update(v1, { nextSeq: 4, move: moveAll([1, 2], "evicted") }));
    time = 100;
    const again = update(null, { append: [message(1, { id: "new" })] });
    await store.updateMessages("a", again);
    const messages = [message(1, { id: "new" })];
    expect(await store.getMessages("a")).toStrictEqual({ version: again.version, nextSeq: 2, messages });
    expect((await store.getHistory("a", {})).messages).toEqual([
      { ...message(1, { id: "new" }), state: "live" },
    ]);
    expect((await store.getHistory("a", { ids: ["m1", "m2"] })).messages).toEqual([]);
    expect((await store.listMemories({ owner: "old" })).memories).toEqual([]);
    expect((await store.listMemories({})).memories).toEqual([{ memoryId: "a", updatedAt: 100 }]);
  });

  test("sweep removes what has expired, and only that", async () => {
    let time = 0;
    const store = create(100, () => time);
    await seed(store, "a", 1, { owner: "me" });
    await seed(store, "b", 1);
    time = 60;
    await seed(store, "c", 1, { owner: "me" });
    expect(await store.sweep()).toEqual({ removed: 0 });
    time = 120;
    expect(await store.sweep()).toEqual({ removed: 2 });
    expect(await store.sweep()).toEqual({ removed: 0 });
    expect((await store.listMemories({})).memories.map(({ memoryId }) => memoryId)).toEqual(["c"]);
    expect((await store.getMessages("c")).messages).toEqual([message(1)]);
  });

  test("ttlMs that is no positive whole number is INVALID_OPTION", () => {
    for (const ttl of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => create(ttl, () => 0)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    }
    expect(() => create(1, 5 as never)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});

test("without ttlMs nothing expires", async () => {
  let time = 0;
  const store = inMemoryStore({ now: () => time });
  const version = await seed(store, "a", 1);
  time = Number.MAX_SAFE_INTEGER;
  expect(await store.getMessages("a")).toMatchObject({ version });
});

test("capabilities are as documented", () => {
  expect(inMemoryStore().capabilities).toEqual({
    ...{ durable: false, shared: false, history: true, list: true, newest: true, ttl: true },
    ...{ delta: true, readSteps: 1, maxMessageBytes: 16 * 1024 * 1024 },
  });
});

test("the cursor of another store is INVALID_OPTION", async () => {
  const store = inMemoryStore();
  await seed(store, "a", 1);
  for (const position of ["memory-1", "1st", "01", "0", "1".repeat(17)].map((place) => `s${place}`)) {
    await expect(store.listMemories({ cursor: encodeCursor(position) })).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
  }
  expect(await store.listMemories({ cursor: encodeCursor(`s${"1".repeat(16)}`) })).toEqual({ memories: [] });
});

test("two stores share nothing", async () => {
  const [one, two] = [inMemoryStore(), inMemoryStore()];
  await seed(one, "a", 1);
  expect(await two.getMessages("a")).toEqual(absent);
});

test("a read touches no history, and what a write touches does not grow with it", async () => {
  const spies = (["get", "append", "delete", "between"] as const).map((method) =>
    vi.spyOn(Timeline.prototype, method),
  );
  const touched = async (work: () => Promise<unknown>): Promise<number> => {
    const before = spies.map((spy) => spy.mock.calls.length);
    await work();
    return spies.reduce((sum, spy, n) => sum + spy.mock.calls.length - (before[n] ?? 0), 0);
  };
  const costs: number[][] = [];
  for (const count of [20, 20_000]) {
    const store = inMemoryStore();
    const v1 = await seed(store, "a", count);
    const gone = Array.from({ length: count - 10 }, (_, index) => index + 1);
    const second = update(v1, { nextSeq: count + 1, move: moveAll(gone, "evicted") });
    await store.updateMessages("a", second);
    const append = update(second.version, {
      append: [message(count + 1)],
      replace: [message(count)],
      move: moveAll([count - 9], "evicted"),
    });
    costs.push([
      await touched(() => store.getMessages("a")),
      await touched(() => store.updateMessages("a", append)),
      await touched(() => store.getHistory("a", { ids: ["m1", "m2"] })),
    ]);
    expect((await store.getMessages("a")).messages).toHaveLength(10);
  }
  expect(costs[0]?.[0]).toBe(0);
  expect(costs[1]).toEqual(costs[0]);
});

describe("Timeline", () => {
  test("keeps order and bounds through deletions, before and after it compacts", () => {
    const timeline = new Timeline<number>();
    for (let position = 1; position <= 200; position++) timeline.append(position * 2, position * 2);
    for (let position = 1; position <= 200; position++) if (position % 5 !== 0) timeline.delete(position * 2);
    expect(timeline.size).toBe(40);
    expect([...timeline.between(0, 51, "ascending")]).toEqual([10, 20, 30, 40, 50]);
    expect([...timeline.between(10, 50, "descending")]).toEqual([40, 30, 20]);
    expect([...timeline.between(400, 9999, "ascending")]).toEqual([]);
    timeline.append(401, 401);
    expect([...timeline.between(390, 9999, "descending")]).toEqual([401, 400]);
    expect(timeline.get(400)).toBe(400);
    expect(timeline.get(402)).toBeUndefined();
  });
});

test("a memory that becomes another's moves to the end of that listing, and keeps its place in everybody's", async () => {
  const store = inMemoryStore();
  const first = await seed(store, "a", 1, { owner: "guest" });
  await seed(store, "b", 1, { owner: "ann" });
  const second = update(first, { nextSeq: 2, owner: "ann", data: '{"title":"A"}' });
  await store.updateMessages("a", second);
  const idsOf = async (query: ListQuery) =>
    (await store.listMemories(query)).memories.map(({ memoryId }) => memoryId);
  expect(await idsOf({})).toEqual(["a", "b"]);
  expect(await idsOf({ owner: "ann" })).toEqual(["b", "a"]);
  expect(await idsOf({ owner: "guest" })).toEqual([]);
  expect(await idsOf({ owner: "ann", order: "newest" })).toEqual(["a", "b"]);
  await store.updateMessages("a", update(second.version, { nextSeq: 2 }));
  await store.deleteMessages("b");
  expect(await idsOf({ owner: "ann", order: "newest" })).toEqual(["a"]);
  expect((await store.listMemories({ owner: "ann" })).memories[0]).toMatchObject({ data: '{"title":"A"}' });
});
