import { describe, expect, test, vi } from "vitest";
import { memoryFullError } from "../src/errors.ts";
import { createChatMemory, type TurnkeepError, user } from "../src/index.ts";
import type { KeyValueCall, KeyValueStoreOptions } from "../src/stores/key-value-options.ts";
import { keyValueStore } from "../src/stores/key-value-store.ts";
import { mapHooks, message, seed, update } from "./stores-support.ts";

/** A value in layout 1, as documented, written by hand. */
const layout1 =
  '{"turnkeep":1,"version":"v","nextSeq":4,"owner":"me","head":"{}","updatedAt":5,' +
  '"messages":[[1,"m1",7,"evicted","{}"],[3,"m3",8,"live","[]","meta"]]}';

describe("the value", () => {
  test("layout 1 is read as documented, and written so", async () => {
    const hooks = mapHooks(new Map([["a", layout1]]));
    const store = keyValueStore({ ...hooks, now: () => 5 });
    expect(await store.getMessages("a")).toStrictEqual({
      version: "v",
      nextSeq: 4,
      owner: "me",
      head: "{}",
      messages: [{ id: "m3", seq: 3, createdAt: 8, payload: "[]", meta: "meta" }],
    });
    const change = update("v", { nextSeq: 5, append: [message(4)], move: [{ seq: 3, to: "superseded" }] });
    await store.updateMessages("a", change);
    expect(JSON.parse(hooks.values.get("a") ?? "")).toEqual({
      turnkeep: 1,
      version: change.version,
      nextSeq: 5,
      owner: "me",
      head: "{}",
      updatedAt: 5,
      messages: [
        [1, "m1", 7, "evicted", "{}"],
        [3, "m3", 8, "superseded", "[]", "meta"],
        [4, "m4", message(4).createdAt, "live", message(4).payload],
      ],
    });
  });

  test("an expiry that another client wrote holds for a client without ttlMs", async () => {
    let time = 0;
    const hooks = mapHooks();
    await seed(keyValueStore({ ...hooks, ttlMs: 100, now: () => time }), "a", 1);
    const other = keyValueStore({ ...hooks, now: () => time });
    time = 99;
    expect((await other.getMessages("a")).messages).toHaveLength(1);
    time = 100;
    expect((await other.getMessages("a")).version).toBeNull();
  });

  test("a later layout is UNSUPPORTED_VERSION for reads and writes, and stays as it is", async () => {
    const later = layout1.replace('"turnkeep":1', '"turnkeep":2');
    const hooks = mapHooks(new Map([["a", later]]));
    const store = keyValueStore(hooks);
    for (const call of [
      store.getMessages("a"),
      store.getHistory("a", {}),
      store.updateMessages("a", update(null)),
      store.updateMessages("a", update("v")),
    ]) {
      await expect(call).rejects.toMatchObject({ code: "UNSUPPORTED_VERSION", details: { memoryId: "a" } });
    }
    expect(hooks.values.get("a")).toBe(later);
  });

  test.each<[string, string]>([
    ["no JSON", "{s3cret"],
    ["cut off", layout1.slice(0, -1)],
    ["empty", ""],
    ["null", "null"],
    ["another's JSON", '{"name":"s3cret"}'],
    ["an array", "[1]"],
    ["a number", "1"],
    ["layout 0", layout1.replace('"turnkeep":1', '"turnkeep":0')],
    ["no version", layout1.replace('"version":"v",', "")],
    ["a nextSeq that is no number", layout1.replace('"nextSeq":4', '"nextSeq":"4"')],
    ["an owner that is no text", layout1.replace('"me"', "1")],
    ["a head that is no text", layout1.replace('"head":"{}"', '"head":{}')],
    ["no updatedAt", layout1.replace('"updatedAt":5,', "")],
    ["an expiry that is no number", layout1.replace('"updatedAt":5', '"updatedAt":5,"expiresAt":"6"')],
    ["messages that are no array", layout1.replace(/"messages":.*/, '"messages":{}}')],
    ["a message that is no array", layout1.replace('[1,"m1",7,"evicted","{}"]', '{"s3cret":1}')],
    ["a seq that is no number", layout1.replace("[3,", '["3",')],
    ["an id that is no text", layout1.replace('"m3"', "3")],
    ["a createdAt that is no number", layout1.replace('"m3",8', '"m3","8"')],
    ["a message cut short", layout1.replace(',"{}"]', "]")],
    ["a payload that is no text", layout1.replace('"evicted","{}"', '"evicted",{}')],
    ["a state of its own", layout1.replace("evicted", "archived")],
    ["seqs out of order", layout1.replace("[3,", "[1,")],
    ["a seq at nextSeq", layout1.replace("[3,", "[4,")],
  ])("%s is CORRUPT_RECORD with the memory's id, and hides no other memory", async (_, value) => {
    const hooks = mapHooks(new Map([["bad", value]]));
    const store = keyValueStore({ ...hooks, now: () => 5 });
    await seed(store, "good", 1, { owner: "me" });
    for (const call of [
      store.getMessages("bad"),
      store.getHistory("bad", {}),
      store.updateMessages("bad", update(null)),
    ]) {
      const error = await call.then(
        () => undefined,
        (reason) => reason,
      );
      expect(error).toMatchObject({ code: "CORRUPT_RECORD", details: { memoryId: "bad" } });
      expect(`${error} ${error.cause}`).not.toContain("s3cret");
    }
    expect((await store.getMessages("good")).messages).toEqual([message(1)]);
    expect(await store.listMemories({})).toEqual({
      memories: [
        { memoryId: "bad", updatedAt: 0 },
        { memoryId: "good", owner: "me", updatedAt: 5 },
      ],
    });
    expect((await store.listMemories({ owner: "me" })).memories.map(({ memoryId }) => memoryId)).toEqual([
      "good",
    ]);
    expect(await store.sweep()).toEqual({ removed: 0 });
    expect(hooks.values.get("bad")).toBe(value);
    await store.deleteMessages("bad");
    await seed(store, "bad", 1);
  });
});

describe("races", () => {
  /** Runs `between` once, after the first `get` of an update and before its `compareAndSet`. */
  function interrupted(
    hooks: KeyValueStoreOptions<string>,
    between: () => Promise<unknown>,
  ): KeyValueStoreOptions<string> {
    const compareAndSet = vi.fn(async (...args: Parameters<typeof hooks.compareAndSet>) => {
      if (compareAndSet.mock.calls.length === 1) await between();
      return hooks.compareAndSet(...args);
    });
    return { ...hooks, compareAndSet };
  }

  test("a delete between read and write: VERSION_CONFLICT, and the memory stays deleted", async () => {
    const hooks = mapHooks();
    const other = keyValueStore(hooks);
    const v1 = await seed(other, "a", 2);
    const store = keyValueStore(interrupted(hooks, () => other.deleteMessages("a")));
    await expect(store.updateMessages("a", update(v1, { append: [message(3)] }))).rejects.toMatchObject({
      code: "VERSION_CONFLICT",
    });
    expect(hooks.values.size).toBe(0);
  });

  test("deleted and begun again in between: VERSION_CONFLICT, and the new one stays", async () => {
    const hooks = mapHooks();
    const other = keyValueStore(hooks);
    const v1 = await seed(other, "a", 2);
    let v2 = "";
    const again = async (): Promise<void> => {
      await other.deleteMessages("a");
      v2 = await seed(other, "a", 1);
    };
    const store = keyValueStore(interrupted(hooks, again));
    await expect(store.updateMessages("a", update(v1, { append: [message(3)] }))).rejects.toMatchObject({
      code: "VERSION_CONFLICT",
    });
    expect(await store.getMessages("a")).toMatchObject({ version: v2, messages: [message(1)] });
  });

  test("another's update in between: VERSION_CONFLICT; two that begin one memory: one does", async () => {
    const hooks = mapHooks();
    const other = keyValueStore(hooks);
    let v1 = "";
    const first = keyValueStore(
      interrupted(hooks, async () => {
        v1 = await seed(other, "a", 1);
      }),
    );
    await expect(first.updateMessages("a", update(null))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    const change = update(v1, { append: [message(2)] });
    const second = keyValueStore(interrupted(hooks, () => other.updateMessages("a", change)));
    await expect(
      second.updateMessages("a", update(v1, { append: [message(2, { id: "late" })] })),
    ).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect(await second.getMessages("a")).toMatchObject({
      version: change.version,
      messages: [message(1), message(2)],
    });
  });

  test("the same update from another hand in between is one update", async () => {
    const hooks = mapHooks();
    const other = keyValueStore(hooks);
    const v1 = await seed(other, "a", 1);
    const change = update(v1, { append: [message(2)] });
    const options = interrupted(hooks, () => other.updateMessages("a", change));
    await keyValueStore(options).updateMessages("a", change);
    expect(options.compareAndSet).toHaveBeenCalledTimes(1);
    expect((await other.getMessages("a")).messages).toEqual([message(1), message(2)]);
  });

  test("an expired memory swept in between does not stop the one that begins", async () => {
    let time = 0;
    const options = { ...mapHooks(), ttlMs: 10, now: () => time };
    const other = keyValueStore(options);
    await seed(other, "a", 3);
    time = 10;
    const racing = interrupted(options, async () => expect(await other.sweep()).toEqual({ removed: 1 }));
    const begin = update(null, { append: [message(1, { id: "new" })] });
    await keyValueStore(racing).updateMessages("a", begin);
    expect(racing.compareAndSet).toHaveBeenCalledTimes(2);
    expect(await other.getMessages("a")).toMatchObject({ version: begin.version, nextSeq: 2 });
  });

  test("a sweep does not remove a memory that begins while it runs", async () => {
    let time = 0;
    const hooks = mapHooks();
    const options = { ...hooks, ttlMs: 10, now: () => time };
    const other = keyValueStore(options);
    await seed(other, "a", 3);
    time = 10;
    let begun = "";
    const racing: KeyValueStoreOptions<string> = {
      ...options,
      delete: async (...args) => {
        begun = await seed(other, "a", 1);
        return hooks.delete(...args);
      },
    };
    expect(await keyValueStore(racing).sweep()).toEqual({ removed: 0 });
    expect(begun).not.toBe("");
    expect((await other.getMessages("a")).version).toBe(begun);
  });

  test("a delete of one version that meets another write tells the conflict, and deletes nothing", async () => {
    const hooks = mapHooks();
    const other = keyValueStore(hooks);
    const v1 = await seed(other, "a", 1);
    const next = update(v1, { append: [message(2)] });
    const racing: KeyValueStoreOptions<string> = {
      ...hooks,
      delete: async (...args) => {
        await other.updateMessages("a", next);
        return hooks.delete(...args);
      },
    };
    const conflict = { code: "VERSION_CONFLICT" };
    await expect(keyValueStore(racing).deleteMessages("a", { expected: v1 })).rejects.toMatchObject(conflict);
    expect((await other.getMessages("a")).version).toBe(next.version);
    await other.deleteMessages("a", { expected: next.version });
    expect(hooks.values.size).toBe(0);
    await other.deleteMessages("a", { expected: next.version });
  });

  test("a delete hook that does not say what it did is INVALID_OPTION", async () => {
    const store = keyValueStore({ ...mapHooks(), delete: (() => {}) as never });
    await seed(store, "a", 1);
    const refused = { code: "INVALID_OPTION", message: expect.stringContaining("delete()") };
    await expect(store.deleteMessages("a")).rejects.toMatchObject(refused);
  });

  test("a database that always answers false ends in VERSION_CONFLICT", async () => {
    let swaps = 0;
    const compareAndSet = (): boolean => {
      swaps += 1;
      return false;
    };
    const store = keyValueStore({ ...mapHooks(), compareAndSet });
    await expect(store.updateMessages("a", update(null))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect(swaps).toBe(5);
  });
});

describe("hooks", () => {
  test("a read is one get, an update one get and one compareAndSet, a delete one delete", async () => {
    const calls: string[] = [];
    const hooks = mapHooks();
    const store = keyValueStore<string>({
      get: (...args) => {
        calls.push("get");
        return hooks.get(...args);
      },
      compareAndSet: (...args) => {
        calls.push("compareAndSet");
        return hooks.compareAndSet(...args);
      },
      delete: (...args) => {
        calls.push("delete");
        return hooks.delete(...args);
      },
    });
    const v1 = await seed(store, "a", 50);
    expect(calls.splice(0)).toEqual(["get", "compareAndSet"]);
    await store.updateMessages("a", update(v1, { append: [message(51)] }));
    expect(calls.splice(0)).toEqual(["get", "compareAndSet"]);
    await store.getMessages("a");
    await store.getHistory("a", {});
    expect(calls.splice(0)).toEqual(["get", "get"]);
    await store.deleteMessages("a");
    expect(calls.splice(0)).toEqual(["delete"]);
  });

  test("a missing hook or a bad option is INVALID_OPTION", () => {
    const good = mapHooks();
    for (const bad of [
      undefined,
      null,
      {},
      { ...good, get: undefined },
      { ...good, compareAndSet: undefined },
      { ...good, delete: undefined },
      { ...good, list: "keys" },
      { ...good, close: 1 },
      { ...good, maxMessageBytes: 0 },
      { ...good, maxMessageBytes: 1.5 },
      { ...good, maxMemoryBytes: 0 },
      { ...good, keys: "base64" },
      { ...good, ttlMs: 0 },
      { ...good, shared: "no" },
      { ...good, durable: 1 },
    ]) {
      expect(() => keyValueStore(bad as KeyValueStoreOptions<string>)).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION" }),
      );
    }
  });

  test("capabilities follow from the options", () => {
    const { list: _, ...hooks } = mapHooks();
    expect(keyValueStore(hooks).capabilities).toEqual({
      durable: false,
      shared: false,
      history: true,
      list: false,
      newest: false,
      ttl: true,
      delta: false,
      readSteps: 1,
      maxMessageBytes: 16 * 1024 * 1024,
    });
    const options = { ...mapHooks(), durable: true, shared: true, maxMessageBytes: 1 };
    expect(keyValueStore(options).capabilities).toMatchObject({
      durable: true,
      shared: true,
      list: true,
      maxMessageBytes: 1,
    });
  });

  test("a limit of a memory is declared, and halves the largest message unless that is said", () => {
    const limited = { ...mapHooks(), maxMemoryBytes: 1_500_000 };
    expect(keyValueStore(limited).capabilities).toMatchObject({
      maxMemoryBytes: 1_500_000,
      maxMessageBytes: 750_000,
    });
    expect(keyValueStore({ ...limited, maxMessageBytes: 9 }).capabilities.maxMessageBytes).toBe(9);
    const large = { ...limited, maxMemoryBytes: 2 ** 40 };
    expect(keyValueStore(large).capabilities.maxMessageBytes).toBe(16 * 1024 * 1024);
    expect(keyValueStore(mapHooks()).capabilities).not.toHaveProperty("maxMemoryBytes");
  });

  test("without list, listMemories is UNSUPPORTED and sweep removes nothing", async () => {
    const store = keyValueStore({ ...mapHooks(), list: undefined });
    await expect(store.listMemories({})).rejects.toMatchObject({ code: "UNSUPPORTED" });
    expect(await store.sweep()).toEqual({ removed: 0 });
  });

  test("a sweep leaves nothing", async () => {
    let time = 0;
    const hooks = mapHooks();
    const store = keyValueStore({ ...hooks, ttlMs: 10, now: () => time });
    await seed(store, "a", 1);
    time = 10;
    expect(await store.sweep()).toEqual({ removed: 1 });
    expect(hooks.values.size).toBe(0);
  });

  test("a key that is gone by the time it is read is neither listed nor swept", async () => {
    const store = keyValueStore({
      ...mapHooks(),
      list: ({ after }) => (after === undefined ? ["gone"] : []),
    });
    expect(await store.listMemories({})).toEqual({ memories: [] });
    expect(await store.sweep()).toEqual({ removed: 0 });
  });

  test("a listing reads no more pages of keys than it answers from", async () => {
    let reads = 0;
    const hooks = mapHooks();
    const store = keyValueStore({
      ...hooks,
      get: (...args) => {
        reads += 1;
        return hooks.get(...args);
      },
    });
    for (let n = 0; n < 120; n++) await seed(store, `memory-${n}`, 0);
    reads = 0;
    expect((await store.listMemories({ limit: 1 })).memories).toHaveLength(1);
    expect(reads).toBe(50);
  });

  test("a list hook that does not go on is reported, not followed for ever", async () => {
    const hooks = mapHooks();
    const store = keyValueStore({ ...hooks, list: () => ["a"] });
    await seed(store, "a", 1);
    await expect(store.listMemories({})).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining("list()"),
    });
  });

  test.each([
    ["the value alone", "secret"],
    ["no revision", { value: "secret" }],
    ["bytes as value", { value: new Uint8Array(1), revision: 1 }],
  ])("a get hook that returns %s is INVALID_OPTION", async (_, answer) => {
    const store = keyValueStore({ ...mapHooks(), get: () => answer as never });
    await expect(store.getMessages("a")).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringMatching(/hook get\(\) must return \{ value, revision \}(?!.*secret)/),
    });
  });

  test.each([
    ["how many rows it changed", 0],
    ["what the database answered", { matched: 0, text: "secret" }],
    ["nothing", undefined],
  ])("hooks that return %s, and not whether they wrote, are INVALID_OPTION", async (_, answer) => {
    const hooks = mapHooks();
    const told = () => answer as never;
    const writing = keyValueStore({ ...hooks, compareAndSet: told });
    const named = (hook: string) => ({
      code: "INVALID_OPTION",
      message: expect.stringMatching(new RegExp(`hook ${hook}\\(\\) must return true or false(?!.*secret)`)),
    });
    await expect(seed(writing, "a", 1)).rejects.toMatchObject(named("compareAndSet"));
    await seed(keyValueStore(hooks), "a", 1);
    const deleting = keyValueStore({ ...hooks, delete: told }).deleteMessages("a");
    await expect(deleting).rejects.toMatchObject(named("delete"));
  });

  test.each([
    ["a text", "abc"],
    ["keys that are no texts, for ever", [Number.NaN]],
  ])("a list hook that returns %s is INVALID_OPTION", async (_, answer) => {
    const store = keyValueStore({ ...mapHooks(), list: () => answer as never });
    for (const call of [store.listMemories({}), store.sweep()])
      await expect(call).rejects.toMatchObject({
        code: "INVALID_OPTION",
        message: expect.stringContaining("list()"),
      });
  });

  test("what a hook throws is the cause of STORE_UNAVAILABLE, whether at once or later", async () => {
    const fault = new Error("disk on fire");
    const later = async (): Promise<never> => {
      throw fault;
    };
    const atOnce = (): never => {
      throw fault;
    };
    for (const fail of [later, atOnce]) {
      const reads = keyValueStore({ ...mapHooks(), get: fail, delete: fail, list: fail, close: fail });
      const writes = keyValueStore({ ...mapHooks(), compareAndSet: fail });
      for (const call of [
        reads.getMessages("a"),
        reads.getHistory("a", {}),
        reads.updateMessages("a", update(null)),
        reads.deleteMessages("a"),
        reads.listMemories({}),
        reads.sweep(),
        writes.updateMessages("a", update(null)),
        reads.close(),
      ]) {
        await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", cause: fault });
      }
    }
  });

  test("a write whose answer was lost succeeds when it is sent again", async () => {
    const hooks = mapHooks();
    let lose = true;
    const store = keyValueStore({
      ...hooks,
      compareAndSet: (...args) => {
        const done = hooks.compareAndSet(...args);
        if (lose) throw new Error("connection reset");
        return done;
      },
    });
    const change = update(null, { append: [message(1)] });
    await expect(store.updateMessages("a", change)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    lose = false;
    await store.updateMessages("a", change);
    expect(await store.getMessages("a")).toMatchObject({ version: change.version, messages: [message(1)] });
  });

  test("a signal reaches the hooks, and ends the call even if a hook never answers", async () => {
    const never = (): Promise<never> => new Promise(() => {});
    const reason = new Error("enough");
    const controller = new AbortController();
    const signals: unknown[] = [];
    const store = keyValueStore({
      ...mapHooks(),
      get: (_, { signal }) => {
        signals.push(signal);
        return never();
      },
    });
    const calls = [
      store.getMessages("a", { signal: controller.signal }),
      store.updateMessages("a", update(null), { signal: controller.signal }),
    ];
    controller.abort(reason);
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "ABORTED", cause: reason });
    expect(signals).toEqual([controller.signal, controller.signal]);
  });

  test("every hook is given the caller's signal", async () => {
    const { signal } = new AbortController();
    const told: string[] = [];
    const telling =
      <A extends unknown[], T>(name: string, hook: (...given: A) => T) =>
      (...given: A): T => {
        expect((given.at(-1) as KeyValueCall).signal, name).toBe(signal);
        told.push(name);
        return hook(...given);
      };
    let time = 0;
    const { get, compareAndSet, delete: remove, list } = mapHooks();
    const hooks = {
      get: telling("get", get),
      compareAndSet: telling("compareAndSet", compareAndSet),
      delete: telling("delete", remove),
      list: list && telling("list", list),
      ttlMs: 10,
      now: () => time,
    };
    const store = keyValueStore<string>(hooks);
    for (const id of ["a", "b"]) await store.updateMessages(id, update(null), { signal });
    await store.deleteMessages("b", { signal });
    time = 10;
    await store.sweep({ signal });
    expect(new Set(told)).toEqual(new Set(["get", "compareAndSet", "delete", "list"]));
  });

  test("a signal that fires between the two operations stops the second", async () => {
    const hooks = mapHooks();
    const controller = new AbortController();
    const store = keyValueStore({
      ...hooks,
      get: (...args) => {
        controller.abort();
        return hooks.get(...args);
      },
    });
    const call = store.updateMessages("a", update(null), { signal: controller.signal });
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    expect(hooks.values.size).toBe(0);
  });

  test("close waits for an update that is under way, its read and its write, before it calls its hook", async () => {
    const hooks = mapHooks();
    const order: string[] = [];
    const store = keyValueStore({
      ...hooks,
      get: async (...given) => {
        order.push("get");
        return hooks.get(...given);
      },
      compareAndSet: async (...given) => {
        order.push("compareAndSet");
        return hooks.compareAndSet(...given);
      },
      close: () => void order.push("close"),
    });
    const change = update(null, { append: [message(1)] });
    const both = [store.updateMessages("a", change), store.close()];
    await expect(store.getMessages("a")).rejects.toMatchObject({ code: "CLOSED" });
    await Promise.all(both);
    expect(order).toEqual(["get", "compareAndSet", "close"]);
  });

  test("close calls its hook once", async () => {
    let closes = 0;
    const close = (): void => {
      closes += 1;
    };
    const store = keyValueStore({ ...mapHooks(), close });
    await Promise.all([store.close(), store.close(), store[Symbol.asyncDispose]()]);
    expect(closes).toBe(1);
  });
});

test.each([
  ["in place of the hooks", "wire://me:hidden@host"],
  ["in place of a hook", { ...mapHooks(), list: "wire://me:hidden@host" }],
])("an address %s is refused and not quoted", (_, options) => {
  expect(() => keyValueStore(options as never)).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.not.stringContaining("hidden") }),
  );
});

describe("a value with a limit, as etcd's", () => {
  /** Refuses a value that is too large, as the database would: with an error that says nothing of it. */
  function limitedHooks(most: number): KeyValueStoreOptions<string> {
    const hooks = mapHooks();
    return {
      ...hooks,
      compareAndSet(key, value, revision, call) {
        if (new TextEncoder().encode(value).length > most) throw new Error("request is too large");
        return hooks.compareAndSet(key, value, revision, call);
      },
    };
  }

  test("an update that would exceed it is MEMORY_FULL before the database is asked to write", async () => {
    const hooks = mapHooks();
    const writes = vi.spyOn(hooks, "compareAndSet");
    const store = keyValueStore({ ...hooks, maxMemoryBytes: 1_000, maxMessageBytes: 1_000 });
    const v1 = await seed(store, "a", 1);
    const before = hooks.values.get("a");
    writes.mockClear();
    // Bytes, not characters.
    const large = update(v1, { append: [message(2, { payload: `"${"é".repeat(450)}"` })] });
    const error = await store.updateMessages("a", large).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "MEMORY_FULL", details: { memoryId: "a", limit: 1_000 } });
    expect((error as TurnkeepError).details.needed).toBeGreaterThan(1_000);
    expect(writes).not.toHaveBeenCalled();
    expect(hooks.values.get("a")).toBe(before);
    await store.updateMessages("a", { ...large, move: [{ seq: 2, to: "removed" }] });
  });

  test("a conversation that fills it, where nothing can be listed, is told at once what to do, and goes on once there is room", async () => {
    const { list: _, ...hooks } = limitedHooks(100_000);
    const gets = vi.spyOn(hooks, "get");
    const memory = createChatMemory({
      id: "a",
      store: keyValueStore({ ...hooks, maxMemoryBytes: 100_000 }),
      window: { maxMessages: 5 },
    });
    const ids: string[] = [];
    let full: unknown;
    while (full === undefined && ids.length < 100) {
      const added = await memory.add(user("x".repeat(2_000))).catch((reason: unknown) => {
        full = reason;
        return [];
      });
      ids.push(...added);
    }
    expect(ids.length).toBeGreaterThan(30);
    expect(full).toMatchObject({
      code: "MEMORY_FULL",
      message: expect.stringContaining("remove() messages"),
    });
    gets.mockClear();
    await expect(memory.add(user("x".repeat(2_000)))).rejects.toMatchObject({ code: "MEMORY_FULL" });
    // Not repeated: the update has read, and the memory whether somebody has made room meanwhile.
    expect(gets).toHaveBeenCalledTimes(2);
    await memory.remove(ids[0] ?? "");
    await memory.remove(ids[1] ?? "");
    await memory.add(user("x".repeat(2_000)));
  });

  test("a summary for which there is no room is an event, and the add stands", async () => {
    const failures: string[] = [];
    const base = keyValueStore(mapHooks());
    const updateMessages: typeof base.updateMessages = async (memoryId, change, options) => {
      const isSummary = change.append.some(({ payload }) => payload.includes("in short"));
      if (isSummary) throw memoryFullError(memoryId, 2, 1);
      return base.updateMessages(memoryId, change, options);
    };
    const memory = createChatMemory({
      id: "a",
      store: { ...base, updateMessages },
      window: { maxMessages: 4, summarize: () => user("in short") },
      onEvent: (event) => {
        if (event.type === "summarize-failed") failures.push(event.reason);
      },
    });
    for (let count = 0; count < 6; count++) await memory.add(user("x".repeat(300)));
    expect(failures[0]).toBe("too-long");
  });
});

describe("keys in hexadecimal digits", () => {
  test("a hook sees only digits, in the order of the ids' bytes, and ids come back from a list", async () => {
    const hooks = mapHooks();
    const store = keyValueStore({ ...hooks, keys: "hex" });
    const ids = ["Chat/1", "chat/1", "a:*?", "\uFEFFé🙂", "x".repeat(512), " "];
    for (const memoryId of ids) await seed(store, memoryId, 1);
    const keys = [...hooks.values.keys()];
    expect(keys.every((key) => /^[0-9a-f]{2,1024}$/.test(key))).toBe(true);
    expect(keys).toContain("436861742f31");
    for (const key of ["notes", "436861742F31", "c3", "c328"]) hooks.values.set(key, "somebody else's");
    const pages = [await store.listMemories({ limit: 4 })];
    pages.push(await store.listMemories({ limit: 4, cursor: pages[0]?.cursor }));
    const listed = pages.flatMap(({ memories }) => memories.map(({ memoryId }) => memoryId));
    const inBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    expect(listed).toEqual([...ids].sort(inBytes));
    expect((await store.getMessages("chat/1")).messages).toEqual([message(1)]);
    await store.deleteMessages("Chat/1");
    expect(hooks.values.has("436861742f31")).toBe(false);
    expect(await store.sweep()).toEqual({ removed: 0 });
  });
});
