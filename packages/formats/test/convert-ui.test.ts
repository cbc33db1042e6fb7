import type { ModelMessage } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { uiMessageConversion } from "../src/ai-sdk.ts";
import { convert, modelMessageConversion } from "../src/convert.ts";
import { langchain4jConversion } from "../src/langchain4j.ts";
import { openaiConversion } from "../src/openai.ts";

type ToolContent = Extract<ModelMessage, { role: "tool" }>["content"][number];

const answering = (...content: ToolContent[]): ModelMessage => ({ role: "tool", content });
const result = (value: string): ToolContent => ({
  type: "tool-result",
  toolCallId: "call-1",
  toolName: "add",
  output: { type: "text", value },
});
const denial: ToolContent = {
  type: "tool-result",
  toolCallId: "call-1",
  toolName: "add",
  output: { type: "execution-denied", reason: "No." },
};
const response = (approvalId: string, approved: boolean): ToolContent => ({
  type: "tool-approval-response",
  approvalId,
  approved,
});
const asking = (...approvalIds: string[]): ModelMessage => ({
  role: "assistant",
  content: approvalIds.map((approvalId) => ({
    type: "tool-approval-request" as const,
    approvalId,
    toolCallId: "call-1",
  })),
});

describe("UI messages", () => {
  it("lose a call that is not whole, and not the result of another with its id", () => {
    const id = "functions.search:0";
    const search = { type: "tool-search", toolCallId: id, input: { q: "a" } };
    const messages = [
      { id: "1", role: "assistant" as const, parts: [{ ...search, state: "input-streaming" }] },
      { id: "2", role: "user" as const, parts: [{ type: "text", text: "Again." }] },
      { id: "3", role: "assistant" as const, parts: [{ ...search, state: "output-available", output: "b" }] },
    ];
    const asked = { type: "function", id, function: { name: "search", arguments: '{"q":"a"}' } };
    expect(convert(messages, { from: uiMessageConversion(), to: openaiConversion })).toEqual({
      messages: [
        { role: "user", content: "Again." },
        { role: "assistant", content: null, tool_calls: [asked] },
        { role: "tool", tool_call_id: id, content: "b" },
      ],
      lost: [{ index: 0, kind: "tool-search" }],
    });
  });

  const tool = (members: object) => ({ type: "tool-add", toolCallId: "call-1", input: { a: 2 }, ...members });
  const answer = (...parts: unknown[]) => [{ id: "m", role: "assistant" as const, parts: parts as never[] }];
  const from = uiMessageConversion();

  it("are read step by step", () => {
    const steps = answer(
      { type: "step-start" },
      { type: "text", text: "Let me see." },
      tool({ state: "output-available", output: { b: 4 } }),
      { type: "step-start" },
      { type: "text", text: "4." },
    );
    const { messages } = convert(steps, { from, to: openaiConversion });
    expect(messages).toEqual([
      {
        role: "assistant",
        content: "Let me see.",
        tool_calls: [{ type: "function", id: "call-1", function: { name: "add", arguments: '{"a":2}' } }],
      },
      { role: "tool", tool_call_id: "call-1", content: '{"b":4}' },
      { role: "assistant", content: "4." },
    ]);
  });

  it("give the model's approvals, and take them back", () => {
    const approval = { id: "ok-1", approved: true, reason: "Fine.", signature: "s" };
    const asked = answer(tool({ state: "output-available", output: 4, approval }));
    const { messages, lost } = convert(asked, { from, to: modelMessageConversion });
    expect(lost).toEqual([]);
    expect(messages).toEqual([
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: "call-1", toolName: "add", input: { a: 2 } },
          { type: "tool-approval-request", approvalId: "ok-1", toolCallId: "call-1", signature: "s" },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-approval-response", approvalId: "ok-1", approved: true, reason: "Fine." },
          { type: "tool-result", toolCallId: "call-1", toolName: "add", output: { type: "json", value: 4 } },
        ],
      },
    ]);
    const back = convert(messages, { from: modelMessageConversion, to: from });
    expect(back).toEqual({ messages: asked.map((message) => ({ ...message, id: "message-1" })), lost: [] });
  });

  it.each<[string, object]>([
    ["that is asked for", { state: "approval-requested", approval: { id: "ok-1" } }],
    [
      "that is asked for with a reason",
      {
        state: "approval-requested",
        approval: { id: "ok-1", isAutomatic: false, inputSchemaInput: { a: 1 }, requestReason: "It costs." },
      },
    ],
    ["that was refused", { state: "approval-responded", approval: { id: "ok-1", approved: false } }],
    [
      "that was refused for a reason",
      { state: "output-denied", approval: { id: "ok-1", approved: false, reason: "Too much." } },
    ],
    ["that was refused for none", { state: "output-denied", approval: { id: "ok-1", approved: false } }],
    ["of a call that failed", { state: "output-error", errorText: "No." }],
    [
      "of a call that the provider ran",
      {
        state: "output-available",
        output: "found",
        providerExecuted: true,
        callProviderMetadata: { openai: { itemId: "c" } },
        resultProviderMetadata: { openai: { itemId: "r" } },
      },
    ],
  ])("bring back the part %s", (_, members) => {
    const parts = answer(tool(members));
    const there = convert(parts, { from, to: modelMessageConversion });
    const back = convert(there.messages, { from: modelMessageConversion, to: from });
    expect([there.lost, back.lost]).toEqual([[], []]);
    expect(back.messages).toEqual(parts.map((message) => ({ ...message, id: "message-1" })));
  });

  it("tell errors and denials", () => {
    const said: ModelMessage[] = [
      {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: "call-1", toolName: "add", input: { a: 2 } }],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "call-1",
            toolName: "add",
            output: { type: "error-json", value: { no: 1 } },
          },
        ],
      },
      {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: "call-1", toolName: "add", input: { a: 2 } }],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "call-1",
            toolName: "add",
            output: { type: "execution-denied", reason: "No." },
          },
        ],
      },
    ];
    const { messages, lost } = convert(said, { from: modelMessageConversion, to: from });
    expect(lost).toEqual([]);
    expect(messages).toEqual([
      {
        id: "message-1",
        role: "assistant",
        parts: [
          tool({ state: "output-error", errorText: '{"no":1}' }),
          { type: "step-start" },
          tool({ state: "output-denied", approval: { id: "call-1", approved: false, reason: "No." } }),
        ],
      },
    ]);
  });

  it.each<[string, ModelMessage[], object, string[]]>([
    [
      "a second result",
      [answering(result("r1"), result("r2"))],
      { state: "output-available", output: "r1" },
      ["tool-result"],
    ],
    [
      "a second request, and a second response",
      [asking("ok-1", "ok-2"), answering(response("ok-1", true), response("ok-1", false), result("r1"))],
      { state: "output-available", output: "r1", approval: { id: "ok-1", approved: true } },
      ["tool-approval-request", "tool-approval-response"],
    ],
    [
      "an approval that came behind the result",
      [answering(result("r1")), asking("ok-1"), answering(response("ok-1", true))],
      { state: "output-available", output: "r1" },
      ["tool-approval-request", "tool-approval-response"],
    ],
    [
      "an approval that was asked for in vain",
      [asking("ok-1"), answering(result("r1"))],
      { state: "output-available", output: "r1" },
      ["tool-result.approval"],
    ],
    [
      "what a response holds that the call's part has no place for",
      [
        asking("ok-1"),
        answering({ ...response("ok-1", true), ...{ providerExecuted: true, note: "x" } }, result("r1")),
      ],
      { state: "output-available", output: "r1", approval: { id: "ok-1", approved: true } },
      ["tool-approval-response.providerExecuted", "tool-approval-response.note"],
    ],
    [
      "an approval of a call that was denied",
      [asking("ok-1"), answering(response("ok-1", true), denial)],
      { state: "output-denied", approval: { id: "ok-1", approved: false, reason: "No." } },
      ["tool-result.approval"],
    ],
    [
      "the reason of a response, where the denial gives another",
      [asking("ok-1"), answering({ ...response("ok-1", false), ...{ reason: "Too much." } }, denial)],
      { state: "output-denied", approval: { id: "ok-1", approved: false, reason: "No." } },
      ["tool-result.approval"],
    ],
    [
      "a refusal of a call that was carried out",
      [asking("ok-1"), answering(response("ok-1", false), result("r1"))],
      { state: "output-available", output: "r1" },
      ["tool-result.approval"],
    ],
  ])("keep the first answer of a call, and tell %s", (_, behind, members, kinds) => {
    const call: ModelMessage = {
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: "call-1", toolName: "add", input: { a: 2 } }],
    };
    const { messages, lost } = convert([call, ...behind], { from: modelMessageConversion, to: from });
    const [written] = messages as { readonly parts: readonly { readonly type: string }[] }[];
    expect(written?.parts.filter(({ type }) => type !== "step-start")).toEqual([tool(members)]);
    expect(lost.map(({ kind }) => kind)).toEqual(kinds);
  });

  it.each<[string, ModelMessage]>([
    ["the user said more", { role: "user", content: "Well?" }],
    ["the assistant said more", { role: "assistant", content: "Wait." }],
  ])("hold a result in its call's part, also where %s before it came", (_, between) => {
    const call: ModelMessage = {
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: "call-1", toolName: "add", input: { a: 2 } }],
    };
    const said = [call, between, asking("ok-1"), answering(response("ok-1", true), result("r1"))];
    const { messages, lost } = convert(said, { from: modelMessageConversion, to: from });
    expect(lost).toEqual([]);
    const [first, second, ...more] = messages as { readonly role: string; readonly parts: object[] }[];
    const approval = { id: "ok-1", approved: true };
    expect(first?.parts).toEqual([tool({ state: "output-available", output: "r1", approval })]);
    expect([second?.role, second?.parts.length, more]).toEqual([between.role, 1, []]);
  });

  it("lose a result that answers no call before it", () => {
    const result = {
      type: "tool-result" as const,
      toolCallId: "call-1",
      toolName: "add",
      output: { type: "text" as const, value: "4" },
    };
    const messages: ModelMessage[] = [
      { role: "assistant", content: "4." },
      { role: "tool", content: [result] },
    ];
    expect(convert(messages, { from: modelMessageConversion, to: from }).lost).toEqual([
      { index: 1, kind: "tool-result" },
    ]);
  });

  it("keep an approval's id, whatever else the request holds", () => {
    const request = { type: "tool-approval-request", approvalId: "ok-1", toolCallId: "call-1", id: "other" };
    const call = { type: "tool-call", toolCallId: "call-1", toolName: "add", input: {} };
    const message = { role: "assistant", content: [call, request] } as ModelMessage;
    const { messages } = convert([message], { from: modelMessageConversion, to: from });
    expect(messages).toMatchObject([{ parts: [{ approval: { id: "ok-1" } }] }]);
  });

  it("read data parts as the application shows them to the model", () => {
    const told = { id: "m", role: "user" as const, parts: [{ type: "data-city", data: "Oslo" } as never] };
    const plain = convert([told], { from, to: openaiConversion });
    expect(plain).toEqual({ messages: [], lost: [{ index: 0, kind: "data-city" }] });
    const shown = uiMessageConversion({ convertDataPart: ({ data }) => ({ type: "text", text: data }) });
    expect(convert([told], { from: shown, to: openaiConversion })).toEqual({
      messages: [{ role: "user", content: "Oslo" }],
      lost: [],
    });
  });
});

describe("LangChain4j's messages", () => {
  it("get ids for calls that have none, by the names that pair them", () => {
    const call = { name: "add", arguments: "{}" };
    const result = (text: string) => ({
      type: "TOOL_EXECUTION_RESULT" as const,
      toolName: "add",
      contents: [{ type: "TEXT" as const, text }],
    });
    const messages = [{ type: "AI" as const, toolExecutionRequests: [call, call] }, result("1"), result("2")];
    const { messages: chat, lost } = convert(messages, { from: langchain4jConversion, to: openaiConversion });
    expect(lost).toEqual([]);
    const ids = chat.flatMap((message) => openaiConversion.format.toolCalls(message).map(({ id }) => id));
    expect(ids).toEqual(["tool_0_0", "tool_0_1"]);
    expect(chat.slice(1)).toEqual([
      { role: "tool", tool_call_id: "tool_0_0", content: "1" },
      { role: "tool", tool_call_id: "tool_0_1", content: "2" },
    ]);
  });

  it("have one text and one thinking each", () => {
    const answer: ModelMessage = {
      role: "assistant",
      content: [
        { type: "reasoning", text: "a" },
        { type: "reasoning", text: "b" },
        { type: "text", text: "c" },
        { type: "text", text: "d" },
      ],
    };
    expect(convert([answer], { from: modelMessageConversion, to: langchain4jConversion })).toEqual({
      messages: [{ type: "AI", text: "c\n\nd", thinking: "a\n\nb" }],
      lost: [],
    });
  });

  it("lose a blank system message", () => {
    expect(
      convert([{ role: "system", content: " " }], {
        from: modelMessageConversion,
        to: langchain4jConversion,
      }),
    ).toEqual({ messages: [], lost: [{ index: 0, kind: "text" }] });
  });
});
