import { createChatMemory, type MessageFormat } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { uiMessageFormat } from "../src/ai-sdk.ts";
import { type AnthropicMessage, anthropicFormat } from "../src/anthropic.ts";
import { langchain4jFormat } from "../src/langchain4j.ts";
import { type ChatMessage, openaiFormat } from "../src/openai.ts";
import { openaiResponsesFormat, type ResponsesItem } from "../src/openai-responses.ts";
import { anthropic, gemini, openai, openaiResponses, type ProfileRules, validate } from "../src/profiles.ts";

const first = "Never name a person.";
const second = "The counter is closed.";
const question = { role: "user" as const, content: "May I come?" };

it.each<[string, MessageFormat<never>]>([
  ["openai-chat", openaiFormat as MessageFormat<never>],
  ["openai-responses", openaiResponsesFormat as MessageFormat<never>],
  ["anthropic-messages", anthropicFormat as MessageFormat<never>],
  ["ai-sdk-ui-message", uiMessageFormat() as MessageFormat<never>],
])("%s says that later system messages stay where they were said", (name, format) => {
  expect(format.name).toBe(name);
  expect(format.systemMessages).toBe("positioned");
  expect(langchain4jFormat.systemMessages).toBeUndefined();
});

describe.each([
  ["chat", openaiFormat, openai, "system"],
  ["chat", openaiFormat, openai, "developer"],
  ["Responses", openaiResponsesFormat, openaiResponses, "developer"],
] as const)("OpenAI's %s messages", (_, format, profile, role) => {
  it(`of the role ${role} are shown as they were said`, async () => {
    const memory = createChatMemory({ format: format as MessageFormat<ChatMessage>, profile });
    const said: ChatMessage[] = [
      { role, content: first },
      { role: "user", content: "Which form?" },
      { role: "assistant", content: "Form 7." },
      { role, content: second },
      question,
    ];
    await memory.add(...said);
    expect(await memory.messages()).toEqual(said);
    const { system, messages } = await memory.prompt();
    expect([system, ...messages]).toEqual(said);
  });
});

describe("Anthropic's messages", () => {
  const said: AnthropicMessage[] = [
    { role: "user", content: "Which form?" },
    { role: "assistant", content: "Form 7." },
    question,
    { role: "system", content: second },
  ];

  it("hold instructions where the newest models take them", async () => {
    const memory = createChatMemory({ format: anthropicFormat, profile: anthropic });
    await memory.add({ role: "system", content: first }, ...said);
    expect(await memory.prompt()).toEqual({ system: { role: "system", content: first }, messages: said });
    expect(validate(said, anthropic, { format: anthropicFormat })).toEqual([]);
  });

  it("take one that was said before the question, behind it", async () => {
    const memory = createChatMemory({ format: anthropicFormat, profile: anthropic });
    await memory.add(...said.slice(0, 2), { role: "system", content: second }, question);
    expect(await memory.messages()).toEqual(said);
    expect((await memory.prompt()).system).toBeUndefined();
    const answer: AnthropicMessage = { role: "assistant", content: "Tomorrow." };
    await memory.add(answer);
    expect((await memory.messages()).slice(0, 5)).toEqual([...said, answer]);
  });

  it("are notes for a provider that takes no instruction there", async () => {
    const memory = createChatMemory({ format: anthropicFormat, profile: gemini });
    await memory.add({ role: "system", content: first }, ...said);
    const { system, messages } = await memory.prompt();
    expect(system).toEqual({ role: "system", content: first });
    expect(JSON.stringify(messages.at(-1))).toContain(`System note: ${second}`);
    expect(validate(await memory.messages(), gemini, { format: anthropicFormat })).toEqual([]);
  });

  it("that also change tools are notes of what they say alone", async () => {
    const memory = createChatMemory({ format: anthropicFormat, profile: gemini });
    const content = [
      { type: "text", text: "Use it." },
      { type: "tool_addition", tool: { type: "tool_reference", name: "a" } },
    ];
    await memory.add(question, { role: "system", content } as unknown as AnthropicMessage);
    const [shown] = await memory.messages();
    expect(shown?.content).toEqual([
      { type: "text", text: question.content },
      { type: "text", text: "System note: Use it." },
    ]);
  });

  const setting = (effort: string, ...content: object[]): AnthropicMessage =>
    ({ role: "system", content, output_config: { effort } }) as unknown as AnthropicMessage;
  const change = (type: string, tool: object): AnthropicMessage =>
    ({ role: "system", content: [{ type, tool }] }) as unknown as AnthropicMessage;
  const named = (name: string): object => ({ type: "tool_reference", name });
  const defined = (name: string): object => ({
    type: "tool_definition",
    definition: { name, input_schema: {} },
  });

  it("that set an effort stay while it is in force, and may stand anywhere", async () => {
    const memory = createChatMemory({
      format: anthropicFormat,
      profile: anthropic,
      window: { maxMessages: 4 },
    });
    await memory.add({ role: "system", content: first }, setting("low"), { role: "user", content: "1" });
    expect(await memory.prompt()).toEqual({
      system: { role: "system", content: first },
      messages: [setting("low"), { role: "user", content: "1" }],
    });
    await memory.add({ role: "assistant", content: "2" }, setting("high"), question);
    expect((await memory.prompt()).messages).toEqual([setting("high"), question]);
  });

  it("that change tools are shown as what is left of them", () => {
    const net = (...messages: AnthropicMessage[]) => anthropicFormat.inForce?.(messages);
    const removal = change("tool_removal", named("a"));
    expect(net(removal)?.[0]).toBe(removal);
    expect(net(change("tool_addition", named("a")), removal)).toEqual([removal]);
    expect(net(change("tool_addition", defined("a")), removal)).toEqual([]);
    expect(net(change("tool_addition", defined("a")), removal, change("tool_addition", named("a")))).toEqual([
      change("tool_addition", defined("a")),
    ]);
    expect(net(setting("low", { type: "text", text: "For now." }), removal)).toEqual([
      setting("low", ...(removal.content as object[])),
    ]);
    expect(net({ role: "system", content: first })).toEqual([]);
  });
});

describe("items that set something", () => {
  const update = (effort: "low" | "high"): ResponsesItem => ({
    type: "configuration_update",
    reasoning: { effort },
  });
  const tools = (...names: string[]): ResponsesItem => ({
    type: "additional_tools",
    role: "developer",
    tools: names.map((name) => ({ type: "function" as const, name, parameters: {}, strict: null })),
  });

  it("stay in force when what stood beside them has left, and are never two in a row", async () => {
    const memory = createChatMemory({
      format: openaiResponsesFormat,
      profile: openaiResponses,
      window: { maxMessages: 6, target: 0.7 },
    });
    await memory.add({ role: "developer", content: first }, update("low"), tools("a"), question);
    await memory.add({ role: "assistant", content: "1" }, update("high"), tools("b"), question);
    const view = await memory.messages();
    expect(view).toEqual([{ role: "developer", content: first }, tools("a", "b"), update("high"), question]);
    expect(validate(view, openaiResponses, { format: openaiResponsesFormat })).toEqual([]);
  });
});

it("what is set before a provider's compaction leaves with what it stands for", async () => {
  const memory = createChatMemory({ format: openaiResponsesFormat, profile: openaiResponses });
  const low: ResponsesItem = { type: "configuration_update", reasoning: { effort: "low" } };
  const compaction: ResponsesItem = { type: "compaction", encrypted_content: "x" };
  await memory.add({ role: "developer", content: first }, low, question, compaction, question);
  expect(await memory.messages()).toEqual([{ role: "developer", content: first }, compaction, question]);
});

it("UI messages set what the options of their texts set", () => {
  const format = uiMessageFormat();
  const effort = (level: string) => ({
    id: "",
    role: "system" as const,
    parts: [{ type: "text", text: "", providerMetadata: { openai: { reasoningEffortUpdate: level } } }],
  });
  const said = { id: "1", role: "system" as const, parts: [{ type: "text", text: first }] };
  expect(format.sets?.(effort("low"))).toEqual(["openai.reasoningEffortUpdate"]);
  expect(format.sets?.(said)).toEqual([]);
  expect(format.inForce?.([effort("low"), said, effort("high")])).toEqual([effort("high")]);
});

it("UI messages that set something leave a call open whose approval was put in its place since", async () => {
  const call = { type: "tool-pay", toolCallId: "c", input: {} };
  const answer = (state: string, approval: object) => ({
    id: "2",
    role: "assistant" as const,
    parts: [{ ...call, state, approval: { id: "ok", ...approval } }],
  });
  const asked = { id: "1", role: "user" as const, parts: [{ type: "text", text: "Pay." }] };
  const setting = {
    id: "3",
    role: "system" as const,
    parts: [{ type: "text", text: "", providerMetadata: { openai: { reasoningEffortUpdate: "low" } } }],
  };
  const memory = createChatMemory({ format: uiMessageFormat(), profile: openai });
  await memory.add(asked);
  await memory.put("2", answer("approval-requested", {}));
  await memory.add(setting);
  const approved = answer("approval-responded", { approved: true });
  await memory.put("2", approved);
  expect(await memory.messages()).toEqual([asked, setting, approved]);
});

it("a list that a provider takes breaks no rule of its profile", () => {
  const effort = {
    role: "system",
    content: [],
    output_config: { effort: "low" },
  } as unknown as AnthropicMessage;
  const taken: [AnthropicMessage[], ProfileRules][] = [
    [[effort, question], anthropic],
    [[question, effort, question], anthropic],
    [[question, { role: "system", content: first }, { role: "system", content: second }], anthropic],
    [
      [question, { role: "system", content: first }, { role: "assistant", content: "No." }, question],
      anthropic,
    ],
  ];
  for (const [messages, profile] of taken)
    expect(validate(messages, profile, { format: anthropicFormat })).toEqual([]);
});
