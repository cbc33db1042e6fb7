import { inspect } from "node:util";
import { createChatMemory, type ModelMessage, toolResult } from "@turnkeep/core";
import { type ChatMessage, openaiFormat } from "@turnkeep/formats/openai";
import { type ModelServer, openaiServer, type Reply, startServer, weatherBot } from "@turnkeep/model-servers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  type AssistantError,
  createAssistant,
  isAssistantError,
  type ModelDelta,
  type ModelRequest,
  tool,
} from "../src/index.ts";
import { openaiMessages } from "../src/openai.ts";
import { retryAfterMs } from "../src/openai-compatible/retry-after.ts";
import {
  type OpenAICompatibleOptions,
  openaiCompatible,
  openaiCompatibleChat,
} from "../src/openai-compatible.ts";
import { assistant, calling, user } from "./script.ts";

const key = "sk-very-secret-0123456789";
const weather = tool({
  description: "The weather in a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => `4 °C in ${city as string}`,
});

describe("a conversation with a server", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await openaiServer(weatherBot, key);
  });
  afterAll(() => server.stop());
  const options = (): OpenAICompatibleOptions => ({ baseUrl: `${server.url}/v1/`, apiKey: key, model: "m" });

  test.each([false, true])("of the default format, streamed: %j", async (isStreamed) => {
    const memory = createChatMemory();
    const chat = createAssistant({
      model: openaiCompatible(options()),
      memory,
      tools: { weather },
      systemMessage: "Be brief.",
    });
    const ask = async (question: string): Promise<string[]> => {
      if (!isStreamed) return [(await chat.chat(question)).text];
      const parts: string[] = [];
      for await (const event of chat.stream(question)) if (event.type === "text") parts.push(event.text);
      return parts;
    };
    const before = server.received.length;
    const said = await ask("Weather in Oslo and Bergen?");
    expect(server.received[before]?.body).toMatchObject({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Weather in Oslo and Bergen?" },
      ],
      ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
    });
    expect(said.join("")).toBe("4 °C in Oslo, and 4 °C in Bergen.");
    if (isStreamed) expect(said.length).toBeGreaterThan(3);
    expect((await ask("What did I ask first?")).join("")).toContain("Weather in Oslo and Bergen?");
    const calls = (await memory.messages())[2];
    expect(calls?.content).toMatchObject([
      { type: "tool-call", toolName: "weather", input: { city: "Oslo" } },
      { type: "tool-call", toolName: "weather", input: { city: "Bergen" } },
    ]);
    expect(server.received.at(-1)?.body).toMatchObject({
      model: "m",
      tools: [{ type: "function", function: { name: "weather", description: "The weather in a city" } }],
    });
    expect(server.received.at(-1)?.body).not.toHaveProperty("tool_choice");
  });

  test("of OpenAI's messages, which go out and come back as they are", async () => {
    const memory = createChatMemory({ format: openaiFormat });
    const chat = createAssistant({
      model: openaiCompatibleChat(options()),
      memory,
      messages: openaiMessages<ChatMessage>(),
      tools: { weather },
    });
    expect((await chat.chat("Weather in Oslo?")).text).toBe("4 °C in Oslo.");
    const messages = await memory.messages();
    expect(messages).toMatchObject([
      { role: "user", content: "Weather in Oslo?" },
      { role: "assistant", content: null, tool_calls: [{ function: { arguments: '{"city":"Oslo"}' } }] },
      { role: "tool", content: "4 °C in Oslo" },
      { role: "assistant", content: "4 °C in Oslo." },
    ]);
    expect(server.received.at(-1)?.body.messages).toEqual(messages.slice(0, 3));
  });

  test("that must answer without tools says so", async () => {
    const chat = createAssistant({
      model: openaiCompatible(options()),
      tools: { weather },
      maxRoundTrips: 0,
      strategies: { tooManyRoundTrips: "answer" },
    });
    expect((await chat.chat("Weather in Oslo?")).text).toBe("Ask me for the weather in a city.");
    expect(server.received.at(-1)?.body).toMatchObject({ tool_choice: "none" });
  });

  test.each([undefined, () => undefined])("calibrates and names the model, streamed: %s", async (onDelta) => {
    const model = openaiCompatible<ModelMessage>(options());
    const response = await model(requestOf([user("Hi")], onDelta));
    expect(response).toMatchObject({ usage: { inputTokens: 40, outputTokens: 8 }, model: "m" });
    expect(server.received.at(-1)?.headers).toMatchObject({
      "content-type": "application/json",
      authorization: `Bearer ${key}`,
    });
  });
});

function requestOf<M>(messages: M[], onDelta?: (delta: ModelDelta) => void): ModelRequest<M> {
  const signal = new AbortController().signal;
  return { messages, tools: [], toolChoice: "auto", signal, memoryId: "m", ...(onDelta && { onDelta }) };
}

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

/** What a model says of one reply of its server. */
async function answerTo(
  reply: Reply | (() => Reply | Promise<Reply>),
  options: Partial<OpenAICompatibleOptions> = {},
  messages: ModelMessage[] = [user("Hi")],
): Promise<{ readonly message: ModelMessage; readonly deltas: ModelDelta[] }> {
  server = await startServer(typeof reply === "function" ? reply : () => reply);
  const deltas: ModelDelta[] = [];
  const model = openaiCompatible<ModelMessage>({ baseUrl: server.url, apiKey: key, model: "m", ...options });
  const { message } = await model(requestOf(messages, (delta) => deltas.push(delta)));
  return { message, deltas };
}

const event = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const stop = event({}, "stop");

describe("a stream", () => {
  test("may be cut anywhere, end its lines in any way, and hold comments and other fields", async () => {
    const inLines = (end: string, text: string): string =>
      `data: {"choices":[{"delta":${end}data: {"content":"${text}"}}]}${end}${end}`;
    const bytes = `: hello\r\n\r\nevent: x\nid: 7\n${inLines("\r", "n")}${inLines("\r\n", "é")}${inLines("\n", "e")}${stop}`;
    for (const size of [1, 2, 7]) {
      const pieces = bytes.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      const { message, deltas } = await answerTo({ pieces });
      expect(message).toEqual(assistant("née"));
      expect(deltas.map((delta) => delta.text).join("")).toBe("née");
      await server?.stop();
    }
  });

  test("may leave out indexes or ids of calls, give one twice, and arguments as a value", async () => {
    const call = (members: object): string => event({ tool_calls: [members] });
    const { message } = await answerTo({
      pieces: [
        call({ id: "a", function: { name: "one", arguments: '{"n"' } }),
        call({ id: "", function: { arguments: ":1}" } }),
        call({ id: "b", function: { name: "two", arguments: { n: 2 } } }),
        call({ index: 7, id: "b", function: { name: "three", arguments: "" } }),
        call({ index: 8, function: { name: "four", arguments: "{" } }),
        call({ index: 9, id: "e", function: { name: "five", arguments: "null" } }),
        stop,
      ],
    });
    expect(message.content).toEqual([
      { type: "tool-call", toolCallId: "a", toolName: "one", input: { n: 1 } },
      { type: "tool-call", toolCallId: "b", toolName: "two", input: { n: 2 } },
      { type: "tool-call", toolCallId: expect.stringMatching(/^call_\w{32}$/), toolName: "three", input: {} },
      {
        type: "tool-call",
        toolCallId: expect.stringMatching(/^call_\w{32}$/),
        toolName: "four",
        input: {},
        providerOptions: { turnkeep: { unreadableInput: "{" } },
      },
      {
        type: "tool-call",
        toolCallId: "e",
        toolName: "five",
        input: {},
        providerOptions: { turnkeep: { unreadableInput: "null" } },
      },
    ]);
  });

  test("may go on with a call by its id alone, say null of what it does not hold, and hold lists", async () => {
    server = await startServer(() => ({
      pieces: [
        event({ role: "assistant", content: null, reasoning: "", reasoning_details: [{ text: "h" }] }),
        event({ reasoning_details: [{ text: "m" }] }),
        event({
          role: "assistant",
          content: "",
          tool_calls: [{ id: "a", function: { name: "one", arguments: "[" } }],
        }),
        event({ tool_calls: [{ id: "b", function: { name: "two" } }] }),
        event({
          content: "Hi",
          tool_calls: [{ id: "a", type: null, function: { name: null, arguments: "]" } }],
        }),
        event({ tool_calls: [{ id: null, function: { arguments: "{}" } }] }),
        stop,
      ],
    }));
    const deltas: ModelDelta[] = [];
    const model = openaiCompatibleChat<ChatMessage>({ baseUrl: `${server.url}//`, model: "m" });
    const messages: ChatMessage[] = [{ role: "user", content: "Hi" }];
    expect((await model(requestOf(messages, (delta) => deltas.push(delta)))).message).toEqual({
      role: "assistant",
      content: "Hi",
      reasoning: "",
      reasoning_details: [{ text: "h" }, { text: "m" }],
      tool_calls: [
        { id: "a", type: "function", function: { name: "one", arguments: "[]" } },
        { id: "b", type: "function", function: { name: "two", arguments: "{}" } },
      ],
    });
    expect(deltas).toEqual([{ type: "text", text: "Hi" }]);
    expect(server.received[0]?.path).toBe("/chat/completions");
    expect(server.received[0]?.headers).not.toHaveProperty("authorization");
  });

  test.each([
    [
      "OpenAI",
      { prompt_tokens_details: { cached_tokens: 6 }, completion_tokens_details: { reasoning_tokens: 3 } },
      { cachedInputTokens: 6, reasoningTokens: 3 },
    ],
    [
      "OpenRouter",
      { prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 7 } },
      { cachedInputTokens: 0, cacheWriteTokens: 7 },
    ],
    ["DeepSeek", { prompt_cache_hit_tokens: 5, prompt_cache_miss_tokens: 4 }, { cachedInputTokens: 5 }],
    ["a server that tells nothing", { prompt_tokens_details: null, completion_tokens_details: null }, {}],
  ])("tells what of it was cached, or reasoning, as %s counts it", async (_, details, expected) => {
    const usage = { prompt_tokens: 9, completion_tokens: 4, ...details };
    server = await startServer(() => ({ json: { choices: [{ message: { content: "Hi" } }], usage } }));
    const model = openaiCompatible<ModelMessage>({ baseUrl: server.url, model: "m" });
    const response = await model(requestOf([user("Hi")]));
    expect(response.usage).toEqual({ inputTokens: 9, outputTokens: 4, ...expected });
  });

  test("says what it took in a chunk of its own, before others of nothing", async () => {
    const chunk = (members: object): string => `data: ${JSON.stringify(members)}\n\n`;
    server = await startServer(() => ({
      pieces: [
        chunk({ model: "m-1", choices: [{ delta: { content: "Hi", refusal: "No." } }] }),
        chunk({ choices: [{ delta: {}, finish_reason: "stop" }], usage: null }),
        chunk({ usage: { prompt_tokens: 3, completion_tokens: 2, prompt_tokens_details: null } }),
        chunk({ model: "m-2", choices: [] }),
        "data: [DONE] \n\n",
      ],
    }));
    const deltas: ModelDelta[] = [];
    const model = openaiCompatible<ModelMessage>({ baseUrl: server.url, model: "m" });
    expect(await model(requestOf([user("Hi")], (delta) => deltas.push(delta)))).toMatchObject({
      usage: { inputTokens: 3, outputTokens: 2 },
      model: "m-1",
    });
    expect(deltas).toEqual([{ type: "text", text: "Hi" }]);
  });

  test.each(["reasoning_content", "reasoning"])(
    "brings reasoning apart from the text: %s",
    async (member) => {
      const { message, deltas } = await answerTo({
        pieces: [event({ [member]: "h" }), event({ [member]: "m" }), event({ content: "Hi" }), stop],
      });
      expect(deltas.map(({ type }) => type)).toEqual(["reasoning", "reasoning", "text"]);
      expect(message.content).toEqual([
        expect.objectContaining({ type: "reasoning", text: "hm" }),
        { type: "text", text: "Hi" },
      ]);
    },
  );

  test("may not be one at all", async () => {
    const { message, deltas } = await answerTo({ json: { choices: [{ message: { content: "Hi" } }] } });
    expect(message).toEqual(assistant("Hi"));
    expect(deltas).toEqual([]);
  });

  test("or an answer may say that it holds no call, which servers refuse to be told again", async () => {
    const message = { role: "assistant", content: "Hi", tool_calls: [], refusal: null };
    server = await startServer(() => ({ json: { choices: [{ message }] } }));
    const model = openaiCompatibleChat<ChatMessage>({ baseUrl: server.url, model: "m" });
    const answer = await model(requestOf<ChatMessage>([{ role: "user", content: "Hi" }]));
    expect(answer.message).toEqual({ role: "assistant", content: "Hi", refusal: null });
  });

  test.each<[string, Reply]>([
    ["ends early", { pieces: [event({ content: "Hel" })] }],
    ["breaks off", { pieces: [event({ content: "Hel" })], breaksOff: true }],
    ["is no JSON", { pieces: ["data: {\n\n"] }],
    ["holds an error", { pieces: [event({ content: "H" }), 'data: {"error":{"message":"overloaded"}}\n\n'] }],
    ["is HTML", { text: "<html>" }],
    ["has no choice", { json: { choices: [] } }],
    ["is an error with status 200", { json: { error: { message: "no" } } }],
  ])("that %s is a MODEL_ERROR", async (_what, reply) => {
    await expect(answerTo(reply)).rejects.toMatchObject({ code: "MODEL_ERROR" });
  });

  test("ends with the signal", async () => {
    const controller = new AbortController();
    server = await startServer(() => new Promise(() => undefined));
    const model = openaiCompatible<ModelMessage>({ baseUrl: server.url, model: "m" });
    const asked = model({ ...requestOf([user("Hi")]), signal: controller.signal });
    await expect.poll(() => server?.received.length).toBe(1);
    controller.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
  });
});

describe("an error", () => {
  const tooLong: [string, Reply][] = [
    ["OpenAI", { status: 400, json: { error: { code: "context_length_exceeded", message: "too long" } } }],
    [
      "vLLM",
      {
        status: 400,
        json: { object: "error", message: "This model's maximum context length is 8192 tokens. However" },
      },
    ],
    [
      "llama.cpp",
      { status: 400, json: { error: { type: "exceed_context_size_error", message: "the request" } } },
    ],
    [
      "Anthropic",
      { status: 400, json: { error: { message: "prompt is too long: 200141 tokens > 200000 maximum" } } },
    ],
    [
      "Google",
      {
        status: 400,
        json: [
          {
            error: {
              message: "The input token count (40) exceeds the maximum number of tokens allowed (9).",
            },
          },
        ],
      },
    ],
    [
      "newer OpenAI",
      { status: 400, json: { error: { message: "Your input exceeds the context window of this model." } } },
    ],
    ...[
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      "The input (250000 tokens) is longer than the model's context length (200000 tokens).",
      "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
      "The number of tokens to keep from the initial prompt is greater than the context length.",
      "prompt too long; exceeded max context length by 10 tokens",
      "Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)",
      "invalid params, context window exceeds limit (2013)",
      "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]",
    ].map((message): [string, Reply] => [message, { status: 400, json: { error: { message } } }]),
    ["a stream", { pieces: [`data: {"error":{"code":"context_length_exceeded"}}\n\n`] }],
    ["a text", { status: 413, text: "maximum context length is 10" }],
  ];

  test.each(tooLong)("of %s says that the prompt is too long", async (_who, reply) => {
    await expect(answerTo(reply)).rejects.toMatchObject({
      code: "PROMPT_TOO_LONG",
      message: expect.stringContaining('too long for "m"'),
      details: { status: expect.any(Number) },
    });
  });

  test.each([400, 401, 403, 429, 500])("of status %i says so", async (status) => {
    const reply = { status, json: { error: { code: "c", type: "t", message: "Slow down." } } };
    const error = await answerTo(reply).catch((reason: unknown) => reason);
    expect(isAssistantError(error, "MODEL_ERROR")).toBe(true);
    expect(error).toMatchObject({
      message: `The model's server at ${server?.url} answered with status ${status} (c, t).`,
      details: { status },
    });
    const cause = (error as Error).cause as Error | undefined;
    expect(cause?.message).toBe(status === 401 || status === 403 ? undefined : "Slow down.");
  });

  test.each<[string, Record<string, string>, number | undefined]>([
    ["in seconds", { "retry-after": "20" }, 20_000],
    ["in milliseconds, which are more exact", { "retry-after": "2", "retry-after-ms": "1250.5" }, 1251],
    ["by a date that is past", { "retry-after": "Fri, 31 Dec 1999 23:59:59 GMT" }, 0],
    ["in words", { "retry-after": "later", "retry-after-ms": "soon" }, undefined],
    ["with nothing", {}, undefined],
  ])("that asks to wait %s says how long", async (_, headers, wait) => {
    const fetch = async (): Promise<Response> => new Response("{}", { status: 429, headers });
    const model = openaiCompatible<ModelMessage>({ baseUrl: "http://localhost/v1", model: "m", fetch });
    const chat = createAssistant({ model, memory: createChatMemory() });
    const error = await chat.chat("Hello").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "MODEL_ERROR" });
    expect((error as AssistantError).details).toEqual(
      wait === undefined ? { status: 429 } : { status: 429, retryAfterMs: wait },
    );
  });

  test("that asks to wait until a date says how long that is", () => {
    const headers = new Headers({ "retry-after": "Mon, 23 Nov 2026 06:00:10 GMT" });
    expect(retryAfterMs(headers, Date.UTC(2026, 10, 23, 6, 0, 0))).toBe(10_000);
  });

  test.each<[string, object | string, string, string]>([
    ["a text", { error: "model not found" }, ".", "model not found"],
    ["a number", { error: { code: 1301, message: "no" } }, " (1301).", "no"],
    ["a message alone", { message: "no" }, ".", "no"],
  ])("that says what is wrong as %s", async (_how, json, about, said) => {
    const error = await answerTo({ status: 404, json }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      message: `The model's server at ${server?.url} answered with status 404${about}`,
      cause: { message: said },
    });
  });

  /** Everything that an error holds, beneath it too. */
  function everythingIn(error: unknown): string {
    return inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true });
  }

  test.each<[string, Reply, Partial<OpenAICompatibleOptions>]>([
    ["the server repeats it", { status: 400, text: `bad key ${key}` }, {}],
    ["the server repeats it in its code", { status: 400, json: { error: { code: key, message: key } } }, {}],
    ["the server repeats a part of it", { status: 401, text: `bad key ${key.slice(0, 9)}…` }, {}],
    ["the server repeats it far behind", { status: 400, text: `${"x".repeat(1985)}${key}` }, {}],
    ["the server repeats it in what is no JSON", { text: key }, {}],
    ["the stream does, in what is no JSON", { pieces: [`data: ${key}\n\n`] }, {}],
    ["the stream does", { pieces: [`data: ${JSON.stringify({ error: `bad key ${key}` })}\n\n`] }, {}],
    ["the server says nothing", { status: 500, text: "" }, {}],
    [
      "it stands in a header",
      { status: 400, text: `bad key ${key}` },
      { apiKey: undefined, headers: { "api-key": key } },
    ],
    ["nobody is there", {}, { baseUrl: "http://127.0.0.1:1/v1?key=sk-very-secret-0123456789" }],
  ])("never holds the key: %s", async (_what, reply, options) => {
    const error = await answerTo(reply, options).catch((reason: unknown) => reason);
    expect(isAssistantError(error, "MODEL_ERROR")).toBe(true);
    expect(everythingIn(error)).not.toContain(key.slice(0, 9));
  });

  test.each<Record<string, unknown>>([
    { baseUrl: `http://user:${key}@localhost` },
    { baseUrl: "localhost:8000" },
    { baseUrl: "file:///etc" },
    { baseUrl: undefined },
    { apiKey: `${key}\n` },
    { apiKey: `\n${key}` },
    { apiKey: "" },
    { apiKey: `${key}é` },
    { headers: { "api-key": `${key}\n1` } },
    { model: "" },
    { apiKey: 5 },
    { apikey: key },
    { parameters: "temperature" },
    { parameters: null },
    { fetch: true },
  ])("of options: %j", (options) => {
    const make = (): unknown =>
      openaiCompatible({ baseUrl: "http://localhost/v1", model: "m", ...options } as never);
    expect(make).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    try {
      make();
    } catch (error) {
      expect(everythingIn(error)).not.toContain(key.slice(0, 9));
    }
  });
});

test.each([openaiCompatible, openaiCompatibleChat])("%o wants its options", (model) => {
  expect(() => model(undefined as never)).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(model.name) }),
  );
});

describe("messages of the default format go out as", () => {
  const png = Uint8Array.of(1, 2, 3);
  const sent = async (...messages: ModelMessage[]): Promise<unknown> => {
    await answerTo(
      { json: { choices: [{ message: { content: "Hi" } }] } },
      { parameters: { stream: false } },
      messages,
    );
    return server?.received[0]?.body.messages;
  };

  test("texts, images, audio and files", async () => {
    expect(
      await sent({
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image", image: new URL("https://example.com/cat.png") },
          { type: "image", image: png, mediaType: "image/jpeg" },
          { type: "file", data: png.buffer, mediaType: "image/png" },
          { type: "file", data: { type: "data", data: "AQID" }, mediaType: "audio/wav" },
          { type: "file", data: "AQID", mediaType: "application/pdf", filename: "a.pdf" },
        ],
      }),
    ).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image_url", image_url: { url: "https://example.com/cat.png" } },
          { type: "image_url", image_url: { url: "data:image/jpeg;base64,AQID" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } },
          { type: "input_audio", input_audio: { data: "AQID", format: "wav" } },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AQID" } },
        ],
      },
    ]);
  });

  test("calls and results, without reasoning of others", async () => {
    const thought = { type: "reasoning" as const, text: "hm" };
    const call = calling(["c1", "t", { n: 1 }], ["c2", "t", "n"]);
    const content = [thought, { type: "text" as const, text: "I look." }, ...(call.content as [])];
    expect(
      await sent(
        user("Go"),
        { role: "assistant", content },
        toolResult("c1", "t", { n: 2 }),
        toolResult("c2", "t", "no", { isError: true }),
        {
          role: "tool",
          content: [
            { type: "tool-result", toolCallId: "c3", toolName: "t", output: { type: "execution-denied" } },
            {
              type: "tool-result",
              toolCallId: "c4",
              toolName: "t",
              output: {
                type: "content",
                value: [
                  { type: "text", text: "a" },
                  { type: "text", text: "b" },
                ],
              },
            },
          ],
        },
      ),
    ).toEqual([
      { role: "user", content: "Go" },
      {
        role: "assistant",
        content: "I look.",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "t", arguments: '{"n":1}' } },
          { id: "c2", type: "function", function: { name: "t", arguments: '"n"' } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: '{"n":2}' },
      { role: "tool", tool_call_id: "c2", content: "no" },
      { role: "tool", tool_call_id: "c3", content: "The tool call was denied." },
      { role: "tool", tool_call_id: "c4", content: "a\nb" },
    ]);
  });

  test("media of which little is said, and what a message has in place of parts", async () => {
    const output = { type: "execution-denied" as const, reason: "Not today." };
    const own = { type: "tool-call" as const, toolName: "t", input: {} };
    expect(
      await sent(
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "image", image: "AQID" },
            { type: "file", data: "HTTP://example.com/cat.png", mediaType: "image/png" },
            {
              type: "file",
              data: { type: "url", url: new URL("https://a.b/c.png") },
              mediaType: "image/png",
            },
            { type: "file", data: "AQID", mediaType: "audio/mpeg" },
            { type: "file", data: "AQID", mediaType: "text/csv" },
          ],
        },
        assistant("I see."),
        assistant([
          { ...own, toolCallId: "c1", providerExecuted: true },
          { ...own, toolCallId: "c2" },
        ]),
        {
          role: "tool",
          content: [
            { type: "tool-approval-response", approvalId: "ok", approved: false },
            { type: "tool-result", toolCallId: "c2", toolName: "t", output },
          ],
        },
      ),
    ).toEqual([
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } },
          { type: "image_url", image_url: { url: "HTTP://example.com/cat.png" } },
          { type: "image_url", image_url: { url: "https://a.b/c.png" } },
          { type: "input_audio", input_audio: { data: "AQID", format: "mp3" } },
          { type: "file", file: { filename: "file", file_data: "data:text/csv;base64,AQID" } },
        ],
      },
      { role: "assistant", content: "I see." },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c2", type: "function", function: { name: "t", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c2", content: "Not today." },
    ]);
  });

  test.each<[string, ModelMessage]>([
    [
      "a file behind an address",
      user([{ type: "file", data: new URL("https://a.b/c"), mediaType: "text/csv" }]),
    ],
    ["a reference", user([{ type: "image", image: { openai: "file-1" } }])],
    [
      "an image in a result",
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c",
            toolName: "t",
            output: {
              type: "content",
              value: [{ type: "image-data", data: "AQID", mediaType: "image/png" }],
            },
          },
        ],
      },
    ],
  ])("an error, for %s", async (_what, message) => {
    await expect(sent(message)).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });

  test("and parameters win over what is made here", async () => {
    const parameters = { temperature: 0, stream_options: undefined, model: "other" };
    await answerTo({ pieces: [stop, "data: [DONE]\n\n"] }, { parameters });
    expect(server?.received[0]?.body).toEqual({
      model: "other",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
      temperature: 0,
    });
  });
});
