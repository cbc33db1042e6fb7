import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import {
  assistant,
  type ChatMemories,
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  entry,
  inMemoryStore,
  isTurnkeepError,
  type MemoryEvent,
  type MemoryTransaction,
  type MessageFormat,
  type ModelMessage,
  modelMessageFormat,
  TurnkeepError,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { besideChanges } from "./events.ts";
import { gate } from "./gate.ts";

const texts = async (memory: ChatMemory<ModelMessage>): Promise<unknown[]> =>
  (await memory.messages()).map(({ content }) => content);

/** The store as another client sees it: each call waits before it acts and before its answer comes back. */
function delayed(store: ChatMemoryStore, wait: (label: string) => Promise<void>): ChatMemoryStore {
  return {
    ...store,
    getMessages: async (id, options) => {
      await wait("read asked");
      const snapshot = await store.getMessages(id, options);
      await wait("read answered");
      return snapshot;
    },
    updateMessages: async (id, update, options) => {
      await wait("write asked");
      await store.updateMessages(id, update, options);
      await wait("write answered");
    },
  };
}

describe("a read of what has not changed", () => {
  const setUp = () => {
    const store = inMemoryStore();
    const answers: (number | "unchanged")[] = [];
    const watched: ChatMemoryStore = {
      ...store,
      getMessages: async (id, options) => {
        const snapshot = await store.getMessages(id, options);
        answers.push(snapshot.unchanged ? "unchanged" : snapshot.messages.length);
        return snapshot;
      },
    };
    const memories = [0, 1].map(() => createChatMemory({ id: "m", store: watched }));
    return { answers, memories: memories as [ChatMemory<ModelMessage>, ChatMemory<ModelMessage>] };
  };

  test("moves no messages, after a read and after a write of one's own", async () => {
    const { answers, memories } = setUp();
    const [one] = memories;
    await one.add(user("A"));
    answers.length = 0;
    expect(await texts(one)).toEqual(["A"]);
    expect(await texts(one)).toEqual(["A"]);
    await one.add(user("B"));
    expect(await texts(one)).toEqual(["A", "B"]);
    expect(answers).toEqual(["unchanged", "unchanged", "unchanged"]);
  });

  test("what another wrote or deleted is there at the next read", async () => {
    const { answers, memories } = setUp();
    const [one, two] = memories;
    const [id] = await one.add(user("A"));
    expect(await texts(two)).toEqual(["A"]);
    answers.length = 0;
    await one.put(id, user("a"));
    expect(await texts(two)).toEqual(["a"]);
    await one.clear();
    expect(await texts(two)).toEqual([]);
    await one.add(user("B"));
    expect(await texts(two)).toEqual(["B"]);
    // What is to be cleared is looked at before, and a memory that was cleared is read again before it begins anew.
    expect(answers).toEqual([1, "unchanged", 0, 0, 1]);
  });
});

test("a read decodes what is new since the last one, and nothing else again", async () => {
  const store = inMemoryStore();
  let decoded = 0;
  const format: MessageFormat<ModelMessage> = {
    ...(modelMessageFormat as MessageFormat<ModelMessage>),
    decode: (text) => {
      decoded++;
      return modelMessageFormat.decode(text) as ModelMessage;
    },
  };
  const theirs = createChatMemory({ id: "m", store });
  await theirs.add(user("A"), entry(user("B"), { id: "b" }), user("C"));
  const ours = createChatMemory({ id: "m", store, format });
  await ours.messages();
  expect(decoded).toBe(3);
  await theirs.add(user("D"));
  await theirs.put("b", user("b"));
  expect(await texts(ours)).toEqual(["A", "b", "C", "D"]);
  expect(decoded).toBe(5);
});

describe("two memories over one store, interleaved at every wait", () => {
  const plan = fc.array(fc.record({ who: fc.nat(1), size: fc.integer({ min: 1, max: 3 }) }), {
    minLength: 2,
    maxLength: 6,
  });

  test("every add lands once, in one order that both see, and each one's own order holds", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), plan, async (scheduler, adds) => {
        const store = inMemoryStore();
        const wait = (label: string): Promise<void> => scheduler.schedule(Promise.resolve(), label);
        const memories = [0, 1].map(() =>
          createChatMemory({ id: "m", store: delayed(store, wait), window: { maxMessages: 4 } }),
        );
        const done = adds.map(({ who, size }, index) =>
          memories[who]?.add(...Array.from({ length: size }, (_, part) => user(`${who}:${index}:${part}`))),
        );
        await scheduler.waitFor(Promise.all(done));
        const plain = createChatMemory({ id: "m", store });
        const said = (await plain.history()).messages.map(({ message }) => message.content as string);
        const expected = adds.flatMap(({ who, size }, index) =>
          Array.from({ length: size }, (_, part) => `${who}:${index}:${part}`),
        );
        expect([...said].sort()).toEqual([...expected].sort());
        for (const who of ["0", "1"]) {
          expect(said.filter((text) => text.startsWith(who))).toEqual(
            expected.filter((text) => text.startsWith(who)),
          );
        }
        // All or none: the parts of one add stand together.
        for (const [place, text] of said.entries()) {
          const [, index, part] = text.split(":");
          if (part !== "0") expect(said[place - 1]?.split(":")[1]).toBe(index);
        }
        const views = await scheduler.waitFor(Promise.all(memories.map(texts)));
        expect(views[0]).toEqual(said.slice(-4));
        expect(views[1]).toEqual(views[0]);
      }),
    );
  });

  test("a set either replaces what its caller saw or reports a conflict, and no add is lost without a word", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const store = inMemoryStore();
        const wait = (label: string): Promise<void> => scheduler.schedule(Promise.resolve(), label);
        const [ours, theirs] = [0, 1].map(() =>
          createChatMemory({ id: "m", store: delayed(store, wait) }),
        ) as [ChatMemory<ModelMessage>, ChatMemory<ModelMessage>];
        await createChatMemory({ id: "m", store }).add(user("seen"));
        const seen = scheduler.waitFor(texts(ours)).then((view) => ({ view }));
        const { view } = await seen;
        const [set] = await scheduler.waitFor(
          Promise.allSettled([ours.set([user("replaced")]), theirs.add(user("added"))]),
        );
        const now = await texts(createChatMemory({ id: "m", store }));
        expect(view).toEqual(["seen"]);
        if (set.status === "fulfilled") expect(now).toEqual(["replaced", "added"]);
        else {
          expect(set.reason).toMatchObject({ code: "VERSION_CONFLICT" });
          expect(now).toEqual(["seen", "added"]);
        }
      }),
    );
  });

  test("compact loses nothing that the other adds meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 4 }), async (scheduler, added) => {
        const store = inMemoryStore();
        const wait = (label: string): Promise<void> => scheduler.schedule(Promise.resolve(), label);
        const [, through] = await createChatMemory({ id: "m", store }).add(user("a"), user("b"));
        const ours = createChatMemory({ id: "m", store: delayed(store, wait) });
        const theirs = createChatMemory({ id: "m", store: delayed(store, wait) });
        const adds = Array.from({ length: added }, (_, index) => theirs.add(user(`new ${index}`)));
        const compacted = ours.compact({ through, replacement: user("sum") });
        await scheduler.waitFor(Promise.all([compacted, ...adds]));
        const expected = ["sum", ...Array.from({ length: added }, (_, index) => `new ${index}`)];
        expect(await texts(createChatMemory({ id: "m", store }))).toEqual(expected);
      }),
    );
  });
});

test("a compact is refused for what a later one covers as the memory is now, not as it was read", async () => {
  const store = inMemoryStore();
  const [one, other] = [createChatMemory({ id: "m", store }), createChatMemory({ id: "m", store })];
  const [first, , third] = await one.add(user("a"), user("b"), user("c"));
  const compact = (through: string): Promise<string> =>
    one.compact({ through, replacement: user("summary") });
  await compact(third);
  await expect(compact(first)).rejects.toMatchObject({
    code: "VERSION_CONFLICT",
    details: { messageIds: [first] },
  });
  await other.set([user("anew")]);
  await compact(first);
  expect(await texts(other)).toEqual(["summary", "anew"]);
});

test.each<[string, (memories: ChatMemories<ModelMessage>) => Promise<unknown>]>([
  ["remove", async (memories) => expect(await memories.get("m").remove("1")).toEqual([])],
  ["rewind", (memories) => expect(memories.get("m").rewind("1")).rejects.toThrow("no such message")],
  [
    "compact",
    (memories) => {
      const compacted = memories.get("m").compact({ through: "1", replacement: user("sum") });
      return expect(compacted).rejects.toThrow("no such message");
    },
  ],
  ["explain", async (memories) => expect((await memories.get("m").explain()).messages).toEqual([])],
])("%s finds no message of a memory that begins and ends between its reads", async (_call, use) => {
  const inner = inMemoryStore();
  const other = createChatMemory({ id: "m", store: inner, window: { maxMessages: 1 } });
  const store: ChatMemoryStore = {
    ...inner,
    getHistory: async (...given) => {
      await other.add(entry(user("a"), { id: "1" }), user("b"));
      const page = await inner.getHistory(...given);
      await other.clear();
      return page;
    },
  };
  await use(createChatMemories({ store, window: { maxMessages: 1 } }));
  expect(await inner.getMessages("m")).toMatchObject({ version: null });
});

test.each(["rewind", "remove"] as const)(
  "a %s that finds in history what was live when it was read is made again on what is there now",
  async (call) => {
    const [store, window] = [inMemoryStore(), { maxMessages: 4, unit: "turn", overflow: "keep" }] as const;
    const [one, other] = [1, 2].map(() => createChatMemory({ id: "m", store, window })) as [
      ChatMemory<ModelMessage>,
      ChatMemory<ModelMessage>,
    ];
    const [asked = "", result = ""] = await other.add(
      ...[toolCall("a", "t", {}), toolResult("a", "t", "done"), assistant("There.")],
    );
    await one.compact({ through: asked, replacement: user("A call was made.") });
    await other[call](result);
    const there = await createChatMemory({ id: "m", store, window }).entries();
    expect(await other.entries()).toEqual(there);
    expect(await one.entries()).toEqual(there);
  },
);

describe("an id of the caller's own", () => {
  test("added by two at once stands once, and all else that both added stands beside it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.boolean(), async (scheduler, isEqual) => {
        const store = inMemoryStore();
        const wait = (label: string): Promise<void> => scheduler.schedule(Promise.resolve(), label);
        const add = (who: string): Promise<string[]> => {
          const asked = user(isEqual ? "asked" : `asked by ${who}`);
          const memory = createChatMemory({ id: "m", store: delayed(store, wait) });
          return memory.add(entry(asked, { id: "request" }), user(`rest of ${who}`));
        };
        const both = Promise.allSettled([add("one"), add("two")]);
        await scheduler.waitFor(both);
        const failures = (await both).flatMap((ended) => (ended.status === "rejected" ? [ended.reason] : []));
        const said = await texts(createChatMemory({ id: "m", store }));
        if (isEqual) {
          expect(failures).toEqual([]);
          expect(said.sort()).toEqual(["asked", "rest of one", "rest of two"]);
        } else {
          expect(failures).toEqual([expect.objectContaining({ code: "ID_CONFLICT" })]);
          expect(["one", "two"].map((who) => [`asked by ${who}`, `rest of ${who}`])).toContainEqual(said);
        }
      }),
    );
  });

  test("alone in two adds at once with other content is an ID_CONFLICT for one of them", async () => {
    const store = inMemoryStore();
    const theirs = createChatMemory({ id: "m", store });
    let raced = false;
    const racing: ChatMemoryStore = {
      ...store,
      updateMessages: async (id, update, options) => {
        if (!raced) await theirs.add(entry(user("theirs"), { id: "request" }));
        raced = true;
        await store.updateMessages(id, update, options);
      },
    };
    const ours = createChatMemory({ id: "m", store: racing });
    const added = ours.add(entry(user("ours"), { id: "request" }));
    await expect(added).rejects.toMatchObject({ code: "ID_CONFLICT" });
    expect(await texts(ours)).toEqual(["theirs"]);
  });
});

test("of two forks to one memory at once, one is an ID_CONFLICT", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const store = inMemoryStore();
      const wait = (label: string): Promise<void> => scheduler.schedule(Promise.resolve(), label);
      const [first, second] = await createChatMemory({ id: "m", store }).add(user("a"), user("b"));
      const fork = (at: string | undefined): Promise<unknown> =>
        createChatMemories({ store: delayed(store, wait) }).fork("m", "fork", { at });
      const both = Promise.allSettled([fork(first), fork(second)]);
      await scheduler.waitFor(both);
      const outcomes = (await both).map((ended) =>
        ended.status === "rejected" ? ended.reason.code : "made",
      );
      expect(outcomes.sort()).toEqual(["ID_CONFLICT", "made"]);
    }),
  );
});

describe("a store that commits and then fails", () => {
  const lost = new TurnkeepError("STORE_UNAVAILABLE", "the answer was lost");

  test("an add whose answer was lost is not applied twice, whoever wrote meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("fine", "lost", "refused", "lost, then another wrote"), {
          minLength: 1,
          maxLength: 8,
        }),
        async (fates) => {
          const store = inMemoryStore();
          const other = createChatMemory({ id: "m", store });
          const pending = [...fates];
          const faulty: ChatMemoryStore = {
            ...store,
            updateMessages: async (id, update, options) => {
              const fate = pending.shift() ?? "fine";
              if (fate === "refused") throw lost;
              await store.updateMessages(id, update, options);
              if (fate === "lost, then another wrote") await other.add(user("other"));
              if (fate !== "fine") throw lost;
            },
          };
          const memory = createChatMemory({ id: "m", store: faulty, window: { maxMessages: 2 } });
          const given: string[] = [];
          for (const [index] of fates.entries()) {
            given.push(`ours ${index}`);
            await memory.add(user(`ours ${index}`)).catch((error: unknown) => {
              // Refused as often as it is tried: the caller is told, and it must not be there.
              if (!isTurnkeepError(error, "STORE_UNAVAILABLE")) throw error;
              given.pop();
            });
          }
          const said = (await other.history()).messages.map(({ message }) => message.content);
          expect(said.filter((text) => text !== "other")).toEqual(given);
        },
      ),
    );
  });

  test("a removal whose answer was lost still answers what it removed", async () => {
    const store = inMemoryStore();
    const [id] = await createChatMemory({ id: "m", store }).add(user("a"), user("b"));
    const faulty: ChatMemoryStore = {
      ...store,
      updateMessages: async (memoryId, update, options) => {
        await store.updateMessages(memoryId, update, options);
        throw lost;
      },
    };
    const memory = createChatMemory({ id: "m", store: faulty });
    expect(await memory.remove(id)).toEqual([id]);
    expect(await texts(memory)).toEqual(["b"]);
  });

  test.each([
    ["with a message", []],
    ["without any", ["a"]],
  ])(
    "a memory %s deleted meanwhile is not begun again for an add that did not begin it",
    async (_what, removed) => {
      const store = inMemoryStore();
      const theirs = createChatMemory({ id: "m", store });
      await theirs.add(entry(user("a"), { id: "a" }));
      for (const id of removed) await theirs.remove(id);
      let fail = true;
      const faulty: ChatMemoryStore = {
        ...store,
        updateMessages: async (id, update, options) => {
          if (!fail) return store.updateMessages(id, update, options);
          fail = false;
          await store.deleteMessages(id);
          throw lost;
        },
      };
      const memory = createChatMemory({ id: "m", store: faulty });
      await expect(memory.add(user("b"))).rejects.toThrow(lost.message);
      expect((await store.getMessages("m")).version).toBeNull();
      await memory.add(user("c"));
      expect(await texts(memory)).toEqual(["c"]);
    },
  );

  test("a failure that is the caller's is not tried again", async () => {
    const store = inMemoryStore();
    let writes = 0;
    const strict: ChatMemoryStore = {
      ...store,
      updateMessages: () => {
        writes++;
        return Promise.reject(new TurnkeepError("STORE_NOT_READY", "run migrate()"));
      },
    };
    await expect(createChatMemory({ id: "m", store: strict }).add(user("a"))).rejects.toMatchObject({
      code: "STORE_NOT_READY",
    });
    expect(writes).toBe(1);
  });

  test("a failure that leaves open what it has done is told at once where nothing is to be repeated", async () => {
    const store = inMemoryStore();
    let writes = 0;
    const broken: ChatMemoryStore = {
      ...store,
      updateMessages: () => {
        writes++;
        return Promise.reject(lost);
      },
    };
    const memory = createChatMemory({ id: "m", store: broken, retry: false });
    await expect(memory.add(user("a"))).rejects.toThrow(lost.message);
    expect(writes).toBe(1);
  });

  const called: [
    string,
    keyof ChatMemoryStore,
    (memories: ChatMemories<ModelMessage>) => Promise<unknown>,
  ][] = [
    ["a view of m", "getMessages", (memories) => memories.get("m").messages()],
    ["an add to m", "updateMessages", (memories) => memories.get("m").add(user("b"))],
    ["a clear of m", "deleteMessages", (memories) => memories.get("m").clear()],
    ["the history of m", "getHistory", (memories) => memories.get("m").history()],
    ["a fork of m", "getHistory", (memories) => memories.fork("m", "fork")],
    ["list", "listMemories", (memories) => memories.list()],
    ["erase", "listMemories", (memories) => memories.erase({ owner: "ann" })],
  ];
  test.each(called)(
    "what is thrown to %s and is no TurnkeepError is STORE_UNAVAILABLE, with its cause and its memory",
    async (what, method, call) => {
      const store = inMemoryStore();
      await createChatMemory({ id: "m", store }).add(user("a"));
      const cause = new Error("socket");
      const broken: ChatMemoryStore = { ...store, [method]: () => Promise.reject(cause) };
      const memories = createChatMemories({ store: broken, retry: false });
      const ofMemory = what.endsWith(" of m") || what.endsWith(" to m");
      await expect(call(memories)).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        cause,
        details: ofMemory ? { memoryId: "m" } : {},
        message: expect.stringContaining(ofMemory ? 'failed on memory "m";' : "failed;"),
      });
    },
  );

  test("what ends a list by the caller's signal is ABORTED, whatever the store throws then", async () => {
    const caller = new AbortController();
    const store: ChatMemoryStore = {
      ...inMemoryStore(),
      listMemories: () => {
        caller.abort();
        return Promise.reject(new Error("socket closed"));
      },
    };
    const listed = createChatMemories({ store }).list({ signal: caller.signal });
    await expect(listed).rejects.toMatchObject({ code: "ABORTED", cause: caller.signal.reason });
  });

  test("a conflict is told with the number of the attempt that met it", async () => {
    const store = inMemoryStore();
    let conflicts = 2;
    const contended: ChatMemoryStore = {
      ...store,
      updateMessages: (...given) =>
        conflicts-- > 0
          ? Promise.reject(new TurnkeepError("VERSION_CONFLICT", "somebody was faster"))
          : store.updateMessages(...given),
    };
    const events: MemoryEvent[] = [];
    await createChatMemory({ id: "m", store: contended, onEvent: besideChanges(events) }).add(user("a"));
    expect(events).toEqual([1, 2].map((attempt) => ({ type: "conflict", memoryId: "m", attempt })));
  });
});

describe("order, time and signals", () => {
  test("calls on one memory run in the order in which they were made", async () => {
    const memory = createChatMemory();
    const first = memory.add(user("1"));
    const view = texts(memory);
    const second = memory.add(user("2"));
    await Promise.all([first, second]);
    expect(await view).toEqual(["1"]);
    expect(await texts(memory)).toEqual(["1", "2"]);
  });

  test("a store that never answers ends with the time-out, and the memory can be used again", async () => {
    const store = inMemoryStore();
    let hang = true;
    const hanging: ChatMemoryStore = {
      ...store,
      getMessages: (id, options) => (hang ? new Promise(() => {}) : store.getMessages(id, options)),
    };
    const memory = createChatMemory({ id: "m", store: hanging, timeoutMs: 1_000 });
    await expect(memory.add(user("a"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    hang = false;
    await memory.add(user("b"));
    expect(await texts(memory)).toEqual(["b"]);
  });

  test("who never rests is not ahead of somebody else's every attempt", async () => {
    const store = inMemoryStore();
    const busy = createChatMemory({ id: "m", store });
    const written: Promise<unknown>[] = [];
    const watched: ChatMemoryStore = {
      ...store,
      getMessages: async (id, options) => {
        const snapshot = await store.getMessages(id, options);
        setTimeout(() => written.push(busy.add(user("again"))));
        return snapshot;
      },
    };
    const attempts: number[] = [];
    const onEvent = (event: MemoryEvent): void => {
      if (event.type === "conflict") attempts.push(event.attempt);
    };
    const memory = createChatMemory({ id: "m", store: watched, onEvent });
    vi.spyOn(Math, "random").mockReturnValue(0.9);
    try {
      await memory.messages();
      await busy.add(user("first"));
      await memory.add(user("mine"));
    } finally {
      vi.restoreAllMocks();
    }
    expect(attempts).toEqual([1]);
    expect(await texts(busy)).toContain("mine");
    await Promise.all(written);
  });

  test("endless conflicts end with VERSION_CONFLICT when the time is up", async () => {
    const store = inMemoryStore();
    const contended: ChatMemoryStore = {
      ...store,
      updateMessages: () => Promise.reject(new TurnkeepError("VERSION_CONFLICT", "somebody was faster")),
    };
    const events: string[] = [];
    const memory = createChatMemory({
      id: "m",
      store: contended,
      timeoutMs: 1_000,
      onEvent: (event) => events.push(event.type),
    });
    await expect(memory.add(user("a"))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect(events.length).toBeGreaterThan(1);
    expect(new Set(events)).toEqual(new Set(["conflict"]));
  });

  test("a caller's signal ends a call that runs, and one that waits for its turn", async () => {
    const { opened: held, open: release } = gate();
    const slow = delayed(inMemoryStore(), () => held);
    const memory = createChatMemory({ id: "m", store: slow });
    const running = new AbortController();
    const waiting = new AbortController();
    const first = memory.messages({ signal: running.signal });
    const second = memory.put("x", user("a"), { signal: waiting.signal });
    waiting.abort();
    await expect(second).rejects.toMatchObject({ code: "ABORTED" });
    running.abort(new Error("enough"));
    await expect(first).rejects.toMatchObject({ code: "ABORTED", cause: running.signal.reason });
    release();
    await memory.add(user("b"));
    expect(await texts(memory)).toEqual(["b"]);
    await expect(memory.messages({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
  });

  test("a signal of many calls at once has one listener, which all of them hear, and none when they are done", async () => {
    const { opened: held, open: release } = gate();
    const slow = delayed(inMemoryStore(), () => held);
    const memories = Array.from({ length: 20 }, (_, index) =>
      createChatMemory({ id: `m${index}`, store: slow }),
    );
    const [fired, quiet] = [new AbortController(), new AbortController()];
    const listeners = ({ signal }: AbortController): number => getEventListeners(signal, "abort").length;
    const ended = memories.map((memory) => memory.messages({ signal: fired.signal }));
    const made = memories.map((memory) => memory.put("x", user("a"), { signal: quiet.signal }));
    expect([listeners(fired), listeners(quiet)]).toEqual([1, 1]);
    fired.abort();
    for (const { reason } of (await Promise.allSettled(ended)) as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ code: "ABORTED" });
    }
    release();
    await Promise.all(made);
    expect([listeners(fired), listeners(quiet)]).toEqual([0, 0]);
    const [again] = memories;
    const late = again?.messages({ signal: quiet.signal });
    expect(listeners(quiet)).toBe(1);
    quiet.abort();
    await expect(late).rejects.toMatchObject({ code: "ABORTED" });
  });

  test("a call that ended while it waited for a limit still tells the store so, and writes nothing", async () => {
    const store = inMemoryStore();
    const asked: boolean[] = [];
    const watched: ChatMemoryStore = {
      ...store,
      getMessages: (id, options) => {
        asked.push(options?.signal?.aborted === true);
        return store.getMessages(id, options);
      },
    };
    let answer = (_limit: number): void => {};
    const limits = [new Promise<number>((resolve) => (answer = resolve))];
    const window = { maxMessages: async () => (await limits.shift()) ?? 10 };
    const memory = createChatMemory({ id: "m", store: watched, window });
    const caller = new AbortController();
    const put = memory.put("a", user("A"), { signal: caller.signal });
    await expect.poll(() => limits.length).toBe(0);
    caller.abort();
    await expect(put).rejects.toMatchObject({ code: "ABORTED" });
    answer(10);
    await expect.poll(() => asked).toEqual([true]);
    expect((await store.getMessages("m")).version).toBeNull();
  });

  type Options = { readonly signal: AbortSignal };
  const givenUp: [
    string,
    "getMessages" | "updateMessages" | "deleteMessages" | "getHistory",
    (memory: ChatMemory<ModelMessage>, options: Options) => Promise<unknown>,
    unknown[],
  ][] = [
    ["a view", "getMessages", (memory, options) => memory.messages(options), ["4", "b", "c"]],
    [
      "a change that was made",
      "updateMessages",
      (memory, options) => memory.put("x", user("x"), options),
      ["x", "b", "c"],
    ],
    [
      "a change that was not made yet",
      "getHistory",
      (memory, options) => memory.put("x", user("x"), options),
      ["4", "b", "c"],
    ],
    [
      "a change that would be none",
      "getHistory",
      (memory, options) => memory.remove("nobody's", options),
      ["4", "b", "c"],
    ],
    [
      "a change that would be refused",
      "getHistory",
      (memory, options) => memory.rewind("nobody's", options),
      ["4", "b", "c"],
    ],
    ["a clear", "deleteMessages", (memory, options) => memory.clear(options), ["b", "c"]],
  ];
  test.each(givenUp)(
    "%s that its caller gave up: a late answer writes nothing, and later calls do not go by it",
    async (_what, method, call, shown) => {
      const store = inMemoryStore();
      const { opened: held, open: release } = gate();
      let isHeld = false;
      const listensToNobody = <Answer>(name: typeof method, ask: () => Promise<Answer>): Promise<Answer> => {
        const answer = ask();
        if (name !== method || !isHeld) return answer;
        isHeld = false;
        return held.then(() => answer);
      };
      const slow: ChatMemoryStore = {
        ...store,
        getMessages: (id, options) =>
          listensToNobody("getMessages", () => store.getMessages(id, { known: options?.known })),
        updateMessages: (id, update) =>
          listensToNobody("updateMessages", () => store.updateMessages(id, update)),
        deleteMessages: (id) => listensToNobody("deleteMessages", () => store.deleteMessages(id)),
        getHistory: (id, query) => listensToNobody("getHistory", () => store.getHistory(id, query)),
      };
      const events: MemoryEvent[] = [];
      const onEvent = (event: MemoryEvent): unknown => event.type === "conflict" && events.push(event);
      const window = { maxMessages: 3 };
      await createChatMemory({ id: "m", store, window }).add(
        ...["1", "2", "3", "4"].map((text) => user(text)),
      );
      const memory = createChatMemory({ id: "m", store: slow, window, onEvent });
      const caller = new AbortController();
      isHeld = true;
      const given = call(memory, { signal: caller.signal });
      await expect.poll(() => isHeld).toBe(false);
      caller.abort();
      await expect(given).rejects.toMatchObject({ code: "ABORTED" });
      await memory.add(user("b"));
      await memory.messages();
      release();
      // All that follows from the answer happens before the turn ends.
      await new Promise((resolve) => setImmediate(resolve));
      await memory.add(user("c"));
      expect(events).toEqual([]);
      expect(await texts(createChatMemory({ id: "m", store }))).toEqual(shown);
      await memory.set([user("d")]);
    },
  );

  test("a call that has ended leaves no timer behind, which would keep the process alive", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const memory = createChatMemory();
      await memory.add(user("a"));
      await expect(memory.rewind("nobody's")).rejects.toMatchObject({ code: "NOT_FOUND" });
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("whatever the store is asked, it is given the signal of the call that asks", async () => {
    const inner = inMemoryStore();
    const asked: [string, boolean][] = [];
    const watch = <Given extends unknown[], Answer>(name: string, method: (...given: Given) => Answer) => {
      return (...given: Given): Answer => {
        const options = given.at(-1) as { signal?: AbortSignal } | undefined;
        asked.push([name, options?.signal instanceof AbortSignal]);
        return method(...given);
      };
    };
    const store: ChatMemoryStore = {
      ...inner,
      getMessages: watch("getMessages", inner.getMessages),
      updateMessages: watch("updateMessages", inner.updateMessages),
      deleteMessages: watch("deleteMessages", inner.deleteMessages),
      getHistory: watch("getHistory", inner.getHistory),
      listMemories: watch("listMemories", inner.listMemories),
    };
    const memories = createChatMemories({ store, owner: () => "ann", window: { maxMessages: 3 } });
    const memory = memories.get("m");
    const [first, call] = await memory.add(
      user("0"),
      toolCall("c", "look", {}),
      toolResult("c", "look", "r"),
    );
    await memory.add(user("1"), user("2"), user("3"));
    await memory.add(entry(user("4"), { id: "4" }));
    await memory.put("5", user("5"));
    await memory.remove(call);
    await memory.compact({ through: first, replacement: user("sum") });
    await memory.rewind("5");
    await memory.explain({ evicted: 1 });
    await memory.history();
    await memories.fork("m", "fork", { at: "4" });
    await memory.clear();
    await memories.erase({ owner: "ann" }, { signal: new AbortController().signal });
    expect(asked.filter(([, isGiven]) => !isGiven)).toEqual([]);
    expect(new Set(asked.map(([name]) => name)).size).toBe(5);
  });

  test("close waits for what was asked before; later calls are CLOSED; twice is once", async () => {
    const memory = createChatMemory();
    const added = memory.add(user("a"));
    await memory.close();
    await added;
    await expect(memory.messages()).rejects.toMatchObject({ code: "CLOSED" });
    await expect(memory.add()).rejects.toMatchObject({ code: "CLOSED" });
    const run = vi.fn();
    await expect(memory.transaction(run)).rejects.toMatchObject({ code: "CLOSED" });
    expect(run).not.toHaveBeenCalled();
    await memory.close();
    const store = inMemoryStore();
    const stored = createChatMemory({ id: "m", store });
    await stored[Symbol.asyncDispose]();
    expect((await store.getMessages("m")).version).toBeNull();
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("listener");
      },
    ],
    // Vitest fails a run with an unhandled rejection.
    ["rejects", () => Promise.reject(new Error("listener"))],
  ])("a listener that %s changes nothing", async (_how, onEvent) => {
    const memory = createChatMemory({ window: { maxMessages: 1 }, onEvent });
    await memory.add(user("a"), user("b"));
    expect(await texts(memory)).toEqual(["b"]);
  });
});

describe("transactions", () => {
  test("collect adds and commit them once; nothing is written if the function throws", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "m", store });
    const result = await memory.transaction(async (transaction) => {
      transaction.add(user("a"));
      const [id] = transaction.add(entry(user("b"), { id: "b" }));
      expect((await transaction.messages({ extra: [user("x")] })).map(({ content }) => content)).toEqual([
        "a",
        "b",
        "x",
      ]);
      expect((await store.getMessages("m")).version).toBeNull();
      return id;
    });
    expect(result).toBe("b");
    expect(await texts(memory)).toEqual(["a", "b"]);
    const failure = memory.transaction((transaction) => {
      transaction.add(user("c"));
      throw new Error("no");
    });
    await expect(failure).rejects.toThrow("no");
    expect(await texts(memory)).toEqual(["a", "b"]);
  });

  test("begin no memory with mustExist, also where it is deleted meanwhile, by whomever", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "m", store });
    const add = (): Promise<unknown> =>
      memory.transaction((transaction) => transaction.add(user("b")), { mustExist: true });
    const missing = { code: "NOT_FOUND", details: { memoryId: "m" } };
    await expect(add()).rejects.toMatchObject(missing);
    await memory.add(user("a"));
    await add();
    expect(await texts(memory)).toEqual(["a", "b"]);
    await store.deleteMessages("m");
    await expect(add()).rejects.toMatchObject(missing);
    await memory.add(user("a"));
    await memory.clear();
    await expect(add()).rejects.toMatchObject(missing);
    expect((await store.getMessages("m")).version).toBeNull();
    const wrong = memory.transaction(() => {}, { mustExist: "yes" as never });
    await expect(wrong).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  test("merge when nothing was read, a conflict when it was, and the other way round by option", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "m", store });
    const other = createChatMemory({ id: "m", store });
    await memory.transaction(async (transaction) => {
      transaction.add(user("1"));
      await other.add(user("other 1"));
    });
    expect(await texts(memory)).toEqual(["other 1", "1"]);
    const reading = memory.transaction(async (transaction) => {
      await transaction.messages();
      transaction.add(user("2"));
      await other.add(user("other 2"));
    });
    await expect(reading).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    await memory.transaction(
      async (transaction) => {
        await transaction.messages();
        transaction.add(user("3"));
        await other.add(user("other 3"));
      },
      { onConflict: "merge" },
    );
    const strict = memory.transaction(
      async (transaction) => {
        transaction.add(user("4"));
        await other.add(user("other 4"));
      },
      { onConflict: "throw" },
    );
    await expect(strict).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect(await texts(memory)).toEqual(["other 1", "1", "other 2", "other 3", "3", "other 4"]);
  });

  test("a transaction that reads twice decides on what it read first", async () => {
    const store = inMemoryStore();
    const ours = createChatMemory({ id: "m", store });
    const theirs = createChatMemory({ id: "m", store });
    const reading = ours.transaction(async (transaction) => {
      await transaction.messages();
      await theirs.add(user("theirs"));
      expect(await transaction.messages()).toEqual([user("theirs")]);
      transaction.add(user("ours"));
    });
    await expect(reading).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect(await theirs.messages()).toEqual([user("theirs")]);
  });

  test("the memory itself can be used inside, and a transaction that has ended is CLOSED", async () => {
    const memory = createChatMemory();
    let kept: { add(message: ModelMessage): unknown } | undefined;
    await memory.transaction(async (transaction) => {
      kept = transaction;
      await memory.add(user("at once"));
      transaction.add(user("at the end"));
    });
    expect(await texts(memory)).toEqual(["at once", "at the end"]);
    expect(() => kept?.add(user("late"))).toThrow(expect.objectContaining({ code: "CLOSED" }));
  });

  test("a transaction's signal ends its reads, and so does a read's own", async () => {
    const { opened: held, open: release } = gate();
    const memory = createChatMemory({
      id: "m",
      store: delayed(inMemoryStore(), () => held),
      timeoutMs: 2000,
    });
    const controller = new AbortController();
    const { signal } = controller;
    const reading = memory.transaction((transaction) => transaction.messages(), { signal });
    const ended = expect(reading).rejects.toMatchObject({ code: "ABORTED" });
    controller.abort();
    await ended;
    const looking = new AbortController();
    const strict = memory.transaction(() => expect.fail("It ran."), {
      onConflict: "throw",
      signal: looking.signal,
    });
    const endedLooking = expect(strict).rejects.toMatchObject({ code: "ABORTED" });
    looking.abort();
    await endedLooking;
    const own = { signal: AbortSignal.abort() };
    const readingOwn = memory.transaction((transaction) => transaction.messages(own), {
      signal: new AbortController().signal,
    });
    await expect(readingOwn).rejects.toMatchObject({ code: "ABORTED" });
    release();
  });

  test("what comes to a transaction while it is committed, or after it has failed, is refused, not lost", async () => {
    const { opened: held, open: release } = gate();
    const asked: string[] = [];
    const slow = delayed(inMemoryStore(), (label) => {
      asked.push(label);
      return held;
    });
    const memory = createChatMemory({ id: "m", store: slow });
    const kept: MemoryTransaction<ModelMessage>[] = [];
    const late = () => kept[0]?.add(user("late"));
    const committed = memory.transaction((transaction) => {
      kept.push(transaction);
      transaction.add(user("in time"));
    });
    await expect.poll(() => asked).toEqual(["read asked"]);
    expect(late).toThrow(expect.objectContaining({ code: "CLOSED" }));
    release();
    await committed;
    expect(await texts(memory)).toEqual(["in time"]);
    await expect(kept[0]?.messages()).rejects.toMatchObject({ code: "CLOSED" });
    const failed = memory.transaction((transaction) => {
      kept.unshift(transaction);
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    expect(late).toThrow(expect.objectContaining({ code: "CLOSED" }));
  });

  test("a read that a transaction asked for and did not wait for is CLOSED where its turn comes too late", async () => {
    const { opened: held, open: release } = gate();
    const memory = createChatMemory({ id: "m", store: delayed(inMemoryStore(), () => held) });
    const before = memory.messages();
    let reading: Promise<unknown> | undefined;
    const committed = memory.transaction((transaction) => {
      reading = transaction.messages().catch((error: unknown) => error);
      transaction.add(user("a"));
    });
    await undefined;
    release();
    await committed;
    expect(await reading).toMatchObject({ code: "CLOSED" });
    expect(await before).toEqual([]);
    expect(await texts(memory)).toEqual(["a"]);
  });

  test("a transaction that adds nothing asks the store for nothing", async () => {
    const asked: string[] = [];
    const watched = delayed(inMemoryStore(), async (label) => void asked.push(label));
    const memory = createChatMemory({ id: "m", store: watched });
    expect(await memory.transaction(() => "done")).toBe("done");
    expect(asked).toEqual([]);
  });
});
