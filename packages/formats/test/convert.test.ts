import { isTurnkeepError, type ModelMessage } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { uiMessageConversion } from "../src/ai-sdk.ts";
import { anthropicConversion } from "../src/anthropic.ts";
import { convert, modelMessageConversion } from "../src/convert.ts";
import { langchain4jConversion } from "../src/langchain4j.ts";
import { type ChatMessage, openaiConversion } from "../src/openai.ts";
import { openaiResponsesConversion, type ResponsesItem } from "../src/openai-responses.ts";

const png = "iVBORw0KGgoAAAANSUhEUg==";
const chat: ChatMessage[] = [
  { role: "developer", content: "Be brief." },
  {
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${png}`, detail: "low" } },
      { type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0=", filename: "a.pdf" } },
    ],
  },
  {
    role: "assistant",
    content: "",
    tool_calls: [
      { type: "function", id: "call-1", function: { name: "look", arguments: '{ "at": 1 }' } },
      { type: "function", id: "call-2", function: { name: "look", arguments: "" } },
    ],
  },
  { role: "tool", tool_call_id: "call-1", content: "A cat." },
  { role: "tool", tool_call_id: "call-2", content: "A dog." },
  { role: "assistant", content: "A cat and a dog." },
];

describe("OpenAI chat messages", () => {
  it("become Anthropic's", () => {
    expect(convert(chat, { from: openaiConversion, to: anthropicConversion })).toEqual({
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
            {
              type: "document",
              source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
              title: "a.pdf",
            },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "tool_use", id: "call-1", name: "look", input: { at: 1 } },
            { type: "tool_use", id: "call-2", name: "look", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "call-1", content: "A cat." },
            { type: "tool_result", tool_use_id: "call-2", content: "A dog." },
          ],
        },
        { role: "assistant", content: "A cat and a dog." },
      ],
      lost: [{ index: 1, kind: "image_url.openai.imageDetail" }],
    });
  });

  it("become the SDK's model messages", () => {
    const { messages, lost } = convert(chat, { from: openaiConversion, to: modelMessageConversion });
    expect(lost).toEqual([]);
    const result = (id: string, value: string) => ({
      type: "tool-result",
      toolCallId: id,
      toolName: "look",
      output: { type: "text", value },
    });
    expect(messages).toEqual([
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          {
            type: "image",
            image: png,
            mediaType: "image/png",
            providerOptions: { openai: { imageDetail: "low" } },
          },
          { type: "file", data: "JVBERi0=", mediaType: "application/pdf", filename: "a.pdf" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: "call-1", toolName: "look", input: { at: 1 } },
          { type: "tool-call", toolCallId: "call-2", toolName: "look", input: {} },
        ],
      },
      { role: "tool", content: [result("call-1", "A cat."), result("call-2", "A dog.")] },
      { role: "assistant", content: "A cat and a dog." },
    ]);
  });

  it("become UI messages: an answer is one, with its calls and results", () => {
    const generateId = (index: number): string => `m${index}`;
    const { messages } = convert(chat, { from: openaiConversion, to: uiMessageConversion({ generateId }) });
    expect(messages.map(({ id, role }) => [id, role])).toEqual([
      ["m0", "system"],
      ["m1", "user"],
      ["m2", "assistant"],
    ]);
    const call = (id: string, input: object, output: string) => ({
      type: "tool-look",
      toolCallId: id,
      state: "output-available",
      input,
      output,
    });
    expect(messages[2]?.parts).toEqual([
      call("call-1", { at: 1 }, "A cat."),
      call("call-2", {}, "A dog."),
      { type: "step-start" },
      { type: "text", text: "A cat and a dog." },
    ]);
  });

  it("pair a function_call with its results by ids, also where a name comes twice", () => {
    const legacy = { role: "assistant" as const, function_call: { name: "look", arguments: "{}" } };
    const answer = { role: "function" as const, name: "look", content: "A cat." };
    const { messages, lost } = convert([legacy, answer, legacy, answer], {
      from: openaiConversion,
      to: anthropicConversion,
    });
    expect(lost).toEqual([]);
    const { format } = anthropicConversion;
    const ids = messages.map(
      (message) => [...format.toolCalls(message), ...format.toolResults(message)][0]?.id,
    );
    expect(ids).toEqual(["function_call_0", "function_call_0", "function_call_2", "function_call_2"]);
  });

  it("lose a call of an unknown type together with its result", () => {
    const messages = [
      { role: "assistant", tool_calls: [{ type: "browser", id: "call-1", page: "a" }] },
      { role: "tool", tool_call_id: "call-1", content: "b" },
    ] as unknown as ChatMessage[];
    expect(convert(messages, { from: openaiConversion, to: anthropicConversion })).toEqual({
      messages: [],
      lost: [
        { index: 0, kind: "browser" },
        { index: 1, kind: "tool" },
      ],
    });
  });

  it("take the same reasoning under two names once", () => {
    const thought = { role: "assistant", content: "4", reasoning: "2 + 2", reasoning_content: "2 + 2" };
    expect(convert([thought as ChatMessage], { from: openaiConversion, to: modelMessageConversion })).toEqual(
      {
        messages: [
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "2 + 2" },
              { type: "text", text: "4" },
            ],
          },
        ],
        lost: [],
      },
    );
    const two = { ...thought, reasoning: "4" } as ChatMessage;
    const { lost } = convert([two], { from: openaiConversion, to: modelMessageConversion });
    expect(lost).toEqual([{ index: 0, kind: "reasoning" }]);
  });

  it("are refused where they are none", () => {
    const wrong = [{ role: "human", content: "Hello" }] as unknown as ChatMessage[];
    const attempt = (): unknown => convert(wrong, { from: openaiConversion, to: anthropicConversion });
    expect(attempt).toThrow(expect.objectContaining({ code: "INVALID_MESSAGE" }));
    try {
      attempt();
    } catch (error) {
      expect(isTurnkeepError(error, "INVALID_MESSAGE")).toBe(true);
    }
  });
});

describe("Responses items", () => {
  const items: ResponsesItem[] = [
    { role: "user", content: "2 + 2?" },
    {
      type: "reasoning",
      id: "rs_1",
      summary: [
        { type: "summary_text", text: "Add." },
        { type: "summary_text", text: "Twice." },
      ],
      encrypted_content: "AAAA",
    },
    { type: "function_call", id: "fc_1", call_id: "call-1", name: "add", arguments: "{}" },
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "a" } },
    { type: "function_call", id: "fc_2", call_id: "call-2", name: "add", arguments: "{}" },
    { type: "function_call_output", call_id: "call-1", output: "4" },
    { type: "function_call_output", call_id: "call-2", output: "4" },
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "4.", annotations: [] }],
    },
  ];

  it("that the model put out in a row are one message", () => {
    const { messages, lost } = convert(items, { from: openaiResponsesConversion, to: openaiConversion });
    const call = (id: string) => ({ type: "function", id, function: { name: "add", arguments: "{}" } });
    expect(messages).toEqual([
      { role: "user", content: "2 + 2?" },
      { role: "assistant", content: null, tool_calls: [call("call-1"), call("call-2")] },
      { role: "tool", tool_call_id: "call-1", content: "4" },
      { role: "tool", tool_call_id: "call-2", content: "4" },
      { role: "assistant", content: "4." },
    ]);
    expect(lost).toEqual([
      { index: 1, kind: "reasoning" },
      { index: 3, kind: "web_search_call" },
    ]);
  });

  it("come back from model messages with their reasoning and their ids", () => {
    const there = convert(items, { from: openaiResponsesConversion, to: modelMessageConversion });
    expect(there.lost).toEqual([{ index: 3, kind: "web_search_call" }]);
    const back = convert(there.messages, { from: modelMessageConversion, to: openaiResponsesConversion });
    expect(back).toEqual({ messages: items.filter((_, index) => index !== 3), lost: [] });
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
});

describe("UI messages", () => {
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
});
