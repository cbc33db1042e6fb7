import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  createChatMemory,
  type ModelMessage,
  type ModelMessageLike,
  type ProviderProfile,
  system,
  toolCall,
  toolResult,
  user,
  type WindowOptions,
} from "../src/index.ts";
import { gate } from "./gate.ts";
import { isSummary, numbers, ofType, say, setUp, states, texts } from "./summarize-support.ts";
import { characterCounter } from "./window-reference.ts";

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
    await memory.rewind(hurry);
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

test("options that do not go together are INVALID_OPTION, naming option and value", () => {
  const summarize = (): undefined => undefined;
  const counter = characterCounter;
  const wrong: [WindowOptions<ModelMessage>, RegExp][] = [
    [{ maxMessages: 4, summarize: "yes" as never }, /window\.summarize .*yes/],
    [{ maxMessages: 4, summarize, unit: "message" }, /window\.unit .*message/],
    [{ maxTokens: 40, counter, summarize, target: 1 }, /window\.target .*1/],
    [{ maxMessages: 4, summarize, waitUntil: 7 as never }, /window\.waitUntil .*7/],
    [{ maxMessages: 4, waitUntil: () => {} }, /window\.waitUntil .*give window\.summarize/],
  ];
  for (const [window, message] of wrong) {
    expect(() => createChatMemory({ window })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringMatching(message) as string }),
    );
  }
  createChatMemory({ window: { maxMessages: 4, summarize, target: 1 } });
  createChatMemory({ window: { maxTokens: 40, counter, summarize } });
});
