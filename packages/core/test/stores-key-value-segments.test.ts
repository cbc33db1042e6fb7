import { describe, expect, test } from "vitest";
import { createChatMemory, user } from "../src/index.ts";
import type { ChatMemoryStore, MemoryUpdate } from "../src/store-contract.ts";
import type { KeyValueStoreOptions } from "../src/stores/key-value-options.ts";
import { keyValueStore, storeOfSegments } from "../src/stores/key-value-store.ts";
import { mapHooks, message, moveAll, seed, update } from "./stores-support.ts";

/** Hooks over a map that refuse large values as a database does, and count. */
function countedHooks(most = Number.POSITIVE_INFINITY) {
  const hooks = mapHooks();
  const counts = { get: 0, compareAndSet: 0, delete: 0, list: 0, written: 0, read: 0, largest: 0 };
  const { list } = hooks;
  const counted: KeyValueStoreOptions<string> = {
    get(key) {
      counts.get++;
      const value = hooks.values.get(key);
      counts.read += value?.length ?? 0;
      return hooks.get(key, {});
    },
    compareAndSet(key, value, revision) {
      counts.compareAndSet++;
      const bytes = Buffer.byteLength(value);
      counts.written += bytes;
      counts.largest = Math.max(counts.largest, bytes);
      if (bytes > most) throw new Error("request is too large");
      return hooks.compareAndSet(key, value, revision, {});
    },
    delete(key, revision) {
      counts.delete++;
      return hooks.delete(key, revision, {});
    },
    list(page) {
      counts.list++;
      return list?.(page, {}) ?? [];
    },
  };
  return { hooks: counted, values: hooks.values, counts };
}

/** What the counts grow by. */
async function growth(
  counts: Record<string, number>,
  run: () => Promise<unknown>,
): Promise<Record<string, number>> {
  const before = { ...counts };
  await run();
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  );
}

/** A store with a conversation, each message of which goes once the next comes. */
async function withHistory(store: ChatMemoryStore, count: number, text = "x"): Promise<string> {
  let version: string | null = null;
  for (let seq = 1; seq <= count; seq++) version = await append(store, version, seq, text);
  return version ?? "";
}

async function append(
  store: ChatMemoryStore,
  expected: string | null,
  seq: number,
  text: string,
): Promise<string> {
  const move = seq === 1 ? [] : moveAll([seq - 1], "evicted");
  const change = update(expected, { append: [message(seq, { payload: JSON.stringify(text) })], move });
  await store.updateMessages("a", change);
  return change.version;
}

async function seqsOf(store: ChatMemoryStore, order?: "descending"): Promise<number[]> {
  const seqs: number[] = [];
  for (let more = true; more; ) {
    const edge = order === undefined ? { after: seqs.at(-1) } : { before: seqs.at(-1) };
    const page = await store.getHistory("a", { ...edge, order, limit: 1000 });
    expect(page.messages.filter(({ payload }) => payload === "")).toEqual([]);
    seqs.push(...page.messages.map(({ seq }) => seq));
    more = page.hasMore;
  }
  return seqs;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe("what a long history costs", () => {
  test.each([
    ["as small as etcd's", 1_500_000],
    ["of 64 KB", 64 * 1024],
  ])(
    "5,000 messages of 2 KB fit where values are %s, and an append costs the same throughout",
    async (_, most) => {
      const { hooks, values, counts } = countedHooks(most);
      const store = keyValueStore({ ...hooks, maxMemoryBytes: most });
      const text = "x".repeat(2_000);
      let version: string | null = null;
      const costs: Record<string, number>[] = [];
      for (let thousand = 0; thousand < 5; thousand++) {
        const cost = await growth(counts, async () => {
          for (let seq = 1000 * thousand + 1; seq <= 1000 * (thousand + 1); seq++)
            version = await append(store, version, seq, text);
        });
        costs.push(cost);
      }
      const [early, late] = [costs[1], costs[4]];
      expect(late?.written).toBeLessThan(1.1 * (early?.written ?? 0));
      expect(late?.read).toBeLessThan(1.1 * (early?.read ?? 0));
      // One `get` and one `compareAndSet`, and a segment for every so many.
      for (const { get, compareAndSet = 0, delete: deletes, list } of costs) {
        expect([get, deletes, list]).toEqual([1000, 0, 0]);
        expect(compareAndSet).toBeLessThan(1000 + 1000 / 6);
      }
      expect(counts.largest).toBeLessThan(40 * 1024);

      expect(await seqsOf(store)).toEqual(upTo(5000));
      expect(await seqsOf(store, "descending")).toEqual(upTo(5000).reverse());
      const page = await growth(counts, async () => {
        const middle = await store.getHistory("a", { after: 2_000, limit: 20 });
        expect(middle.messages.map(({ seq }) => seq)).toEqual(upTo(2_020).slice(2_000));
      });
      expect(page.get).toBeLessThan(8);
      const last = await growth(counts, () => store.getHistory("a", { order: "descending", limit: 20 }));
      expect(last.get).toBeLessThan(8);
      expect(await growth(counts, () => store.getMessages("a"))).toMatchObject({ get: 1 });
      // Nothing that is live stands in a segment.
      const live = await growth(counts, () => store.getHistory("a", { states: ["live"] }));
      expect(live).toMatchObject({ get: 1 });

      await store.deleteMessages("a");
      expect(values.size).toBe(0);
    },
  );

  test("a listing and a sweep pass the keys of a long history by ever larger pages", async () => {
    const { hooks, counts } = countedHooks();
    const store = storeOfSegments(hooks, 1);
    await withHistory(store, 2_000);
    await seed(store, "é", 1);
    const listing = await growth(counts, async () => {
      const { memories } = await store.listMemories({});
      expect(memories.map(({ memoryId }) => memoryId)).toEqual(["a", "é"]);
    });
    expect(listing).toMatchObject({ get: 2 });
    expect(listing.list).toBeLessThan(10);
    const sweeping = await growth(counts, async () => expect(await store.sweep()).toEqual({ removed: 0 }));
    expect(sweeping.list).toBeLessThan(10);
    // The memory, and what names its segments, once a page.
    expect(sweeping.get).toBeLessThan(10 * 70);
  });

  test("a memory with a window goes on where it was full before", async () => {
    const { hooks, counts } = countedHooks(64 * 1024);
    const store = keyValueStore({ ...hooks, maxMemoryBytes: 64 * 1024 });
    const memory = createChatMemory({ id: "a", store, window: { maxMessages: 10 } });
    for (let count = 0; count < 200; count++) await memory.add(user("日".repeat(1_000)));
    expect(await memory.messages()).toHaveLength(10);
    expect(counts.largest).toBeLessThanOrEqual(64 * 1024);
    const ids: string[] = [];
    for await (const { messages } of memory.historyPages()) ids.push(...messages.map(({ id }) => id));
    expect(new Set(ids).size).toBe(200);
    await memory.rewind(ids[20] ?? "");
    await memory.remove(ids[0] ?? "");
    expect((await memory.history({ limit: 1000 })).messages).toHaveLength(199);
  });

  test("what is live must fit into one value, with as little history beside it as need be", async () => {
    const store = keyValueStore({ ...mapHooks(), maxMemoryBytes: 10_000 });
    const large = (count: number) =>
      upTo(count).map((seq) => message(seq, { payload: JSON.stringify("x".repeat(1_000)) }));
    // 2,500 characters of history may stand there, if there is room.
    const begin = update(null, { append: large(10), move: moveAll([1, 2], "evicted") });
    await store.updateMessages("a", begin);
    const full = update(null, { append: large(10) });
    await expect(store.updateMessages("b", full)).rejects.toMatchObject({ code: "MEMORY_FULL" });
    expect(await seqsOf(store)).toEqual(upTo(10));
  });
});

describe("segments", () => {
  test("stand under keys of their own, whatever the ids are, and no memory is listed for them", async () => {
    for (const keys of ["id", "hex"] as const) {
      const hooks = mapHooks();
      const store = storeOfSegments({ ...hooks, keys }, 1);
      const digits = "0123456789abcdef".repeat(2);
      const ids = ["a", "~", "~:", "~~", "~:a", `~:a${digits}`, `~~:a${digits}`, digits, "ÿ", `a${digits}`];
      for (const id of ids) await seed(store, id, 3, { move: moveAll([1, 2], "evicted") });
      expect(hooks.values.size).toBe(3 * ids.length);
      const { memories } = await store.listMemories({ limit: 1000 });
      expect(memories.map(({ memoryId }) => memoryId).sort()).toEqual([...ids].sort());
      expect(await store.sweep()).toEqual({ removed: 0 });
      for (const [index, id] of ids.entries()) {
        expect((await store.getHistory(id, {})).messages).toHaveLength(3);
        await store.deleteMessages(id);
        expect(hooks.values.size).toBe(3 * (ids.length - index - 1));
      }
    }
  });

  test("have keys no longer than a memory's may be, and a longer id has none", async () => {
    for (const [keys, most] of [
      ["id", 512],
      ["hex", 1_024],
    ] as const) {
      const hooks = mapHooks();
      const store = storeOfSegments({ ...hooks, keys }, 1);
      for (const length of [478, 479, 512]) {
        const id = "é".repeat(length / 2).padEnd(length - Math.floor(length / 2), "x");
        expect(Buffer.byteLength(id)).toBe(length);
        await seed(store, id, 3, { move: moveAll([1, 2], "evicted") });
        expect((await store.getHistory(id, {})).messages).toHaveLength(3);
      }
      expect(hooks.values.size).toBe(5);
      expect(Math.max(...[...hooks.values.keys()].map((key) => Buffer.byteLength(key)))).toBe(most);
    }
  });

  test("a segment of segments, two levels deep, is read where it must be, and goes with the memory", async () => {
    const { hooks, values, counts } = countedHooks();
    const store = storeOfSegments(hooks, 1);
    let version = await withHistory(store, 1_100);
    expect(values.size).toBe(1 + 1_099 + 34 + 1);
    const head = values.get("a") ?? "";
    expect(head.length).toBeLessThan(4_000);
    expect(await seqsOf(store)).toEqual(upTo(1_100));
    expect(await seqsOf(store, "descending")).toEqual(upTo(1_100).reverse());
    const one = await growth(counts, async () => {
      const { messages } = await store.getHistory("a", { after: 499, limit: 1 });
      expect(messages.map(({ seq }) => seq)).toEqual([500]);
    });
    expect(one.get).toBeLessThan(8);
    const query = { ids: ["m1", "m700", "m1100"] };
    expect((await store.getHistory("a", query)).messages.map(({ seq }) => seq)).toEqual([1, 700, 1_100]);

    const back = update(version, {
      nextSeq: 1_101,
      move: [
        { seq: 500, to: "live" },
        { seq: 700, to: "removed" },
        { seq: 10, to: "superseded" },
      ],
    });
    await store.updateMessages("a", back);
    version = back.version;
    expect([...values.values()].join("")).not.toContain('"m700"');
    expect((await store.getMessages("a")).messages.map(({ seq }) => seq)).toEqual([500, 1_100]);
    expect((await store.getHistory("a", { states: ["superseded"] })).messages).toMatchObject([{ seq: 10 }]);
    expect(await store.sweep()).toEqual({ removed: 0 });
    expect(await seqsOf(store)).toEqual(upTo(1_100).filter((seq) => seq !== 700));
    await store.deleteMessages("a", { expected: version });
    expect(values.size).toBe(0);
  });

  test("one that is not written is written again before the memory names it", async () => {
    const hooks = mapHooks();
    const version = await withHistory(storeOfSegments(hooks, 1), 3);
    let refusals = 0;
    const compareAndSet: typeof hooks.compareAndSet = (key, ...rest) =>
      key.startsWith("~:") && refusals++ === 0 ? false : hooks.compareAndSet(key, ...rest);
    const store = storeOfSegments({ ...hooks, compareAndSet }, 1);
    await append(store, version, 4, "x");
    expect(refusals).toBe(2);
    expect(await seqsOf(store)).toEqual(upTo(4));
  });

  test("an update that names a message beyond what is kept changes nothing", async () => {
    const hooks = mapHooks();
    const store = storeOfSegments(hooks, 1);
    const version = await withHistory(store, 4);
    const before = new Map(hooks.values);
    for (const change of [
      update(version, { nextSeq: 9, move: [{ seq: 7, to: "live" }] }),
      update(version, { nextSeq: 9, replace: [message(2)] }),
    ])
      await expect(store.updateMessages("a", change)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    expect(hooks.values).toEqual(before);
  });

  test("a value written before there were segments is split by the next update", async () => {
    const hooks = mapHooks();
    const { list: _, ...without } = hooks;
    const version = await withHistory(keyValueStore(without), 50);
    expect(hooks.values.size).toBe(1);
    const store = storeOfSegments(hooks, 500);
    await append(store, version, 51, "x");
    expect(hooks.values.size).toBeGreaterThan(5);
    expect(await seqsOf(store)).toEqual(upTo(51));
    expect(await seqsOf(keyValueStore(without))).toEqual(upTo(51));
  });

  test.each<[string, (values: Map<string, string>, key: string) => unknown]>([
    ["gone", (values, key) => values.delete(key)],
    ["damaged", (values, key) => values.set(key, "s3cret")],
    ["of another kind", (values, key) => values.set(key, '{"turnkeep":1,"base":"v","messages":[[1]]}')],
  ])("one that is %s is told as one message, hides no other, and can be removed", async (_, harm) => {
    const hooks = mapHooks();
    const store = storeOfSegments(hooks, 1);
    const version = await withHistory(store, 5);
    const [, lost] = [...hooks.values.keys()].filter((key) => key.startsWith("~:"));
    harm(hooks.values, lost ?? "");
    expect((await store.getMessages("a")).messages).toHaveLength(1);
    const { messages } = await store.getHistory("a", {});
    expect(messages.map(({ seq }) => seq)).toEqual(upTo(5));
    expect(messages.filter(({ payload }) => payload !== "")).toHaveLength(4);
    expect(messages[1]).toMatchObject({ id: "turnkeep:lost:2", payload: "", state: "evicted" });
    await store.sweep();
    await store.updateMessages("a", update(version, { nextSeq: 6, move: [{ seq: 2, to: "removed" }] }));
    expect(await seqsOf(store)).toEqual([1, 3, 4, 5]);
    await store.deleteMessages("a");
    expect(hooks.values.size).toBe(0);
  });

  test("a sweep leaves the segments of a memory that cannot be read", async () => {
    const hooks = mapHooks();
    const store = storeOfSegments(hooks, 1);
    await withHistory(store, 40);
    const head = hooks.values.get("a") ?? "";
    const [index = "", text = ""] =
      [...hooks.values].find(([key, value]) => key !== "a" && value.includes('"segments":')) ?? [];
    hooks.values.set("a", "damaged");
    expect(await store.sweep()).toEqual({ removed: 0 });
    hooks.values.set("a", head);
    // Whoever has lost the names of segments may find them again.
    hooks.values.delete(index);
    expect(await store.sweep()).toEqual({ removed: 0 });
    hooks.values.set(index, text);
    expect(await seqsOf(store)).toEqual(upTo(40));
  });

  test("one of a later layout is UNSUPPORTED_VERSION", async () => {
    const hooks = mapHooks();
    const store = storeOfSegments(hooks, 1);
    await withHistory(store, 3);
    const [key = ""] = [...hooks.values.keys()].filter((name) => name.startsWith("~:"));
    hooks.values.set(key, (hooks.values.get(key) ?? "").replace('"turnkeep":1', '"turnkeep":2'));
    await expect(store.getHistory("a", {})).rejects.toMatchObject({ code: "UNSUPPORTED_VERSION" });
    expect((await store.getMessages("a")).messages).toHaveLength(1);
  });

  test.each<[string, number[], (other: ChatMemoryStore, version: string) => Promise<void>]>([
    [
      "rewritten",
      [1, 5, 6],
      (other, version) =>
        other.updateMessages("a", update(version, { nextSeq: 7, move: moveAll([2, 3, 4], "removed") })),
    ],
    ["deleted", [], (other) => other.deleteMessages("a")],
  ])("a page that is read while its segments are %s is that of one moment", async (_, seqs, change) => {
    const hooks = mapHooks();
    const other = storeOfSegments(hooks, 1);
    const version = await withHistory(other, 6);
    let reads = 0;
    const get: typeof hooks.get = async (key, call) => {
      if (++reads === 3) await change(other, version);
      return hooks.get(key, call);
    };
    expect(await seqsOf(storeOfSegments({ ...hooks, get }, 1))).toEqual(seqs);
  });
});

describe("what is left behind", () => {
  /** A store of which the call of that number fails, before it takes place. */
  function failing(hooks: KeyValueStoreOptions<string>, hook: "compareAndSet" | "delete", number: number) {
    let calls = 0;
    const failed = (...given: unknown[]) => {
      if (++calls >= number) throw new Error("gone away");
      return (hooks[hook] as (...given: unknown[]) => boolean)(...given);
    };
    return storeOfSegments({ ...hooks, [hook]: failed }, 1);
  }

  const begin = (): MemoryUpdate =>
    update(null, { append: upTo(4).map((seq) => message(seq)), move: moveAll([1, 2, 3], "evicted") });

  test("a beginning that dies anywhere shows nothing, and a sweep leaves nothing", async () => {
    for (let number = 1; number <= 5; number++) {
      const hooks = mapHooks();
      const store = storeOfSegments(hooks, 1);
      const dying = failing(hooks, "compareAndSet", number).updateMessages("a", begin());
      await expect(dying).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect((await store.getMessages("a")).version).toBeNull();
      expect(await store.getHistory("a", {})).toEqual({ messages: [], hasMore: false });
      expect(await store.listMemories({})).toEqual({ memories: [] });
      await store.sweep();
      expect(hooks.values.size, `after write ${number}`).toBe(0);
      await store.updateMessages("a", begin());
      expect(await seqsOf(store)).toEqual(upTo(4));
    }
  });

  test("what a beginning is written over is never the same twice", async () => {
    const hooks = mapHooks();
    const written: string[] = [];
    const compareAndSet: typeof hooks.compareAndSet = (key, value, ...rest) => {
      if (key === "a") written.push(value);
      return hooks.compareAndSet(key, value, ...rest);
    };
    const store = storeOfSegments({ ...hooks, compareAndSet, now: () => 5 }, 1);
    for (let life = 0; life < 3; life++) {
      await store.updateMessages("a", begin());
      await store.deleteMessages("a");
    }
    expect(written).toHaveLength(6);
    expect(new Set(written).size).toBe(6);
  });

  test("an update that dies leaves what a sweep removes once the memory has gone on", async () => {
    const hooks = mapHooks();
    const store = storeOfSegments(hooks, 1);
    const version = await withHistory(store, 3);
    const next = () => update(version, { append: [message(4)], move: moveAll([3], "evicted") });
    await expect(failing(hooks, "compareAndSet", 2).updateMessages("a", next())).rejects.toThrow();
    expect(hooks.values.size).toBe(4);
    // It may be under way still.
    expect(await store.sweep()).toEqual({ removed: 0 });
    await store.updateMessages("a", next());
    expect(await store.sweep()).toEqual({ removed: 1 });
    expect(hooks.values.size).toBe(4);
    expect(await seqsOf(store)).toEqual(upTo(4));
  });

  /** Sends an update by a store after each write of which somebody sweeps. */
  async function sendBesideSweeps(
    hooks: KeyValueStoreOptions<string>,
    change: MemoryUpdate,
    sweeper: ChatMemoryStore,
  ): Promise<unknown> {
    const compareAndSet: typeof hooks.compareAndSet = async (...given) => {
      const done = await hooks.compareAndSet(...given);
      await sweeper.sweep();
      return done;
    };
    const sending = storeOfSegments({ ...hooks, compareAndSet }, 1).updateMessages("a", change);
    return sending.catch((error: unknown) => error);
  }

  test("a sweep spares the segments of an update that is under way", async () => {
    const hooks = mapHooks();
    const { list = () => [] } = hooks;
    // It comes to the segments first, and sees them alone.
    const onlySegments = async (...given: Parameters<typeof list>) =>
      (await list(...given)).filter((key) => key.startsWith("~"));
    const sweeper = storeOfSegments({ ...hooks, list: onlySegments }, 1);
    expect(await sendBesideSweeps(hooks, begin(), sweeper)).toBeUndefined();
    expect(await seqsOf(sweeper)).toEqual(upTo(4));
    await sweeper.deleteMessages("a");
    const version = await withHistory(sweeper, 3);
    const change = update(version, { append: [message(4)], move: moveAll([3], "evicted") });
    expect(await sendBesideSweeps(hooks, change, sweeper)).toBeUndefined();
    expect(await seqsOf(sweeper)).toEqual(upTo(4));
  });

  test("a beginning over which sweeps go all the time says that it was not made, and leaves nothing", async () => {
    const hooks = mapHooks();
    const sweeper = storeOfSegments(hooks, 1);
    expect(await sendBesideSweeps(hooks, begin(), sweeper)).toMatchObject({ code: "VERSION_CONFLICT" });
    await sweeper.sweep();
    expect(hooks.values.size).toBe(0);
  });

  test("a delete that dies is whole, and a sweep removes its segments, also where another life has begun", async () => {
    for (const again of [false, true]) {
      const hooks = mapHooks();
      const store = storeOfSegments(hooks, 1);
      await withHistory(store, 5);
      await expect(failing(hooks, "delete", 2).deleteMessages("a")).rejects.toThrow();
      expect((await store.getMessages("a")).version).toBeNull();
      if (again) await seed(store, "a", 3, { move: moveAll([1], "evicted") });
      expect(await seqsOf(store)).toEqual(again ? upTo(3) : []);
      expect(await store.sweep()).toEqual({ removed: 4 });
      expect(hooks.values.size).toBe(again ? 2 : 0);
      expect(await seqsOf(store)).toEqual(again ? upTo(3) : []);
    }
  });

  test("a delete of which one call fails for a moment leaves nothing", async () => {
    const hooks = mapHooks();
    let calls = 0;
    const remove: typeof hooks.delete = (...given) => {
      if (++calls === 3) throw new Error("too many requests");
      return hooks.delete(...given);
    };
    const store = storeOfSegments({ ...hooks, delete: remove }, 1);
    await withHistory(store, 200);
    await createChatMemory({ id: "a", store }).clear();
    expect(hooks.values.size).toBe(0);
  });

  test("a delete whose answer is lost leaves nothing", async () => {
    const hooks = mapHooks();
    let lost = 0;
    const remove: typeof hooks.delete = async (key, ...rest) => {
      const answer = await hooks.delete(key, ...rest);
      if (key === "a" && lost++ === 0) throw new Error("connection reset");
      return answer;
    };
    const store = storeOfSegments({ ...hooks, delete: remove }, 1);
    await withHistory(store, 5);
    await createChatMemory({ id: "a", store }).clear();
    expect([lost, hooks.values.size]).toEqual([1, 0]);
  });

  test("a message that is removed from history is gone although the answer is lost", async () => {
    const hooks = mapHooks();
    let lost = 0;
    const compareAndSet: typeof hooks.compareAndSet = async (key, ...rest) => {
      const answer = await hooks.compareAndSet(key, ...rest);
      if (key === "a" && lost++ === 0) throw new Error("connection reset");
      return answer;
    };
    const version = await withHistory(storeOfSegments(hooks, 1), 5);
    const store = storeOfSegments({ ...hooks, compareAndSet }, 1);
    await store.updateMessages("a", update(version, { nextSeq: 6, move: moveAll([2], "removed") }));
    expect(lost).toBe(1);
    expect([...hooks.values.values()].join("")).not.toContain('"m2"');
  });

  /** A hook of a client that sends a write again whose answer was lost, so that the answer is that of the second. */
  function sentTwice<A extends [string, ...unknown[]]>(
    hook: (...given: A) => boolean | Promise<boolean>,
  ): (...given: A) => Promise<boolean> {
    return async (...given) => {
      const done = await hook(...given);
      return given[0] === "a" && done ? hook(...given) : done;
    };
  }

  test("a delete that the hook's client has sent twice leaves nothing", async () => {
    const hooks = mapHooks();
    const store = storeOfSegments({ ...hooks, delete: sentTwice(hooks.delete) }, 1);
    const version = await withHistory(store, 5);
    await store.deleteMessages("a", { expected: version });
    expect(hooks.values.size).toBe(0);
    await withHistory(store, 5);
    await store.deleteMessages("a");
    expect(hooks.values.size).toBe(0);
  });

  test("a message that is removed from history is gone although the hook's client has sent that twice", async () => {
    const hooks = mapHooks();
    const version = await withHistory(storeOfSegments(hooks, 1), 5);
    const store = storeOfSegments({ ...hooks, compareAndSet: sentTwice(hooks.compareAndSet) }, 1);
    await store.updateMessages("a", update(version, { nextSeq: 6, move: moveAll([2], "removed") }));
    expect([...hooks.values.values()].join("")).not.toContain('"m2"');
    expect(await seqsOf(store)).toEqual([1, 3, 4, 5]);
  });

  test("a delete before which somebody writes each time leaves nothing", async () => {
    const hooks = mapHooks();
    const other = storeOfSegments(hooks, 1);
    let version = await withHistory(other, 5);
    let seq = 5;
    const remove: typeof hooks.delete = async (key, revision, ...rest) => {
      if (key === "a" && revision !== undefined) version = await append(other, version, ++seq, "x");
      return hooks.delete(key, revision, ...rest);
    };
    await storeOfSegments({ ...hooks, delete: remove }, 1).deleteMessages("a");
    expect([seq, hooks.values.size]).toEqual([10, 0]);
  });

  test("an expired memory goes with its segments; one that has begun over it shows none of them", async () => {
    let time = 0;
    const hooks = mapHooks();
    const store = storeOfSegments({ ...hooks, ttlMs: 10, now: () => time }, 1);
    await withHistory(store, 4);
    time = 10;
    expect(await store.getHistory("a", {})).toEqual({ messages: [], hasMore: false });
    await seed(store, "a", 2, { move: moveAll([1], "evicted") });
    expect(await seqsOf(store)).toEqual([1, 2]);
    expect(await store.sweep()).toEqual({ removed: 3 });
    expect(hooks.values.size).toBe(2);
    time = 20;
    expect(await store.sweep()).toEqual({ removed: 1 });
    expect(hooks.values.size).toBe(0);
  });

  test("a writer of an earlier life, who comes late, brings nothing back", async () => {
    const hooks = mapHooks();
    const other = storeOfSegments(hooks, 1);
    const version = await withHistory(other, 4);
    let writes = 0;
    const late = storeOfSegments(
      {
        ...hooks,
        async compareAndSet(...given) {
          if (++writes === 2) {
            await other.deleteMessages("a");
            await seed(other, "a", 2, { move: moveAll([1], "evicted") });
          }
          return hooks.compareAndSet(...given);
        },
      },
      1,
    );
    const change = update(version, { append: [message(5)], move: moveAll([4], "evicted") });
    await expect(late.updateMessages("a", change)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect(await seqsOf(other)).toEqual([1, 2]);
    // Its segment went with the refusal.
    expect(hooks.values.size).toBe(2);
  });
});
