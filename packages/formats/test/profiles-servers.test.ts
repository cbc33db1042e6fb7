import { assistant, createChatMemory, system, toolCall, toolResult, user } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { type AnthropicMessage, anthropicFormat } from "../src/anthropic.ts";
import { minimax, qwen, validate, xai } from "../src/profiles.ts";

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
