import { describe, expect, test } from "vitest";
import {
  assistant,
  inMemoryStore,
  type ModelMessage,
  type ModelMessageLike,
  type Summarize,
  type SummarizeFailure,
  system,
  TurnkeepError,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { gate } from "./gate.ts";
import { rewriteRecords } from "./stored-record.ts";
import { numbers, ofType, say, setUp, states, textOf, texts } from "./summarize-support.ts";
import { characterCounter } from "./window-reference.ts";

describe("a summary that fails", () => {
  const lasting = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const faults: [string, SummarizeFailure, Summarize<ModelMessageLike>][] = [
    ["throws", "error", () => Promise.reject(new Error("secret content"))],
    [
      "throws at once",
      "error",
      () => {
        throw new Error("secret content");
      },
    ],
    ["ends itself by a signal of its own", "error", () => Promise.reject(AbortSignal.abort().reason)],
    ["hangs until the deadline and listens", "timeout", (_evicted, { signal }) => lasting(signal)],
    ["hangs for ever", "timeout", () => new Promise<never>(() => {})],
    ["answers nothing", "empty", () => undefined],
    ["answers an empty message", "empty", () => user("  ")],
    [
      "answers more than it stands for",
      "too-long",
      (evicted) => user("x".repeat(evicted.map(textOf).join("").length + 1)),
    ],
    ["answers a system message", "invalid", () => system("sum")],
    ["answers a tool message", "invalid", () => toolResult("c", "look", "sum")],
    ["answers a tool call", "invalid", () => toolCall("c", "look", {})],
    ["answers no message at all", "invalid", () => "sum" as never],
    ["answers null", "invalid", () => null as never],
  ];

  test.each(faults)(
    "%s: the messages stay while they fit, and leave plainly when they do not",
    async (_name, reason, fault) => {
      let fails = true;
      const setting = setUp(undefined, (ledger) => (evicted, context) => {
        return fails ? fault(evicted, context) : ledger.summarize(evicted, context);
      });
      const { events, store, ledger, another } = setting;
      const memory = another({ timeoutMs: 1_000 });
      const ids = await say(memory, ...numbers(1, 7));
      // One too many for six: one leaves, though a summary would have stood for five.
      expect(await texts(memory)).toEqual(numbers(2, 7));
      expect(await states(memory)).toEqual([
        "word 1 evicted",
        ...numbers(2, 7).map((word) => `${word} live`),
      ]);
      const failed = { type: "summarize-failed", memoryId: "m", messageIds: ids.slice(0, 5), reason };
      expect(events).toEqual([
        failed,
        { type: "evicted", memoryId: "m", messageIds: ids.slice(0, 1), reason: "window" },
      ]);
      expect(JSON.stringify(events)).not.toContain("secret");
      fails = false;
      await say(memory, "word 8");
      expect(await texts(memory)).toEqual(["§0", ...numbers(7, 8)]);
      expect(ledger.calls[0]?.texts).toEqual(numbers(2, 6));
      expect(store.faults).toEqual([]);
      expect(store.summaries).toHaveLength(1);
    },
  );

  test("an assistant's message is a summary, but not with unit turn, where a view begins with a user message", async () => {
    const answer = (): ModelMessage => assistant("sum");
    const step = setUp(undefined, () => answer);
    await say(step.memory, ...numbers(1, 7));
    expect((await step.memory.messages())[0]).toEqual(assistant("sum"));
    const turn = setUp({ maxMessages: 6, unit: "turn", target: 0.5 }, () => answer);
    await say(turn.memory, ...numbers(1, 7));
    expect(ofType(turn.events, "summarize-failed")).toMatchObject([{ reason: "invalid" }]);
  });

  test("the earlier summary stays where the next one fails", async () => {
    let fails = false;
    const { memory, ledger } = setUp(undefined, (to) => (evicted, context) => {
      return fails ? undefined : to.summarize(evicted, context);
    });
    await say(memory, ...numbers(1, 7));
    fails = true;
    await say(memory, ...numbers(8, 12));
    expect(await texts(memory)).toEqual(["§0", ...numbers(8, 12)]);
    fails = false;
    await say(memory, "word 13");
    expect(await texts(memory)).toEqual(["§1", "word 12", "word 13"]);
    expect(ledger.expand(["§1"])).toEqual([...numbers(1, 5), ...numbers(8, 11)]);
  });

  test("after two failures in a row it is not asked at each occasion", async () => {
    const asked: number[] = [];
    let count = 0;
    const { memory, events } = setUp(undefined, () => () => {
      asked.push(count);
      return undefined;
    });
    for (count = 1; count <= 60; count++) {
      await say(memory, `word ${count}`);
      expect(await texts(memory)).toHaveLength(Math.min(count, 6));
    }
    expect(asked).toEqual([7, 8, 10, 14, 22, 38, 54]);
    expect(ofType(events, "evicted").flatMap(({ messageIds }) => messageIds)).toHaveLength(54);
    expect(ofType(events, "summarize-failed")).toHaveLength(7);
  });

  test("once it answers again it is asked at each occasion again", async () => {
    let fails = true;
    const { memory, ledger } = setUp({ maxMessages: 6, target: 1 }, (to) => (evicted, context) => {
      return fails ? undefined : to.summarize(evicted, context);
    });
    for (const word of numbers(1, 8)) await say(memory, word); // failed twice
    fails = false;
    await say(memory, "word 9"); // passed over
    expect(ledger.calls).toHaveLength(0);
    await say(memory, "word 10");
    await say(memory, "word 11");
    expect(ledger.calls).toHaveLength(2);
    fails = true;
    await say(memory, "word 12");
    fails = false;
    await say(memory, "word 13");
    expect(ledger.calls).toHaveLength(3);
  });

  test("no room: what stays fills the window, so it is not asked, and the earlier summary gives way", async () => {
    const window = { maxTokens: 60, counter: characterCounter, target: 0.9 };
    const { memory, ledger, events } = setUp(window);
    await say(memory, ...numbers(1, 7));
    expect(await texts(memory)).toEqual(["§0", ...numbers(3, 7)]);
    await memory.add(user("x".repeat(55))); // 58 of 60, with the base 60
    expect(await texts(memory)).toEqual(["x".repeat(55)]);
    expect(ledger.calls).toHaveLength(1);
    expect(ofType(events, "summarize-failed")).toMatchObject([{ reason: "no-room" }]);
    await memory.add(user("next"));
    expect(await texts(memory)).toEqual(["§1", "next"]);
  });

  test("a summary that grew too long for the newest step is asked for a shorter one", async () => {
    const answers = ["x".repeat(30), "x".repeat(10)];
    const rooms: (number | undefined)[] = [];
    const given: number[] = [];
    const window = { maxTokens: 100, counter: characterCounter, target: 0.5 };
    const { memory, store } = setUp(window, () => (evicted, { maxTokens }) => {
      rooms.push(maxTokens);
      given.push(evicted.length);
      return user(answers.shift() as string);
    });
    await say(memory, "a".repeat(40), "b".repeat(40), "c".repeat(20));
    expect(await texts(memory)).toEqual(["x".repeat(30), "c".repeat(20)]);
    await memory.put("d", user("d".repeat(5)));
    await memory.put("d", user("d".repeat(80)));
    expect(await texts(memory)).toEqual(["x".repeat(10), "d".repeat(80)]);
    // Two tokens are the list's.
    expect(rooms).toEqual([75, 15]);
    expect(given).toEqual([2, 2]);
    await memory.put("d", user("d".repeat(84)));
    expect(await texts(memory)).toEqual(["d".repeat(84)]);
    expect((await store.getMessages("m")).messages).toHaveLength(1);
  });

  test("a provider's compaction that stays lets nothing stand before it; one that leaves is summarized", async () => {
    const compaction = assistant([
      { type: "custom", kind: "openai.compaction", providerOptions: { openai: { itemId: "cmp_1" } } },
    ] as never);
    const { memory, events, ledger } = setUp();
    await say(memory, ...numbers(1, 3));
    await memory.add(compaction as ModelMessageLike);
    expect(await states(memory)).toContain("word 3 evicted");
    await say(memory, ...numbers(4, 9));
    expect(ledger.calls[0]?.texts[0]).toContain("openai.compaction");
    expect((await texts(memory))[0]).toBe("§0");
    const pinned = (message: ModelMessageLike): boolean => message.role === "assistant";
    const pinning = setUp({ maxMessages: 6, target: 0.5, pinned });
    await pinning.memory.add(compaction as ModelMessageLike);
    await say(pinning.memory, ...numbers(4, 9));
    expect(pinning.ledger.calls).toHaveLength(0);
    expect(ofType(pinning.events, "summarize-failed")).toMatchObject([{ reason: "boundary" }]);
    expect((await texts(pinning.memory)).slice(1)).toEqual(numbers(5, 9));
    expect(ofType(events, "summarize-failed")).toEqual([]);
  });

  test("what cannot be read leaves with the rest, and is not asked about", async () => {
    const store = inMemoryStore();
    const { another, ledger, events } = setUp();
    await say(another({ store }), ...numbers(1, 6));
    await rewriteRecords(store, [0, 1], { payload: "{broken" });
    await say(another({ store }), ...numbers(7, 8));
    expect(ledger.calls[0]?.texts).toEqual(numbers(3, 6));
    expect(await texts(another({ store }))).toEqual(["§0", ...numbers(7, 8)]);
    expect(events.map(({ type }) => type)).toEqual(["evicted", "summarized"]);
  });

  test("nothing that can be read: it is not asked", async () => {
    const store = inMemoryStore();
    const { another, ledger, events } = setUp();
    await say(another({ store }), ...numbers(1, 6));
    await rewriteRecords(store, [0, 1, 2, 3, 4], { payload: "{broken" });
    await say(another({ store }), "word 7");
    expect(ledger.calls).toHaveLength(0);
    expect(ofType(events, "summarize-failed")).toMatchObject([{ reason: "unreadable" }]);
  });

  test("a summary that the store finds too large is too long; a store that fails leaves everything in place", async () => {
    let fault: TurnkeepError | undefined = new TurnkeepError("MESSAGE_TOO_LARGE", "too large");
    const raw = inMemoryStore();
    const setting = setUp(undefined, undefined, {
      ...raw,
      updateMessages: (id, update, options) => {
        const derives = update.append.some(({ meta }) => meta?.includes("derived"));
        return derives && fault !== undefined
          ? Promise.reject(fault)
          : raw.updateMessages(id, update, options);
      },
    });
    const { memory, events, another } = setting;
    await say(memory, ...numbers(1, 7));
    expect(await texts(memory)).toEqual(numbers(2, 7));
    expect(ofType(events, "summarize-failed")).toMatchObject([{ reason: "too-long" }]);
    fault = new TurnkeepError("STORE_REFUSED", "read-only");
    expect(await say(memory, "word 8")).toHaveLength(1);
    expect((await raw.getMessages("m")).messages).toHaveLength(7);
    expect(await texts(another())).toEqual(numbers(3, 8));
    expect(ofType(events, "summarize-failed").at(-1)).toMatchObject({ reason: "store" });
    fault = undefined;
    await say(memory, "word 9");
    expect((await texts(memory)).slice(1)).toEqual(numbers(8, 9));
  });
});

test("a limit that cannot be told when the summary is planned: the add stands, and an event says so", async () => {
  let asked = 0;
  const maxMessages = (): number => {
    if (++asked === 2) throw new Error("no limit");
    return 6;
  };
  const { memory, events, ledger } = setUp({ maxMessages, target: 0.5 });
  expect(await say(memory, ...numbers(1, 7))).toHaveLength(7);
  expect(ledger.calls).toEqual([]);
  expect(ofType(events, "summarize-failed")).toMatchObject([{ reason: "store", messageIds: [] }]);
  expect(await texts(memory)).toEqual(numbers(2, 7));
});

describe("who waits for it", () => {
  test("waitUntil takes over: the add is answered, close waits", async () => {
    const { opened, open } = gate();
    const work: Promise<void>[] = [];
    const { memory, another, events } = setUp(
      { maxMessages: 6, target: 0.5, waitUntil: (promise) => work.push(promise) },
      (ledger) => async (evicted) => {
        await opened;
        return ledger.answerFor(evicted);
      },
    );
    await say(memory, ...numbers(1, 6));
    expect(work).toHaveLength(0);
    await say(memory, "word 7");
    expect(await texts(memory)).toEqual(numbers(2, 7));
    await say(memory, "word 8");
    expect(work).toHaveLength(1);
    const closed = memory.close();
    await expect(say(memory, "late")).rejects.toMatchObject({ code: "CLOSED" });
    expect(ofType(events, "summarized")).toHaveLength(0);
    open();
    await closed;
    expect(ofType(events, "summarized")).toHaveLength(1);
    await work[0];
    expect(await texts(another())).toEqual(["§0", ...numbers(6, 8)]);
  });

  test("a waitUntil that throws leaves the wait to the call", async () => {
    const { memory } = setUp({
      maxMessages: 6,
      target: 0.5,
      waitUntil: () => {
        throw new Error("outside of a request");
      },
    });
    await say(memory, ...numbers(1, 7));
    expect((await texts(memory))[0]).toBe("§0");
  });

  test("a signal ends the wait and the question, not the call, whose messages are stored; it counts as no failure", async () => {
    let hangs = true;
    let heard: unknown;
    const { memory, events, ledger } = setUp(undefined, (to) => (evicted, context) => {
      if (!hangs) return to.summarize(evicted, context);
      context.signal.addEventListener("abort", () => {
        heard = context.signal.reason;
      });
      queueMicrotask(() => controller.abort("enough"));
      return new Promise<never>(() => {});
    });
    let controller = new AbortController();
    await say(memory, ...numbers(1, 6));
    const { signal } = controller;
    const result = await memory.transaction((adds) => adds.add(user("word 7")), { signal });
    expect(result).toHaveLength(1);
    expect(heard).toBe("enough");
    expect(await texts(memory)).toEqual(numbers(2, 7));
    for (const word of ["word 8", "word 9"]) {
      controller = new AbortController();
      await memory.put(word, user(word), { signal: controller.signal });
    }
    expect(await texts(memory)).toEqual(numbers(4, 9));
    const reasons = ofType(events, "summarize-failed").map(({ reason }) => reason);
    expect(reasons.length).toBeGreaterThan(1);
    expect(new Set(reasons)).toEqual(new Set(["aborted"]));
    hangs = false;
    await say(memory, "word 10");
    expect(ledger.calls).toHaveLength(1);
  });

  test("a call that joins another's summary stops waiting by its own signal", async () => {
    const { opened, open } = gate();
    const { memory } = setUp(undefined, (ledger) => async (evicted) => {
      await opened;
      return ledger.answerFor(evicted);
    });
    const first = say(memory, ...numbers(1, 7));
    const controller = new AbortController();
    const second = memory.put("x", user("word 8"), { signal: controller.signal });
    await memory.messages();
    controller.abort();
    await second;
    open();
    await first;
    expect((await texts(memory)).slice(0, 1)).toEqual(["§0"]);
  });
});
