import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryOptions,
  type ChatMemoryStore,
  createChatMemory,
  inMemoryStore,
  type MemoryEvent,
  type ModelMessage,
  type ModelMessageLike,
  type ProviderProfile,
  type Summarize,
  type SummarizeFailure,
  system,
  TurnkeepError,
  toolCall,
  toolResult,
  user,
  type WindowOptions,
} from "../src/index.ts";
import { audited, gate, isSummary, Ledger, states, textOf, texts } from "./summarize-support.ts";
import { characterCounter } from "./window-reference.ts";

const say = (memory: ChatMemory<ModelMessageLike>, ...words: string[]): Promise<string[]> =>
  memory.add(...words.map((word) => user(word)));
const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `word ${from + index}`);

interface Setting {
  readonly memory: ChatMemory<ModelMessageLike>;
  readonly ledger: Ledger;
  readonly events: MemoryEvent[];
  readonly store: ReturnType<typeof audited>;
  readonly another: (options?: Partial<ChatMemoryOptions<ModelMessageLike>>) => ChatMemory<ModelMessageLike>;
}

/** A memory with a ledger for its summarizer, or with one that the ledger hands on to. */
function setUp(
  window: WindowOptions<ModelMessageLike> = { maxMessages: 6, target: 0.5 },
  summarize?: (ledger: Ledger) => Summarize<ModelMessageLike>,
  raw: ChatMemoryStore = inMemoryStore(),
): Setting {
  const ledger = new Ledger();
  const events: MemoryEvent[] = [];
  const store = audited(raw, ledger);
  const another: Setting["another"] = (options) =>
    createChatMemory<ModelMessageLike>({
      id: "m",
      store,
      window: { summarize: summarize?.(ledger) ?? ledger.summarize, ...window },
      onEvent: (event) => events.push(event),
      ...options,
    } as ChatMemoryOptions<ModelMessageLike> & { format?: undefined });
  return { memory: another(), ledger, events, store, another };
}

const ofType = <T extends MemoryEvent["type"]>(
  events: readonly MemoryEvent[],
  type: T,
): Extract<MemoryEvent, { type: T }>[] =>
  events.filter((event): event is Extract<MemoryEvent, { type: T }> => event.type === type);

describe("what leaves by the window is summarized", () => {
  test("into one message after the system message, in one change; history keeps what was said and no summary", async () => {
    const { memory, ledger, events, store } = setUp();
    await memory.add(system("s"));
    const ids = await say(memory, ...numbers(1, 6));
    expect(await texts(memory)).toEqual(["s", "§0", ...numbers(6, 6)]);
    expect(ledger.calls.map((call) => call.texts)).toEqual([numbers(1, 5)]);
    expect(await states(memory)).toEqual([
      "s live",
      ...numbers(1, 5).map((word) => `${word} evicted`),
      "word 6 live",
    ]);
    expect(store.faults).toEqual([]);
    expect(store.summaries).toHaveLength(1);
    const [summarized] = ofType(events, "summarized");
    expect(events.map(({ type }) => type)).toEqual(["evicted", "summarized"]);
    expect(events[0]).toMatchObject({ reason: "window", messageIds: ids.slice(0, 5) });
    expect(summarized).toMatchObject({ memoryId: "m", messageIds: ids.slice(0, 5) });
    const live = (await store.getMessages("m")).messages.map(({ id }) => id);
    expect(live).toContain(summarized?.summaryId);
  });

  test("the next summary replaces it, and is made of it as well", async () => {
    const { memory, ledger, store } = setUp();
    await say(memory, ...numbers(1, 7));
    expect(await texts(memory)).toEqual(["§0", ...numbers(6, 7)]);
    await say(memory, ...numbers(8, 10));
    expect(ledger.calls).toHaveLength(1);
    await say(memory, ...numbers(11, 11));
    expect(await texts(memory)).toEqual(["§1", ...numbers(10, 11)]);
    const [first, second] = ledger.calls;
    expect(first?.context).toMatchObject({
      memoryId: "m",
      previous: undefined,
      maxTokens: undefined,
      maxCharacters: numbers(1, 5).join("").length,
    });
    expect(second?.texts).toEqual(["§0", ...numbers(6, 9)]);
    expect(second?.context.previous).toEqual(user("§0"));
    expect(ledger.expand(await texts(memory))).toEqual(numbers(1, 11));
    expect(store.faults).toEqual([]);
  });

  test("rarely, down to the target, which is 0.7 by default", async () => {
    const { memory, ledger } = setUp({ maxMessages: 20 });
    for (const word of numbers(1, 200)) await say(memory, word);
    expect(ledger.calls.length).toBe(Math.ceil((200 - 20) / 7));
    expect(ledger.calls[5]?.texts).toHaveLength(8);
    const eager = setUp({ maxMessages: 20, target: 1 });
    for (const word of numbers(1, 40)) await say(eager.memory, word);
    expect(eager.ledger.calls).toHaveLength(20);
    expect(await texts(eager.memory)).toHaveLength(20);
  });

  test("messages are stored before it is asked; meanwhile the memory goes on, and no view exceeds the window", async () => {
    const { opened, open } = gate();
    const seen: string[][] = [];
    const setting = setUp(undefined, (ledger) => async (evicted) => {
      seen.push(await texts(setting.memory), await texts(setting.another()));
      await opened;
      return ledger.answerFor(evicted);
    });
    const { memory, store, another } = setting;
    const added = say(memory, ...numbers(1, 7));
    await expect.poll(() => seen).toHaveLength(2);
    expect((await store.getMessages("m")).messages).toHaveLength(7);
    // Of what waits for its summary a view shows what fits.
    expect(seen).toEqual([numbers(2, 7), numbers(2, 7)]);
    const putting = memory.put("x", user("word 8"));
    await createChatMemory<ModelMessageLike>({ id: "m", store }).add(user("word 9"));
    expect(await texts(memory)).toEqual(numbers(4, 9));
    open();
    expect(await added).toHaveLength(7);
    await putting;
    expect(seen).toHaveLength(2);
    expect(await texts(another())).toEqual(["§0", ...numbers(6, 9)]);
  });

  test("two adds at once share one summary, and what the second brought is seen to", async () => {
    const { memory, ledger, store } = setUp();
    await Promise.all([
      say(memory, ...numbers(1, 7)),
      say(memory, ...numbers(8, 12)),
      say(memory, ...numbers(13, 14)),
    ]);
    expect(ledger.calls.length).toBeLessThanOrEqual(3);
    expect((await store.getMessages("m")).messages.length).toBeLessThanOrEqual(6);
    expect(ledger.expand(await texts(memory))).toEqual(numbers(1, 14));
    expect(store.faults).toEqual([]);
  });

  test.each<[string, (memory: ChatMemory<ModelMessageLike>) => Promise<unknown>]>([
    ["put", (memory) => memory.put("x", user("word 7"))],
    ["a transaction", (memory) => memory.transaction((adds) => void adds.add(user("word 7")))],
    ["set", (memory) => memory.set(numbers(0, 6).map((word) => user(word)))],
  ])("%s waits for its summary as well", async (_name, act) => {
    const { memory, ledger } = setUp();
    await say(memory, ...numbers(1, 6));
    await act(memory);
    expect(ledger.calls).toHaveLength(1);
    expect(isSummary((await texts(memory))[0] as string)).toBe(true);
  });

  test("the tokens that it may have: what is left of the window, and no more than it stands for", async () => {
    const window = { maxTokens: 100, counter: characterCounter, reserve: 20, target: 0.5 };
    const { memory, ledger, store } = setUp(window);
    for (let index = 0; index < 8; index++) await say(memory, "x".repeat(7)); // 10 tokens each
    // 82 at 8 messages, with the counter's base of 2 and the reserve of 20: 102. Down to 50 stay 2, 42.
    expect(ledger.calls).toHaveLength(1);
    expect(ledger.calls[0]?.texts).toHaveLength(6);
    expect(ledger.calls[0]?.context).toMatchObject({ maxTokens: 100 - 42, maxCharacters: undefined });
    const small = setUp({ ...window, maxTokens: 200, target: 0.85 });
    for (let index = 0; index < 18; index++) await say(small.memory, "x".repeat(7));
    expect(small.ledger.calls[0]?.texts).toHaveLength(4);
    expect(small.ledger.calls[0]?.context.maxTokens).toBe(38);
    await small.memory.add(user("y".repeat(150)));
    expect(small.ledger.expand(await texts(small.memory))).toHaveLength(19);
    expect([...store.faults, ...small.store.faults]).toEqual([]);
    const calibrated = setUp(window);
    for (let index = 0; index < 4; index++) await say(calibrated.memory, "x".repeat(7));
    await calibrated.memory.messages();
    await calibrated.memory.calibrate({ inputTokens: 84 });
    expect(calibrated.ledger.calls).toHaveLength(0);
    await say(calibrated.memory, "last....");
    // At twice the count one message stays: 11 + 2, doubled, and 20.
    expect(calibrated.ledger.calls[0]?.context.maxTokens).toBe((100 - 20) / 2 - 13);
  });

  test("messages come as a view shows them: calls answered, no result alone", async () => {
    const given: (readonly ModelMessageLike[])[] = [];
    const { memory } = setUp({ maxMessages: 5, target: 0.5 }, (ledger) => (evicted) => {
      given.push(evicted);
      return ledger.answerFor(evicted);
    });
    await memory.add(toolResult("nobody", "asked", "x"), toolCall("c", "look", {}), user("go on"));
    await memory.add(assistant("gone on"), toolResult("c", "look", "late"));
    await memory.add(user("last"));
    expect(given).toHaveLength(1);
    expect(given[0]?.map(({ role }) => role)).toEqual(["assistant", "tool", "user", "assistant"]);
    expect(JSON.stringify(given[0]?.[1])).toContain("interrupted");
    const waiting = setUp({ maxMessages: 5, target: 0.8 }, (ledger) => (evicted) => {
      given.push(evicted);
      return ledger.answerFor(evicted);
    });
    await waiting.memory.add(user("question"), toolCall("c", "look", {}));
    await waiting.memory.add(user("go on"), user("last"), user("really"));
    expect(given.pop()?.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    const asIs = setUp({ maxMessages: 3, target: 0.5 }, (ledger) => (evicted) => {
      given.push(evicted);
      return ledger.answerFor(evicted);
    });
    await asIs
      .another({ repair: false })
      .add(toolCall("c", "look", {}), user("go on"), assistant("gone"), user("last"));
    expect(given[1]?.map(({ role }) => role)).toEqual(["assistant", "user", "assistant"]);
  });

  test("with unit turn: whole turns, and within the newest turn what is between its question and its newest step", async () => {
    const { memory, ledger, store } = setUp({ maxMessages: 6, unit: "turn", target: 0.5 });
    await memory.add(user("first question"), assistant("an answer"), user("second question"));
    for (const word of ["step 1", "step 2", "step 3"]) await memory.add(assistant(word));
    expect(ledger.calls).toHaveLength(0);
    await memory.add(assistant("step 4"));
    expect(await texts(memory)).toEqual(["§0", "second question", "step 1", "step 2", "step 3", "step 4"]);
    await memory.add(assistant("step 5"));
    expect(await texts(memory)).toEqual(["§1", "second question", "step 5"]);
    expect(ledger.calls.map((call) => call.texts)).toEqual([
      ["first question", "an answer"],
      ["§0", "step 1", "step 2", "step 3", "step 4"],
    ]);
    expect(store.faults).toEqual([]);
  });

  test("what is pinned stays, and extra messages are none of its business", async () => {
    const pinned = (message: ModelMessageLike): boolean => message.content === "pinned";
    const { memory, ledger, store } = setUp({ maxMessages: 5, target: 0.6, pinned });
    await say(memory, "word 1", "pinned", "word 2", "word 3");
    await memory.messages({ extra: numbers(4, 9).map((word) => user(word)) });
    expect(ledger.calls).toHaveLength(0);
    await say(memory, "word 4", "word 5");
    expect(await texts(memory)).toEqual(["§0", "pinned", "word 5"]);
    expect(store.faults).toEqual([]);
  });

  test("without history what was summarized is deleted, with the summary's change and not before", async () => {
    const { another, store, ledger } = setUp();
    const memory = another({ history: false });
    await say(memory, ...numbers(1, 7));
    expect(await states(memory)).toEqual(["word 6 live", "word 7 live"]);
    expect(store.summaries).toHaveLength(1);
    expect(ledger.expand(await texts(memory))).toEqual(numbers(1, 7));
  });

  test("a rewind to what it stands for takes it away; one behind it leaves it", async () => {
    const { memory, ledger } = setUp();
    const ids = await say(memory, ...numbers(1, 7));
    await memory.rewind(ids[6] as string);
    expect(await texts(memory)).toEqual(["§0", "word 6"]);
    await memory.rewind(ids[2] as string);
    expect(await texts(memory)).toEqual(numbers(1, 2));
    expect(ledger.calls).toHaveLength(1);
  });

  test("a result that came late does not make it stand for the messages before that result", async () => {
    const { memory } = setUp({ maxMessages: 5, target: 1 });
    const [, hurry] = await memory.add(
      toolCall("c", "look", {}),
      user("hurry"),
      toolResult("c", "look", "found"),
      assistant("done"),
      user("thanks"),
      user("bye"),
    );
    expect(await texts(memory)).toEqual(["§0", "hurry", "done", "thanks", "bye"]);
    await memory.rewind(hurry as string);
    expect(await texts(memory)).toEqual(["§0"]);
  });
});

describe("with a provider that binds reasoning to what stands before it", () => {
  const bound: ProviderProfile = {
    name: "bound",
    firstMessage: "any",
    reasoning: "bound",
    shape: (messages) => ({ messages: [...messages], stages: [] }),
  };

  test("a summary is made when the user's message comes and half of what is left to the limit is used", async () => {
    const { another, ledger, events } = setUp({ maxMessages: 10, target: 0.4 });
    const memory = another({ profile: bound });
    await say(memory, ...numbers(1, 6));
    for (const word of ["step 1", "step 2"]) await memory.add(assistant(word));
    expect(ledger.calls).toHaveLength(0);
    await say(memory, "word 7");
    expect(await texts(memory)).toEqual(["§0", "step 1", "step 2", "word 7"]);
    for (let step = 3; step <= 8; step++) await memory.add(assistant(`step ${step}`));
    expect(ledger.calls).toHaveLength(1);
    expect(await texts(memory)).toHaveLength(10);
    expect(events.map(({ type }) => type)).toEqual(["evicted", "summarized"]);
  });

  test("once, however large it is; and if it fails everything stays", async () => {
    let answer: ModelMessageLike | undefined = user("x".repeat(30));
    let asked = 0;
    const { another, events } = setUp(
      { maxTokens: 100, counter: characterCounter, target: 0.5 },
      () => () => {
        asked++;
        return answer;
      },
    );
    const memory = another({ profile: bound });
    for (let index = 0; index < 7; index++) await say(memory, `word 10${index}`);
    // Seven of 11 tokens, and 2: more than 75. Four stay, and the summary of 33 brings them to 79 again.
    expect(asked).toBe(1);
    answer = undefined;
    await say(memory, "word 108");
    expect(asked).toBe(2);
    expect(ofType(events, "summarize-failed")).toMatchObject([{ reason: "empty" }]);
    expect(ofType(events, "evicted")).toHaveLength(1);
  });
});

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
      const memory = another({ timeoutMs: 40 });
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
    const { version, nextSeq, messages } = await store.getMessages("m");
    const damage = (count: number): Promise<void> =>
      store.updateMessages("m", {
        expected: version,
        version: "damaged",
        nextSeq,
        append: [],
        move: [],
        replace: messages.slice(0, count).map((message) => ({ ...message, payload: "{broken" })),
      });
    await damage(2);
    await say(another({ store }), ...numbers(7, 8));
    expect(ledger.calls[0]?.texts).toEqual(numbers(3, 6));
    expect(await texts(another({ store }))).toEqual(["§0", ...numbers(7, 8)]);
    expect(events.map(({ type }) => type)).toEqual(["evicted", "summarized"]);
  });

  test("nothing that can be read: it is not asked", async () => {
    const store = inMemoryStore();
    const { another, ledger, events } = setUp();
    await say(another({ store }), ...numbers(1, 6));
    const { version, nextSeq, messages } = await store.getMessages("m");
    const replace = messages.slice(0, 5).map((message) => ({ ...message, payload: "{broken" }));
    const damage = { expected: version, version: "damaged", nextSeq, append: [], move: [], replace };
    await store.updateMessages("m", damage);
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
    fault = new TurnkeepError("STORE_UNAVAILABLE", "gone");
    expect(await say(memory, "word 8")).toHaveLength(1);
    expect((await raw.getMessages("m")).messages).toHaveLength(7);
    expect(await texts(another())).toEqual(numbers(3, 8));
    expect(ofType(events, "summarize-failed").at(-1)).toMatchObject({ reason: "store" });
    fault = undefined;
    await say(memory, "word 9");
    expect((await texts(memory)).slice(1)).toEqual(numbers(8, 9));
  });
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
    await say(memory, ...numbers(1, 7));
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

test("options that do not go together are INVALID_OPTION, naming option and value", () => {
  const summarize = (): undefined => undefined;
  const counter = characterCounter;
  const wrong: [WindowOptions<ModelMessage>, RegExp][] = [
    [{ maxMessages: 4, summarize: "yes" as never }, /window\.summarize .*yes/],
    [{ maxMessages: 4, summarize, unit: "message" }, /window\.unit .*message/],
    [{ maxTokens: 40, counter, summarize, target: 1 }, /window\.target .*1/],
    [{ maxMessages: 4, summarize, waitUntil: 7 as never }, /window\.waitUntil .*7/],
    [{ maxMessages: 4, waitUntil: () => {} }, /window\.waitUntil .*a function/],
  ];
  for (const [window, message] of wrong) {
    expect(() => createChatMemory({ window })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringMatching(message) as string }),
    );
  }
  createChatMemory({ window: { maxMessages: 4, summarize, target: 1 } });
  createChatMemory({ window: { maxTokens: 40, counter, summarize } });
});
