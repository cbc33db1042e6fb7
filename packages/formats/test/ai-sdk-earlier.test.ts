import type { UIMessage as UIMessage4 } from "@ai-sdk/ui-utils";
import { createChatMemory, type ModelMessageLike, modelMessageFormat } from "@turnkeep/core";
import * as ai5 from "ai5";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type UIMessage4Like,
  type UIMessageLike,
  uiMessageConversion,
  uiMessageFormat,
  uiMessagesOfVersion4,
} from "../src/ai-sdk.ts";
import { convert, modelMessageConversion } from "../src/convert.ts";
import { told } from "./conversions.ts";

const conversion = { from: uiMessageConversion(), to: modelMessageConversion };
const url = "data:image/png;base64,iVBORw0KGgo=";

describe("what the AI SDK 5 stored", () => {
  const question: ai5.UIMessage = {
    id: "1",
    role: "user",
    metadata: { createdAt: 1 },
    parts: [
      { type: "text", text: "Weather in Ulm and Rome?" },
      { type: "file", mediaType: "image/png", filename: "a.png", url },
    ],
  };
  const answer: ai5.UIMessage = {
    id: "2",
    role: "assistant",
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "Hm.", state: "done", providerMetadata: { anthropic: { signature: "s" } } },
      {
        type: "tool-weather",
        toolCallId: "a",
        state: "output-available",
        input: { city: "Ulm" },
        output: { sky: "grey" },
      },
      {
        type: "dynamic-tool",
        toolName: "time",
        toolCallId: "b",
        state: "output-error",
        input: { city: "Rome" },
        errorText: "No clock.",
      },
      { type: "step-start" },
      { type: "source-url", sourceId: "s", url: "https://example.org" },
      { type: "text", text: "Grey.", state: "done" },
    ],
  };
  const call: ai5.UIMessage = {
    id: "3",
    role: "assistant",
    parts: [{ type: "tool-weather", toolCallId: "c", state: "input-available", input: { city: "Bonn" } }],
  };

  it("is held by the formats of the later majors", async () => {
    expectTypeOf<ai5.UIMessage>().toExtend<UIMessageLike>();
    expectTypeOf<ai5.ModelMessage>().toExtend<ModelMessageLike>();
    const memory = createChatMemory({ format: uiMessageFormat<ai5.UIMessage>() });
    await memory.add(question, answer);
    expect(await memory.messages()).toEqual([question, answer]);
  });

  it("is converted to what that major made of it itself", () => {
    const sent = ai5.convertToModelMessages([question, answer, call]) as unknown as ModelMessageLike[];
    const { messages } = convert([question, answer, call], conversion);
    expect(told(messages, modelMessageFormat)).toEqual(told(sent, modelMessageFormat));
    // A call that waits is followed by a message of no results.
    const said = sent.filter(({ content }) => content.length > 0);
    expect(messages.map(({ role }) => role)).toEqual(said.map(({ role }) => role));
  });

  it("is converted from its model messages, whose results may hold media", () => {
    const sent: ai5.ModelMessage[] = [
      {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: "a", toolName: "look", input: {} }],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "a",
            toolName: "look",
            output: {
              type: "content",
              value: [
                { type: "text", text: "Look." },
                { type: "media", mediaType: "image/png", data: "iVBORw0KGgo=" },
              ],
            },
          },
        ],
      },
    ];
    const { messages, lost } = convert(sent, { from: modelMessageConversion, to: uiMessageConversion() });
    expect(lost).toEqual([{ index: 1, kind: "tool-result.media" }]);
    expect(messages).toMatchObject([
      { parts: [{ type: "tool-look", state: "output-available", input: {}, output: "Look." }] },
    ]);
  });
});

describe("what the AI SDK 4 stored", () => {
  const converted = (...messages: UIMessage4Like[]) => convert(uiMessagesOfVersion4(messages), conversion);

  it("is of the type that this takes", () => {
    expectTypeOf<UIMessage4>().toExtend<UIMessage4Like>();
  });

  it("keeps the parts of an answer, step by step", () => {
    const message: UIMessage4 = {
      id: "1",
      role: "assistant",
      content: "Grey.",
      createdAt: new Date(0),
      parts: [
        { type: "step-start" },
        {
          type: "reasoning",
          reasoning: "Hm.",
          details: [
            { type: "text", text: "Hm.", signature: "s" },
            { type: "redacted", data: "AAAA" },
          ],
        },
        {
          type: "tool-invocation",
          toolInvocation: {
            state: "result",
            step: 0,
            toolCallId: "a",
            toolName: "weather",
            args: { city: "Ulm" },
            result: { sky: "grey" },
          },
        },
        { type: "text", text: "Grey." },
        { type: "source", source: { sourceType: "url", id: "s", url: "https://example.org" } },
        { type: "file", mimeType: "image/png", data: "iVBORw0KGgo=" },
      ],
    };
    const [upgraded] = uiMessagesOfVersion4([message]);
    expect(upgraded).toEqual({
      id: "1",
      role: "assistant",
      metadata: { createdAt: new Date(0) },
      parts: [
        { type: "step-start" },
        { type: "reasoning", text: "Hm.", providerMetadata: { anthropic: { signature: "s" } } },
        { type: "reasoning", text: "", providerMetadata: { anthropic: { redactedData: "AAAA" } } },
        {
          type: "tool-weather",
          toolCallId: "a",
          state: "output-available",
          input: { city: "Ulm" },
          output: { sky: "grey" },
        },
        { type: "step-start" },
        { type: "text", text: "Grey." },
        { type: "source-url", sourceId: "s", url: "https://example.org" },
        { type: "file", mediaType: "image/png", url },
      ],
    });
    const { messages } = convert([upgraded as UIMessageLike], conversion);
    expect(messages.map(({ role }) => role)).toEqual(["assistant", "tool", "assistant"]);
  });

  it("had no parts once", () => {
    const invocation = { state: "result", toolCallId: "a", toolName: "weather", args: {}, result: "grey" };
    const message = { id: "1", role: "assistant" as const, content: "Grey.", reasoning: "Hm." };
    expect(uiMessagesOfVersion4([{ ...message, toolInvocations: [invocation] } as UIMessage4Like])).toEqual([
      {
        id: "1",
        role: "assistant",
        parts: [
          { type: "tool-weather", toolCallId: "a", state: "output-available", input: {}, output: "grey" },
          { type: "step-start" },
          { type: "reasoning", text: "Hm." },
          { type: "text", text: "Grey." },
        ],
      },
    ]);
  });

  it("keeps what a message of data says beside them", () => {
    const parts = [{ type: "text", text: "seen" }];
    const both = { id: "3", role: "data" as const, content: "seen", data: { n: 1 }, parts, createdAt: 1 };
    const text = { id: "4", role: "data" as const, content: "seen", parts: [] };
    expect(uiMessagesOfVersion4([both, text])).toEqual([
      {
        id: "3",
        role: "assistant",
        metadata: { content: "seen", parts, createdAt: 1 },
        parts: [{ type: "data-message", data: { n: 1 } }],
      },
      { id: "4", role: "assistant", parts: [{ type: "data-message", data: "seen" }] },
    ]);
  });

  it("has attachments, calls that wait, and data of its own", () => {
    const user = {
      id: "1",
      role: "user" as const,
      content: "Look.",
      experimental_attachments: [{ name: "a.png", contentType: "image/png", url }],
    };
    const asked = {
      id: "2",
      role: "assistant" as const,
      content: "",
      annotations: ["a"],
      parts: [
        {
          type: "tool-invocation",
          toolInvocation: { state: "call", toolCallId: "a", toolName: "weather", args: { city: "Ulm" } },
        },
      ],
    };
    const data = { id: "3", role: "data" as const, content: "", data: { seen: true } };
    expect(uiMessagesOfVersion4([user, asked, data])).toEqual([
      {
        id: "1",
        role: "user",
        parts: [
          { type: "text", text: "Look." },
          { type: "file", mediaType: "image/png", url, filename: "a.png" },
        ],
      },
      {
        id: "2",
        role: "assistant",
        metadata: { annotations: ["a"] },
        parts: [{ type: "tool-weather", toolCallId: "a", state: "input-available", input: { city: "Ulm" } }],
      },
      { id: "3", role: "assistant", parts: [{ type: "data-message", data: { seen: true } }] },
    ]);
    expect(converted(user).lost).toEqual([]);
  });

  it.each([
    ["no object", "Hello", "is a string"],
    ["another role", { id: "1", role: "tool", content: "" }, 'has the role "tool"'],
    ["no content", { id: "1", role: "user", parts: [] }, "has undefined as content"],
  ])("is refused where it is none: %s", (_, message, problem) => {
    expect(() => uiMessagesOfVersion4([message as UIMessage4Like])).toThrow(problem);
  });
});
