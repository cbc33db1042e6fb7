import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import {
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
  system,
  user,
} from "../src/index.ts";
import { gate } from "./gate.ts";
import { plain } from "./plain-profile.ts";

const texts = async (memory: ChatMemory<ModelMessage>): Promise<unknown[]> =>
  (await memory.messages()).map(({ content }) => content);
const said = async (memory: ChatMemory<ModelMessage>): Promise<string[]> =>
  (await memory.history()).messages.map(({ message, state }) => `${String(message.content)} ${state}`);

describe("createChatMemories", () => {
  test("gives one instance per id, also after it left the bounded cache while somebody holds it", async () => {
    const memories = createChatMemories({ store: inMemoryStore(), maxLoaded: 2 });
    const first = memories.get("a");
    expect(memories.get("a")).toBe(first);
    for (let index = 0; index < 10; index++) memories.get(`other ${index}`);
    expect(memories.get("a")).toBe(first);
    await first.close();
    const second = memories.get("a");
    expect(second).not.toBe(first);
    await second.add(user("x"));
  });

  test("keeps those loaded that were asked for last, when nobody holds them", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const memories = createChatMemories({ store: inMemoryStore(), maxLoaded: 2 });
    const loaded = ["a", "b"].map((id) => new WeakRef(memories.get(id)));
    for (const id of ["a", "c"]) memories.get(id);
    // A reference that was just made or followed holds its object until the turn ends.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    expect(loaded.map((memory) => memory.deref()?.id)).toEqual(["a", undefined]);
    await memories.close();
  });

  test("gives one instance per id also after an earlier one, which was closed, has been collected", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const memories = createChatMemories({ store: inMemoryStore(), maxLoaded: 1 });
    let isCollected = false;
    const registry = new FinalizationRegistry(() => {
      isCollected = true;
    });
    await (async () => {
      const memory = memories.get("a");
      await memory.close();
      registry.register(memory, undefined);
    })();
    const held = memories.get("a");
    memories.get("b");
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    // Each registry is told in a task of its own; this one was made after the memories'.
    await expect.poll(() => isCollected).toBe(true);
    expect(memories.get("a")).toBe(held);
    await memories.close();
  });

  test("lists by owner, who is taken when a memory begins", async () => {
    const memories = createChatMemories({ store: inMemoryStore(), owner: (id) => id.split("/")[0] });
    for (const id of ["ann/1", "ann/2", "bob/1"]) await memories.get(id).add(user("hi"));
    const ids = (await memories.list({ owner: "ann" })).memories.map(({ memoryId }) => memoryId);
    expect(ids.sort()).toEqual(["ann/1", "ann/2"]);
    expect((await memories.list()).memories).toHaveLength(3);
    const page = await memories.list({ limit: 2 });
    expect(page.memories).toHaveLength(2);
    expect((await memories.list({ limit: 2, cursor: page.cursor })).memories).toHaveLength(1);
  });

  test("asks who the owner is of the memories that it serves alone", async () => {
    const asked: string[] = [];
    const owner = (id: string): string => {
      asked.push(id);
      return "ann";
    };
    const memories = createChatMemories({ store: inMemoryStore(), owner });
    expect(asked).toEqual([]);
    await memories.get("a").add(user("hi"));
    expect(asked).toEqual(["a"]);
  });

  test("erases nothing where the owner is forgotten", async () => {
    const memories = createChatMemories({ store: inMemoryStore(), owner: "ann" });
    await memories.get("a").add(user("hi"));
    for (const request of [{}, { owner: "" }])
      await expect(memories.erase(request as never)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    expect(await texts(memories.get("a"))).toEqual(["hi"]);
  });

  test("erases all that an owner has, and says what", async () => {
    const store = inMemoryStore();
    const memories = createChatMemories({ store, owner: (id) => id.split("/")[0] });
    for (const id of ["ann/1", "ann/2", "bob/1"]) await memories.get(id).add(user("hi"));
    const { erased } = await memories.erase({ owner: "ann" });
    expect([...erased].sort()).toEqual(["ann/1", "ann/2"]);
    expect(await texts(memories.get("ann/1"))).toEqual([]);
    expect(await texts(memories.get("bob/1"))).toEqual(["hi"]);
    expect(await memories.erase({ owner: "ann" })).toEqual({ erased: [] });
  });

  test("erases also what the list has behind a whole page of memories that others begin anew meanwhile", async () => {
    const store = inMemoryStore();
    const ids = Array.from({ length: 1001 }, (_, n) => `${n}`.padStart(4, "0"));
    for (const id of ids) await createChatMemory({ id, store, owner: "ann" }).add(user("old"));
    // As a store that lists by id answers it, while somebody writes into each memory as soon as it is gone.
    const contended: ChatMemoryStore = {
      ...store,
      async listMemories({ cursor = "", limit = 100 }) {
        const found = ids.filter((id) => id > cursor);
        const memories = found.slice(0, limit).map((memoryId) => ({ memoryId, owner: "ann", updatedAt: 0 }));
        const last = found.length > limit ? memories.at(-1)?.memoryId : undefined;
        return last === undefined ? { memories } : { memories, cursor: last };
      },
      async deleteMessages(id, options) {
        await store.deleteMessages(id, options);
        await createChatMemory({ id, store, owner: "ann" }).add(user("new"));
      },
    };
    const { erased } = await createChatMemories({ store: contended }).erase({ owner: "ann" });
    expect([...erased].sort()).toEqual(ids);
    expect(await texts(createChatMemory({ id: "1000", store }))).toEqual(["new"]);
  });

  test.each(["listMemories", "deleteMessages"] as const)(
    "list and erase end after timeoutMs where the store never answers %s",
    async (method) => {
      const store = inMemoryStore();
      await createChatMemory({ id: "a", store, owner: "ann" }).add(user("hi"));
      const hung: ChatMemoryStore = { ...store, [method]: () => new Promise(() => {}) };
      const memories = createChatMemories({ store: hung, timeoutMs: 20 });
      const late = { code: "STORE_UNAVAILABLE", message: expect.stringContaining("20 ms") };
      await expect(memories.erase({ owner: "ann" })).rejects.toMatchObject(late);
      if (method === "listMemories") await expect(memories.list()).rejects.toMatchObject(late);
    },
  );

  test("erases what stands on an owner's later pages, and what begins meanwhile", async () => {
    const store = inMemoryStore();
    const memories = createChatMemories({ store, owner: (id) => id.split("/")[0] });
    for (const id of ["ann/1", "ann/2", "bob/1", "ann/3", "ann/4", "ann/5"])
      await memories.get(id).add(user("hi"));
    let begun = 0;
    const paged: ChatMemoryStore = {
      ...store,
      listMemories: (query, options) => store.listMemories({ ...query, limit: 2 }, options),
      async deleteMessages(id, options) {
        await store.deleteMessages(id, options);
        // The last one is on its way: of all that were there at the beginning nothing else is left.
        if (id === "ann/5" && begun++ === 0) await memories.get("ann/6").add(user("hi"));
      },
    };
    const { erased } = await createChatMemories({ store: paged }).erase({ owner: "ann" });
    expect([...erased].sort()).toEqual([1, 2, 3, 4, 5, 6].map((n) => `ann/${n}`));
    expect((await memories.list()).memories.map(({ memoryId }) => memoryId)).toEqual(["bob/1"]);
  });

  test("forks a whole conversation, or up to a message, filling the fork's window from history", async () => {
    const store = inMemoryStore();
    const memories = createChatMemories({ store, window: { maxMessages: 3 }, owner: "ann" });
    const memory = memories.get("a");
    await memory.add(system("s"));
    const ids: string[] = [];
    for (const text of ["1", "2", "3", "4", "5"]) ids.push(...(await memory.add(user(text))));
    const whole = await memories.fork("a", "b");
    expect(await said(whole)).toEqual(await said(memory));
    const epochOf = async (id: string): Promise<number> =>
      JSON.parse((await store.getMessages(id)).head ?? "").epoch;
    expect(await epochOf("b")).toBe(await epochOf("a"));
    await whole.add(user("6b"));
    expect(await texts(memory)).toEqual(["s", "4", "5"]);
    expect(await texts(whole)).toEqual(["s", "5", "6b"]);
    const past = await memories.fork("a", "c", { at: ids[2] as string });
    expect(await texts(past)).toEqual(["s", "2", "3"]);
    expect(await said(past)).toEqual(["s live", "1 evicted", "2 live", "3 live"]);
    expect((await memories.list({ owner: "ann" })).memories).toHaveLength(3);
    expect(await epochOf("c")).toBe((await epochOf("a")) + 1);
    await expect(memories.fork("a", "b")).rejects.toMatchObject({ code: "ID_CONFLICT" });
    await expect(memories.fork("nobody", "d")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(memories.fork("a", "d", { at: "nobody" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test.each([{}, "x", null])("list and erase refuse %j as a signal", async (given) => {
    const memories = createChatMemories({ store: inMemoryStore() });
    const signal = given as unknown as AbortSignal;
    const refused = { code: "INVALID_OPTION", message: expect.stringContaining("signal") };
    await expect(memories.list({ signal })).rejects.toMatchObject(refused);
    await expect(memories.erase({ owner: "ann" }, { signal })).rejects.toMatchObject(refused);
  });

  test("a fork's window is as large as its own id says", async () => {
    const maxMessages = (id: string): number => (id === "large" ? 4 : 2);
    const memories = createChatMemories({ store: inMemoryStore(), window: { maxMessages } });
    const memory = memories.get("a");
    const ids = await memory.add(...["1", "2", "3", "4", "5"].map((text) => user(text)));
    await memories.fork("a", "large", { at: ids[3] as string });
    await memories.fork("a", "small", { at: ids[3] as string });
    const live = async (id: string) =>
      (await memories.get(id).history({ states: ["live"] })).messages.map(({ message }) => message.content);
    expect(await live("large")).toEqual(["1", "2", "3", "4"]);
    expect(await live("small")).toEqual(["3", "4"]);
  });

  test("a fork at a message brings back nothing that a summary stands for", async () => {
    const memories = createChatMemories({ store: inMemoryStore(), window: { maxMessages: 9 } });
    const memory = memories.get("a");
    const ids = await memory.add(user("1"), user("2"), user("3"), user("4"));
    await memory.compact({ through: ids[1] as string, replacement: user("sum") });
    expect(await texts(await memories.fork("a", "b", { at: ids[2] as string }))).toEqual(["sum", "3"]);
  });

  test("a whole fork is as its source is, though its own window has room for more", async () => {
    const store = inMemoryStore();
    const small = createChatMemory({ id: "a", store, window: { maxMessages: 2 } });
    await small.add(user("1"), user("2"), user("3"));
    const fork = await createChatMemories({ store, window: { maxMessages: 9 } }).fork("a", "b");
    expect(await said(fork)).toEqual(["1 evicted", "2 live", "3 live"]);
  });

  test("a fork has the owner of its source", async () => {
    const store = inMemoryStore();
    await createChatMemory({ id: "a", store, owner: "ann" }).add(user("1"));
    await createChatMemories({ store }).fork("a", "b");
    expect((await store.getMessages("b")).owner).toBe("ann");
  });

  test("a fork ends with its time, or its signal, also while it waits for a limit", async () => {
    const store = inMemoryStore();
    await createChatMemory({ id: "a", store }).add(user("1"));
    const window = { maxMessages: () => new Promise<number>(() => {}) };
    const late = createChatMemories({ store, window, timeoutMs: 20 }).fork("a", "b");
    await expect(late).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    const controller = new AbortController();
    const ended = createChatMemories({ store, window }).fork("a", "b", { signal: controller.signal });
    controller.abort();
    await expect(ended).rejects.toMatchObject({ code: "ABORTED" });
  });

  test("a fork is of one moment, whatever happens to its source while it is read", async () => {
    const store = inMemoryStore();
    const window = { maxMessages: 2 };
    const source = createChatMemory({ id: "a", store, window });
    const meanwhile: (() => Promise<unknown>)[] = [
      async () => {
        await source.clear();
        await source.add(user("n0"), user("n1"), user("n2"), user("n3"));
      },
      () => source.add(user("n4")),
    ];
    const busy: ChatMemoryStore = {
      ...store,
      getHistory: async (...given) => {
        await meanwhile.shift()?.();
        return store.getHistory(...given);
      },
    };
    await source.add(user("0"), user("1"), user("2"));
    const fork = await createChatMemories({ store: busy, window }).fork("a", "b");
    const evicted = ["n0", "n1", "n2"].map((text) => `${text} evicted`);
    expect(await said(fork)).toEqual([...evicted, "n3 live", "n4 live"]);
  });

  test("close waits for calls on memories that are loaded no more, and closes these too; twice waits too", async () => {
    const store = inMemoryStore();
    const { opened: held, open: release } = gate();
    const slow: ChatMemoryStore = {
      ...store,
      updateMessages: async (...given) => {
        await held;
        await store.updateMessages(...given);
      },
    };
    const memories = createChatMemories({ store: slow, maxLoaded: 1 });
    const dropped = memories.get("a");
    const ended: string[] = [];
    const note = (what: string) => () => void ended.push(what);
    const all = [dropped.add(user("x")).then(note("add"))];
    memories.get("b");
    all.push(memories.close().then(note("close")), memories.close().then(note("close")));
    release();
    await Promise.all(all);
    expect(ended).toEqual(["add", "close", "close"]);
    await expect(dropped.add(user("y"))).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("close closes the memories, not the store", async () => {
    const store = inMemoryStore();
    const memories = createChatMemories({ store });
    const memory = memories.get("a");
    await memory.add(user("x"));
    await memories.close();
    await memories[Symbol.asyncDispose]();
    await expect(memory.messages()).rejects.toMatchObject({ code: "CLOSED" });
    expect(() => memories.get("a")).toThrow(expect.objectContaining({ code: "CLOSED" }));
    for (const call of [
      () => memories.list(),
      () => memories.fork("a", "b"),
      () => memories.erase({ owner: "ann" }),
    ])
      await expect(call()).rejects.toMatchObject({ code: "CLOSED" });
    expect((await store.getMessages("a")).messages).toHaveLength(1);
    expect((await store.listMemories({})).memories).toHaveLength(1);
  });

  test.each([
    ["a memory", () => createChatMemory()],
    ["memories", () => createChatMemories({ store: inMemoryStore() })],
  ])("%s that a block ends with are closed", async (_what, create) => {
    const given = create();
    await given[Symbol.asyncDispose]();
    const use = async () => ("get" in given ? given.get("a") : given.messages());
    await expect(use()).rejects.toMatchObject({ code: "CLOSED" });
  });
});

describe("options of the wrong shape are INVALID_OPTION, naming option and value", () => {
  const counter = { name: "c", count: () => 1 };
  const wrong: readonly (readonly [string, unknown, RegExp])[] = [
    ["a store without an id", { store: inMemoryStore() }, /needs an id/],
    ["a client as store", { id: "a", store: { query() {} } }, /createChatMemory needs a store/],
    ["an address as store", { id: "a", store: "wire://me:hidden@host" }, /^(?!.*hidden).*needs a store/],
    ["an empty id", { id: "", store: inMemoryStore() }, /memory id/],
    ["an empty window", { window: {} }, /maxMessages or maxTokens/],
    ["a limit of zero", { window: { maxMessages: 0 } }, /window.maxMessages .* positive integer.* 0/],
    [
      "a negative reserve",
      { window: { maxTokens: 10, counter, reserve: -1 } },
      /window.reserve .* non-negative integer.* -1/,
    ],
    ["a fraction", { window: { maxMessages: 1.5 } }, /window.maxMessages .*1.5/],
    ["null", { window: { maxTokens: null, counter } }, /window.maxTokens/],
    ["tokens without a counter", { window: { maxTokens: 10 } }, /window.counter/],
    [
      "a counter without a name",
      { window: { maxTokens: 10, counter: { ...counter, name: "" } } },
      /window.counter.name/,
    ],
    [
      "a counter whose name is a number",
      { window: { maxTokens: 10, counter: { ...counter, name: 1 } } },
      /window.counter.name/,
    ],
    [
      "a negative base",
      { window: { maxTokens: 10, counter: { ...counter, base: -1 } } },
      /window.counter.base .*-1/,
    ],
    [
      "a reserve that leaves no room",
      { window: { maxTokens: 10, counter, reserve: 10 } },
      /window.reserve must be smaller than window.maxTokens, which is 10; it is 10/,
    ],
    ["a reserve without tokens", { window: { maxMessages: 10, reserve: 1 } }, /window.reserve/],
    ["an unknown unit", { window: { maxMessages: 10, unit: "word" } }, /window.unit .*word/],
    ["a target of zero", { window: { maxMessages: 10, target: 0 } }, /window.target .*0/],
    ["a target above one", { window: { maxMessages: 10, target: 1.1 } }, /window.target .*1.1/],
    ["a target as text", { window: { maxMessages: 10, target: "0.5" } }, /window.target .*"0.5"/],
    ["an unknown overflow", { window: { maxMessages: 10, overflow: "drop" } }, /window.overflow .*drop/],
    ["a pin that is no function", { window: { maxMessages: 10, pinned: true } }, /window.pinned/],
    ["systemFirst as text", { systemFirst: "yes" }, /systemFirst .*yes/],
    ["no time at all", { timeoutMs: 0 }, /timeoutMs .*0/],
    ["more time than a timer takes", { timeoutMs: 2 ** 31 }, /timeoutMs .*2147483648/],
    ["an empty owner", { owner: "" }, /owner/],
    ["an owner that is a number", { owner: 5 }, /owner .*number/],
    ["a processor's function alone", { processors: [(given: unknown) => given] }, /rocessor/],
    ["a profile by name", { profile: "openai" }, /^profile .*"openai"/],
    ["a profile of null", { profile: null }, /^profile .*null/],
    ["a profile that shapes nothing", { profile: { name: "mine" } }, /^profile .*an object/],
    ["a profile without a name", { profile: { ...plain, name: undefined } }, /^profile.name .*undefined/],
    ["a profile's beginning", { profile: { ...plain, firstMessage: "assistant" } }, /^profile.firstMessage /],
    [
      "a profile's reasoning",
      { profile: { ...plain, reasoning: "bounded" } },
      /^profile.reasoning .*"bounded"/,
    ],
    ["a profile's limit", { profile: { ...plain, maxMessages: "9" } }, /^profile.maxMessages .*"9"/],
    ["a profile's ids", { profile: { ...plain, storedCallIds: {} } }, /^profile.storedCallIds .*an object/],
    ["a profile without repair", { profile: plain, repair: false }, /^repair: false .* profile/],
    ["a listener that is no function", { onEvent: 1 }, /onEvent .*1/],
    ["a number as text", { window: { maxMessages: "5" } }, /window.maxMessages .* it is "5"/],
    [
      "a counter that was not awaited",
      { window: { maxTokens: 10, counter: Promise.resolve(counter) } },
      /window.counter .*await/,
    ],
    ["a counter beside messages", { window: { maxMessages: 5, counter: "o200k_base" } }, /window.counter/],
    ["a format by name", { format: "openai" }, /format .*"openai"/],
  ];
  test.each(wrong)("%s", (_name, options, message) => {
    expect(() => createChatMemory(options as never)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringMatching(message) }),
    );
  });

  test("createChatMemories checks too", () => {
    const code = expect.objectContaining({ code: "INVALID_OPTION" });
    expect(() => createChatMemories({} as never)).toThrow(code);
    expect(() => createChatMemories({ store: inMemoryStore(), maxLoaded: 0 })).toThrow(code);
    expect(() => createChatMemories({ store: inMemoryStore(), owner: "" })).toThrow(code);
    expect(() => createChatMemories({ store: inMemoryStore(), owner: () => "" }).get("a")).toThrow(code);
    expect(() => createChatMemories({ store: inMemoryStore(), window: { maxMessages: -1 } })).toThrow(code);
  });

  test("limits asked at use: a bad answer fails the call and writes nothing", async () => {
    let limit = 3;
    const memory = createChatMemory({ window: { maxMessages: async () => limit } });
    await memory.add(user("a"));
    limit = 0;
    await expect(memory.add(user("b"))).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(memory.messages()).rejects.toMatchObject({ code: "INVALID_OPTION" });
    limit = 3;
    expect(await texts(memory)).toEqual(["a"]);
    const tokens = { maxTokens: 10, counter };
    await expect(
      createChatMemory({ window: { ...tokens, reserve: () => 10 } }).messages(),
    ).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
    const bad = { name: "bad", count: () => -1 };
    await expect(
      createChatMemory({ window: { maxTokens: 10, counter: bad } }).add(user("a")),
    ).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
  });
});
