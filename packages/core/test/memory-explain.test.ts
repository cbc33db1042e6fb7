import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  createChatMemory,
  type ExplainedMessage,
  inMemoryStore,
  type ModelMessage,
  modelMessageFormat,
  type Processor,
  type ProviderProfile,
  system,
  TurnkeepError,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { tokenLimiter, toolCallFilter } from "../src/processors.ts";
import { characterCounter } from "./window-reference.ts";

const withoutTools: Processor<ModelMessage> = {
  name: "without-tools",
  process: (messages) =>
    messages.filter(
      ({ role, content }) => role !== "tool" && (role !== "assistant" || typeof content === "string"),
    ),
};

const shortened: Processor<ModelMessage> = {
  name: "shortened",
  process: (messages) =>
    messages.map((message) => (message.content === "very long" ? user("short") : message)),
};

const polite: ProviderProfile = {
  name: "polite",
  firstMessage: "any",
  reasoning: "any",
  shape: (messages, format) => {
    const shaped = [...messages, format.textMessage?.("user", "Please.") as (typeof messages)[number]];
    return { messages: shaped, stages: [{ name: "polite", messages: shaped }] };
  },
};

type Line = [ExplainedMessage<ModelMessage>["state"], string | undefined, ...unknown[]];

async function linesOf(memory: ChatMemory<ModelMessage>): Promise<Line[]> {
  const { messages } = await memory.explain();
  return messages.map(({ state, by, stored, shown }) => [state, by, stored?.content, shown?.content]);
}

describe("explain", () => {
  test("says of each message whether it is shown, and what took it away or changed it", async () => {
    const memory = createChatMemory({
      window: { maxMessages: 6 },
      processors: [withoutTools, shortened],
      profile: polite,
    });
    await memory.add(system("Be brief."), user("gone"), user("very long"));
    await memory.add(toolCall("c1", "t", {}), toolResult("c1", "t", "ok"), assistant("b"));
    await memory.add(user("c"));
    expect(await linesOf(memory)).toEqual([
      ["evicted", "window", "gone", undefined],
      ["shown", undefined, "Be brief.", "Be brief."],
      ["cut", "shortened", "very long", "short"],
      ["filtered", "without-tools", toolCall("c1", "t", {}).content, undefined],
      ["filtered", "without-tools", toolResult("c1", "t", "ok").content, undefined],
      ["shown", undefined, "b", "b"],
      ["shown", undefined, "c", "c"],
      ["repaired", "polite", undefined, "Please."],
    ]);
  });

  test("of a list that a profile or a processor refuses as too large, says so", async () => {
    const short: ProviderProfile = {
      ...polite,
      shape: (messages) => {
        const details = { needed: messages.length, limit: 1 };
        if (messages.length > 1) throw new TurnkeepError("WINDOW_OVERFLOW", "Too long.", { details });
        return { messages: [...messages], stages: [] };
      },
    };
    const limiter = tokenLimiter({ limit: 7, counter: characterCounter });
    for (const [options, overflow] of [
      [{ profile: short }, { needed: 2, limit: 1 }],
      [{ processors: [limiter] }, { needed: 8, limit: 7 }],
      [
        { profile: short, window: { maxMessages: 1, unit: "turn" as const } },
        { needed: 2, limit: 1 },
      ],
    ] as const) {
      const memory = createChatMemory(options);
      await memory.add(user("one"), assistant("two"));
      await expect(memory.messages()).rejects.toMatchObject({ code: "WINDOW_OVERFLOW" });
      const explained = await memory.explain();
      expect(explained.overflow).toEqual(overflow);
      expect(explained.messages.map(({ state }) => state)).toContain("shown");
    }
  });

  test("does not take what a processor left out for what another message became", async () => {
    const memory = createChatMemory({ processors: [toolCallFilter()] });
    await memory.add(user("a"), toolCall("c1", "t", {}), toolResult("c1", "t", "ok"), user("b"));
    await memory.add(toolCall("c2", "t", {}, "Let me look."), toolResult("c2", "t", "ok"), user("c"));
    const { messages } = await memory.explain();
    expect(messages.map(({ state, stored, shown }) => [state, stored?.role, shown?.role])).toEqual([
      ["shown", "user", "user"],
      ["filtered", "assistant", undefined],
      ["filtered", "tool", undefined],
      ["shown", "user", "user"],
      ["cut", "assistant", "assistant"],
      ["filtered", "tool", undefined],
      ["shown", "user", "user"],
    ]);
    expect(messages[4]?.stored).toEqual(toolCall("c2", "t", {}, "Let me look."));
  });

  test("takes a message of another role, or at another place, for one that was put in", async () => {
    const note: Processor<ModelMessage> = {
      name: "note",
      process: (messages) => [...messages.filter(({ content }) => content !== "b"), user("noted")],
    };
    const memory = createChatMemory({ processors: [note] });
    await memory.add(user("a"), assistant("b"));
    expect(await linesOf(memory)).toEqual([
      ["shown", undefined, "a", "a"],
      ["filtered", "note", "b", undefined],
      ["repaired", "note", undefined, "noted"],
    ]);
    await memory.set([user("b"), user("a")]);
    expect(await linesOf(memory)).toEqual([
      ["filtered", "note", "b", undefined],
      ["shown", undefined, "a", "a"],
      ["repaired", "note", undefined, "noted"],
    ]);
    const heading: Processor<ModelMessage> = {
      name: "heading",
      process: (messages) => [user("noted"), ...messages.filter(({ content }) => content !== "b")],
    };
    const headed = createChatMemory({ processors: [heading, shortened] });
    await headed.add(user("a"), user("b"), user("very long"));
    expect(await linesOf(headed)).toEqual([
      ["repaired", "heading", undefined, "noted"],
      ["shown", undefined, "a", "a"],
      ["filtered", "heading", "b", undefined],
      ["cut", "shortened", "very long", "short"],
    ]);
  });

  test("follows what repair cuts and moves at once", async () => {
    const memory = createChatMemory();
    const both: ModelMessage = {
      role: "tool",
      content: [...toolResult("c1", "t", "ok").content, ...toolResult("c9", "t", "nobody's").content],
    };
    await memory.add(both, toolCall("c1", "t", {}), user("a"));
    const { messages } = await memory.explain();
    expect(messages.map(({ state, stored, shown }) => [state, stored?.role, shown?.role])).toEqual([
      ["shown", "assistant", "assistant"],
      ["repaired", "tool", "tool"],
      ["shown", "user", "user"],
    ]);
  });

  test.each(["step", "turn", "message"] as const)(
    "tells that nothing is shown where a window of unit %s evicts the newest step",
    async (unit) => {
      let limit = 100;
      const window = { maxTokens: () => limit, counter: characterCounter, unit, overflow: "evict" as const };
      const memory = createChatMemory({ window });
      await memory.add(user("too long now"));
      limit = 8;
      expect(await memory.messages()).toEqual([]);
      expect(await linesOf(memory)).toEqual([["evicted", "window", "too long now", undefined]]);
      expect((await memory.explain()).overflow).toBeUndefined();
    },
  );

  test("does not take an interrupted result for what became of a result without a call", async () => {
    const memory = createChatMemory();
    await memory.add(toolCall("c1", "t", {}), toolResult("c2", "t", "nobody's"), user("a"));
    const { messages } = await memory.explain();
    expect(messages.map(({ state, stored, shown }) => [state, stored?.role, shown?.role])).toEqual([
      ["shown", "assistant", "assistant"],
      ["repaired", "tool", undefined],
      ["repaired", undefined, "tool"],
      ["shown", "user", "user"],
    ]);
  });

  test("tells what repair put in, left out and changed", async () => {
    const memory = createChatMemory();
    const both: ModelMessage = {
      role: "tool",
      content: [...toolResult("c1", "t", "first").content, ...toolResult("c9", "t", "nobody's").content],
    };
    await memory.add(user("a"), toolCall("c1", "t", {}), both, toolCall("c2", "t", {}), user("b"));
    expect((await linesOf(memory)).map(([state, by]) => [state, by])).toEqual([
      ["shown", undefined],
      ["shown", undefined],
      ["repaired", "repair"],
      ["shown", undefined],
      ["repaired", "repair"],
      ["shown", undefined],
    ]);
  });

  test("tells what repair did behind a processor, and the event names the calls", async () => {
    const drops = (role: ModelMessage["role"]): Processor<ModelMessage> => ({
      name: `no-${role}`,
      process: (messages) => messages.filter((message) => message.role !== role),
    });
    const interrupted: string[][] = [];
    const explained = async (processor: Processor<ModelMessage>): Promise<Line[]> => {
      const memory = createChatMemory({
        processors: [processor],
        onEvent: (event) => {
          if (event.type === "repaired") interrupted.push([...event.interruptedCalls]);
        },
      });
      await memory.add(toolCall("c", "t", {}), toolResult("c", "t", "ok"), user("next"));
      await memory.messages();
      return linesOf(memory);
    };
    const withoutResult = await explained(drops("tool"));
    expect(withoutResult.map(([state, by]) => [state, by])).toEqual([
      ["shown", undefined],
      ["filtered", "no-tool"],
      ["repaired", "repair"],
      ["shown", undefined],
    ]);
    expect(interrupted).toEqual([["c"]]);
    const withoutCall = await explained(drops("assistant"));
    expect(withoutCall.map(([state, by]) => [state, by])).toEqual([
      ["filtered", "no-assistant"],
      ["repaired", "repair"],
      ["shown", undefined],
    ]);
  });

  test("tells reasoning that is bound to a beginning that is gone from what repair did else", async () => {
    const binding: ProviderProfile = { ...polite, name: "binding", reasoning: "bound" };
    const memory = createChatMemory({ profile: binding });
    const reasoned = assistant([
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "a" },
    ]);
    await memory.add(system("Be brief."), user("q"), reasoned);
    await memory.add(system("Be long."));
    const { messages } = await memory.explain();
    const answer = messages.find(({ stored }) => stored?.role === "assistant");
    expect(answer).toMatchObject({ state: "repaired", by: "reasoning" });
  });

  test("tells a summary from an eviction", async () => {
    const memory = createChatMemory({ window: { maxMessages: 3 } });
    const ids = await memory.add(user("1"), user("2"), user("3"), user("4"));
    await memory.compact({ through: ids[2] as string, replacement: user("1 to 3") });
    expect(await linesOf(memory)).toEqual([
      ["evicted", "compact", "1", undefined],
      ["evicted", "compact", "2", undefined],
      ["evicted", "compact", "3", undefined],
      ["shown", undefined, "1 to 3", "1 to 3"],
      ["shown", undefined, "4", "4"],
    ]);
  });

  test("answers where messages() throws, with what is needed and the limit", async () => {
    const memory = createChatMemory({ window: { maxTokens: 5, counter: characterCounter } });
    await memory.add(user("much too long"));
    await expect(memory.messages()).rejects.toMatchObject({ code: "WINDOW_OVERFLOW" });
    const { messages, overflow, maxTokens, tokens } = await memory.explain();
    expect(messages.map(({ state }) => state)).toEqual(["shown"]);
    expect(overflow).toEqual({ needed: tokens, limit: 5 });
    expect(maxTokens).toBe(5);
  });

  test("tells of as many evicted messages as it is asked for", async () => {
    const memory = createChatMemory({ window: { maxMessages: 1 } });
    for (let index = 0; index < 5; index++) await memory.add(user(`${index}`));
    const stored = async (evicted: number): Promise<unknown[]> =>
      (await memory.explain({ evicted })).messages.map((message) => message.stored?.content);
    expect(await stored(2)).toEqual(["2", "3", "4"]);
    expect(await stored(0)).toEqual(["4"]);
    expect(await stored(1000)).toHaveLength(5);
    for (const evicted of [-1, 1.5, 1001]) {
      const nothing = createChatMemory();
      await expect(nothing.explain({ evicted })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    }
  });

  test("is no first look either: a set after it does what it would do without it", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "m", store });
    await memory.explain();
    await createChatMemory({ id: "m", store }).add(user("a"));
    await memory.set([user("b")]);
    expect(await memory.messages()).toEqual([user("b")]);
  });

  test("is no look at the memory: a set after it still meets the conflict", async () => {
    const store = inMemoryStore();
    const [one, other] = [createChatMemory({ id: "c", store }), createChatMemory({ id: "c", store })];
    await one.add(user("1"));
    await one.messages();
    await other.add(user("2"));
    await one.explain();
    await expect(one.set([user("3")])).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  });

  test("shows what messages() shows, in its order and with its tokens, and each message once", async () => {
    const message = fc.constantFrom<ModelMessage>(
      user("a"),
      user("very long"),
      assistant("b"),
      system("Be brief."),
      toolCall("c1", "t", {}),
      toolCall("c2", "t", {}),
      toolResult("c1", "t", "ok"),
      toolResult("c2", "t", "ok"),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { minLength: 1, maxLength: 12 }),
        fc.subarray([withoutTools, shortened]),
        fc.constantFrom(undefined, polite),
        fc.integer({ min: 4, max: 12 }),
        async (all, processors, profile, maxMessages) => {
          // Results that nobody asked for may make one step longer than the window.
          const overflow = "keep" as const;
          const window = { maxMessages, maxTokens: 10_000, counter: characterCounter, overflow };
          const memory = createChatMemory({ window, processors, profile });
          const ids = await memory.add(...all);
          const view = await memory.messages();
          const { messages, tokens } = await memory.explain();
          expect(messages.flatMap(({ shown }) => (shown === undefined ? [] : [shown]))).toEqual(view);
          const counted = view.reduce((sum, one) => sum + characterCounter.count(one, modelMessageFormat), 0);
          expect(tokens).toBe(counted + (characterCounter.base ?? 0));
          const told = messages.flatMap(({ id }) => id ?? []);
          expect(new Set(told).size).toBe(told.length);
          const superseded = (await memory.history({ states: ["superseded"] })).messages.map(({ id }) => id);
          expect(new Set([...told, ...superseded])).toEqual(new Set(ids));
          for (const { state, by } of messages) expect(by === undefined).toBe(state === "shown");
        },
      ),
    );
  });
});

test("explain gives no id to a message that was given for this view alone", async () => {
  const memory = createChatMemory();
  const [id] = await memory.add(user("one"));
  const { messages } = await memory.explain({ extra: [user("two")] });
  expect(messages.map((message) => [message.id, message.state, message.shown?.content])).toEqual([
    [id, "shown", "one"],
    [undefined, "shown", "two"],
  ]);
});
