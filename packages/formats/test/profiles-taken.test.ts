import {
  assistant,
  modelMessageFormat as format,
  type MessageFormat,
  type ModelMessage,
  toolCall,
  toolResult,
  user,
} from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { type AnthropicMessage, anthropicFormat } from "../src/anthropic.ts";
import { type ChatMessage, openaiFormat } from "../src/openai.ts";
import { openaiResponsesFormat, type ResponsesItem } from "../src/openai-responses.ts";
import {
  anthropic,
  bedrock,
  gemini,
  mistral,
  openai,
  openaiResponses,
  type ProfileRules,
  profileOf,
  strict,
  validate,
} from "../src/profiles.ts";
import { allProfiles } from "./all-profiles.ts";

/** Nothing of the list is refused or changed, message for message. */
function expectTaken<M>(messages: readonly M[], profile: ProfileRules, of: MessageFormat<M>): void {
  expect(validate(messages, profile, { format: of }), profile.name).toEqual([]);
  const shaped = profile.shape(messages, of);
  expect(shaped.stages, profile.name).toEqual([]);
  for (const [index, message] of shaped.messages.entries()) expect(message).toBe(messages[index]);
}

const withOwnCalls = [anthropic];

const call = { type: "tool-call" as const, toolCallId: "abcDEF123", toolName: "pay", input: {} };
const result = { type: "tool-result" as const, toolCallId: "abcDEF123", toolName: "pay" };
const paid = { ...result, output: { type: "text" as const, value: "paid" } };
const request = {
  type: "tool-approval-request" as const,
  approvalId: "ok_1",
  toolCallId: "abcDEF123",
};
const response = { type: "tool-approval-response" as const, approvalId: "ok_1", approved: true };
const other = { ...call, toolCallId: "abcDEF456" };
const otherPaid = { ...paid, toolCallId: "abcDEF456" };
/** With an id that some providers refuse of a call that the application answers. */
const search = { ...call, toolCallId: `srvtoolu_${"1".repeat(60)}`, providerExecuted: true };
const found = { ...paid, toolCallId: search.toolCallId };
const text = { type: "text" as const, text: "b" };
const tool = (...content: Extract<ModelMessage, { role: "tool" }>["content"]): ModelMessage => ({
  role: "tool",
  content,
});
const file = (mediaType: string) => ({ type: "file" as const, data: "JVBERi0=", mediaType });
const document = (filename: string): ModelMessage => ({
  role: "user",
  content: [{ ...file("application/pdf"), filename }, text],
});
const times = <T>(count: number, part: T): T[] => Array.from({ length: count }, () => part);
const image = { type: "image" as const, image: "iVBORw0KGgo=" };

describe("a list that is taken as it is", () => {
  it.each<[string, readonly ModelMessage[], readonly ProfileRules[]]>([
    ["with a call last that the provider still runs", [user("a"), assistant([text, search])], withOwnCalls],
    [
      "with a text last behind a call that the provider still runs",
      [user("a"), assistant([search, text])],
      withOwnCalls,
    ],
    [
      "with a result last that the provider sent",
      [user("a"), assistant([text, search, found])],
      withOwnCalls,
    ],
    [
      "with a result that the provider sends in its next message",
      [user("a"), assistant([search]), assistant([found, text]), user("c")],
      withOwnCalls,
    ],
    [
      "with a result that the provider sends behind the application's",
      [user("a"), assistant([search, call]), tool(paid), assistant([found, text]), user("c")],
      withOwnCalls,
    ],
    [
      "with a call last that the provider runs behind the application's",
      [user("a"), assistant([search, call]), tool(paid)],
      withOwnCalls,
    ],
    [
      "with code that Gemini ran",
      [
        user("a"),
        assistant([
          { ...search, toolCallId: "1", toolName: "code_execution" },
          { ...found, toolCallId: "1", toolName: "code_execution" },
          text,
        ]),
        user("c"),
      ],
      [gemini],
    ],
    [
      "with code that Gemini left without a result",
      [user("a"), assistant([text, { ...search, toolCallId: "1", toolName: "code_execution" }]), user("c")],
      [gemini],
    ],
    [
      "with a result last that the provider sent in a message of its own",
      [user("a"), assistant([search]), assistant([found])],
      withOwnCalls,
    ],
    [
      "with an empty text that brings a thought signature",
      [
        user("a"),
        assistant([text, { ...text, text: "", providerOptions: { vertex: { thoughtSignature: "s" } } }]),
        user("c"),
        assistant([{ ...text, text: "", providerOptions: { google: { thoughtSignature: "s" } } }]),
        user("c"),
      ],
      [gemini],
    ],
    [
      "with a call last that was approved",
      [user("a"), assistant([call, request]), tool(response)],
      allProfiles,
    ],
    [
      "with a call last that was approved, beside one that was answered",
      [user("a"), assistant([call, request, other]), tool(otherPaid, response)],
      allProfiles,
    ],
    [
      "with an approval between a call and its result",
      [user("a"), assistant([call, request]), tool(response), tool(paid)],
      [openai, openaiResponses, mistral],
    ],
    [
      "with an image without a text",
      [{ role: "user", content: [image] }],
      [openai, anthropic, gemini, bedrock, mistral, strict],
    ],
    [
      "with a document of the model's without a text",
      [user("a"), assistant([file("application/pdf")]), user("c")],
      [
        openai,
        openaiResponses,
        anthropic,
        gemini,
        profileOf(
          "documents",
          bedrock.rules.filter(({ rule }) => rule !== "answer-files"),
        ),
      ],
    ],
    [
      "with documents of one name of which nothing is sent",
      [document("文書.pdf"), assistant("b"), document("文書.pdf")],
      allProfiles,
    ],
    [
      "with documents whose names differ between two dots",
      [document("a.1.pdf"), assistant("b"), document("a.2.pdf")],
      [bedrock],
    ],
    [
      "with reasoning of which only the signature is sent",
      [user("a"), assistant([{ type: "reasoning", text: "" }, text]), user("c")],
      [anthropic, gemini, bedrock, mistral],
    ],
    [
      "with names of tools that other providers refuse",
      [
        user("a"),
        assistant([{ ...call, toolName: "mcp:pay.now" }]),
        tool({ ...paid, toolName: "mcp:pay.now" }),
      ],
      [gemini],
    ],
    [
      "with the ids of Kimi, which Claude does not take",
      [
        user("a"),
        assistant([{ ...call, toolCallId: "functions.pay:0" }]),
        tool({ ...paid, toolCallId: "functions.pay:0" }),
      ],
      [openai, openaiResponses, gemini],
    ],
    [
      "with a tool's name of 128 characters",
      [
        user("a"),
        assistant([{ ...call, toolName: "x".repeat(128) }]),
        tool({ ...paid, toolName: "x".repeat(128) }),
      ],
      [openaiResponses, anthropic, gemini],
    ],
    ["of 2,048 messages", times(2048, user("a")), [openai]],
    [
      "with 128 calls in a message",
      [
        user("a"),
        assistant(times(128, call).map((one, at) => ({ ...one, toolCallId: `c${at}` }))),
        tool(...times(128, paid).map((one, at) => ({ ...one, toolCallId: `c${at}` }))),
      ],
      [openai],
    ],
    ["with a text of 10,485,760 characters", [user("a".repeat(10_485_760))], [openai]],
    [
      "with 20 images, 5 documents, and any number of other parts",
      [
        {
          role: "user",
          content: [
            ...times(20, image),
            ...times(5, file("application/pdf")),
            ...times(21, file("audio/wav")),
            ...times(21, text),
          ],
        },
      ],
      [bedrock, strict],
    ],
  ])("%s", (_, messages, profiles) => {
    for (const profile of profiles) expectTaken(messages, profile, format);
  });

  it("with a tool's empty result, which is an answer", () => {
    const messages: ChatMessage[] = [
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ type: "function", id: "abcDEF123", function: { name: "t", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "abcDEF123", content: "" },
    ];
    for (const profile of [openai, gemini, mistral]) expectTaken(messages, profile, openaiFormat);
  });

  it("with a provider's compaction, which is never joined to its neighbour", () => {
    const compaction = assistant([
      { type: "text", text: "So far: 1.", providerOptions: { anthropic: { type: "compaction" } } },
    ]);
    const alone = profileOf("alone", [
      { rule: "same-role", roles: ["assistant"], source: "https://example.com" },
    ]);
    const joins: typeof format = { ...format, joined: (first) => first };
    expectTaken([compaction, assistant([call]), tool(paid)], alone, joins);
  });
});

describe("items of the Responses API", () => {
  const item = (type: string, members: object): ResponsesItem => ({ type, ...members }) as ResponsesItem;
  const said = (role: "user" | "assistant"): ResponsesItem => ({ role, content: "a" });
  const reasoning = (id: string): ResponsesItem => item("reasoning", { id, summary: [] });
  const called = (id: string): ResponsesItem =>
    item("function_call", { call_id: id, name: "t", arguments: "{}" });
  const output = (id: string): ResponsesItem => item("function_call_output", { call_id: id, output: "ok" });

  it.each<[string, readonly ResponsesItem[]]>([
    [
      "reasoning before what it led to",
      [reasoning("1"), reasoning("2"), called("c"), output("c"), said("user")],
    ],
    ["results in another order, behind all calls", [called("c"), called("d"), output("d"), output("c")]],
    [
      "a call that the API answers in the same item",
      [item("web_search_call", { id: "w", status: "completed" }), said("assistant")],
    ],
    [
      "a shell of the API's",
      [
        item("shell_call", {
          call_id: "c",
          action: { commands: [] },
          environment: { type: "container_reference", container_id: "k" },
        }),
        item("shell_call_output", { call_id: "c", output: [] }),
      ],
    ],
    [
      "a program",
      [
        item("program", { id: "p", call_id: "c", code: "", fingerprint: "" }),
        item("program_output", { id: "o", call_id: "c", result: "", status: "completed" }),
      ],
    ],
    [
      "an approved call whose request is kept by the API",
      [
        item("mcp_call", {
          id: "m",
          approval_request_id: "r",
          name: "t",
          arguments: "{}",
          server_label: "s",
        }),
      ],
    ],
  ])("are taken as they are: %s", (_, items) => {
    expectTaken([said("user"), ...items], openaiResponses, openaiResponsesFormat);
  });

  it.each<[string, readonly ResponsesItem[], string, number]>([
    ["a call without its result", [called("c"), said("user")], "tool-results", 1],
    ["a result without its call", [output("c")], "tool-results", 1],
    ["a result before its call", [output("c"), called("c")], "tool-results", 1],
    ["a result twice", [called("c"), output("c"), output("c")], "tool-results", 3],
    [
      "reasoning before the user's message",
      [reasoning("1"), said("user"), said("assistant")],
      "reasoning-alone",
      1,
    ],
    ["reasoning at the end", [said("assistant"), reasoning("1")], "reasoning-alone", 2],
  ])("are refused: %s", (_, items, rule, index) => {
    const violations = validate([said("user"), ...items], openaiResponses, { format: openaiResponsesFormat });
    expect(violations[0]).toMatchObject({ rule, index });
  });

  it("lose reasoning that led to nothing, and no other", () => {
    const items = [
      said("user"),
      reasoning("1"),
      said("user"),
      reasoning("2"),
      said("assistant"),
      reasoning("3"),
    ];
    const { messages } = openaiResponses.shape(items, openaiResponsesFormat);
    expect(messages).toEqual([said("user"), said("user"), reasoning("2"), said("assistant")]);
  });

  it("stay apart where one answer is several items, whoever takes them", () => {
    const source = "https://example.com";
    const local = profileOf("local", [
      { rule: "last-message", source },
      { rule: "same-role", roles: ["user", "assistant", "tool"], source },
    ]);
    const joins: MessageFormat<ResponsesItem> = { ...openaiResponsesFormat, joined: (first) => first };
    expectTaken(
      [said("user"), said("assistant"), said("assistant"), said("user"), said("user")],
      local,
      joins,
    );
  });
});

describe("results and what the user says behind them", () => {
  const asked: AnthropicMessage = {
    role: "assistant",
    content: [{ type: "tool_use", id: "abcDEF123", name: "t", input: {} }],
  };
  const answer = { type: "tool_result" as const, tool_use_id: "abcDEF123", content: "ok" };
  const messages: AnthropicMessage[] = [
    { role: "user", content: "a" },
    asked,
    { role: "user", content: [answer] },
    { role: "user", content: "b" },
  ];

  it("are one message where roles must alternate", () => {
    expect(validate(messages, bedrock, { format: anthropicFormat })).toMatchObject([
      { rule: "same-role", index: 3 },
    ]);
    expect(bedrock.shape(messages, anthropicFormat).messages).toEqual([
      { role: "user", content: "a" },
      asked,
      { role: "user", content: [answer, { type: "text", text: "b" }] },
    ]);
  });

  it("stay two where the API joins them", () => {
    expectTaken(messages, anthropic, anthropicFormat);
  });

  it("in one message stand before it", () => {
    const said = { type: "text" as const, text: "b" };
    const mixed: AnthropicMessage[] = [...messages.slice(0, 2), { role: "user", content: [said, answer] }];
    for (const profile of [anthropic, bedrock]) {
      expect(validate(mixed, profile, { format: anthropicFormat })).toMatchObject([
        { rule: "results-first", index: 2 },
      ]);
      expect(profile.shape(mixed, anthropicFormat).messages.at(-1)).toEqual({
        role: "user",
        content: [answer, said],
      });
    }
  });

  it("of one answer are one message, wherever they stand", () => {
    const second = { ...answer, tool_use_id: "abcDEF456" };
    const two: AnthropicMessage = {
      role: "assistant",
      content: [...asked.content, { type: "tool_use", id: "abcDEF456", name: "t", input: {} }] as never,
    };
    const apart: AnthropicMessage[] = [
      { role: "user", content: "a" },
      two,
      { role: "user", content: [answer] },
      { role: "user", content: [second] },
    ];
    expect(validate(apart, anthropic, { format: anthropicFormat })).toMatchObject([
      { rule: "same-role", index: 3 },
    ]);
    expect(anthropic.shape(apart, anthropicFormat).messages).toEqual([
      ...apart.slice(0, 2),
      { role: "user", content: [answer, second] },
    ]);
  });

  it("stay two where an answer stands between them", () => {
    const between = messages.toSpliced(3, 0, { role: "assistant", content: "c" });
    expectTaken(between, bedrock, anthropicFormat);
    expectTaken(between, strict, anthropicFormat);
  });
});

describe("what stands beside what is said", () => {
  it("a name is no text: its message holds nothing", () => {
    const messages: ChatMessage[] = [{ role: "user", name: "Ada", content: [] }];
    for (const profile of [gemini, mistral, strict]) {
      expect(validate(messages, profile, { format: openaiFormat })).toMatchObject([{ rule: "empty-text" }]);
      expect(profile.shape(messages, openaiFormat).messages).toEqual([
        { role: "user", content: "(An empty message.)" },
      ]);
    }
  });

  it("a result is no text of a document's", () => {
    const pdf = { type: "base64" as const, media_type: "application/pdf" as const, data: "JVBERi0=" };
    const answer = { type: "tool_result" as const, tool_use_id: "toolu_1", content: "ok" };
    const message: AnthropicMessage = { role: "user", content: [answer, { type: "document", source: pdf }] };
    const messages: AnthropicMessage[] = [
      { role: "user", content: "a" },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "t", input: {} }] },
      message,
    ];
    expect(validate(messages, bedrock, { format: anthropicFormat })).toMatchObject([
      { rule: "document-with-text", index: 2 },
    ]);
    expect(bedrock.shape(messages, anthropicFormat).messages[2]?.content).toEqual([
      ...message.content,
      { type: "text", text: "(A file is attached.)" },
    ]);
  });
});

describe("a list of the system message, or of nothing that a provider takes", () => {
  it("is not opened where nothing was said", () => {
    const messages: ModelMessage[] = [{ role: "system", content: "Be brief." }];
    for (const profile of allProfiles) expect(profile.shape(messages, format).messages).toEqual(messages);
  });

  const opening = user("Here is our conversation so far.");

  it("is opened where all that was said goes", () => {
    for (const profile of [anthropic, gemini, bedrock, mistral, strict]) {
      expect(profile.shape([assistant("")], format).messages).toEqual([opening]);
    }
  });

  it("stays opened when the model has answered, also where an answer may be first", () => {
    const shown = (...messages: ModelMessage[]): unknown => mistral.shape(messages, format).messages;
    const asked = user("Please continue.");
    expect(shown(assistant(""), assistant("a"))).toEqual([opening, assistant("a"), asked]);
    expect(shown(assistant("a"), assistant(""))).toEqual([assistant("a"), asked]);
    expect(shown(assistant(""), user("a"))).toEqual([user("a")]);
    const brief: ModelMessage = { role: "system", content: "Be brief." };
    expect(shown(brief, assistant(""))).toEqual([brief, opening]);
  });
});

describe("a format without what profiles ask for", () => {
  const { joined: _, ...unable } = format;
  const messages = [user("a"), user("b")];

  it("is UNSUPPORTED, which names the format and what it lacks", () => {
    expect(() => bedrock.shape(messages, unable)).toThrow(
      expect.objectContaining({
        code: "UNSUPPORTED",
        message: expect.stringMatching(new RegExp(`${JSON.stringify(format.name)} has no joined`)),
      }),
    );
  });

  it("is UNSUPPORTED where a tool's name is refused and the format cannot rename it, and enough elsewhere", () => {
    const { renameTools: _, ...nameless } = format;
    const called = (name: string) => [user("a"), toolCall("c1", name, {}), toolResult("c1", name, "ok")];
    expect(() => openai.shape(called("a.b"), nameless)).toThrow(
      expect.objectContaining({
        code: "UNSUPPORTED",
        message: expect.stringContaining("has no renameTools"),
      }),
    );
    expectTaken(called("a_b"), openai, nameless);
    expect(validate(called("a.b"), openai, { format: nameless })).toHaveLength(2);
  });

  it("is enough where nothing has to be joined, and for validate", () => {
    expectTaken([user("a")], bedrock, unable);
    expect(validate(messages, bedrock, { format: unable })).toEqual([]);
  });
});

it("a call that an answer asks approval for stands between results and the user", () => {
  const messages = [
    user("a"),
    toolCall("abcDEF456", "t", {}),
    toolResult("abcDEF456", "t", "ok"),
    assistant([call, request]),
    user("b"),
  ];
  expect(validate(messages, mistral, { format })).toMatchObject([{ rule: "tool-results", index: 3 }]);
});
