import {
  assistant,
  createChatMemory,
  modelMessageFormat as format,
  type ModelMessage,
  user,
} from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { type UIMessageLike, uiMessageFormat } from "../src/ai-sdk.ts";
import {
  anthropic,
  bedrock,
  gemini,
  mistral,
  openai,
  openaiResponses,
  profileOf,
  strict,
  validate,
} from "../src/profiles.ts";

/** What `@ai-sdk/openai` 4.0.118 makes of what a reasoning model of the Responses API answers. */
const reasoning = {
  type: "reasoning" as const,
  text: "hm",
  providerOptions: { openai: { itemId: "rs_1", reasoningEncryptedContent: null } },
};
const run = { type: "tool-call" as const, input: {}, providerExecuted: true };
const image = [
  { ...run, toolCallId: "ig_1", toolName: "image_generation" },
  {
    type: "tool-result" as const,
    toolCallId: "ig_1",
    toolName: "image_generation",
    output: { type: "json" as const, value: { result: "aGk=" } },
  },
];
const request = [
  { ...run, toolCallId: "dummy1", toolName: "mcp.echo" },
  { type: "tool-approval-request" as const, approvalId: "mcpr_1", toolCallId: "dummy1" },
];
const asks = assistant([reasoning, ...request]);
const approves: ModelMessage = {
  role: "tool",
  content: [{ type: "tool-approval-response", approvalId: "mcpr_1", approved: true, providerExecuted: true }],
};

describe("what OpenAI ran behind its reasoning", () => {
  it("stays, although the answer says nothing else", async () => {
    const messages = [user("a"), assistant([reasoning, ...image]), user("b")];
    const memory = createChatMemory({ profile: openaiResponses });
    await memory.add(...messages);
    expect(await memory.messages()).toEqual(messages);
    expect(validate(messages, openaiResponses, { format })).toEqual([]);
  });

  it("may wait for an approval that came", async () => {
    for (const messages of [
      [user("a"), asks, approves],
      [user("a"), asks, approves, assistant("b"), user("c")],
    ]) {
      const memory = createChatMemory({ profile: openaiResponses });
      await memory.add(...messages);
      expect(await memory.messages()).toEqual(messages);
      expect(validate(messages, openaiResponses, { format })).toEqual([]);
    }
  });

  it("goes with its reasoning where nobody answered the request, since the API is sent the reasoning alone", async () => {
    const memory = createChatMemory({ profile: openaiResponses });
    await memory.add(user("a"), asks, user("b"));
    expect(await memory.messages()).toEqual([user("a"), user("b")]);
  });

  it("goes with the approval that it got where another provider is asked", async () => {
    for (const profile of [openai, anthropic, gemini, mistral, strict]) {
      const memory = createChatMemory({ profile });
      await memory.add(user("a"), asks, approves, assistant("b"), user("c"));
      expect(JSON.stringify(await memory.messages()), profile.name).not.toContain("mcpr_1");
    }
  });

  it("goes with the approval that it got where reasoning that led to nothing takes it along", async () => {
    const brokenOff = assistant([reasoning, ...request, { ...reasoning, text: "b" }]);
    const memory = createChatMemory({ profile: openaiResponses });
    await memory.add(user("a"), brokenOff, approves, user("c"));
    expect(await memory.messages()).toEqual([user("a"), user("c")]);
  });
});

it("an answer of nothing but an image leaves the user's messages together where roles must alternate", async () => {
  const memory = createChatMemory({ profile: bedrock });
  const made = assistant([{ type: "file", data: "aGk=", mediaType: "image/png" }]);
  await memory.add(user("a"), made, user("b"));
  expect(await memory.messages()).toEqual([
    user([
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ]),
  ]);
});

describe("an answer of UI messages that broke off behind a result", () => {
  const ui = uiMessageFormat();
  const said = (id: string, role: "user" | "assistant", part: object): UIMessageLike =>
    ({ id, role, parts: [part] }) as UIMessageLike;
  const text = (id: string, role: "user" | "assistant") => said(id, role, { type: "text", text: id });
  const call = { type: "tool-find", toolCallId: "abcDEF123", input: {} };
  const noAnswer = { role: "assistant", parts: [{ type: "text", text: "(No answer was given.)" }] };

  it.each([
    ["answered", { ...call, state: "output-available", output: "found" }],
    ["failed", { ...call, state: "output-error", errorText: "no" }],
    ["cut off by a crash", { ...call, state: "input-available" }],
  ])("is kept from the user's next message: %s", async (_, part) => {
    const messages = [text("a", "user"), said("b", "assistant", part), text("c", "user")];
    for (const profile of [mistral, strict]) {
      const memory = createChatMemory({ format: ui, profile });
      await memory.add(...messages);
      const view = await memory.messages();
      expect(JSON.stringify(view), profile.name).toContain("(No answer was given.)");
      expect(validate(view, profile, { format: ui })).toEqual([]);
    }
    const memory = createChatMemory({ format: ui, profile: mistral });
    await memory.add(...messages);
    const view = await memory.messages();
    expect(view).toMatchObject([{ id: "a" }, { id: "b" }, noAnswer, { id: "c" }]);
    expect(validate(view.toSpliced(2, 1), mistral, { format: ui })).toMatchObject([
      { rule: "answer-after-results", index: 2 },
    ]);
  });

  it("has its answer behind results of what the provider ran itself", async () => {
    const ordered = profileOf("ordered", [{ rule: "answer-after-results", source: "https://example.com" }]);
    const ran = { ...call, state: "output-available", output: "found", providerExecuted: true };
    const messages = [text("a", "user"), said("b", "assistant", ran), text("c", "user")];
    const memory = createChatMemory({ format: ui, profile: ordered });
    await memory.add(...messages);
    expect(await memory.messages()).toEqual(messages);
  });
});
