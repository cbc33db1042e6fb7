import { describe, expect, it, test } from "vitest";
import { uiMessageConversion } from "../src/ai-sdk.ts";
import { type Conversion, convert, modelMessageConversion } from "../src/convert.ts";
import { type GeminiContent, geminiConversion } from "../src/gemini.ts";
import { type LangChain4jMessage, langchain4jConversion } from "../src/langchain4j.ts";
import { type OllamaMessage, ollamaConversion } from "../src/ollama.ts";
import { openaiConversion } from "../src/openai.ts";

/** In a text each, the calls and results of a conversation in OpenAI's messages. */
function pairsOf<M>(messages: readonly M[], from: Conversion<M>): string[] {
  const { messages: chat, lost } = convert(messages, { from, to: openaiConversion });
  expect(lost).toEqual([]);
  return chat.flatMap((message) => {
    if (message.role === "tool") return [`${message.tool_call_id}: ${message.content}`];
    return openaiConversion.format.toolCalls(message).map(({ id, name }) => `${name} is ${id}`);
  });
}

describe("calls without ids, in answers one behind the other, are one answer's:", () => {
  const calls = ["a", "a", "b"];
  const results = [
    ["b", "B"],
    ["a", "first"],
    ["a", "second"],
  ] as const;

  it("Gemini", () => {
    const contents: GeminiContent[] = [
      { role: "user", parts: [{ text: "q" }] },
      ...calls.map((name) => ({ role: "model", parts: [{ functionCall: { name, args: {} } }] })),
      {
        role: "user",
        parts: results.map(([name, output]) => ({ functionResponse: { name, response: { output } } })),
      },
      { role: "model", parts: [{ functionCall: { name: "a", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { name: "a", response: { output: "third" } } }] },
    ];
    expect(pairsOf(contents, geminiConversion)).toEqual([
      ...["a is call_1_0", "a is call_2_0", "b is call_3_0"],
      ...["call_3_0: B", "call_1_0: first", "call_2_0: second"],
      ...["a is call_5_0", "call_5_0: third"],
    ]);
  });

  it("Ollama", () => {
    const messages: OllamaMessage[] = [
      { role: "user", content: "q" },
      ...calls.map((name) => ({
        role: "assistant" as const,
        content: "",
        tool_calls: [{ function: { name, arguments: {} } }],
      })),
      ...results.map(([tool_name, content]) => ({ role: "tool" as const, tool_name, content })),
    ];
    expect(pairsOf(messages, ollamaConversion)).toEqual([
      ...["a is tool_1_0", "a is tool_2_0", "b is tool_3_0"],
      ...["tool_3_0: B", "tool_1_0: first", "tool_2_0: second"],
    ]);
  });

  it("LangChain4j", () => {
    const messages: LangChain4jMessage[] = [
      { type: "USER", contents: [{ type: "TEXT", text: "q" }] },
      ...calls.map((name) => ({ type: "AI" as const, toolExecutionRequests: [{ name, arguments: "{}" }] })),
      ...results.map(([toolName, text]) => ({
        type: "TOOL_EXECUTION_RESULT" as const,
        toolName,
        contents: [{ type: "TEXT" as const, text }],
      })),
    ];
    expect(pairsOf(messages, langchain4jConversion)).toEqual([
      ...["a is tool_1_0", "a is tool_2_0", "b is tool_3_0"],
      ...["tool_3_0: B", "tool_1_0: first", "tool_2_0: second"],
    ]);
  });
});

test.each<[string, readonly string[], Readonly<Record<string, unknown>>]>([
  ["in their order", ["search", "read"], { search: "search says", read: "read says" }],
  ["in another", ["read", "search"], { search: "search says", read: "read says" }],
  ["one alone", ["read"], { search: undefined, read: "read says" }],
])("calls of a UI message that share an id get their tools' results, %s", (_, answered, outputs) => {
  const conversation = [
    {
      role: "assistant" as const,
      content: ["search", "read"].map((toolName) => ({
        type: "tool-call" as const,
        toolCallId: "1",
        toolName,
        input: {},
      })),
    },
    {
      role: "tool" as const,
      content: answered.map((toolName) => ({
        type: "tool-result" as const,
        toolCallId: "1",
        toolName,
        output: { type: "text" as const, value: `${toolName} says` },
      })),
    },
  ];
  const { messages, lost } = convert(conversation, {
    from: modelMessageConversion,
    to: uiMessageConversion(),
  });
  const shown = messages.flatMap(({ parts }) =>
    (parts as { type: string; output?: unknown }[]).map(({ type, output }) => [type.slice(5), output]),
  );
  expect(Object.fromEntries(shown)).toEqual(outputs);
  expect(lost).toEqual([]);
});
