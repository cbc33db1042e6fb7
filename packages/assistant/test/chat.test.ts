import {
  createChatMemories,
  createChatMemory,
  inMemoryStore,
  type MemoryEvent,
  type ModelMessage,
  system,
  toolResult,
} from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import { createAssistant, type Model, tool } from "../src/index.ts";
import { noUsage } from "../src/usage.ts";
import { assistant, calling, scripted, toolCall, user } from "./script.ts";

const weather = tool({
  description: "The weather in a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } } },
  execute: async ({ city }) => `4 °C in ${city as string}`,
});

describe("a turn", () => {
  test("asks, runs the tools that the model calls, and answers", async () => {
    const model = scripted(toolCall("c1", "weather", { city: "Oslo" }), assistant("Cold."));
    const memory = createChatMemory();
    const chat = createAssistant({ model, memory, tools: { weather }, systemMessage: "Be brief." });
    const result = await chat.chat("Weather in Oslo?");
    expect(result).toEqual({
      text: "Cold.",
      finishReason: "stop",
      approvalRequests: [],
      id: expect.any(String),
      memoryId: "default",
      messages: [toolCall("c1", "weather", { city: "Oslo" }), assistant("Cold.")],
      toolResults: [{ toolCallId: "c1", toolName: "weather", output: "4 °C in Oslo", isError: false }],
      usage: { ...noUsage, inputTokens: 20, outputTokens: 4 },
      continued: false,
    });
    expect(await memory.messages()).toEqual([
      system("Be brief."),
      user("Weather in Oslo?"),
      toolCall("c1", "weather", { city: "Oslo" }),
      toolResult("c1", "weather", "4 °C in Oslo"),
      assistant("Cold."),
    ]);
    expect(model.requests[0]?.tools).toEqual([
      {
        name: "weather",
        description: "The weather in a city",
        inputSchema: { type: "object", properties: { city: { type: "string" } } },
      },
    ]);
    expect(model.requests.map(({ toolChoice, memoryId }) => [toolChoice, memoryId])).toEqual([
      ["auto", "default"],
      ["auto", "default"],
    ]);
    const { messages } = await memory.history();
    expect(messages.find(({ message }) => message.role === "user")?.id).toBe(result.id);
  });

  test("a count that is no number adds nothing to the usage", async () => {
    const counts = [
      { inputTokens: 10, cachedInputTokens: 8, cacheWriteTokens: 2 },
      { inputTokens: Number.NaN, outputTokens: 4, reasoningTokens: 3, cachedInputTokens: null as never },
    ].values();
    const answers = scripted(toolCall("c1", "weather", { city: "Oslo" }), assistant("Cold."));
    const model: Model<ModelMessage> = async (request) => ({
      ...(await answers(request)),
      usage: counts.next().value,
    });
    const { usage } = await createAssistant({ model, tools: { weather } }).chat("Weather in Oslo?");
    expect(usage).toEqual({
      inputTokens: 10,
      outputTokens: 4,
      cachedInputTokens: 8,
      cacheWriteTokens: 2,
      reasoningTokens: 3,
    });
  });

  test("without a memory it begins with nothing and leaves nothing", async () => {
    const model = scripted(assistant("Hi"), assistant("Who?"));
    const chat = createAssistant({ model });
    await chat.chat("I am Ann", { memoryId: "a" });
    await chat.chat("Who am I?");
    expect(model.requests[1]?.messages).toEqual([user("Who am I?")]);
    expect(model.requests.map(({ memoryId }) => memoryId)).toEqual(["a", "default"]);
  });

  test("of many memories goes into the one that is named, with a system message of its own", async () => {
    const model = scripted(assistant("Hi A"), assistant("Hi B"));
    const memories = createChatMemories({ store: inMemoryStore() });
    const chat = createAssistant({ model, memories, systemMessage: async (id) => `You serve ${id}.` });
    await chat.chat(user("I am A"), { memoryId: "a" });
    await chat.chat(user("I am B"), { memoryId: "b" });
    expect(await memories.get("a").messages()).toEqual([
      system("You serve a."),
      user("I am A"),
      assistant("Hi A"),
    ]);
    expect(await memories.get("b").messages()).toEqual([
      system("You serve b."),
      user("I am B"),
      assistant("Hi B"),
    ]);
  });

  test("a system message that is not set anew stays", async () => {
    const answers = ["You are A.", undefined];
    const memory = createChatMemory();
    const model = scripted(assistant("1"), assistant("2"));
    const chat = createAssistant({ model, memory, systemMessage: () => answers.shift() });
    await chat.chat("a");
    await chat.chat("b");
    expect(model.requests[1]?.messages[0]).toEqual(system("You are A."));
  });

  test("is the prompt, whatever the memory does with later system messages", async () => {
    const answers = ["You are A.", "You are B.", "You are B."];
    const memory = createChatMemory({ systemMessages: "positioned" });
    const model = scripted(assistant("1"), assistant("2"), assistant("3"));
    const chat = createAssistant({ model, memory, systemMessage: () => answers.shift() });
    for (const question of ["a", "b", "c"]) await chat.chat(question);
    const shown = [system("You are B."), user("a"), assistant("1"), user("b"), assistant("2"), user("c")];
    expect(model.requests[2]?.messages).toEqual(shown);
  });

  test("tells the window's counter what the provider counted", async () => {
    const events: MemoryEvent[] = [];
    const counter = { name: "each-4", count: () => 4 };
    const window = { maxTokens: 1000, counter };
    const memory = createChatMemory({ window, onEvent: (event) => events.push(event) });
    await createAssistant({ model: scripted(assistant("Hi")), memory }).chat("Hello");
    expect(events).toContainEqual({ type: "calibrated", memoryId: "default", counted: 4, reported: 10 });
  });

  test("takes no tool definitions for messages: what they took is said, or guessed where they are little", async () => {
    const counter = { name: "characters", count: (message: unknown) => JSON.stringify(message).length };
    const calibrated = async (question: string, otherTokens?: number): Promise<unknown> => {
      const events: unknown[] = [];
      const memory = createChatMemory({
        window: { maxTokens: 10_000, counter },
        onEvent: (event) => event.type === "calibrated" && events.push(event),
      });
      const model: Model<ModelMessage> = async ({ messages }) => {
        const inputTokens = messages.reduce((sum, message) => sum + counter.count(message), 40);
        return { message: assistant("Cold."), usage: { inputTokens, otherTokens } };
      };
      await createAssistant({ model, memory, tools: { weather } }).chat(question);
      return events[0];
    };
    expect(await calibrated("Hi")).toBeUndefined();
    expect(await calibrated("Hi", 40)).toMatchObject({ type: "calibrated", counted: 30, reported: 30 });
    const definition = {
      name: "weather",
      description: weather.description,
      inputSchema: weather.inputSchema,
    };
    const guess = Math.ceil(JSON.stringify([definition]).length / 4);
    const long = "a".repeat(5_000);
    expect(await calibrated(long)).toMatchObject({ counted: 5_028, reported: 5_068 - guess });
  });

  test("keeps the model's name with its messages, and takes messages of the caller's type", async () => {
    type Message = ModelMessage & { readonly sentAt?: string };
    const memory = createChatMemory<Message>();
    const model = scripted(assistant("Hi"));
    await createAssistant({ model, memory }).chat({ role: "user", content: "Hello", sentAt: "now" });
    expect(await memory.messages()).toEqual([
      { role: "user", content: "Hello", sentAt: "now" },
      assistant("Hi"),
    ]);
  });

  test("an answer of nothing behind results ends the turn and is not stored", async () => {
    const memory = createChatMemory();
    const model = scripted(toolCall("c1", "weather", { city: "Oslo" }), assistant(""));
    const result = await createAssistant({ model, memory, tools: { weather } }).chat("Weather?");
    expect(result).toMatchObject({ text: "", finishReason: "stop" });
    expect((await memory.messages()).map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  });
});

describe("an answer that was cut off", () => {
  test.each([
    ["length", "length"],
    ["content-filter", "content-filter"],
    ["stop", "stop"],
    ["interrupted", "stop"],
    [undefined, "stop"],
  ])("for the reason %j: %j", async (reason, finishReason) => {
    const memory = createChatMemory();
    const message = assistant("It is 4 deg");
    const policy = { memory, model: async () => ({ message, finishReason: reason }) };
    expect(await createAssistant(policy).chat("Weather?", { id: "u" })).toMatchObject({
      text: "It is 4 deg",
      finishReason,
    });
    // Why it ended is not stored.
    expect((await createAssistant(policy).chat("Weather?", { id: "u" })).finishReason).toBe("stop");
  });

  test("before it began ends the turn behind results, and is an error that says so without them", async () => {
    const answers = [toolCall("c1", "weather", { city: "Oslo" }), assistant("")].values();
    const model = async () => ({ message: answers.next().value ?? assistant(""), finishReason: "length" });
    const chat = createAssistant({ model, tools: { weather } });
    expect(await chat.chat("Weather?")).toMatchObject({ text: "", finishReason: "length" });
    await expect(chat.chat("Weather?")).rejects.toMatchObject({
      code: "EMPTY_ANSWER",
      message: expect.stringContaining("(length)"),
    });
  });
});

describe("an immediate return", () => {
  const direct = tool({ inputSchema: {}, returnBehavior: "immediate", execute: () => ({ sum: 3 }) });
  const last = tool({ inputSchema: {}, returnBehavior: "immediate-if-last", execute: () => "last" });
  const normal = tool({ inputSchema: {}, execute: () => "normal" });
  const failing = tool({
    inputSchema: {},
    returnBehavior: "immediate",
    execute: () => {
      throw new Error("down");
    },
  });
  const tools = { direct, last, normal, failing };

  test.each([
    [["direct"], true],
    [["direct", "last"], true],
    [["normal", "last"], true],
    [["last", "direct"], true],
    [["normal", "direct", "last"], true],
    [["normal", "last", "direct"], false],
    [["last", "normal"], false],
    [["direct", "normal"], false],
    [["normal"], false],
    [["failing"], false],
    [["failing", "last"], false],
  ])("of %j: %j", async (names, isImmediate) => {
    const calls = names.map((name, place) => [`c${place}`, name] as const);
    const model = scripted(calling(...calls), assistant("Done."));
    const memory = createChatMemory();
    const result = await createAssistant({ model, memory, tools }).chat("Go");
    expect(result.finishReason).toBe(isImmediate ? "tool" : "stop");
    expect(result.text).toBe(isImmediate ? "" : "Done.");
    expect(model.requests).toHaveLength(isImmediate ? 1 : 2);
    expect((await memory.messages()).at(-1)?.role).toBe(isImmediate ? "tool" : "assistant");
  });
});

describe("parallel tools", () => {
  test("run so many at once, and the model gets their results in the order of the calls", async () => {
    const running: string[] = [];
    const release = new Map<string, () => void>();
    let atOnce = 0;
    const slow = tool<{ name: string }>({
      inputSchema: {},
      execute: async ({ name }) => {
        running.push(name);
        atOnce = Math.max(atOnce, running.length - finished);
        await new Promise<void>((resolve) => release.set(name, resolve));
        finished++;
        return name;
      },
    });
    let finished = 0;
    const names = ["a", "b", "c"];
    const model = scripted(
      calling(...names.map((name) => [`c-${name}`, "slow", { name }] as const)),
      assistant("Done."),
    );
    const memory = createChatMemory();
    const chat = createAssistant({ model, memory, tools: { slow }, toolConcurrency: 2 });
    const turn = chat.chat("Go");
    await expect.poll(() => running).toEqual(["a", "b"]);
    release.get("b")?.();
    await expect.poll(() => running).toEqual(["a", "b", "c"]);
    release.get("c")?.();
    // The first result is stored while the first call still runs.
    await expect
      .poll(async () => (await memory.messages()).slice(2))
      .toEqual([toolResult("c-b", "slow", "b"), toolResult("c-c", "slow", "c")]);
    release.get("a")?.();
    expect((await turn).toolResults.map(({ output }) => output)).toEqual(names);
    expect(atOnce).toBe(2);
    expect(model.requests[1]?.messages.slice(2)).toEqual(
      names.map((name) => toolResult(`c-${name}`, "slow", name)),
    );
  });
});
