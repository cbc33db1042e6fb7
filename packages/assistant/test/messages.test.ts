import { type ChatMemoryStore, createChatMemory, inMemoryStore, type MessageFormat } from "@turnkeep/core";
import { type AnthropicMessage, anthropicFormat } from "@turnkeep/formats/anthropic";
import { type ChatMessage, openaiFormat } from "@turnkeep/formats/openai";
import { describe, expect, test } from "vitest";
import { anthropicMessages } from "../src/anthropic.ts";
import {
  type AssistantMessages,
  type ChatResult,
  createAssistant,
  type ToolResult,
  type Tools,
} from "../src/index.ts";
import { openaiMessages } from "../src/openai.ts";

const tools: Tools = {
  weather: { inputSchema: {}, execute: () => ({ celsius: 4 }) },
  clock: { inputSchema: {}, execute: () => "noon" },
  broken: { inputSchema: {}, execute: () => Promise.reject(new Error("down")) },
};

interface Kind<M> {
  readonly format: MessageFormat<M>;
  readonly messages: AssistantMessages<M>;
  readonly answers: readonly M[];
}

/** A turn over messages of that kind, and how the next process finds it. */
async function turnOf<M>({ format, messages, answers }: Kind<M>): Promise<{
  readonly result: ChatResult<M>;
  readonly stored: readonly M[];
  readonly found: ChatResult<M>;
}> {
  const store: ChatMemoryStore = inMemoryStore();
  const rest = answers.values();
  const model = async (): Promise<{ message: M }> => ({ message: rest.next().value as M });
  const open = () => createChatMemory<M>({ id: "chat", store, format });
  const policy = { model, messages, tools, toolConcurrency: 1, systemMessage: "Be brief." };
  const memory = open();
  const result = await createAssistant<M>({ ...policy, memory }).chat("Weather?", { id: "q-1" });
  const again = createAssistant<M>({ ...policy, memory: open() });
  return { result, stored: await memory.messages(), found: await again.chat("Weather?", { id: "q-1" }) };
}

const results: readonly ToolResult[] = [
  { toolCallId: "c1", toolName: "weather", output: { celsius: 4 }, isError: false },
  { toolCallId: "c2", toolName: "clock", output: "noon", isError: false },
  { toolCallId: "c3", toolName: "broken", output: "down", isError: true },
];

describe("Anthropic's messages", () => {
  const call = (id: string, name: string) => ({ type: "tool_use" as const, id, name, input: {} });
  const search = { type: "server_tool_use" as const, id: "s1", name: "web_search" as const, input: {} };
  const found = { type: "web_search_tool_result" as const, tool_use_id: "s1", content: [] };
  const calls: AnthropicMessage = {
    role: "assistant",
    content: [search, found, call("c1", "weather"), call("c2", "clock"), call("c3", "broken")],
  };
  const answer: AnthropicMessage = {
    role: "assistant",
    content: [{ type: "text", text: "4 °C" }, search, found, { type: "text", text: " at noon." }],
  };
  const kind = { format: anthropicFormat, messages: anthropicMessages<AnthropicMessage>() };

  test("are read, made, and read again where the turn is stored", async () => {
    const turn = await turnOf({ ...kind, answers: [calls, answer] });
    expect(turn.result).toMatchObject({ text: "4 °C at noon.", toolResults: results, continued: false });
    const result = (id: string, content: string) => ({ type: "tool_result", tool_use_id: id, content });
    expect(turn.stored).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Weather?" },
      calls,
      { role: "user", content: [result("c1", '{"celsius":4}')] },
      { role: "user", content: [result("c2", "noon")] },
      { role: "user", content: [{ ...result("c3", "down"), is_error: true }] },
      answer,
    ]);
    const [first, ...others] = results;
    expect(turn.found).toMatchObject({
      text: "4 °C at noon.",
      toolResults: [{ ...first, output: '{"celsius":4}' }, ...others],
      continued: true,
    });
  });

  test.each(["length", "content-filter"])(
    "the last call of an answer that was cut off (%s) is not carried out: the client completes what came of it",
    async (finishReason) => {
      const given: unknown[] = [];
      const remove = { inputSchema: {}, execute: (input: unknown) => given.push(input) };
      const use = (id: string, input: object) => ({ type: "tool_use" as const, id, name: "remove", input });
      // The model wrote {"path":"/b","except":["/b/kept
      const content = [use("c1", { path: "/a" }), use("c2", { path: "/b", except: [] })];
      const answers = [
        { message: { role: "assistant" as const, content }, finishReason },
        { message: { role: "assistant" as const, content: "Sorry." } },
      ].values();
      const memory = createChatMemory({ format: anthropicFormat });
      const chat = createAssistant<AnthropicMessage>({
        model: async () => answers.next().value as { message: AnthropicMessage },
        messages: anthropicMessages<AnthropicMessage>(),
        memory,
        tools: { remove },
      });
      const { toolResults } = await chat.chat("Clean up");
      expect(given).toEqual([{ path: "/a" }]);
      expect(toolResults).toMatchObject([
        { toolCallId: "c1", isError: false },
        { toolCallId: "c2", isError: true, output: expect.stringContaining("cut off") },
      ]);
    },
  );

  test("may be a text alone", async () => {
    const turn = await turnOf({ ...kind, answers: [{ role: "assistant", content: "Hi." }] });
    expect(turn.result).toMatchObject({ text: "Hi.", toolResults: [] });
    expect(turn.found).toMatchObject({ text: "Hi.", toolResults: [] });
  });

  test("a result of the application's own may hold nothing", () => {
    const message: AnthropicMessage = {
      role: "user",
      content: [
        { type: "text", text: "Here." },
        { type: "tool_result", tool_use_id: "c1" },
      ],
    };
    expect(kind.messages.toolResults?.(message)).toEqual([
      { toolCallId: "c1", toolName: "", output: "", isError: false },
    ]);
  });
});

describe("OpenAI's messages", () => {
  const calls: ChatMessage = {
    role: "assistant",
    content: null,
    tool_calls: [
      { type: "function", id: "c1", function: { name: "weather", arguments: "{}" } },
      { type: "custom", id: "c2", custom: { name: "clock", input: "{}" } },
      { type: "function", id: "c3", function: { name: "broken", arguments: "{}" } },
    ],
  };
  const answer: ChatMessage = {
    role: "assistant",
    content: [
      { type: "text", text: "4 °C" },
      { type: "refusal", refusal: "No." },
      { type: "text", text: " at noon." },
    ],
  };

  test("are read and made; a stored result does not tell whether it is an error", async () => {
    const messages = openaiMessages<ChatMessage>();
    const turn = await turnOf({ format: openaiFormat, messages, answers: [calls, answer] });
    expect(turn.result).toMatchObject({ text: "4 °C at noon.", toolResults: results, continued: false });
    const result = (id: string, content: string) => ({ role: "tool", tool_call_id: id, content });
    expect(turn.stored).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Weather?" },
      calls,
      result("c1", '{"celsius":4}'),
      result("c2", "noon"),
      result("c3", "down"),
      answer,
    ]);
    expect(turn.found).toMatchObject({
      text: "4 °C at noon.",
      toolResults: results.map((each) => ({ ...each, output: null, isError: false })),
      continued: true,
    });
  });

  test("may refuse, which is what is said where nothing else is", () => {
    const { text } = openaiMessages<ChatMessage>();
    expect(text({ role: "assistant", content: null, refusal: "I cannot." })).toBe("I cannot.");
    const content = [{ type: "refusal" as const, refusal: "I cannot." }];
    expect(text({ role: "assistant", content })).toBe("I cannot.");
  });

  test("do not tell whether a stored result may be returned at once, so that the model is told of it", async () => {
    const memory = createChatMemory({ format: openaiFormat });
    const asked: number[] = [];
    const controller = new AbortController();
    const chat = createAssistant<ChatMessage>({
      model: async ({ messages: { length } }) => {
        asked.push(length);
        const [first] = calls.tool_calls ?? [];
        if (asked.length > 1 || first === undefined)
          return { message: { role: "assistant", content: "Sorry." } };
        return { message: { ...calls, tool_calls: [first] } };
      },
      memory,
      messages: openaiMessages<ChatMessage>(),
      tools: {
        weather: {
          inputSchema: {},
          returnBehavior: "immediate",
          execute: () => {
            controller.abort();
            return new Promise(() => undefined);
          },
        },
      },
    });
    const failed = chat.chat("Weather?", { id: "q-1", signal: controller.signal });
    await expect(failed).rejects.toMatchObject({ code: "ABORTED" });
    expect(await chat.chat("Weather?", { id: "q-1" })).toMatchObject({
      text: "Sorry.",
      finishReason: "stop",
    });
    expect(asked).toEqual([1, 3]);
  });
});
