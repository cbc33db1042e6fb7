import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  entry,
  inMemoryStore,
  type MemoryEvent,
  type ModelMessage,
  TurnkeepError,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { besideChanges } from "./events.ts";
import { losing, refusing } from "./meeting-store.ts";
import { withoutHistory } from "./without-history.ts";

type Memory = ChatMemory<ModelMessage>;

const lost = new TurnkeepError("STORE_UNAVAILABLE", "the answer was lost");

const texts = async (memory: Memory): Promise<unknown[]> =>
  (await memory.messages()).map(({ content }) => content);

/** Two messages, and an instance whose first answer will be lost after what `meanwhile` has somebody else do. */
async function setUp(meanwhile: (theirs: Memory) => Promise<unknown>, store = inMemoryStore()) {
  const theirs = createChatMemory({ id: "m", store });
  await theirs.add(entry(user("0"), { id: "0" }), entry(user("1"), { id: "1" }));
  const ours = createChatMemory({ id: "m", store: losing(store, () => meanwhile(theirs)) });
  return { ours, theirs };
}

describe("a change was made, its answer lost, and somebody else has written since", () => {
  const refused: [
    string,
    (ours: Memory) => Promise<unknown>,
    (theirs: Memory) => Promise<unknown>,
    unknown[],
  ][] = [
    ["a rewind, then an add", (ours) => ours.rewind("1"), (theirs) => theirs.add(user("2")), ["0", "2"]],
    [
      "an add under an id, then a put there",
      (ours) => ours.add(entry(user("x"), { id: "x" })),
      (theirs) => theirs.put("x", user("y")),
      ["0", "1", "y"],
    ],
    [
      "a set under an id, then a put there",
      (ours) => ours.set([entry(user("x"), { id: "x" })]),
      (theirs) => theirs.put("x", user("y")),
      ["y"],
    ],
    [
      "a put that replaces a message, then another put there",
      (ours) => ours.put("1", user("x"), { replaces: user("1") }),
      (theirs) => theirs.put("1", user("y")),
      ["0", "y"],
    ],
    [
      "a compact, then one that reaches further",
      (ours) => ours.compact({ through: "0", replacement: user("sum") }),
      (theirs) => theirs.compact({ through: "1", replacement: user("more") }),
      ["more"],
    ],
  ];
  test.each(refused)(
    "%s: what stands in the way may be its own work",
    async (_name, change, meanwhile, shown) => {
      const { ours, theirs } = await setUp(meanwhile);
      await expect(change(ours)).rejects.toThrow(lost.message);
      expect(await texts(theirs)).toEqual(shown);
    },
  );

  const gone: [string, (theirs: Memory) => Promise<unknown>, unknown[]][] = [
    [
      "removed",
      async (theirs) => {
        const { messages } = await theirs.history();
        for (const { id, seq } of messages) if (seq > 2) await theirs.remove(id);
      },
      ["0", "1"],
    ],
    [
      "cleared, and another memory begun",
      async (theirs) => {
        await theirs.clear();
        await theirs.add(user("new"));
      },
      ["new"],
    ],
    [
      "cleared, and another memory begun in the same millisecond that has grown as long",
      async (theirs) => {
        await theirs.clear();
        await theirs.add(user("new"), user("newer"), user("newest"));
      },
      ["new", "newer", "newest"],
    ],
    [
      "cleared, and another memory begun under the same ids that has grown as long",
      async (theirs) => {
        await theirs.clear();
        now++;
        await theirs.add(entry(user("0"), { id: "0" }), entry(user("1"), { id: "1" }), user("new"));
      },
      ["0", "1", "new"],
    ],
  ];
  const adds: [string, (ours: Memory) => Promise<unknown>][] = [
    ["added", (ours) => ours.add(user("x"))],
    ["added under an id", (ours) => ours.add(entry(user("x"), { id: "x" }))],
    ["put in place of another", (ours) => ours.put("1", user("x"))],
  ];
  let now = 1000;
  describe.each(gone)("what was written has been %s", (how, meanwhile, shown) => {
    beforeEach(() => {
      vi.spyOn(Date, "now").mockImplementation(() => now);
    });
    afterEach(() => {
      vi.restoreAllMocks();
    });

    test.each(adds)("what was %s does not come back", async (what, add) => {
      const { ours, theirs } = await setUp(meanwhile);
      const isThere = how === "removed" && what.startsWith("put");
      if (isThere) await add(ours);
      else await expect(add(ours)).rejects.toThrow(lost.message);
      expect(await texts(theirs)).toEqual(isThere ? ["0", "x"] : shown);
    });
  });

  test("what was added where nothing was live does not come back in a memory that others have begun since", async () => {
    const { ours, theirs } = await setUp(async () => {
      await theirs.clear();
      await theirs.add(user("new"));
    });
    for (const id of ["0", "1"]) await theirs.remove(id);
    await expect(ours.add(user("x"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await texts(theirs)).toEqual(["new"]);
  });

  test("a fork is known by the life that it began", async () => {
    const store = inMemoryStore();
    await createChatMemory({ id: "m", store }).add(user("0"));
    const fork = createChatMemory({ id: "fork", store });
    const memories = createChatMemories({ store: losing(store, () => fork.add(user("1"))) });
    expect(await texts(await memories.fork("m", "fork"))).toEqual(["0", "1"]);
    expect(await texts(fork)).toEqual(["0", "1"]);
  });

  test("an add that began the memory is not made again if what it added is removed at once", async () => {
    const store = inMemoryStore();
    const theirs = createChatMemory({ id: "m", store });
    const ours = createChatMemory({ id: "m", store: losing(store, () => theirs.remove("0")) });
    expect(await ours.add(entry(user("0"), { id: "0" }))).toEqual(["0"]);
    expect(await texts(theirs)).toEqual([]);
  });

  test("what was put in place of another is recognised, also where a repeat would be refused", async () => {
    const { ours, theirs } = await setUp((other) => other.add(user("2")));
    await ours.put("1", user("x"), { replaces: user("1") });
    expect(await texts(theirs)).toEqual(["0", "x", "2"]);
  });

  const whole: [string, (ours: Memory) => Promise<unknown>][] = [
    ["added", (ours) => ours.add(user("x"), user("y"))],
    ["set under ids", (ours) => ours.set([entry(user("x"), { id: "x" }), entry(user("y"), { id: "y" })])],
  ];
  describe.each(whole)("what was %s is recognised, and stands once", (_what, change) => {
    test.each([
      ["all of it is live", 200],
      ["a part of it has been evicted", 2],
      ["all of it has been evicted", 1],
    ])("%s", async (_where, maxMessages) => {
      const store = inMemoryStore();
      const theirs = createChatMemory({ id: "m", store, window: { maxMessages } });
      // More than a page of history holds stands before it.
      await theirs.add(...Array.from({ length: 150 }, (_, index) => user(String(index))));
      const ours = createChatMemory({ id: "m", store: losing(store, () => theirs.add(user("z"))) });
      await change(ours);
      const { messages } = await theirs.history({ order: "descending", limit: 4 });
      expect(messages.map(({ message }) => message.content)).toEqual(["z", "y", "x", "149"]);
    });
  });

  test("what was added is recognised by one of its messages, though others have been removed since", async () => {
    const { ours, theirs } = await setUp(async (other) => {
      const { messages } = await other.history({ order: "descending", limit: 1 });
      for (const { id } of messages) await other.remove(id);
    });
    await ours.add(user("x"), user("y"));
    expect(await texts(theirs)).toEqual(["0", "1", "x"]);
  });

  test("what was removed is answered, though somebody else has written since", async () => {
    const store = inMemoryStore();
    const theirs = createChatMemory({ id: "m", store });
    await theirs.add(entry(user("0"), { id: "0" }), user("1"));
    const ours = createChatMemory({ id: "m", store: losing(store, () => theirs.add(user("z"))) });
    expect(await ours.remove("0")).toEqual(["0"]);
    expect(await texts(theirs)).toEqual(["1", "z"]);
  });

  test.each([
    ["with", inMemoryStore()],
    ["without", withoutHistory()],
  ])("of a removal that did not arrive only what is gone is answered, %s history", async (_, store) => {
    const theirs = createChatMemory({ id: "m", store });
    await theirs.add(entry(toolCall("c", "look", {}), { id: "call" }), toolResult("c", "look", "r"));
    const meanwhile = () => theirs.remove("call", { only: true });
    const ours = createChatMemory({ id: "m", store: refusing(store, meanwhile) });
    expect(await ours.remove("call")).toEqual(["call"]);
    expect(await theirs.entries()).toHaveLength(1);
  });

  test("so is the newest of what there was, if it was not all", async () => {
    const store = inMemoryStore();
    const theirs = createChatMemory({ id: "m", store });
    await theirs.add(user("0"), entry(user("1"), { id: "1" }));
    const ours = createChatMemory({ id: "m", store: losing(store, () => theirs.add(user("z"))) });
    expect(await ours.remove("1")).toEqual(["1"]);
    expect(await texts(theirs)).toEqual(["0", "z"]);
  });

  test("more messages under ids than a page of history holds are recognised by as many as it holds", async () => {
    const store = inMemoryStore();
    const theirs = createChatMemory({ id: "m", store, window: { maxMessages: 1 } });
    await theirs.add(user("0"));
    const many = Array.from({ length: 1001 }, (_, index) => entry(user("x"), { id: String(index) }));
    const ours = createChatMemory({ id: "m", store: losing(store, () => theirs.add(user("z"))) });
    expect(await ours.set(many)).toHaveLength(1001);
  });

  test("what this instance decides next is based on it", async () => {
    const store = inMemoryStore();
    const ours = createChatMemory({ id: "m", store: losing(store, async () => {}) });
    await ours.add(user("0"));
    await ours.set([user("1")]);
    expect(await texts(ours)).toEqual(["1"]);
  });

  test("it is recognised, and told as no conflict, also where the store reports one", async () => {
    const store = inMemoryStore();
    const theirs = createChatMemory({ id: "m", store });
    await theirs.add(user("0"));
    const events: MemoryEvent[] = [];
    // As a driver does that sends an update again whose answer did not come.
    const repeating: ChatMemoryStore = {
      ...store,
      updateMessages: async (id, update, options) => {
        await store.updateMessages(id, update, options);
        await theirs.add(user("2"));
        await store.updateMessages(id, update, options);
      },
    };
    const ours = createChatMemory({ id: "m", store: repeating, onEvent: besideChanges(events) });
    await ours.messages();
    await ours.set([user("1")]);
    expect(events).toEqual([]);
    expect(await texts(theirs)).toEqual(["1", "2"]);
  });

  describe("of several changes at once, behind which others wrote", () => {
    type Changes = Parameters<Memory["transaction"]>[0];
    const add = (theirs: Memory): Promise<unknown> => theirs.add(user("2"));

    test.each<[string, Changes, (theirs: Memory) => Promise<unknown>, string[]]>([
      ["an edit", (edit) => [edit.rewind("1"), edit.add(user("new"))], add, ["0", "new", "2"]],
      [
        "an edit under an id",
        (edit) => [edit.rewind("1"), edit.add(entry(user("new"), { id: "own" }))],
        add,
        ["0", "new", "2"],
      ],
      [
        "changes of every kind",
        (edit) => {
          edit.remove("1");
          edit.remove(edit.add(user("gone"))[0] as string);
          edit.add(user("a"));
          edit.put("0", user("put"));
        },
        add,
        ["put", "a", "2"],
      ],
      ["a put and a removal", (edit) => [edit.put("0", user("put")), edit.remove("1")], add, ["put", "2"]],
    ])("%s is recognised", async (_, run, meanwhile, shown) => {
      const { ours } = await setUp(meanwhile);
      await ours.transaction(run);
      expect(await texts(ours)).toEqual(shown);
    });

    test("the same put by others alone is not taken for it", async () => {
      const store = inMemoryStore();
      const theirs = createChatMemory({ id: "m", store });
      await theirs.add(entry(user("0"), { id: "0" }), entry(user("1"), { id: "1" }));
      const put = (): Promise<unknown> => theirs.put("0", user("put"));
      const ours = createChatMemory({ id: "m", store: refusing(store, put) });
      await ours.transaction((edit) => {
        edit.put("0", user("put"));
        edit.remove("1");
      });
      expect(await texts(ours)).toEqual(["put"]);
    });

    test("one that only takes away leaves its caller in doubt", async () => {
      const { ours, theirs } = await setUp(add);
      const change = ours.transaction((edit) => {
        edit.remove("0");
        edit.rewind("1");
      });
      await expect(change).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(await texts(theirs)).toEqual(["2"]);
    });
  });

  test("it is recognised at the last attempt too", async () => {
    const store = inMemoryStore();
    let attempts = 0;
    const failing: ChatMemoryStore = {
      ...store,
      updateMessages: async (id, update, options) => {
        if (++attempts === 3) await store.updateMessages(id, update, options);
        throw lost;
      },
    };
    const ours = createChatMemory({ id: "m", store: failing });
    await ours.add(user("0"));
    expect(attempts).toBe(3);
    expect(await texts(ours)).toEqual(["0"]);
  });

  describe("in a store without history", () => {
    async function setUpWithout(meanwhile: (theirs: Memory) => Promise<unknown>) {
      const store = withoutHistory(inMemoryStore());
      const options = { id: "m", window: { maxMessages: 2 }, history: false };
      const theirs = createChatMemory({ ...options, store });
      await theirs.add(user("0"));
      return {
        ours: createChatMemory({ ...options, store: losing(store, () => meanwhile(theirs)) }),
        theirs,
      };
    }

    test("what is still live is recognised", async () => {
      const { ours, theirs } = await setUpWithout((other) => other.add(user("1")));
      await ours.add(user("x"));
      expect(await texts(theirs)).toEqual(["x", "1"]);
    });

    test("what a window has let go of since is not added twice", async () => {
      const { ours, theirs } = await setUpWithout((other) => other.add(user("1"), user("2")));
      await expect(ours.add(user("x"))).rejects.toThrow(lost.message);
      expect(await texts(theirs)).toEqual(["1", "2"]);
    });
  });
});

describe("what was refused while others wrote", () => {
  const others: [string, (theirs: Memory) => Promise<unknown>, unknown[]][] = [
    ["added", (theirs) => theirs.add(user("1")), ["0", "1", "2"]],
    ["replaced", (theirs) => theirs.put("0", user("zero")), ["zero", "2"]],
    ["compacted", (theirs) => theirs.compact({ through: "0", replacement: user("sum") }), ["sum", "2"]],
  ];
  test.each(others)("is made on the new state: they %s", async (_what, meanwhile, shown) => {
    const store = inMemoryStore();
    const theirs = createChatMemory({ id: "m", store });
    await theirs.add(entry(user("0"), { id: "0" }));
    await createChatMemory({ id: "m", store: refusing(store, () => meanwhile(theirs)) }).add(user("2"));
    expect(await texts(theirs)).toEqual(shown);
  });

  test("is made on the new state: they removed the newest message", async () => {
    const store = inMemoryStore();
    const theirs = createChatMemory({ id: "m", store });
    await theirs.add(entry(user("0"), { id: "0" }));
    const meanwhile = async (): Promise<void> => {
      await theirs.add(user("1"));
      await theirs.remove("0");
    };
    await createChatMemory({ id: "m", store: refusing(store, meanwhile) }).add(user("2"));
    expect(await texts(theirs)).toEqual(["1", "2"]);
  });

  test("is not made in another memory that began meanwhile, also what was to begin one", async () => {
    const store = inMemoryStore();
    const theirs = createChatMemory({ id: "m", store });
    const ours = createChatMemory({ id: "m", store: refusing(store, () => theirs.add(user("1"))) });
    await expect(ours.add(user("2"))).rejects.toThrow(lost.message);
    expect(await texts(theirs)).toEqual(["1"]);
  });

  test("is made at the next attempt where nobody wrote, also what begins a memory", async () => {
    const store = inMemoryStore();
    await createChatMemory({ id: "m", store: refusing(store, async () => {}) }).add(user("1"));
    expect(await texts(createChatMemory({ id: "m", store }))).toEqual(["1"]);
  });

  test("is made on the new state: they added where nothing was live", async () => {
    const store = inMemoryStore();
    const theirs = createChatMemory({ id: "m", store });
    const [first] = await theirs.add(user("0"));
    await theirs.remove(first);
    const ours = createChatMemory({ id: "m", store: refusing(store, () => theirs.add(user("1"))) });
    await ours.add(user("2"));
    expect(await texts(theirs)).toEqual(["1", "2"]);
  });

  test("is not taken for what they added later in its place, under its id and with its content", async () => {
    const store = inMemoryStore();
    const theirs = createChatMemory({ id: "m", store });
    await theirs.add(user("0"));
    const same = entry(user("x"), { id: "x" });
    let now = 1000;
    const time = vi.spyOn(Date, "now").mockImplementation(() => now++);
    try {
      const ours = createChatMemory({ id: "m", store: refusing(store, () => theirs.add(same)) });
      await expect(ours.set([same])).rejects.toThrow(lost.message);
    } finally {
      time.mockRestore();
    }
    expect(await texts(theirs)).toEqual(["0", "x"]);
  });
});

describe("a store that cannot be read behind a write that failed", () => {
  const unreadable = new TurnkeepError("STORE_NOT_READY", "the table is gone");
  test.each([
    ["lost its answer: the caller is told of that", lost, lost],
    [
      "met a conflict: the caller is told why it cannot be made again",
      new TurnkeepError("VERSION_CONFLICT", "somebody was faster"),
      unreadable,
    ],
  ])("the write %s", async (_what, failure, told) => {
    const store = inMemoryStore();
    let isFailed = false;
    const failing: ChatMemoryStore = {
      ...store,
      getMessages: (...given) => (isFailed ? Promise.reject(unreadable) : store.getMessages(...given)),
      updateMessages: () => {
        isFailed = true;
        return Promise.reject(failure);
      },
    };
    await expect(createChatMemory({ id: "m", store: failing }).add(user("0"))).rejects.toThrow(told.message);
  });
});

test("an add that arrives late, before its repeat, and is removed again does not come back", async () => {
  const store = inMemoryStore();
  const theirs = createChatMemory({ id: "m", store });
  await theirs.add(user("0"));
  let attempts = 0;
  let late = async (): Promise<void> => {};
  const delaying: ChatMemoryStore = {
    ...store,
    updateMessages: async (id, update, options) => {
      if (++attempts === 1) {
        late = async () => {
          await store.updateMessages(id, update);
          const { messages } = await theirs.history({ order: "descending", limit: 1 });
          for (const message of messages) await theirs.remove(message.id);
        };
        throw lost;
      }
      if (attempts === 2) await late();
      return store.updateMessages(id, update, options);
    },
  };
  await expect(createChatMemory({ id: "m", store: delaying }).add(user("x"))).rejects.toThrow(lost.message);
  expect(await texts(theirs)).toEqual(["0"]);
});

test("a set whose next attempt meets a conflict does not say that nothing was changed: the first may arrive yet", async () => {
  const store = inMemoryStore();
  const theirs = createChatMemory({ id: "m", store });
  await theirs.add(user("0"));
  let attempts = 0;
  const failing: ChatMemoryStore = {
    ...store,
    updateMessages: async (id, update, options) => {
      if (++attempts === 1) throw lost;
      await theirs.add(user("1"));
      return store.updateMessages(id, update, options);
    },
  };
  const ours = createChatMemory({ id: "m", store: failing });
  await ours.messages();
  await expect(ours.set([user("x")])).rejects.toThrow(lost.message);
  expect(await texts(theirs)).toEqual(["0", "1"]);
});

test("time that runs out behind a conflict, while another attempt is under way, leaves open what that has done", async () => {
  const store = inMemoryStore();
  const theirs = createChatMemory({ id: "m", store });
  await theirs.add(user("0"));
  let raced = false;
  const hanging: ChatMemoryStore = {
    ...store,
    updateMessages: async (id, update, options) => {
      if (!raced) {
        await theirs.add(user("1"));
        raced = true;
        return store.updateMessages(id, update, options);
      }
      await store.updateMessages(id, update, options);
      return new Promise(() => {});
    },
  };
  const ours = createChatMemory({ id: "m", store: hanging, timeoutMs: 1_000 });
  await expect(ours.add(user("2"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(await texts(theirs)).toEqual(["0", "1", "2"]);
});
