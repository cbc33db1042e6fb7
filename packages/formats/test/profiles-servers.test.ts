import {
  assistant,
  createChatMemory,
  modelMessageFormat,
  system,
  toolCall,
  toolResult,
  user,
} from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { type AnthropicMessage, anthropicFormat } from "../src/anthropic.ts";
import { type OllamaMessage, ollamaFormat } from "../src/ollama.ts";
import { minimax, ollama, qwen, validate, xai } from "../src/profiles.ts";

describe("what servers refuse that speak another provider's protocol", () => {
  it("MiniMax: what the user says beside results", async () => {
    const call = { type: "tool_use" as const, id: "toolu_1", name: "t", input: {} };
    const result = { type: "tool_result" as const, tool_use_id: "toolu_1", content: "ok" };
    const said: AnthropicMessage[] = [
      { role: "user", content: "a" },
      { role: "assistant", content: [call] },
      { role: "user", content: [result, { type: "text", text: "And?" }] },
    ];
    expect(validate(said, minimax, { format: anthropicFormat })).toMatchObject([
      { rule: "answer-after-results", index: 2 },
    ]);
    const memory = createChatMemory({ format: anthropicFormat, profile: minimax });
    await memory.add(...said);
    const view = await memory.messages();
    expect(view).toEqual([
      ...said.slice(0, 2),
      { role: "user", content: [result] },
      { role: "assistant", content: "(No answer was given.)" },
      { role: "user", content: [{ type: "text", text: "And?" }] },
    ]);
    expect(validate(view, minimax, { format: anthropicFormat })).toEqual([]);
  });

  it("MiniMax: several calls of one message, and their results in another", async () => {
    const use = (id: string) => ({ type: "tool_use" as const, id, name: "t", input: {} });
    const result = (id: string) => ({
      type: "tool_result" as const,
      tool_use_id: id,
      content: `text of ${id}`,
    });
    const thought = { type: "thinking" as const, thinking: "Hm.", signature: "s" };
    const said: AnthropicMessage[] = [
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: [thought, { type: "text", text: "I look." }, use("1"), use("2"), use("3")],
      },
      { role: "user", content: [result("2"), result("1"), result("3")] },
      { role: "assistant", content: "Done." },
      { role: "user", content: "b" },
      { role: "assistant", content: [use("4")] },
      { role: "user", content: [result("4")] },
    ];
    expect(validate(said, minimax, { format: anthropicFormat })).toMatchObject([
      { rule: "calls-apart", index: 1, problem: "a message makes several calls" },
    ]);
    const memory = createChatMemory({ format: anthropicFormat, profile: minimax });
    await memory.add(...said);
    const view = await memory.messages();
    expect(view).toEqual([
      said[0],
      { role: "assistant", content: [thought, { type: "text", text: "I look." }, use("1")] },
      { role: "user", content: [result("1")] },
      { role: "assistant", content: [use("2")] },
      { role: "user", content: [result("2")] },
      { role: "assistant", content: [use("3")] },
      { role: "user", content: [result("3")] },
      ...said.slice(3),
    ]);
    expect(validate(view, minimax, { format: anthropicFormat })).toEqual([]);
  });

  it("MiniMax: each part of a message that is taken apart stands in one of those that it becomes", async () => {
    const block = (value: object) => value as Exclude<AnthropicMessage["content"], string>[number];
    const use = (id: string) => block({ type: "tool_use", id, name: "t", input: {} });
    const result = (id: string, content: unknown = "ok") =>
      block({ type: "tool_result", tool_use_id: id, content });
    const found = (text: string) => {
      const source = { type: "search_result", source: "https://example.org", title: "Found" };
      return block({ ...source, content: [{ type: "text", text }] });
    };
    const hologram = block({ type: "hologram", of: "a part that no format knows" });
    const said: AnthropicMessage[] = [
      { role: "user", content: "a" },
      { role: "assistant", content: [hologram, use("1"), use("2"), use("3")] },
      {
        role: "user",
        content: [result("1", [found("one")]), result("2"), result("3"), found("more"), hologram],
      },
    ];
    const memory = createChatMemory({ format: anthropicFormat, profile: minimax });
    await memory.add(...said);
    const view = await memory.messages();
    expect(view).toEqual([
      said[0],
      { role: "assistant", content: [hologram, use("1")] },
      { role: "user", content: [result("1", [found("one")])] },
      { role: "assistant", content: [use("2")] },
      { role: "user", content: [result("2")] },
      { role: "assistant", content: [use("3")] },
      { role: "user", content: [result("3")] },
      { role: "assistant", content: "(No answer was given.)" },
      { role: "user", content: [found("more"), hologram] },
    ]);
    expect(validate(view, minimax, { format: anthropicFormat })).toEqual([]);
  });

  it("MiniMax: calls of the AI SDK, one of which was interrupted and two of which share an id", async () => {
    const part = (id: string) => ({ type: "tool-call" as const, toolCallId: id, toolName: "t", input: {} });
    const memory = createChatMemory({ profile: minimax });
    await memory.add(user("a"), assistant([part("1"), part("1"), part("2")]));
    await memory.add(toolResult("1", "t", "rain"), toolResult("1", "t", "sun"), user("b"));
    const view = await memory.messages();
    expect(view.map(({ role }) => role)).toEqual([
      ...["user", "assistant", "tool", "assistant", "tool", "assistant", "tool", "assistant", "user"],
    ]);
    expect(JSON.stringify(view[2])).toContain("rain");
    expect(JSON.stringify(view[4])).toContain("sun");
    expect(JSON.stringify(view[6])).toContain("interrupted");
    expect(validate(view, minimax, { format: modelMessageFormat })).toEqual([]);
  });

  it("xAI: an empty text, and a result that says nothing", async () => {
    const memory = createChatMemory({ profile: xai });
    await memory.add(user("a"), assistant(""), user(" "), toolCall("c", "t", {}), toolResult("c", "t", ""));
    expect(await memory.messages()).toEqual([
      user("a"),
      user("(An empty message.)"),
      toolCall("c", "t", {}),
      toolResult("c", "t", "The tool said nothing."),
    ]);
  });

  it("Ollama: an input that is no object, and a call of another provider's own", async () => {
    const thought = { type: "reasoning" as const, text: "Hm." };
    const searched = {
      type: "tool-call" as const,
      toolCallId: "ws_1",
      toolName: "search",
      input: {},
      providerExecuted: true,
    };
    const asked = { type: "tool-call" as const, toolCallId: "c", toolName: "t", input: "{" };
    const said = [user("a"), assistant([thought, searched, asked]), toolResult("c", "t", "ok"), user("b")];
    expect(validate(said, ollama, { format: modelMessageFormat }).map(({ rule }) => rule)).toEqual([
      "provider-calls",
      "call-input",
    ]);
    const memory = createChatMemory({ profile: ollama });
    await memory.add(...said);
    const view = await memory.messages();
    expect(view).toEqual([
      said[0],
      assistant([thought, { ...asked, input: { rawInvalidInput: "{" } }]),
      ...said.slice(2),
    ]);
    expect(validate(view, ollama, { format: modelMessageFormat })).toEqual([]);
    expect(validate([], ollama, { format: modelMessageFormat })).toMatchObject([{ rule: "not-empty" }]);
  });

  it("Ollama: what its documents send, to calls that its server gave ids", async () => {
    const said: OllamaMessage[] = [
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: "",
        thinking: "Hm.",
        tool_calls: [{ id: "call_1", function: { name: "t", arguments: {} } }],
      },
      { role: "tool", tool_name: "t", content: "22" },
    ];
    expect(validate(said, ollama, { format: ollamaFormat })).toEqual([]);
    const memory = createChatMemory({ format: ollamaFormat, profile: ollama });
    await memory.add(...said);
    expect(await memory.messages()).toEqual([...said.slice(0, 2), { ...said[2], tool_call_id: "call_1" }]);
  });

  it("Qwen: a system message that is not first, and a role twice in a row", async () => {
    const thought = { type: "reasoning" as const, text: "Hm." };
    const list = [
      user("a"),
      assistant([thought, { type: "text", text: "b" }]),
      user("c"),
      user("d"),
      system("s"),
    ];
    const memory = createChatMemory({ profile: qwen });
    await memory.add(...list);
    const [first, ...rest] = await memory.messages();
    expect(first).toEqual(system("s"));
    expect(rest.slice(0, 2)).toEqual(list.slice(0, 2));
    expect(rest).toHaveLength(3);
  });
});
