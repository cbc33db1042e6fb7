import { createChatMemory, type ModelMessage } from "@turnkeep/core";
import { type ChatMessage, openaiFormat } from "@turnkeep/formats/openai";
import { type ModelServer, type Reply, startServer } from "@turnkeep/model-servers";
import { afterEach, describe, expect, test } from "vitest";
import { type Assistant, type ChatEvent, createAssistant, tool } from "../src/index.ts";
import { openaiMessages } from "../src/openai.ts";
import {
  type OpenAICompatibleOptions,
  openaiCompatible,
  openaiCompatibleChat,
} from "../src/openai-compatible.ts";
import { user } from "./script.ts";

/** What single servers of the protocol have of their own, as they have it. */

const lamp = tool({ inputSchema: { type: "object", properties: {} }, execute: () => "on" });
const call = { id: "c1", type: "function", function: { name: "lamp", arguments: "{}" } };
const event = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const whole = (message: object): Reply => ({ json: { choices: [{ message }] } });

const servers: ModelServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function serverOf(...replies: readonly Reply[]): Promise<ModelServer> {
  const rest = replies.values();
  const server = await startServer(() => rest.next().value ?? whole({ content: "It is on." }));
  servers.push(server);
  return server;
}

function lastMessages({ received }: ModelServer): unknown {
  return received.at(-1)?.body.messages;
}

async function eventsOf(stream: AsyncIterable<ChatEvent<ModelMessage>>): Promise<ChatEvent<ModelMessage>[]> {
  const events: ChatEvent<ModelMessage>[] = [];
  for await (const each of stream) if (each.type !== "finish") events.push(each);
  return events;
}

test("a stream is known by its type, however the server spells it", async () => {
  const headers = { "content-type": "Text/Event-Stream; charset=utf-8" };
  const pieces = [event({ content: "It is on." }), event({}, "stop"), "data: [DONE]\n\n"];
  const server = await serverOf({ headers, pieces });
  const chat = createAssistant({ model: openaiCompatible({ baseUrl: server.url, model: "m" }) });
  const events = await eventsOf(chat.stream("Is it on?"));
  expect(events).toEqual([{ type: "text", text: "It is on." }]);
});

describe("why an answer ended", () => {
  test.each([
    ["length", "length"],
    ["model_length", "length"],
    ["content_filter", "content-filter"],
    ["stop", "stop"],
    ["eos", "stop"],
    [null, "stop"],
  ])("is told of the server's %j: %j", async (finish_reason, expected) => {
    const message = { role: "assistant", content: "It is" };
    const server = await serverOf(
      { json: { choices: [{ message, finish_reason }] } },
      { pieces: [event(message), event({}, finish_reason), event({}), "data: [DONE]\n\n"] },
    );
    const chat = createAssistant({ model: openaiCompatible({ baseUrl: server.url, model: "m" }) });
    expect((await chat.chat("Is it on?")).finishReason).toBe(expected);
    let finished: string | undefined;
    for await (const each of chat.stream("Is it on?"))
      if (each.type === "finish") finished = each.result.finishReason;
    expect(finished).toBe(expected);
  });
});

describe("reasoning goes back", () => {
  test.each([false, true])(
    "as `reasoning_content`, which DeepSeek asks for in each later request, streamed: %j",
    async (isStreamed) => {
      const thought = { reasoning_content: "The lamp is off.", tool_calls: [call] };
      const server = await serverOf(
        isStreamed
          ? {
              pieces: [
                event({ role: "assistant", content: null, reasoning_content: "The lamp " }),
                event({ reasoning_content: "is off." }),
                event({ tool_calls: [{ index: 0, ...call }] }),
                event({}, "tool_calls"),
              ],
            }
          : whole({ content: "", ...thought }),
      );
      const chat = createAssistant({
        model: openaiCompatible({ baseUrl: server.url, model: "m" }),
        memory: createChatMemory(),
        tools: { lamp },
      });
      const expected = { role: "assistant", content: null, ...thought };
      if (isStreamed) await eventsOf(chat.stream("Light!"));
      else await chat.chat("Light!");
      expect(lastMessages(server)).toMatchObject([{ role: "user" }, expected, { role: "tool" }]);
      await chat.chat("Thanks.");
      expect(lastMessages(server)).toMatchObject([{}, expected, {}, { content: "It is on." }, {}]);
    },
  );

  test("empty beside calls, and not at all beside a text", async () => {
    const server = await serverOf(
      whole({ content: "", reasoning_content: "", tool_calls: [call] }),
      whole({ content: "It is on.", reasoning_content: "" }),
    );
    const memory = createChatMemory();
    const chat = createAssistant({
      model: openaiCompatible({ baseUrl: server.url, model: "m" }),
      memory,
      tools: { lamp },
    });
    await chat.chat("Light!");
    expect(lastMessages(server)).toMatchObject([{}, { reasoning_content: "", tool_calls: [call] }, {}]);
    expect((await memory.messages()).at(-1)).toEqual({ role: "assistant", content: "It is on." });
  });

  test.each(["https://api.moonshot.ai/v1", "https://api.deepseek.com", "https://api.openai.com/v1"])(
    "empty to %s, if it asks for it, beside calls that another model made",
    async (baseUrl) => {
      const answers = ["It is on.", "So."].map((content) => whole({ content }));
      const answered = [whole({ content: "", tool_calls: [call] }), ...answers];
      const server = await serverOf(...answered, ...answered);
      const asked: typeof fetch = (_, init) => fetch(`${server.url}/chat/completions`, init);
      const memory = createChatMemory();
      const chatMemory = createChatMemory({ format: openaiFormat });
      const messages = openaiMessages<ChatMessage>();
      const wanted = baseUrl.includes("openai") ? [] : ["reasoning_content"];
      type Chat = { chat(message: string): Promise<unknown> };
      const assistants: ((at: OpenAICompatibleOptions) => Chat)[] = [
        (at: OpenAICompatibleOptions) =>
          createAssistant({ model: openaiCompatible(at), memory, tools: { lamp } }),
        (at: OpenAICompatibleOptions) =>
          createAssistant({ model: openaiCompatibleChat(at), memory: chatMemory, messages, tools: { lamp } }),
      ];
      for (const assistantOf of assistants) {
        await assistantOf({ baseUrl: server.url, model: "m" }).chat("Light!");
        await assistantOf({ baseUrl, model: "n", fetch: asked }).chat("Thanks.");
        const [, made = {}, , said = {}] = lastMessages(server) as object[];
        const reasoning = (message: object) =>
          Object.keys(message).filter((name) => name.startsWith("reasoning"));
        expect(reasoning(made)).toEqual(wanted);
        if (wanted.length > 0) expect(made).toHaveProperty("reasoning_content", "");
        expect(reasoning(said)).toEqual([]);
      }
    },
  );

  test.each([
    ["https://api.x.ai/v1", ""],
    ["https://api.openai.com/v1", null],
  ])("to %s, a content of %j stands beside calls that say nothing", async (baseUrl, content) => {
    const answered = [whole({ content: null, tool_calls: [call] }), whole({ content: "It is on." })];
    const server = await serverOf(...answered, ...answered);
    const asked: typeof fetch = (_, init) => fetch(`${server.url}/chat/completions`, init);
    const at = { baseUrl, model: "m", fetch: asked };
    await createAssistant({ model: openaiCompatible(at), memory: createChatMemory(), tools: { lamp } }).chat(
      "On!",
    );
    expect(lastMessages(server)).toMatchObject([{}, { content, tool_calls: [call] }, {}]);
    const memory = createChatMemory({ format: openaiFormat });
    const messages = openaiMessages<ChatMessage>();
    await createAssistant({ model: openaiCompatibleChat(at), memory, messages, tools: { lamp } }).chat("On!");
    expect(lastMessages(server)).toMatchObject([{}, { content, tool_calls: [call] }, {}]);
  });

  test("as `reasoning_details`, which OpenRouter asks for, whole where they came in pieces", async () => {
    const text = { type: "reasoning.text", index: 0, format: "f" };
    const encrypted = { type: "reasoning.encrypted", data: "x", index: 1, id: "c1" };
    const server = await serverOf({
      pieces: [
        event({ reasoning: "The lamp ", reasoning_details: [{ ...text, text: "The lamp " }] }),
        event({ reasoning: "is off.", reasoning_details: [{ ...text, text: "is off.", signature: null }] }),
        event({ reasoning_details: [{ ...text, signature: "s" }] }),
        event({ reasoning_details: [{ type: "reasoning.summary", summary: "Off", index: 2 }] }),
        event({ reasoning_details: [{ type: "reasoning.summary", summary: ".", index: 2 }] }),
        event({ reasoning_details: [{ type: "reasoning.summary", summary: "On.", index: 3 }] }),
        event({ reasoning_details: [encrypted] }),
        event({ reasoning_details: [encrypted] }),
        event({ tool_calls: [{ index: 0, ...call }] }),
        event({}, "tool_calls"),
      ],
    });
    const chat = createAssistant({
      model: openaiCompatible({ baseUrl: server.url, model: "m" }),
      memory: createChatMemory(),
      tools: { lamp },
    });
    const events = await eventsOf(chat.stream("Light!"));
    expect(events.filter(({ type }) => type === "reasoning")).toEqual([
      { type: "reasoning", text: "The lamp " },
      { type: "reasoning", text: "is off." },
    ]);
    const [, answer] = lastMessages(server) as [unknown, object];
    expect(answer).toEqual({
      role: "assistant",
      content: null,
      reasoning_details: [
        { ...text, text: "The lamp is off.", signature: "s" },
        { type: "reasoning.summary", summary: "Off.", index: 2 },
        { type: "reasoning.summary", summary: "On.", index: 3 },
        encrypted,
        encrypted,
      ],
      tool_calls: [call],
    });
  });

  test("to nobody else, and not as `reasoning`, which Groq refuses of some models", async () => {
    const first = await serverOf(whole({ content: "", reasoning_content: "Hm.", tool_calls: [call] }));
    const other = await serverOf(whole({ content: "Yes.", reasoning: "Hm." }));
    const memory = createChatMemory();
    const chatOf = ({ url }: ModelServer): Assistant<ModelMessage> =>
      createAssistant({ model: openaiCompatible({ baseUrl: url, model: "m" }), memory, tools: { lamp } });
    await chatOf(first).chat("Light!");
    await chatOf(other).chat("Is it on?");
    await chatOf(other).chat("Really?");
    expect(JSON.stringify(lastMessages(other))).not.toContain("Hm.");
  });
});

test("reasoning that comes under both names is told once", async () => {
  const server = await serverOf({
    pieces: [
      event({ reasoning: "h", reasoning_content: "h" }),
      event({ reasoning: "m", reasoning_content: "m" }),
      event({ content: "Hi" }, "stop"),
    ],
  });
  const chat = createAssistant({ model: openaiCompatible({ baseUrl: server.url, model: "m" }) });
  expect(await eventsOf(chat.stream("Hello"))).toEqual([
    { type: "reasoning", text: "h" },
    { type: "reasoning", text: "m" },
    { type: "text", text: "Hi" },
  ]);
});

describe("a content that is a list, as of Mistral's reasoning models,", () => {
  const thinking = (text: string): object => ({ type: "thinking", thinking: [{ type: "text", text }] });

  test("is its texts, and what it thinks is reasoning", async () => {
    const content = [thinking("Hm."), { type: "text", text: "He" }, { type: "text", text: "llo" }];
    const server = await serverOf(whole({ content }));
    const memory = createChatMemory();
    const chat = createAssistant({ model: openaiCompatible({ baseUrl: server.url, model: "m" }), memory });
    expect((await chat.chat("Hi")).text).toBe("Hello");
    expect((await memory.messages())[1]).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm." },
        { type: "text", text: "Hello" },
      ],
    });
    await chat.chat("Hi");
    expect(lastMessages(server)).toMatchObject([{}, { role: "assistant", content: "Hello" }, {}]);
  });

  test("may come in pieces, and go on as a text", async () => {
    const pieces = [
      event({ role: "assistant", content: "" }),
      event({ content: [thinking("H")] }),
      event({ content: [{ ...thinking("m."), closed: true }] }),
      event({ content: [{ type: "text", text: "He" }] }),
      event({ content: "" }),
      event({ content: "llo" }),
      event({ content: [{ type: "reference", reference_ids: [1] }] }),
      event({ content: [{ type: "reference", reference_ids: [2] }] }),
      event({}, "stop"),
    ];
    const server = await serverOf({ pieces }, { pieces });
    const chat = createAssistant({ model: openaiCompatible({ baseUrl: server.url, model: "m" }) });
    expect(await eventsOf(chat.stream("Hi"))).toEqual([
      { type: "reasoning", text: "H" },
      { type: "reasoning", text: "m." },
      { type: "text", text: "He" },
      { type: "text", text: "llo" },
    ]);
    const memory = createChatMemory({ format: openaiFormat });
    const ofItsOwn = createAssistant({
      model: openaiCompatibleChat<ChatMessage>({ baseUrl: server.url, model: "m" }),
      memory,
      messages: openaiMessages<ChatMessage>(),
    });
    for await (const each of ofItsOwn.stream("Hi"))
      if (each.type === "finish") expect(each.result.text).toBe("Hello");
    expect((await memory.messages())[1]?.content).toEqual([
      { ...thinking("Hm."), closed: true },
      { type: "text", text: "Hello" },
      { type: "reference", reference_ids: [1] },
      { type: "reference", reference_ids: [2] },
    ]);
  });
});

test.each([false, true])("a refusal is what the model says, streamed: %j", async (isStreamed) => {
  const reply: Reply = isStreamed
    ? { pieces: [event({ refusal: "I " }), event({ refusal: "cannot." }), event({}, "stop")] }
    : whole({ content: null, refusal: "I cannot." });
  const server = await serverOf(reply, reply);
  const options = { baseUrl: server.url, model: "m" };
  const chats = [
    createAssistant({ model: openaiCompatible(options) }),
    createAssistant({
      model: openaiCompatibleChat<ChatMessage>(options),
      memory: createChatMemory({ format: openaiFormat }),
      messages: openaiMessages<ChatMessage>(),
    }),
  ] as Assistant<ModelMessage>[];
  for (const chat of chats) {
    if (!isStreamed) expect((await chat.chat("Hi")).text).toBe("I cannot.");
    else {
      const texts = (await eventsOf(chat.stream("Hi"))).map((each) => "text" in each && each.text);
      expect(texts).toEqual(["I ", "cannot."]);
    }
  }
});

test("a query of the address stays behind the path", async () => {
  const server = await serverOf();
  const baseUrl = `${server.url}/openai/v1/?api-version=preview`;
  await createAssistant({ model: openaiCompatible({ baseUrl, model: "m" }) }).chat("Hi");
  expect(server.received[0]?.path).toBe("/openai/v1/chat/completions?api-version=preview");
});

test("an image may tell no more of its type than that it is one", async () => {
  const server = await serverOf();
  const chat = createAssistant({ model: openaiCompatible({ baseUrl: server.url, model: "m" }) });
  await chat.chat(user([{ type: "file", data: "AQID", mediaType: "image" }]));
  expect(lastMessages(server)).toEqual([
    {
      role: "user",
      content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AQID" } }],
    },
  ]);
});

describe("an answer that broke off is a MODEL_ERROR", () => {
  const half = { role: "assistant", content: "It is" };
  test.each(["error", "abort", "insufficient_system_resource"])("by its reason %s", async (finish_reason) => {
    const server = await serverOf(
      { json: { choices: [{ message: half, finish_reason }] } },
      { pieces: [event(half), event({}, finish_reason), "data: [DONE]\n\n"] },
    );
    const memory = createChatMemory();
    const chat = createAssistant({ model: openaiCompatible({ baseUrl: server.url, model: "m" }), memory });
    await expect(chat.chat("Is it on?")).rejects.toMatchObject({ code: "MODEL_ERROR" });
    await expect(eventsOf(chat.stream("Is it on?"))).rejects.toMatchObject({ code: "MODEL_ERROR" });
    expect(await memory.messages()).toEqual([]);
  });

  test("by the error of its choice, as OpenRouter has it", async () => {
    const error = { code: 502, message: "upstream died" };
    const server = await serverOf(
      { json: { choices: [{ message: half, error }] } },
      {
        pieces: [
          event(half),
          `data: ${JSON.stringify({ choices: [{ delta: {}, error }] })}\n\n`,
          "data: [DONE]\n\n",
        ],
      },
    );
    const chat = createAssistant({ model: openaiCompatible({ baseUrl: server.url, model: "m" }) });
    const expected = { code: "MODEL_ERROR", cause: { message: "upstream died" } };
    await expect(chat.chat("Is it on?")).rejects.toMatchObject(expected);
    await expect(eventsOf(chat.stream("Is it on?"))).rejects.toMatchObject(expected);
  });
});

describe("streamed calls", () => {
  const begun = (name: string, text: string, members: object): object => ({
    ...members,
    type: "function",
    function: { name, arguments: text },
  });
  const lit = [
    { type: "tool-call", toolName: "lamp", input: { n: 1 } },
    { type: "tool-call", toolName: "fan", input: { n: 2 } },
  ];
  const [first, second, begin, rest] = ['{"n":1}', '{"n":2}', '{"n"', ":1}"] as const;
  test.each<[string, object[][], object[]]>([
    [
      "of one index with ids of their own, as a gateway to Google has them",
      [[begun("lamp", first, { index: 0, id: "a" })], [begun("fan", second, { index: 0, id: "b" })]],
      lit,
    ],
    [
      "of one index without ids",
      [[begun("lamp", first, { index: 0, id: "" })], [begun("fan", second, { index: 0, id: "" })]],
      lit,
    ],
    [
      "with neither index nor id",
      [[begun("lamp", first, { id: "" }), begun("fan", second, { id: "" })]],
      lit,
    ],
    [
      "that go on under an index that is null",
      [
        [begun("lamp", begin, { index: null, id: "a" })],
        [{ index: null, id: null, function: { arguments: rest } }],
      ],
      lit.slice(0, 1),
    ],
    [
      "with the name in each chunk, as NVIDIA has them",
      [
        [begun("lamp", begin, { index: 0, id: "a" })],
        [begun("lamp", rest, { index: 0, id: "a" })],
        [begun("lamp", "", { index: 0, id: "a" })],
      ],
      lit.slice(0, 1),
    ],
    [
      "with another id in each chunk, as an old vLLM has them",
      [[begun("lamp", begin, { index: 0, id: "a" })], [{ index: 0, id: "b", function: { arguments: rest } }]],
      lit.slice(0, 1),
    ],
  ])("%s", async (_what, chunks, expected) => {
    const server = await serverOf({
      pieces: [...chunks.map((tool_calls) => event({ tool_calls })), event({}, "tool_calls")],
    });
    const memory = createChatMemory();
    const model = openaiCompatible<ModelMessage>({ baseUrl: server.url, model: "m" });
    await eventsOf(createAssistant({ model, memory, tools: { lamp, fan: lamp } }).stream("Light!"));
    const content = (await memory.messages())[1]?.content as readonly object[];
    expect(content).toHaveLength(expected.length);
    expect(content).toMatchObject(expected);
  });
});

test("who speaks may be told in each chunk, as MiniMax does", async () => {
  const server = await serverOf({
    pieces: [
      event({ name: "MiniMax AI", content: "H" }),
      event({ name: "MiniMax AI", content: "i" }, "stop"),
    ],
  });
  const memory = createChatMemory({ format: openaiFormat });
  const chat = createAssistant({
    model: openaiCompatibleChat<ChatMessage>({ baseUrl: server.url, model: "m" }),
    memory,
    messages: openaiMessages<ChatMessage>(),
  });
  for await (const _ of chat.stream("Hi"));
  expect((await memory.messages())[1]).toEqual({ role: "assistant", name: "MiniMax AI", content: "Hi" });
});

test("a chunk, or its delta, may be null", async () => {
  const nothing = 'data: {"choices":[{"delta":null,"finish_reason":"stop"}]}\n\n';
  const server = await serverOf({
    pieces: ["data: null\n\n", event({ content: "Hi" }), nothing, "data: [DONE]\n\n"],
  });
  const chat = createAssistant({ model: openaiCompatible({ baseUrl: server.url, model: "m" }) });
  expect(await eventsOf(chat.stream("Hello"))).toEqual([{ type: "text", text: "Hi" }]);
});

test("a header that is made here is not sent twice where one is given, whatever its letters", async () => {
  const server = await serverOf();
  const headers = { "Content-Type": "application/json", Authorization: "Bearer own" };
  const model = openaiCompatible<ModelMessage>({ baseUrl: server.url, model: "m", apiKey: "key", headers });
  await createAssistant({ model }).chat("Hi");
  expect(server.received[0]?.headers).toMatchObject({
    "content-type": "application/json",
    authorization: "Bearer own",
  });
});

test("a key in a header behind its scheme, or in the query, is not repeated either", async () => {
  const server = await serverOf({
    status: 404,
    text: "No /chat/completions?key=AIza%2Bx for sk-own, AIza+x",
  });
  const model = openaiCompatible<ModelMessage>({
    baseUrl: `${server.url}?key=AIza%2Bx`,
    model: "m",
    headers: { authorization: "Bearer sk-own" },
  });
  await expect(createAssistant({ model }).chat("Hi")).rejects.toMatchObject({
    cause: { message: "No /chat/completions?key=… for …, …" },
  });
});

test("the words of a header that holds no key stay in an error", async () => {
  const message = "messages with role 'tool' must follow";
  const server = await serverOf({ status: 400, text: message });
  const headers = { "X-Title": "My little tool" };
  const model = openaiCompatible<ModelMessage>({ baseUrl: server.url, model: "m", headers });
  await expect(createAssistant({ model }).chat("Hi")).rejects.toMatchObject({ cause: { message } });
});

test("what only its server knows of a call, as Google a thought's signature, goes back to that one alone", async () => {
  const signed = { ...call, extra_content: { google: { thought_signature: "s" } } };
  const first = await serverOf(whole({ content: null, tool_calls: [signed] }));
  const other = await serverOf();
  const memory = createChatMemory();
  const chatOf = ({ url }: ModelServer): Assistant<ModelMessage> =>
    createAssistant({ model: openaiCompatible({ baseUrl: url, model: "m" }), memory, tools: { lamp } });
  await chatOf(first).chat("Light!");
  await chatOf(other).chat("Is it on?");
  expect((lastMessages(first) as object[])[1]).toMatchObject({ tool_calls: [signed] });
  expect((lastMessages(other) as object[])[1]).toEqual({
    role: "assistant",
    content: null,
    tool_calls: [call],
  });
});

test.each([
  ["functions.lamp now", "functions_lamp_now"],
  ["", "_"],
  ["x".repeat(70), "x".repeat(64)],
  ["lamp.v2", "lamp.v2"],
])("a name that a model made up, %j, goes back as one that OpenAI takes: %j", async (name, expected) => {
  const made = { ...call, function: { name, arguments: "{}" } };
  const server = await serverOf(whole({ content: null, tool_calls: [made] }));
  const memory = createChatMemory();
  const model = openaiCompatible<ModelMessage>({ baseUrl: server.url, model: "m" });
  await createAssistant({ model, memory, tools: { lamp, "lamp.v2": lamp } }).chat("Light!");
  expect((lastMessages(server) as object[])[1]).toMatchObject({
    tool_calls: [{ function: { name: expected } }],
  });
  expect((await memory.messages())[1]).toMatchObject({ content: [{ toolName: name }] });
});

test("arguments that are no JSON object go back as an empty one, since vLLM refuses them for ever", async () => {
  const cut = { ...call, function: { name: "lamp", arguments: '{"n' } };
  const custom = { id: "c2", type: "custom", custom: { name: "x", input: "y" } };
  const server = await serverOf(whole({ content: null, tool_calls: [cut] }));
  const memory = createChatMemory({ format: openaiFormat });
  const question: ChatMessage = { role: "user", content: "Hi" };
  const done: ChatMessage = { role: "assistant", content: null, tool_calls: [custom as never] };
  await memory.add(question, done, { role: "tool", tool_call_id: "c2", content: "z" });
  const chat = createAssistant({
    model: openaiCompatibleChat<ChatMessage>({ baseUrl: server.url, model: "m" }),
    memory,
    messages: openaiMessages<ChatMessage>(),
    tools: { lamp },
  });
  await chat.chat("Light!");
  const sent = lastMessages(server) as object[];
  expect(sent[1]).toEqual(done);
  expect(sent[4]).toMatchObject({ tool_calls: [{ id: "c1", function: { name: "lamp", arguments: "{}" } }] });
  expect((await memory.messages())[4]).toMatchObject({ tool_calls: [cut] });
});

test("a call whose arguments did not come before the answer was cut off is not carried out", async () => {
  const runs: unknown[] = [];
  const wipe = tool({ inputSchema: { type: "object" }, execute: (input) => runs.push(input) });
  const calls = ["{}", ""].map((text, n) => ({
    ...call,
    id: `c${n}`,
    function: { name: "wipe", arguments: text },
  }));
  const server = await serverOf({
    json: { choices: [{ message: { content: null, tool_calls: calls }, finish_reason: "length" }] },
  });
  const chat = createAssistant({
    model: openaiCompatible({ baseUrl: server.url, model: "m" }),
    memory: createChatMemory(),
    tools: { wipe },
  });
  const { toolResults } = await chat.chat("Wipe!");
  expect(runs).toEqual([{}]);
  expect(toolResults).toMatchObject([
    { isError: false },
    { isError: true, output: expect.stringContaining("cut off") },
  ]);
});
