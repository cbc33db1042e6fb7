import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  assistant,
  type ChatMemories,
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
  TurnkeepError,
  user,
} from "../src/index.ts";
import { besideChanges } from "./events.ts";
import { meeting } from "./meeting-store.ts";

type Memory = ChatMemory<ModelMessage>;

const texts = async (memory: Memory): Promise<unknown[]> =>
  (await memory.messages()).map(({ content }) => content);

const away = () =>
  new TurnkeepError("STORE_UNAVAILABLE", "the store is away", { cause: new Error("ECONNREFUSED") });

/** Throws at the first so many calls. */
function awayFor(calls: number): () => void {
  let left = calls;
  return () => {
    if (left-- > 0) throw away();
  };
}

beforeEach(() => {
  // Pauses are none: what they wait for is not a matter of time here.
  vi.spyOn(Math, "random").mockReturnValue(0);
});
afterEach(() => void vi.restoreAllMocks());

describe("a store that is away for a while", () => {
  const changes: [string, (memory: Memory) => Promise<unknown>, unknown[]][] = [
    ["an add", (memory) => memory.add(user("x")), ["0", "1", "x"]],
    ["a put, as of the last part of an answer", (memory) => memory.put("a", assistant("x")), ["0", "1", "x"]],
    ["a set", (memory) => memory.set([user("x")]), ["x"]],
    ["a rewind", async (memory) => memory.rewind((await ids(memory))[1] ?? ""), ["0"]],
    ["a remove", async (memory) => memory.remove((await ids(memory))[1] ?? ""), ["0"]],
    ["a clear", (memory) => memory.clear(), []],
  ];
  async function ids(memory: Memory): Promise<string[]> {
    return (await memory.history()).messages.map(({ id }) => id);
  }
  describe.each(changes)("%s", (_what, change, shown) => {
    test.each([
      ["before it is made", false],
      ["after it was made: nothing is written twice", true],
    ])("is made once the store is back, away %s", async (_when, isMade) => {
      const store = inMemoryStore();
      await createChatMemory({ id: "m", store }).add(user("0"), user("1"));
      const fail = awayFor(7);
      let isAway = false;
      const memory = createChatMemory({
        id: "m",
        store: meeting(store, (method, made) => {
          const isWrite = method === "updateMessages" || method === "deleteMessages";
          if (isAway && isWrite && made === isMade) fail();
        }),
      });
      await memory.messages();
      isAway = true;
      await change(memory);
      expect(await texts(createChatMemory({ id: "m", store }))).toEqual(shown);
    });
  });

  /** Lists even while it can serve nothing else. */
  const listing = (store: ChatMemoryStore): ChatMemoryStore => ({
    ...store,
    listMemories: async () => ({ memories: [{ memoryId: "m", updatedAt: 0 }] }),
  });
  const unread: [string, (store: ChatMemoryStore) => Promise<unknown>, unknown[]][] = [
    ["an add", (store) => createChatMemory({ id: "m", store }).add(user("x")), ["0", "1", "x"]],
    ["a set", (store) => createChatMemory({ id: "m", store }).set([user("x")]), ["x"]],
    ["a clear", (store) => createChatMemory({ id: "m", store }).clear(), []],
    ["an erase", (store) => createChatMemories({ store }).erase({ owner: "ann" }), []],
    [
      "an erase of a memory",
      (store) => createChatMemories({ store: listing(store) }).erase({ owner: "ann" }),
      [],
    ],
    ["a fork", (store) => createChatMemories({ store }).fork("m", "f"), ["0", "1"]],
  ];
  test.each(unread)("%s is made also where nothing can be read meanwhile", async (what, change, shown) => {
    const store = inMemoryStore();
    await createChatMemory({ id: "m", store, owner: "ann" }).add(user("0"), user("1"));
    await change(meeting(store, awayFor(12)));
    const id = what === "a fork" ? "f" : "m";
    expect(await texts(createChatMemory({ id, store }))).toEqual(shown);
  });

  test("a read is repeated once, and no more", async () => {
    const store = inMemoryStore();
    await createChatMemory({ id: "m", store }).add(user("0"));
    const reads: ((memory: Memory) => Promise<unknown>)[] = [
      (memory) => memory.messages(),
      (memory) => memory.history(),
      (memory) => memory.explain(),
    ];
    for (const read of reads) {
      await read(createChatMemory({ id: "m", store: meeting(store, awayFor(1)) }));
      const twice = read(createChatMemory({ id: "m", store: meeting(store, awayFor(2)) }));
      await expect(twice).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    }
    const memories = createChatMemories({ store: meeting(store, awayFor(1)) });
    expect((await memories.list()).memories).toHaveLength(1);
  });

  test("with retry: false each call tells at once", async () => {
    const store = inMemoryStore();
    await createChatMemory({ id: "m", store }).add(user("0"));
    const calls: ((memory: Memory) => Promise<unknown>)[] = [
      (memory) => memory.messages(),
      (memory) => memory.add(user("1")),
      (memory) => memory.clear(),
      (memory) => memory.history(),
    ];
    for (const call of calls) {
      const memory = createChatMemory({ id: "m", store: meeting(store, awayFor(1)), retry: false });
      await expect(call(memory)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    }
    expect(await texts(createChatMemory({ id: "m", store }))).toEqual(["0"]);
  });

  test("for too long: the change ends with what the store met, and says which memory and call", async () => {
    const store = meeting(inMemoryStore(), () => {
      throw away();
    });
    const memory = createChatMemory({ id: "m", store, timeoutMs: 100 });
    await expect(memory.add(user("x"))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: "the store is away",
      cause: { message: "ECONNREFUSED" },
      details: { memoryId: "m", call: "add" },
    });
  });

  test("for too long behind a write whose answer was lost: the change ends with that, since it may have been made", async () => {
    const lost = new TurnkeepError("STORE_UNAVAILABLE", "the answer was lost");
    let isLost = false;
    const store = meeting(inMemoryStore(), (method, isMade) => {
      if (isLost) throw away();
      if (method !== "updateMessages" || !isMade) return;
      isLost = true;
      throw lost;
    });
    const memory = createChatMemory({ id: "m", store, timeoutMs: 100 });
    await expect(memory.add(user("x"))).rejects.toBe(lost);
  });

  test("calls that wait for each other meanwhile end with the first of them, and not one timeoutMs later each", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const store = meeting(inMemoryStore(), () => {
      throw away();
    });
    const memory = createChatMemory({ id: "m", store, timeoutMs: 1000 });
    const ended: unknown[] = [];
    const end = (call: Promise<unknown>): unknown => call.catch(({ code }) => ended.push(code));
    for (const text of ["a", "b", "c"]) end(memory.add(user(text)));
    end(memory.clear());
    await vi.advanceTimersByTimeAsync(1000);
    expect(ended).toEqual(Array(4).fill("STORE_UNAVAILABLE"));
  });

  test.each<[string, (memory: Memory) => Promise<unknown>]>([
    ["an add", (memory) => memory.add(user("x"))],
    ["a clear", (memory) => memory.clear()],
  ])("the pauses of %s grow, up to two seconds", async (_what, change) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    vi.mocked(Math.random).mockReturnValue(1);
    let isAway = false;
    let writes = 0;
    const store = meeting(inMemoryStore(), (method) => {
      if (!isAway || method === "getMessages") return;
      writes++;
      throw away();
    });
    const memory = createChatMemory({ id: "m", store, timeoutMs: 60_000 });
    await memory.add(user("0"));
    isAway = true;
    change(memory).catch(() => {});
    await vi.advanceTimersByTimeAsync(60_000);
    expect(writes).toBeLessThan(45);
  });

  test("the caller's signal ends the repeats", async () => {
    const caller = new AbortController();
    let calls = 0;
    const store = meeting(inMemoryStore(), () => {
      if (++calls === 5) caller.abort();
      throw away();
    });
    const put = createChatMemory({ id: "m", store }).put("a", user("x"), { signal: caller.signal });
    await expect(put).rejects.toMatchObject({ code: "ABORTED" });
  });
});

test("a certain refusal is not repeated", async () => {
  let calls = 0;
  const store = meeting(inMemoryStore(), () => {
    calls++;
    throw new TurnkeepError("STORE_REFUSED", "no rights");
  });
  const memory = createChatMemory({ id: "m", store });
  await expect(memory.add(user("x"))).rejects.toMatchObject({ code: "STORE_REFUSED" });
  await expect(memory.messages()).rejects.toMatchObject({ code: "STORE_REFUSED" });
  expect(calls).toBe(2);
});

describe("a deletion hits nothing but what was checked", () => {
  /** A memory of Ann's, and a store in which something happens right before the first deletion is made. */
  async function setUp(meanwhile: (store: ChatMemoryStore) => Promise<unknown>, isMade: boolean) {
    const store = inMemoryStore();
    await createChatMemory({ id: "m", store, owner: "ann" }).add(user("ann's"));
    let isDone = false;
    const racing = meeting(store, async (method, made) => {
      if (method !== "deleteMessages" || made !== isMade || isDone) return;
      isDone = true;
      await meanwhile(store);
      if (isMade) throw away();
    });
    return { store, racing };
  }
  const begunAnew =
    (owner: string) =>
    async (store: ChatMemoryStore): Promise<void> => {
      await store.deleteMessages("m");
      await createChatMemory({ id: "m", store, owner }).add(user(`${owner}'s new one`));
    };
  const deletions: [string, (store: ChatMemoryStore) => Promise<unknown>][] = [
    ["clear", (store) => createChatMemory({ id: "m", store, owner: "ann" }).clear()],
    ["clear by nobody in particular", (store) => createChatMemory({ id: "m", store }).clear()],
    ["erase", (store) => createChatMemories({ store }).erase({ owner: "ann" })],
  ];
  describe.each(deletions)("%s", (_what, remove) => {
    test.each([
      ["before it is made", false],
      ["when it was made and its answer lost", true],
    ])("leaves the memory that another begins under the id %s", async (_when, isMade) => {
      const { store, racing } = await setUp(begunAnew("bob"), isMade);
      await remove(racing);
      expect(await texts(createChatMemory({ id: "m", store, owner: "bob" }))).toEqual(["bob's new one"]);
    });

    test("takes along what is added to the same memory meanwhile", async () => {
      const more = (store: ChatMemoryStore) => createChatMemory({ id: "m", store }).add(user("more"));
      const { store, racing } = await setUp(more, false);
      await remove(racing);
      expect(await store.getMessages("m")).toMatchObject({ version: null });
    });
  });

  test("what cannot be read is deleted all the same, by whom it may belong to", async () => {
    const store = inMemoryStore();
    await store.updateMessages("m", {
      ...{ expected: null, version: "v", nextSeq: 1, append: [], replace: [], move: [] },
      owner: "ann",
      head: "damaged",
    });
    await expect(createChatMemory({ id: "m", store }).messages()).rejects.toMatchObject({
      code: "CORRUPT_RECORD",
    });
    const unreadable: ChatMemoryStore = {
      ...store,
      getMessages: () => Promise.reject(new TurnkeepError("CORRUPT_RECORD", "it has no head")),
    };
    const strangers = createChatMemory({ id: "m", store: unreadable, owner: "bob" });
    await expect(strangers.clear()).rejects.toMatchObject({ code: "CORRUPT_RECORD" });
    expect(await createChatMemories({ store: unreadable }).erase({ owner: "ann" })).toEqual({
      erased: ["m"],
    });
    expect((await store.getMessages("m")).version).toBeNull();
    await createChatMemory({ id: "m", store: unreadable }).clear();
  });
});

test("a message whose record is gone is named, stands in the way of no other, and can be removed", async () => {
  const store = inMemoryStore();
  await createChatMemory({ id: "m", store }).add(user("0"), user("1"), user("2"));
  const [, { id: lost = "", seq = 0 } = {}] = (await store.getMessages("m")).messages;
  const lose = <Message extends { seq: number }>(messages: Message[]): Message[] =>
    messages.map((message) => (message.seq === seq ? { ...message, createdAt: 0, payload: "" } : message));
  const losing: ChatMemoryStore = {
    ...store,
    getMessages: async (...given) => {
      const snapshot = await store.getMessages(...given);
      return { ...snapshot, messages: lose(snapshot.messages) };
    },
    getHistory: async (...given) => {
      const page = await store.getHistory(...given);
      return { ...page, messages: lose(page.messages) };
    },
  };
  const memory = createChatMemory({ id: "m", store: losing });
  const named = { code: "CORRUPT_RECORD", message: /its record is gone/i, details: { messageIds: [lost] } };
  await expect(memory.messages()).rejects.toMatchObject(named);
  const { messages, errors } = await memory.history();
  expect(messages.map(({ message }) => message.content)).toEqual(["0", "2"]);
  expect(errors).toMatchObject([named]);
  await memory.add(user("3"));
  expect(await memory.remove(lost)).toEqual([lost]);
  expect(await texts(memory)).toEqual(["0", "2", "3"]);
});

test.each<[string, (memories: ChatMemories<ModelMessage>) => Promise<unknown>]>([
  ["an add", (memories) => memories.get("m").add(user("1"))],
  ["a view", (memories) => memories.get("m").messages()],
  ["a page of history", (memories) => memories.get("m").history()],
  ["a clear", (memories) => memories.get("m").clear()],
  ["a fork", (memories) => memories.fork("m", "f")],
  ["an erase", (memories) => memories.erase({ owner: "ann" })],
])("what the operator of a database must know comes as one event, first with %s", async (_what, first) => {
  const warning = { code: "eviction", message: "The server may evict keys." };
  const store = inMemoryStore();
  await createChatMemory({ id: "m", store, owner: "ann" }).add(user("0"));
  let warnings = [warning];
  const warned: ChatMemoryStore = {
    ...store,
    getMessages: async (...given) => {
      const snapshot = await store.getMessages(...given);
      const [first] = warnings;
      warnings = [];
      return first === undefined ? snapshot : { ...snapshot, warning: first };
    },
  };
  const events: unknown[] = [];
  const onEvent = besideChanges(events);
  const memories = createChatMemories({ store: warned, owner: "ann", onEvent });
  await first(memories);
  await memories.get("m").messages();
  expect(events).toEqual([{ type: "warning", memoryId: "m", ...warning }]);
});
