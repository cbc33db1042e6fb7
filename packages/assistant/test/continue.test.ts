import {
  type ChatMemory,
  createChatMemory,
  entry,
  inMemoryStore,
  type ModelMessage,
  system,
  toolResult,
} from "@turnkeep/core";
import { type LangChain4jMessage, langchain4jFormat } from "@turnkeep/formats/langchain4j";
import { describe, expect, test } from "vitest";
import { type AssistantMessages, createAssistant, type Model, type Tool, type Tools } from "../src/index.ts";
import { noUsage } from "../src/usage.ts";
import { type Answer, assistant, calling, scripted, toolCall, unheld, user } from "./script.ts";

const runs: string[] = [];
const once: Tool = {
  inputSchema: {},
  execute: (_, { toolCallId }) => {
    runs.push(toolCallId);
    return "done";
  },
};
const again: Tool = { ...once, idempotent: true };
const direct: Tool = { ...once, returnBehavior: "immediate" };
const tools: Tools = { once, again, direct };

/** What a crash left, and an assistant over it. */
async function left(
  messages: readonly ModelMessage[],
  ...answers: readonly Answer[]
): Promise<{
  readonly memory: ChatMemory<ModelMessage>;
  readonly model: ReturnType<typeof scripted>;
  readonly ask: (text?: string, id?: string) => Promise<unknown>;
}> {
  runs.length = 0;
  const memory = createChatMemory({ id: "chat", store: inMemoryStore() });
  await memory.add(user("Before"), assistant("Yes?"));
  const [question, ...rest] = messages;
  if (question !== undefined) await memory.add(entry(question, { id: "q-1" }), ...rest);
  const model = scripted(...answers);
  const chat = createAssistant({ model, memory, tools, toolConcurrency: 1 });
  return { memory, model, ask: (text = "Go", id = "q-1") => chat.chat(text, { id }) };
}

describe("a chat with an id that was used before", () => {
  test("goes on from the user's message", async () => {
    const { memory, ask } = await left([user("Go")], assistant("Done."));
    expect(await ask()).toMatchObject({ text: "Done.", continued: false, id: "q-1" });
    expect((await memory.messages()).slice(2)).toEqual([user("Go"), assistant("Done.")]);
  });

  test("uses results that are stored, and runs what may run twice", async () => {
    const calls = calling(["c1", "again"], ["c2", "again"]);
    const { memory, model, ask } = await left(
      [user("Go"), calls, toolResult("c2", "again", "stored")],
      assistant("Done."),
    );
    const result = await ask();
    expect(result).toMatchObject({ continued: true });
    expect(runs).toEqual(["c1"]);
    expect(model.requests[0]?.messages.slice(2)).toEqual([
      user("Go"),
      calls,
      toolResult("c1", "again", "done"),
      toolResult("c2", "again", "stored"),
    ]);
    expect((await memory.messages()).slice(2).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
    ]);
  });

  test("answers as interrupted what may have run, and as ever what no tool can have run", async () => {
    const { memory, ask } = await left(
      [user("Go"), calling(["c1", "once"], ["c2", "unknown"])],
      assistant("Shall I?"),
    );
    await ask();
    expect(runs).toEqual([]);
    const contents = (await memory.messages()).slice(4, 6).map(({ content }) => content);
    expect(contents).toMatchObject([
      [{ toolCallId: "c1", output: { type: "error-text", value: expect.stringContaining("interrupted") } }],
      [{ toolCallId: "c2", output: { type: "error-text", value: expect.stringContaining("no tool") } }],
    ]);
  });

  test("answers as interrupted what it did not come to, if it fails before", async () => {
    const calls = calling(["c1", "broken"], ["c2", "again"]);
    const { memory } = await left([user("Go"), calls]);
    const broken: Tool = { ...again, execute: () => Promise.reject(new Error("down")) };
    const chat = createAssistant({
      model: scripted(),
      memory,
      tools: { ...tools, broken },
      toolConcurrency: 1,
      strategies: { toolError: "throw" },
    });
    await expect(chat.chat("Go", { id: "q-1" })).rejects.toThrow("down");
    expect((await memory.messages()).slice(4)).toMatchObject([
      { content: [{ toolCallId: "c1", output: { value: "down" } }] },
      { content: [{ toolCallId: "c2", output: { value: expect.stringContaining("interrupted") } }] },
    ]);
  });

  test("tells calls of one id in one answer apart", async () => {
    const calls = calling(["c1", "again"], ["c1", "again"], ["c1", "again"]);
    const stored = [toolResult("c1", "again", "first"), toolResult("c1", "again", "second")];
    const { ask } = await left([user("Go"), calls, ...stored], assistant("Done."));
    expect(await ask()).toMatchObject({
      toolResults: [{ output: "first" }, { output: "second" }, { output: "done" }],
    });
    expect(runs).toEqual(["c1"]);
  });

  test("tells results of one id in one message apart", async () => {
    const calls = calling(["c1", "again"], ["c1", "again"], ["c1", "again"]);
    const [first, second] = [toolResult("c1", "again", "first"), toolResult("c1", "again", "second")];
    const both = { ...first, content: [...first.content, ...second.content] } as ModelMessage;
    const { ask } = await left([user("Go"), calls, both], assistant("Done."));
    expect(await ask()).toMatchObject({
      toolResults: [{ output: "first" }, { output: "second" }, { output: "done" }],
    });
  });

  test("goes on behind a question that was taken back", async () => {
    const { memory, ask } = await left(
      [user("Go"), calling(["c1", "again"])],
      assistant("Bye."),
      assistant("Done."),
    );
    await ask("Bye", "q-2");
    await memory.rewind("q-2");
    expect(await ask()).toMatchObject({ text: "Done.", toolResults: [{ output: "done" }] });
  });

  test.each([
    ["again", "q-1"],
    ["once", "q-1"],
    ["again", undefined],
  ])("refuses a call that lost its arguments as it did before: %s, id %s", async (name, id) => {
    runs.length = 0;
    const memory = createChatMemory({ id: "chat", store: inMemoryStore() });
    const model: Model<ModelMessage> = async ({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? { message: assistant("Sorry.") }
        : { message: calling(["c1", "again", { n: 1 }], ["c2", name]), finishReason: "length" };
    const refused = { toolCallId: "c2", isError: true, output: expect.stringContaining("cut off") };
    const cutShort = createAssistant({
      model,
      memory,
      tools,
      toolConcurrency: 1,
      strategies: { invalidInput: "throw" },
      keepFailedTurns: true,
    });
    await expect(cutShort.chat("Go", { id })).rejects.toMatchObject({ code: "INVALID_TOOL_INPUT" });
    const [question] = (await memory.history()).messages;
    const chat = createAssistant({ model, memory, tools });
    const result = await chat.chat("Go", { id: question?.id });
    expect(result).toMatchObject({
      text: "Sorry.",
      continued: true,
      toolResults: [{ output: "done" }, refused],
    });
    expect(runs).toEqual(["c1"]);
    expect(await chat.chat("Go", { id: question?.id })).toMatchObject({
      text: "Sorry.",
      finishReason: "stop",
    });
  });

  test("keeps those answers if it fails again", async () => {
    const { memory, ask } = await left([user("Go"), calling(["c1", "once"])], new Error("timeout"));
    await expect(ask()).rejects.toThrow("timeout");
    expect((await memory.messages()).map(({ role }) => role).slice(2)).toEqual(["user", "assistant", "tool"]);
  });

  test("answers a finished turn from what is stored", async () => {
    const done = [
      user("Go"),
      toolCall("c1", "once", {}),
      toolResult("c1", "once", { n: 1 }),
      assistant("Done."),
    ];
    const { memory, model, ask } = await left(done);
    const before = await memory.messages();
    expect(await ask()).toEqual({
      text: "Done.",
      finishReason: "stop",
      approvalRequests: [],
      id: "q-1",
      memoryId: "chat",
      messages: [done[1], done[3]],
      toolResults: [{ toolCallId: "c1", toolName: "once", output: { n: 1 }, isError: false }],
      usage: noUsage,
      continued: true,
    });
    expect(model.requests).toHaveLength(0);
    expect(await memory.messages()).toEqual(before);
  });

  test("reads of stored results which are errors", async () => {
    const result = { type: "tool-result" as const, toolName: "once" };
    const { ask } = await left([
      user("Go"),
      calling(["c1", "once"], ["c2", "once"], ["c3", "once"], ["c4", "once"]),
      {
        role: "tool",
        content: [
          { ...result, toolCallId: "c1", output: { type: "error-text", value: "down" } },
          { ...result, toolCallId: "c2", output: { type: "error-json", value: { n: 1 } } },
          { type: "tool-approval-response", approvalId: "ok", approved: false },
          { ...result, toolCallId: "c3", output: { type: "execution-denied" } },
          { ...result, toolCallId: "c4", output: { type: "json", value: null } },
        ],
      },
      assistant("Sorry."),
    ]);
    expect(await ask()).toMatchObject({
      toolResults: [
        { output: "down", isError: true },
        { output: { n: 1 }, isError: true },
        { output: null, isError: true },
        { output: null, isError: false },
      ],
    });
  });

  test("leaves alone what the provider ran itself", async () => {
    const searched = assistant([
      { type: "tool-call", toolCallId: "s1", toolName: "once", input: {}, providerExecuted: true },
      { type: "tool-result", toolCallId: "s1", toolName: "once", output: { type: "text", value: "found" } },
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Found" },
      { type: "text", text: " it." },
    ]);
    const { ask } = await left([user("Go"), searched]);
    expect(await ask()).toMatchObject({ text: "Found it.", toolResults: [], continued: true });
    expect(runs).toEqual([]);
    const fresh = await left([], searched);
    expect(await fresh.ask()).toMatchObject({ text: "Found it.", toolResults: [], continued: false });
    expect(runs).toEqual([]);
  });

  test("takes no system message that has come since for a part of the turn", async () => {
    const { memory } = await left([user("Go")]);
    const model = scripted(new Error("timeout"), assistant("Done."));
    const chat = createAssistant({ model, memory, systemMessage: () => system("Be kind.") });
    await expect(chat.chat("Go", { id: "q-1" })).rejects.toThrow("timeout");
    expect(await memory.messages()).toEqual([system("Be kind."), user("Before"), assistant("Yes?")]);
  });

  test("also where the conversation has gone on since", async () => {
    const { memory, ask } = await left([user("Go"), assistant("Done.")], assistant("Bye."));
    await ask("Bye", "q-2");
    expect(await ask()).toMatchObject({ text: "Done.", continued: true });
    expect((await memory.messages()).length).toBe(6);
  });

  test("answers an immediate return from what is stored", async () => {
    const { ask } = await left([user("Go"), toolCall("c1", "direct", {}), toolResult("c1", "direct", "r")]);
    expect(await ask()).toMatchObject({ finishReason: "tool", toolResults: [{ output: "r" }] });
  });

  test("returns at once when the rest of an immediate return is there", async () => {
    const { ask } = await left([
      user("Go"),
      calling(["c1", "direct"], ["c2", "direct"]),
      toolResult("c1", "direct", "r"),
      toolResult("c2", "direct", "r2"),
    ]);
    expect(await ask()).toMatchObject({ finishReason: "tool" });
    expect(runs).toEqual([]);
  });

  test("cannot go on in the middle of a conversation", async () => {
    const { memory, ask } = await left([user("Go"), toolCall("c1", "once", {})], assistant("Bye."));
    await ask("Bye", "q-2");
    const before = await memory.messages();
    await expect(ask()).rejects.toMatchObject({
      code: "ID_CONFLICT",
      details: { memoryId: "chat", messageIds: ["q-1"] },
    });
    expect(await memory.messages()).toEqual(before);
  });

  test("nor where its message was taken back", async () => {
    const { memory, ask } = await left([user("Go"), assistant("Done.")]);
    await memory.rewind("q-1");
    await expect(ask()).rejects.toMatchObject({ code: "ID_CONFLICT" });
  });

  test("nor with another text", async () => {
    const { memory, ask } = await left([user("Go"), assistant("Done.")]);
    const before = await memory.messages();
    await expect(ask("Stop")).rejects.toMatchObject({ code: "ID_CONFLICT" });
    expect(await memory.messages()).toEqual(before);
  });

  test("makes an answer anew that was taken back", async () => {
    const { memory, ask } = await left([], assistant("First."), assistant("Second."));
    await ask();
    const answer = (await memory.history({ order: "descending", limit: 1 })).messages[0]?.id as string;
    await memory.rewind(answer);
    expect(await ask()).toMatchObject({ text: "Second." });
    expect((await memory.messages()).slice(2)).toEqual([user("Go"), assistant("Second.")]);
  });

  test("takes other numbers where a question that was removed has left answers", async () => {
    const { memory, ask } = await left(
      [],
      calling(["c1", "again"]),
      assistant("First."),
      calling(["c2", "again"]),
      assistant("Second."),
    );
    await ask();
    await memory.remove("q-1");
    expect(await ask()).toMatchObject({ text: "Second.", continued: false });
    expect((await memory.messages()).slice(-4)).toEqual([
      user("Go"),
      calling(["c2", "again"]),
      toolResult("c2", "again", "done"),
      assistant("Second."),
    ]);
    expect(await ask()).toMatchObject({ text: "Second.", continued: true });
  });

  test("gives a stored result to the call of its tool, where calls share an id", async () => {
    const calls = calling(["c1", "again"], ["c1", "other"]);
    const { memory, model } = await left(
      [user("Go"), calls, toolResult("c1", "other", "stored")],
      assistant("Done."),
    );
    const chat = createAssistant({ model, memory, tools: { ...tools, other: again } });
    const { toolResults } = await chat.chat("Go", { id: "q-1" });
    expect(toolResults.map(({ toolName, output }) => [toolName, output])).toEqual([
      ["again", "done"],
      ["other", "stored"],
    ]);
    expect(runs).toEqual(["c1"]);
  });

  test("keeps the question when the answer cannot be made anew", async () => {
    const { memory, ask } = await left(
      [],
      assistant("First."),
      new Error("overloaded"),
      assistant("Second."),
    );
    await ask();
    const answer = (await memory.history({ order: "descending", limit: 1 })).messages[0]?.id as string;
    await memory.rewind(answer);
    await expect(ask()).rejects.toThrow("overloaded");
    expect((await memory.messages()).slice(2)).toEqual([user("Go")]);
    expect(await ask()).toMatchObject({ text: "Second." });
    expect((await memory.messages()).slice(2)).toEqual([user("Go"), assistant("Second.")]);
  });

  test("finds a turn whose beginning has left memory", async () => {
    const memory = createChatMemory({ id: "chat", store: inMemoryStore(), window: { maxMessages: 4 } });
    await memory.add(entry(user("Go"), { id: "q-1" }));
    for (const n of [1, 2, 3])
      await memory.add(toolCall(`c${n}`, "once", {}), toolResult(`c${n}`, "once", "r"));
    const model = scripted(assistant("Done."));
    const result = await createAssistant({ model, memory, tools }).chat("Go", { id: "q-1" });
    expect(result).toMatchObject({ text: "Done.", continued: true });
    expect(result.toolResults).toHaveLength(3);
  });

  test("looks no further back than to its message", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "chat", store, window: { maxMessages: 10 } });
    for (let n = 0; n < 300; n++) await memory.add(user(`u${n}`), assistant(`a${n}`));
    let pages = 0;
    const { getHistory } = store;
    store.getHistory = (id, query, options) => {
      if (query.ids === undefined) pages++;
      return getHistory.call(store, id, query, options);
    };
    await createAssistant({ model: scripted(assistant("Done.")), memory }).chat("Go", { id: "q-1" });
    expect(pages).toBe(1);
  });
});

test("a turn that ended with a tool's result is answered so again, whatever came after it", async () => {
  const { ask } = await left([user("Go")], toolCall("c1", "direct", {}), assistant("Bye."));
  const result = await ask();
  await ask("Bye", "q-2");
  const again = { continued: true, usage: noUsage };
  expect(await ask()).toEqual({ ...(result as object), ...again });
});

test("a stored call that carries something for its provider is run as it was given", async () => {
  const call = { type: "tool-call", toolCallId: "c1", toolName: "echo", input: { n: 1 } } as const;
  const stored = assistant([{ ...call, providerOptions: { google: { thoughtSignature: "s" } } }]);
  const { memory } = await left([user("Go"), stored]);
  const echo: Tool = { ...again, execute: (input) => input };
  const chat = createAssistant({ model: scripted(assistant("Done.")), memory, tools: { echo } });
  expect(await chat.chat("Go", { id: "q-1" })).toMatchObject({ toolResults: [{ output: { n: 1 } }] });
});

test("a message of the application's own whose id begins like the turn's takes no number of it", async () => {
  const { memory, ask } = await left([user("Go")], assistant("Done."));
  const ids = ["q-1/7x", "q-1/x8"];
  for (const id of ids) await memory.add(entry(assistant("Wait."), { id }));
  await memory.rewind("q-1/7x");
  expect(await ask()).toMatchObject({ text: "Done." });
  expect((await memory.history()).messages.map(({ id }) => id).slice(2)).toEqual(["q-1", ...ids, "q-1/0"]);
});

test("calls without an id, as LangChain4j's may be, are told by their format's", async () => {
  runs.length = 0;
  const memory = createChatMemory({ format: langchain4jFormat });
  const text = (words: string): LangChain4jMessage => ({ type: "AI", text: words });
  const stored: LangChain4jMessage[] = [
    { type: "AI", toolExecutionRequests: [{ name: "once", arguments: "{}" }] },
    { type: "TOOL_EXECUTION_RESULT", toolName: "once", contents: [{ type: "TEXT", text: "stored" }] },
  ];
  const question: LangChain4jMessage = { type: "USER", contents: [{ type: "TEXT", text: "Go" }] };
  await memory.add(entry(question, { id: "q-1" }), ...stored);
  const messages: AssistantMessages<LangChain4jMessage> = {
    system: (words) => ({ type: "SYSTEM", text: words }),
    user: () => question,
    assistant: (words) => ({ type: "AI", text: words }),
    text: (message) => (message.type === "AI" ? (message.text ?? "") : ""),
    toolCalls: (message) =>
      message.type === "AI"
        ? (message.toolExecutionRequests ?? []).map((call) => ({
            id: "",
            name: call?.name ?? "",
            input: "{}",
          }))
        : [],
    toolResult: ({ toolName, output }) => ({
      type: "TOOL_EXECUTION_RESULT",
      toolName,
      contents: [{ type: "TEXT", text: String(output) }],
    }),
  };
  const model: Model<LangChain4jMessage> = async () => ({ message: text("Done.") });
  const chat = createAssistant({ model, memory, messages, tools: { once } });
  expect(await chat.chat("Go", { id: "q-1" })).toMatchObject({ text: "Done.", continued: true });
  const said = (await memory.history()).messages.map(({ message }) => message);
  expect(said).toEqual([question, ...stored, text("Done.")]);
});

test("two processes that run one turn store one answer, also where nothing keeps them apart", async () => {
  const store = inMemoryStore();
  const open = (): ChatMemory<ModelMessage> => unheld(createChatMemory({ id: "chat", store }));
  let answerFirst: ((message: ModelMessage) => void) | undefined;
  const slow = scripted(() => new Promise((resolve) => (answerFirst = resolve)));
  const first = createAssistant({ model: slow, memory: open() }).chat("Go", { id: "q-1" });
  await expect.poll(() => answerFirst).toBeDefined();
  const second = createAssistant({ model: scripted(assistant("Two.")), memory: open() });
  expect((await second.chat("Go", { id: "q-1" })).text).toBe("Two.");
  answerFirst?.(assistant("One."));
  await expect(first).rejects.toMatchObject({
    code: "ID_CONFLICT",
    message:
      'Memory "chat": another process runs the turn of message "q-1" too, and stored its next step first. ' +
      "Send the same again, with the same id: it goes on from what is stored.",
    details: { memoryId: "chat", messageIds: ["q-1"] },
  });
  expect(await open().messages()).toEqual([user("Go"), assistant("Two.")]);
});
