import { describe, expect, test, vi } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemory,
  entry,
  inMemoryStore,
  keyValueStore,
  type MemoryEvent,
  type ModelMessage,
  system,
  TurnkeepError,
  toolCall,
  toolResult,
  user,
  type WindowOptions,
} from "../src/index.ts";
import { besideChanges } from "./events.ts";
import { gate } from "./gate.ts";
import { mapHooks } from "./stores-support.ts";

type Memory = ChatMemory<ModelMessage>;

const texts = async (memory: Memory): Promise<unknown[]> =>
  (await memory.messages()).map(({ content }) => content);

/** Two instances of one memory, as two processes have them. */
function pair(
  store: ChatMemoryStore = inMemoryStore(),
  window?: WindowOptions<ModelMessage>,
): [Memory, Memory] {
  return [createChatMemory({ id: "m", store, window }), createChatMemory({ id: "m", store, window })];
}

const stores: [string, () => ChatMemoryStore][] = [
  ["in memory", () => inMemoryStore()],
  ["in a key-value database", () => keyValueStore(mapHooks())],
];

describe.each(stores)("what somebody else changed since this instance read (%s)", (_name, create) => {
  test("a result that was taken out and put back late is not shown, though its message is as it was", async () => {
    const store = create();
    const [ours, theirs] = pair(store);
    const [{ content: call }, { content: result }] = [
      toolCall("c", "look", {}),
      toolResult("c", "look", "r"),
    ];
    const answered = assistant([...call, ...result]);
    await theirs.put("a", answered);
    expect(await ours.messages()).toEqual([answered]);
    await theirs.put("a", assistant(call));
    await theirs.add(user("well?"), assistant("It was interrupted."));
    const shown = await theirs.messages();
    await theirs.put("a", answered);
    expect(await ours.messages()).toEqual(shown);
    expect(await createChatMemory({ id: "m", store }).messages()).toEqual(shown);
  });

  test("a message that was cleared is added again under its id", async () => {
    const [ours, theirs] = pair(create());
    await ours.add(entry(user("x"), { id: "x" }));
    await theirs.clear();
    await ours.add(entry(user("x"), { id: "x" }));
    expect(await texts(theirs)).toEqual(["x"]);
    await theirs.clear();
    await ours.add(entry(user("other"), { id: "x" }));
    expect(await texts(theirs)).toEqual(["other"]);
  });

  test("a system message that was replaced is put in place again", async () => {
    const [ours, theirs] = pair(create());
    await ours.add(system("one"));
    await theirs.add(system("two"));
    await ours.add(system("one"));
    expect(await texts(theirs)).toEqual(["one"]);
  });

  test("put takes back what another put, whatever it holds by then", async () => {
    const [ours, theirs] = pair(create());
    await ours.put("x", user("one"));
    await theirs.put("x", user("two"));
    await ours.put("x", user("one"));
    expect(await texts(theirs)).toEqual(["one"]);
    await theirs.remove("x");
    await theirs.put("x", system("three"));
    await ours.put("x", system("four"));
    expect(await texts(theirs)).toEqual(["four"]);
  });

  test("put replaces what another added, also once something has left", async () => {
    const [ours, theirs] = pair(create(), { maxMessages: 2 });
    await ours.add(user("0"), user("1"), user("2"));
    await theirs.add(entry(user("3"), { id: "x" }));
    await ours.put("x", user("4"));
    expect(await texts(theirs)).toEqual(["2", "4"]);
  });

  test("what another added can be rewound, removed and compacted", async () => {
    const [ours, theirs] = pair(create());
    await ours.add(user("0"));
    const [first] = await theirs.add(user("1"));
    await ours.rewind(first);
    expect(await texts(theirs)).toEqual(["0"]);
    const [second] = await theirs.add(user("2"));
    expect(await ours.remove(second)).toEqual([second]);
    expect(await texts(theirs)).toEqual(["0"]);
    const [third] = await theirs.add(user("3"));
    await ours.compact({ through: third, replacement: user("sum") });
    expect(await texts(theirs)).toEqual(["sum"]);
  });

  test("a rewind takes along what another added and the window evicted", async () => {
    const [ours, theirs] = pair(create(), { maxMessages: 2 });
    const [first] = await ours.add(user("0"));
    await theirs.add(user("1"), user("2"), user("3"));
    await ours.rewind(first);
    expect(await texts(theirs)).toEqual([]);
    const { messages } = await theirs.history();
    expect(messages.map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => "superseded"));
  });

  test("shrink takes out what another added", async () => {
    const [ours, theirs] = pair(create());
    const [first] = await ours.add(user("0"));
    await theirs.add(user("1"));
    expect(await ours.shrink()).toMatchObject({ messageIds: [first] });
    expect(await texts(theirs)).toEqual(["1"]);
  });

  test("a transaction that read and would change nothing reports that another wrote", async () => {
    const [ours, theirs] = pair(create());
    await ours.add(system("one"));
    const changing = ours.transaction(async (transaction) => {
      await transaction.messages();
      await theirs.add(system("two"));
      transaction.add(system("one"));
    });
    await expect(changing).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect(await texts(theirs)).toEqual(["two"]);
  });

  test("a message keeps the time of its own life, not that of an equal one before", async () => {
    const time = vi.spyOn(Date, "now");
    try {
      const [ours, theirs] = pair(create());
      time.mockReturnValue(1000);
      await ours.put("x", user("x"));
      await theirs.clear();
      time.mockReturnValue(2000);
      await theirs.put("x", user("x"));
      await ours.messages();
      await ours.put("x", user("y"));
      expect((await theirs.history()).messages).toMatchObject([{ id: "x", createdAt: 2000 }]);
    } finally {
      time.mockRestore();
    }
  });
});

test("in the same millisecond: two batches under the callers' own ids that begin alike both land whole", async () => {
  const time = vi.spyOn(Date, "now").mockReturnValue(1000);
  try {
    const store = inMemoryStore();
    const theirs = createChatMemory({ id: "m", store });
    const batch = (who: string) => [entry(user("start"), { id: "start" }), entry(user(who), { id: who })];
    let raced = false;
    const racing: ChatMemoryStore = {
      ...store,
      updateMessages: async (id, update, options) => {
        if (!raced) await theirs.add(...batch("theirs"));
        raced = true;
        await store.updateMessages(id, update, options);
      },
    };
    await createChatMemory({ id: "m", store: racing }).add(...batch("ours"));
    expect(await texts(theirs)).toEqual(["start", "theirs", "ours"]);
  } finally {
    time.mockRestore();
  }
});

describe.each([
  ["that is still live", false],
  ["that has left memory", true],
])("in the same millisecond: a message %s", (_, left) => {
  test("is added under the caller's own id by one of two transactions that begin alike", async () => {
    const store = inMemoryStore();
    const window = left ? { maxMessages: 1 } : undefined;
    const theirs = createChatMemory({ id: "m", store, window });
    await theirs.add(user("start"));
    const add = (memory: ChatMemory<ModelMessage>): Promise<void> =>
      memory.transaction((all) => void all.add(entry(user("once"), { id: "once", createdAt: 1000 })), {
        onConflict: "throw",
      });
    const racing: ChatMemoryStore = {
      ...store,
      updateMessages: async (id, update, options) => {
        await add(theirs);
        if (left) await theirs.add(user("more"));
        await store.updateMessages(id, update, options);
      },
    };
    await expect(add(createChatMemory({ id: "m", store: racing, window }))).rejects.toMatchObject({
      code: "VERSION_CONFLICT",
    });
    expect((await theirs.history()).messages.filter(({ id }) => id === "once")).toHaveLength(1);
  });

  test("is recognised by the transaction that added it and lost the answer", async () => {
    const store = inMemoryStore();
    const window = left ? { maxMessages: 1 } : undefined;
    const theirs = createChatMemory({ id: "m", store, window });
    await theirs.add(user("start"));
    const losing: ChatMemoryStore = {
      ...store,
      updateMessages: async (id, update, options) => {
        await store.updateMessages(id, update, options);
        await theirs.add(user("more"));
        throw new TurnkeepError("STORE_UNAVAILABLE", "lost");
      },
    };
    await createChatMemory({ id: "m", store: losing, window }).transaction(
      (all) => void all.add(entry(user("once"), { id: "once" })),
      { onConflict: "throw" },
    );
    expect((await theirs.history()).messages.filter(({ id }) => id === "once")).toHaveLength(1);
  });
});

test("a view holds nothing of a call that ended while it waited for a limit", async () => {
  const store = inMemoryStore();
  const answers: (() => void)[] = [];
  let waits = false;
  const maxMessages = (): number | Promise<number> =>
    waits ? new Promise((resolve) => answers.push(() => resolve(10))) : 10;
  let reads = 0;
  const watched: ChatMemoryStore = {
    ...store,
    getMessages: (...given) => {
      reads++;
      return store.getMessages(...given);
    },
  };
  const memory = createChatMemory({ id: "m", store: watched, window: { maxMessages } });
  await memory.add(user("0"));
  waits = true;
  const caller = new AbortController();
  const put = memory.put("x", user("x"), { signal: caller.signal });
  await expect.poll(() => answers.length).toBe(1);
  caller.abort();
  await expect(put).rejects.toMatchObject({ code: "ABORTED" });
  const view = texts(memory);
  await expect.poll(() => answers.length).toBe(2);
  const readsBefore = reads;
  answers[0]?.();
  // All that the ended call still does happens before a timer fires: its limit is all it waited for.
  await new Promise((resolve) => setTimeout(resolve));
  expect(reads).toBe(readsBefore);
  answers[1]?.();
  expect(await view).toEqual(["0"]);
});

test("a view that its caller did not wait for is no look: a set after it replaces nothing unseen", async () => {
  const store = inMemoryStore();
  const theirs = createChatMemory({ id: "m", store });
  let waits = false;
  const { opened: asked, open: ask } = gate();
  const { opened: answered, open: answer } = gate();
  const maxMessages = async (): Promise<number> => {
    if (waits) {
      ask();
      await answered;
    }
    return 10;
  };
  const ours = createChatMemory({ id: "m", store, window: { maxMessages } });
  await ours.add(user("0"));
  await theirs.add(user("1"));
  waits = true;
  const caller = new AbortController();
  const view = ours.messages({ signal: caller.signal });
  await asked;
  caller.abort();
  await expect(view).rejects.toMatchObject({ code: "ABORTED" });
  waits = false;
  answer();
  // All that the ended call still does happens before a timer fires.
  await new Promise((resolve) => setTimeout(resolve));
  await expect(ours.set([user("new")])).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  expect(await texts(theirs)).toEqual(["0", "1"]);
});

test("a view that its caller did not wait for is not the one that calibrate speaks of", async () => {
  let waits = false;
  const { opened: asked, open: ask } = gate();
  const { opened: answered, open: answer } = gate();
  const maxTokens = async (): Promise<number> => {
    if (waits) {
      ask();
      await answered;
    }
    return 100;
  };
  const events: MemoryEvent[] = [];
  const window = { maxTokens, counter: { name: "each", count: () => 10 } };
  const memory = createChatMemory({ window, onEvent: besideChanges(events) });
  await memory.add(user("0"));
  await memory.messages();
  waits = true;
  const caller = new AbortController();
  const view = memory.messages({ extra: [user("1")], signal: caller.signal });
  await asked;
  caller.abort();
  await expect(view).rejects.toMatchObject({ code: "ABORTED" });
  waits = false;
  answer();
  // All that the ended call still does happens before a timer fires.
  await new Promise((resolve) => setTimeout(resolve));
  await memory.calibrate({ inputTokens: 10 });
  expect(events).toEqual([{ type: "calibrated", memoryId: "default", counted: 10, reported: 10 }]);
});
