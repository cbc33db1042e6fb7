import { isTurnkeepError, type ModelMessage } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { uiMessageConversion } from "../src/ai-sdk.ts";
import { anthropicConversion } from "../src/anthropic.ts";
import { convert, modelMessageConversion } from "../src/convert.ts";
import { type LangChain4jMessage, langchain4jConversion } from "../src/langchain4j.ts";
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

  it("lose the result of a lost call, and of no other with its id", () => {
    const call = { type: "function_call", call_id: "0", name: "add", arguments: "{}" } as const;
    const action = { type: "screenshot" };
    const lostCall = { type: "computer_call", id: "cu_1", call_id: "0", action, pending_safety_checks: [] };
    const output = (text: string) => ({ type: "function_call_output", call_id: "0", output: text }) as const;
    const given = [call, output("a"), lostCall, output("lost"), call, output("b")] as ResponsesItem[];
    const { messages, lost } = convert(given, { from: openaiResponsesConversion, to: openaiConversion });
    expect(messages.flatMap((message) => (message.role === "tool" ? [message.content] : []))).toEqual([
      "a",
      "b",
    ]);
    expect(lost.map(({ index }) => index)).toEqual([2, 3]);
  });

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

  it.each([
    ["ModelMessage", modelMessageConversion],
    ["UIMessage", uiMessageConversion()],
  ])("keep reasoning of which nothing is shown, which the API wants beside its calls: %s", (_name, to) => {
    const given: ResponsesItem[] = [
      { role: "user", content: "2 + 2?" },
      { type: "reasoning", id: "rs_1", summary: [] },
      { type: "function_call", id: "fc_1", call_id: "call-1", name: "add", arguments: "{}" },
      { type: "function_call_output", call_id: "call-1", output: "4" },
    ];
    const between = to as typeof modelMessageConversion;
    const there = convert(given, { from: openaiResponsesConversion, to: between });
    expect(there.lost).toEqual([]);
    const back = convert(there.messages, { from: between, to: openaiResponsesConversion });
    expect(back).toEqual({ messages: given, lost: [] });
    const { lost } = convert(given, { from: openaiResponsesConversion, to: anthropicConversion });
    expect(lost).toEqual([{ index: 1, kind: "reasoning" }]);
  });

  it("lose reasoning with what it led to, where the API ran that", () => {
    const of = (itemId: string) => ({ providerOptions: { openai: { itemId } } });
    const thought = (id: string) => ({ type: "reasoning" as const, text: "hm", ...of(id) });
    const run = { toolCallId: "ws_1", toolName: "web_search" };
    const answer: ModelMessage = {
      role: "assistant",
      content: [
        thought("rs_1"),
        thought("rs_1"),
        { type: "tool-call", ...run, input: {}, providerExecuted: true },
        { type: "tool-result", ...run, output: { type: "json", value: {} } },
        thought("rs_2"),
        { type: "text", text: "Found.", ...of("msg_1") },
      ],
    };
    const written = convert([answer], { from: modelMessageConversion, to: openaiResponsesConversion });
    expect(written.messages).toMatchObject([{ id: "rs_2" }, { id: "msg_1" }]);
    expect(written.lost.map(({ kind }) => kind).sort()).toEqual(["reasoning", "tool-call", "tool-result"]);
  });

  it("keep no id of what stood behind reasoning that they lose, up to the next that they keep", () => {
    const thought = (id: string): ResponsesItem => ({ type: "reasoning", id, summary: [] });
    const ran = { type: "web_search_call", id: "ws_1", status: "completed" } as ResponsesItem;
    const calls = ["a", "b"].map((call_id): ResponsesItem => {
      return { type: "function_call", id: `fc_${call_id}`, call_id, name: "f", arguments: "{}" };
    });
    const said: ResponsesItem = {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Found.", annotations: [] }],
    };
    const asked: ResponsesItem = { role: "user", content: "And?" };
    const given = [thought("rs_1"), ran, said, calls[0], thought("rs_2"), calls[1]] as ResponsesItem[];
    for (const to of [modelMessageConversion, uiMessageConversion() as never]) {
      const { messages } = convert(given, { from: openaiResponsesConversion, to });
      expect(JSON.stringify(messages)).not.toMatch(/msg_1|fc_a/);
      expect(JSON.stringify(messages)).toMatch(/rs_2.*fc_b/);
      const next = convert([thought("rs_1"), ran, asked, said], { from: openaiResponsesConversion, to });
      expect(JSON.stringify(next.messages)).toContain("msg_1");
    }
    const of = (itemId: string) => ({ providerOptions: { openai: { itemId } } });
    const run = { toolCallId: "ws_1", toolName: "web_search", input: {}, providerExecuted: true };
    const call = (toolCallId: string) => ({
      type: "tool-call" as const,
      toolCallId,
      toolName: "f",
      input: {},
    });
    const answer: ModelMessage = {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", ...of("rs_1") },
        { type: "tool-call", ...run },
        { type: "text", text: "Found.", ...of("msg_1") },
        { ...call("a"), ...of("fc_a") },
        { type: "reasoning", text: "", ...of("rs_2") },
        { ...call("b"), ...of("fc_b") },
      ],
    };
    const { messages } = convert([answer], { from: modelMessageConversion, to: openaiResponsesConversion });
    expect(messages).toEqual([
      { role: "assistant", content: "Found." },
      { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
      thought("rs_2"),
      calls[1],
    ]);
  });

  it("lose reasoning where it led to what the API ran, and not where the same object stands elsewhere", () => {
    const thought: ResponsesItem = { type: "reasoning", id: "rs_1", summary: [] };
    const ran = { type: "web_search_call", id: "ws_1", status: "completed" } as ResponsesItem;
    const called: ResponsesItem = { type: "function_call", call_id: "a", name: "f", arguments: "{}" };
    const items = [thought, ran, thought, called];
    const { lost } = convert(items, { from: openaiResponsesConversion, to: modelMessageConversion });
    expect(lost).toMatchObject([
      { index: 0, kind: "reasoning" },
      { index: 1, kind: "web_search_call" },
    ]);
  });

  it("are read without the reasoning that led to what the API ran, which means nothing elsewhere", () => {
    const thought = (id: string): ResponsesItem => ({ type: "reasoning", id, summary: [] });
    const ran = { type: "web_search_call", id: "ws_1", status: "completed" } as ResponsesItem;
    const called: ResponsesItem = { type: "function_call", call_id: "a", name: "f", arguments: "{}" };
    const led = [thought("rs_3"), thought("rs_4"), called];
    const items = [thought("rs_1"), thought("rs_2"), ran, ...led, thought("rs_5")];
    const read = convert(items, { from: openaiResponsesConversion, to: modelMessageConversion });
    expect(read.messages).toMatchObject([
      {
        content: [
          { providerOptions: { openai: { itemId: "rs_3" } } },
          { providerOptions: { openai: { itemId: "rs_4" } } },
          { type: "tool-call" },
          { type: "reasoning" },
        ],
      },
    ]);
    expect(read.lost).toMatchObject([
      { index: 0, kind: "reasoning" },
      { index: 1, kind: "reasoning" },
      { index: 2, kind: "web_search_call" },
    ]);
  });

  it("keep the texts of one item in one", () => {
    const text = (text: string) => ({ type: "output_text" as const, text, annotations: [] });
    const said: ResponsesItem = {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [text("4"), text(".")],
    };
    const there = convert([said], { from: openaiResponsesConversion, to: modelMessageConversion });
    const back = convert(there.messages, { from: modelMessageConversion, to: openaiResponsesConversion });
    expect(back).toEqual({ messages: [said], lost: [] });
  });
});

describe("files of model messages as OpenAI's", () => {
  const fileOf = (data: unknown, mediaType: string): unknown => {
    const messages = [{ role: "user", content: [{ type: "file", data, mediaType }] }] as ModelMessage[];
    const { messages: written } = convert(messages, { from: modelMessageConversion, to: openaiConversion });
    const [part] = (written[0]?.content ?? []) as { readonly file?: unknown }[];
    return part?.file;
  };

  it.each([
    ["application/pdf", "JVBERi0=", "file.pdf"],
    ["image/*", "JVBERi0=", "file.pdf"],
    ["application/x-yaml", "YTog", "file.xyaml"],
    ["application", "YTog", "file.bin"],
  ])("of type %s have a name, which the API asks for", (mediaType, data, filename) => {
    expect(fileOf(data, mediaType)).toMatchObject({ filename });
  });

  it.each([
    ["data:TEXT/CSV ;charset=utf-8; BASE64 ,YTtiCg==", "data:text/csv;base64,YTtiCg=="],
    ["data:text/csv,a%3Bb%0A", "data:text/csv;base64,YTtiCg=="],
    ["data:text/csv;base64;x=1,a;b%0A", "data:text/csv;base64,YTtiCg=="],
    ["data:text/csv,a;b\n", "data:text/csv;base64,YTtiCg=="],
    ["data:,a", "data:application/x-any;base64,YQ=="],
    ["data:application/*,a", "data:application/x-any;base64,YQ=="],
  ])("carry what %j holds", (url, file_data) => {
    expect(fileOf(url, "application/x-any")).toMatchObject({ file_data });
  });

  it("are lost where their address holds no text", () => {
    expect(fileOf("data:text/csv,%ff", "text/csv")).toBeUndefined();
  });
});

describe("denied calls", () => {
  it.each([
    [{ type: "execution-denied" as const }, "Tool call execution denied."],
    [{ type: "execution-denied" as const, reason: "Too much." }, "Too much."],
    [{ type: "error-text" as const, value: "" }, ""],
  ])("as %j are told to the model", (output, content) => {
    const result = { type: "tool-result" as const, toolCallId: "call-1", toolName: "pay", output };
    const messages: ModelMessage[] = [{ role: "tool", content: [result] }];
    const written = convert(messages, { from: modelMessageConversion, to: openaiConversion }).messages;
    expect(written).toEqual([{ role: "tool", tool_call_id: "call-1", content }]);
  });
});

it.each(["WAVEfmt ", "WEBPVP8 "])("what a RIFF file holds is seen: %s", (begins) => {
  const data = Buffer.from(`RIFF\u0024\u0000\u0000\u0000${begins}`, "latin1").toString("base64");
  const from = langchain4jConversion;
  const type = begins === "WAVEfmt " ? "AUDIO" : "IMAGE";
  const content =
    type === "AUDIO" ? { type, audio: { base64Data: data } } : { type, image: { base64Data: data } };
  const messages = [{ type: "USER" as const, contents: [content] }] as LangChain4jMessage[];
  expect(convert(messages, { from, to: openaiConversion })).toEqual({
    messages: [
      {
        role: "user",
        content: [
          type === "AUDIO"
            ? { type: "input_audio", input_audio: { data, format: "wav" } }
            : { type: "image_url", image_url: { url: `data:image/webp;base64,${data}` } },
        ],
      },
    ],
    lost: [],
  });
});
