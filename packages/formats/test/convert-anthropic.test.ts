import type { ModelMessage } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { type AnthropicMessage, anthropicConversion } from "../src/anthropic.ts";
import { bedrockConversion } from "../src/bedrock.ts";
import { convert, modelMessageConversion } from "../src/convert.ts";
import { openaiConversion } from "../src/openai.ts";
import { openaiResponsesConversion } from "../src/openai-responses.ts";

const png = "iVBORw0KGgoAAAANSUhEUg==";

describe("media under another name of their type", () => {
  const file = (mediaType: string, data: string): ModelMessage => ({
    role: "user",
    content: [{ type: "file", mediaType, data }],
  });
  it.each([
    [
      "image/jpg",
      "/9j/",
      { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "/9j/" } },
    ],
    [
      "image/pjpeg",
      "/9j/",
      { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "/9j/" } },
    ],
    [
      "text/plain; charset=UTF-8",
      "w6k=",
      { type: "document", source: { type: "text", media_type: "text/plain", data: "é" } },
    ],
  ])("reach Anthropic: %s", (mediaType, data, block) => {
    const given = [file(mediaType, data)];
    expect(convert(given, { from: modelMessageConversion, to: anthropicConversion })).toEqual({
      messages: [{ role: "user", content: [block] }],
      lost: [],
    });
  });

  it.each([
    ["image/jpg", "/9j/", { image: { format: "jpeg" } }],
    ["audio/mp3", "AAAA", { audio: { format: "mp3" } }],
    ["audio/x-wav", "AAAA", { audio: { format: "wav" } }],
    ["text/plain;charset=utf-8", "w6k=", { document: { format: "txt", source: { text: "é" } } }],
  ])("reach Bedrock: %s", (mediaType, data, block) => {
    const given = [file(mediaType, data)];
    const { messages, lost } = convert(given, { from: modelMessageConversion, to: bedrockConversion });
    expect(messages).toMatchObject([{ content: [block] }]);
    expect(lost).toEqual([]);
  });

  it("are lost as text in another encoding, and keep their name elsewhere", () => {
    const latin = [file("text/plain; charset=iso-8859-1", "6Q==")];
    for (const to of [anthropicConversion, bedrockConversion as never]) {
      expect(convert(latin, { from: modelMessageConversion, to }).messages).toEqual([]);
    }
    const url = "data:image/jpg;base64,/9j/";
    const there = convert([file("image/jpg", "/9j/")], {
      from: modelMessageConversion,
      to: openaiConversion,
    });
    expect(there.messages).toMatchObject([{ content: [{ image_url: { url } }] }]);
  });
});

describe("Anthropic's messages", () => {
  it("keep thinking by way of model messages, and lose it elsewhere", () => {
    const answer = {
      role: "assistant" as const,
      content: [
        { type: "thinking" as const, thinking: "Add.", signature: "c2ln" },
        { type: "redacted_thinking" as const, data: "AAAA" },
        { type: "text" as const, text: "4." },
      ],
    };
    const there = convert([answer], { from: anthropicConversion, to: modelMessageConversion });
    expect(there).toEqual({
      messages: [
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "Add.", providerOptions: { anthropic: { signature: "c2ln" } } },
            { type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: "AAAA" } } },
            { type: "text", text: "4." },
          ],
        },
      ],
      lost: [],
    });
    const back = convert(there.messages, { from: modelMessageConversion, to: anthropicConversion });
    expect(back).toEqual({ messages: [answer], lost: [] });
    expect(convert([answer], { from: anthropicConversion, to: openaiConversion })).toEqual({
      messages: [{ role: "assistant", content: "4." }],
      lost: [
        { index: 0, kind: "thinking" },
        { index: 0, kind: "redacted_thinking" },
      ],
    });
  });

  it("come back from model messages with every setting and source that these hold", () => {
    const cache_control = { type: "ephemeral" as const };
    const pdf = { type: "base64" as const, media_type: "application/pdf" as const, data: "JVBERi0=" };
    const image = {
      type: "image" as const,
      source: { type: "base64" as const, media_type: "image/png" as const, data: png },
      cache_control,
    };
    const document = {
      type: "document" as const,
      source: pdf,
      title: "a.pdf",
      context: "Ours.",
      cache_control,
    };
    const call = { type: "tool_use" as const, id: "call-1", name: "find", input: {}, cache_control };
    const messages = [
      {
        role: "user",
        content: [
          { type: "text", text: "Look.", cache_control },
          image,
          { type: "image", source: { type: "url", url: "http://example.org/a.png" } },
          { type: "image", source: { type: "file", file_id: "file-1" } },
          document,
          { type: "document", source: { type: "url", url: "https://example.org/a.pdf" } },
        ],
      },
      { role: "assistant", content: [call] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "call-1",
            content: [{ type: "text", text: "Two.", cache_control }, image, document],
            cache_control,
          },
        ],
      },
    ] as AnthropicMessage[];
    const direct = messages.with(1, {
      role: "assistant",
      content: [{ ...call, caller: { type: "direct" } }],
    } as AnthropicMessage);
    const there = convert(direct, { from: anthropicConversion, to: modelMessageConversion });
    const back = convert(there.messages, { from: modelMessageConversion, to: anthropicConversion });
    expect([there.lost, back.lost]).toEqual([[], []]);
    expect(back.messages).toEqual(messages);
  });

  it("say what the user says behind the results", () => {
    const both = {
      role: "user" as const,
      content: [
        { type: "text" as const, text: "And now?" },
        { type: "tool_result" as const, tool_use_id: "call-1", content: "4", is_error: true },
      ],
    };
    expect(convert([both], { from: anthropicConversion, to: openaiConversion })).toEqual({
      messages: [
        { role: "tool", tool_call_id: "call-1", content: "4" },
        { role: "user", content: "And now?" },
      ],
      lost: [{ index: 0, kind: "tool_result.error" }],
    });
  });

  it("keep images in results, where results hold them", () => {
    const image = {
      type: "image" as const,
      source: { type: "url" as const, url: "https://example.org/a.png" },
    };
    const result = {
      type: "tool_result" as const,
      tool_use_id: "call-1",
      content: [{ type: "text" as const, text: "A cat." }, image],
    };
    const messages = [{ role: "user" as const, content: [result] }];
    expect(convert(messages, { from: anthropicConversion, to: openaiResponsesConversion })).toEqual({
      messages: [
        {
          type: "function_call_output",
          call_id: "call-1",
          output: [
            { type: "input_text", text: "A cat." },
            { type: "input_image", detail: "auto", image_url: "https://example.org/a.png" },
          ],
        },
      ],
      lost: [],
    });
    expect(convert(messages, { from: anthropicConversion, to: openaiConversion })).toEqual({
      messages: [{ role: "tool", tool_call_id: "call-1", content: "A cat." }],
      lost: [{ index: 0, kind: "tool_result.media" }],
    });
  });

  it("lose a call that another API would not know, together with its result", () => {
    const use = { type: "memory_tool_use", id: "call-1", name: "memory", input: {} };
    const messages = [
      { role: "assistant", content: [use] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call-1", content: "4" }] },
    ] as AnthropicMessage[];
    expect(convert(messages, { from: anthropicConversion, to: openaiConversion })).toEqual({
      messages: [],
      lost: [
        { index: 0, kind: "memory_tool_use" },
        { index: 1, kind: "tool_result" },
      ],
    });
  });

  it("tell that a result is an error", () => {
    const output = { type: "error-text" as const, value: "No." };
    const result = { type: "tool-result" as const, toolCallId: "call-1", toolName: "add", output };
    const { messages } = convert([{ role: "tool", content: [result] }], {
      from: modelMessageConversion,
      to: anthropicConversion,
    });
    expect(messages).toEqual([
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "call-1", content: "No.", is_error: true }],
      },
    ]);
  });

  it("tell of the settings of an empty text that they leave out", () => {
    const empty = { type: "text" as const, text: "", cache_control: { type: "ephemeral" as const } };
    const messages = [{ role: "user" as const, content: [empty, { type: "text" as const, text: "Hello" }] }];
    expect(convert(messages, { from: anthropicConversion, to: openaiConversion })).toEqual({
      messages: [{ role: "user", content: "Hello" }],
      lost: [{ index: 0, kind: "text.anthropic.cacheControl" }],
    });
  });
});

describe("media", () => {
  const user = (part: object): ModelMessage[] => [{ role: "user", content: [part] } as ModelMessage];

  it.each([
    [
      "bytes, whose type their beginning tells",
      { type: "image", image: Uint8Array.from(atob(png), (one) => one.charCodeAt(0)) },
    ],
    ["a data URL", { type: "image", image: new URL(`data:image/png;base64,${png}`) }],
    ["base64 with a vague type", { type: "file", data: png, mediaType: "image/*" }],
    [
      "an object that says what it holds",
      { type: "file", data: { type: "data", data: png }, mediaType: "image/png" },
    ],
  ])("carry %s", (_name, part) => {
    expect(convert(user(part), { from: modelMessageConversion, to: anthropicConversion })).toEqual({
      messages: [
        {
          role: "user",
          content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: png } }],
        },
      ],
      lost: [],
    });
  });

  it("are read as text where the document is plain text", () => {
    const file = { type: "file", data: new URL("data:text/plain,a%20b"), mediaType: "text/plain" };
    expect(convert(user(file), { from: modelMessageConversion, to: anthropicConversion }).messages).toEqual([
      {
        role: "user",
        content: [{ type: "document", source: { type: "text", media_type: "text/plain", data: "a b" } }],
      },
    ]);
  });

  it("are lost where the provider does not take their type, or keeps no such file", () => {
    for (const part of [
      { type: "image", image: "AAAA", mediaType: "image/tiff" },
      { type: "file", data: { openai: "file-1" }, mediaType: "application/pdf" },
      { type: "image", image: new URL("ftp://example.org/a.png") },
    ]) {
      const { messages, lost } = convert(user(part), {
        from: modelMessageConversion,
        to: anthropicConversion,
      });
      expect(messages).toEqual([]);
      expect(lost).toEqual([{ index: 0, kind: part.type }]);
    }
  });

  it("lose a name where only documents have one", () => {
    const image = { type: "file", data: png, mediaType: "image/png", filename: "a.png" };
    const { messages, lost } = convert(user(image), {
      from: modelMessageConversion,
      to: anthropicConversion,
    });
    expect(messages).toHaveLength(1);
    expect(lost).toEqual([{ index: 0, kind: "file.filename" }]);
  });

  it("are lost where a text has no bytes", () => {
    const file = { type: "file", data: { type: "text", text: "\ud800" }, mediaType: "text/plain" };
    expect(convert(user(file), { from: modelMessageConversion, to: openaiConversion })).toEqual({
      messages: [],
      lost: [{ index: 0, kind: "file" }],
    });
  });
});
