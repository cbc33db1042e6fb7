import { createChatMemory, type ModelMessage, modelMessageFormat, toolResult } from "@turnkeep/core";
import { strict } from "@turnkeep/formats/profiles";
import { expect, test } from "vitest";
import { type AiSdkOptions, aiSdkModel } from "../src/ai-sdk.ts";
import {
  type Approvals,
  type ChatResult,
  createAssistant,
  type JsonSchema,
  type ToolContext,
  tool,
} from "../src/index.ts";

export type Content = { readonly type: string; readonly [member: string]: unknown };

/** What a mock of a major says: a whole answer, or its stream; an error of the provider. */
export interface Mock {
  readonly model: AiSdkOptions["model"];
  /** What it was asked, in the provider's own form. */
  readonly requests: () => readonly {
    readonly prompt: readonly { readonly role: string }[];
    readonly tools?: readonly object[] | undefined;
    readonly toolChoice?: object | undefined;
    readonly temperature?: number | undefined;
  }[];
}

const weather = tool({
  description: "The weather in a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => ({ city, celsius: 4 }),
});

const call: Content = { type: "tool-call", toolCallId: "c1", toolName: "weather", input: '{"city":"Oslo"}' };
const thought: Content = { type: "reasoning", text: "hm", providerMetadata: { mock: { signature: "s" } } };
const text: Content = { type: "text", text: "4 degrees." };

/** What two requests use, as the mocks of both majors count them. */
const usageOfTwo = {
  inputTokens: 20,
  outputTokens: 10,
  cachedInputTokens: 12,
  cacheWriteTokens: 2,
  reasoningTokens: 4,
};

/** The tests of one major, whose mocks differ. */
export function testsOf(mock: (answers: readonly (readonly Content[] | Error)[]) => Mock): void {
  test.each([false, true])("a turn with a tool, streamed: %j", async (isStreamed) => {
    const { model, requests } = mock([[thought, call], [text]]);
    const memory = createChatMemory();
    const chat = createAssistant({
      model: aiSdkModel({ model, settings: { temperature: 0 } }),
      memory,
      tools: { weather },
      systemMessage: "Be brief.",
    });
    const deltas: string[] = [];
    if (isStreamed) {
      for await (const event of chat.stream("Weather in Oslo?")) {
        if (event.type === "text" || event.type === "reasoning") deltas.push(`${event.type}: ${event.text}`);
        if (event.type === "finish") expect(event.result.usage).toEqual(usageOfTwo);
      }
      expect(deltas).toEqual(["reasoning: hm", "text: 4 ", "text: degrees."]);
    } else {
      expect(await chat.chat("Weather in Oslo?")).toMatchObject({ text: "4 degrees.", usage: usageOfTwo });
    }
    expect(await memory.messages()).toMatchObject([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Weather in Oslo?" },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm", providerOptions: { mock: { signature: "s" } } },
          { type: "tool-call", toolCallId: "c1", input: { city: "Oslo" } },
        ],
      },
      { role: "tool", content: [{ output: { type: "json", value: { city: "Oslo", celsius: 4 } } }] },
      { role: "assistant", content: [{ type: "text", text: "4 degrees." }] },
    ]);
    expect(requests().map(({ prompt }) => prompt.map(({ role }) => role))).toEqual([
      ["system", "user"],
      ["system", "user", "assistant", "tool"],
    ]);
    expect(requests()[0]).toMatchObject({
      temperature: 0,
      toolChoice: { type: "auto" },
      tools: [{ name: "weather", description: "The weather in a city", inputSchema: { required: ["city"] } }],
    });
  });

  test.each([false, true])("an answer that was cut off says so, streamed: %j", async (isStreamed) => {
    const { model } = mock([[{ type: "text", text: "4 deg" }]]);
    const chat = createAssistant({ model: aiSdkModel<ModelMessage>({ model }) });
    let reason: string | undefined;
    if (!isStreamed) reason = (await chat.chat("Hi")).finishReason;
    else
      for await (const event of chat.stream("Hi"))
        if (event.type === "finish") reason = event.result.finishReason;
    expect(reason).toBe("length");
  });

  test.each([false, true])("an answer that broke off is an error, streamed: %j", async (isStreamed) => {
    const { model } = mock([[{ type: "text", text: "4 brok" }]]);
    const memory = createChatMemory();
    const chat = createAssistant({ model: aiSdkModel<ModelMessage>({ model }), memory });
    const run = async (): Promise<unknown> => {
      if (!isStreamed) return chat.chat("Hi");
      for await (const _ of chat.stream("Hi"));
    };
    await expect(run()).rejects.toMatchObject({ code: "MODEL_ERROR" });
    expect(await memory.messages()).toEqual([]);
  });

  test("no tools, and tools that must not be called", async () => {
    const { model, requests } = mock([[text], [text]]);
    const policy = { model: aiSdkModel<ModelMessage>({ model }), maxRoundTrips: 0 };
    await createAssistant(policy).chat("Hi");
    const clock = tool({ inputSchema: { type: "object" }, execute: () => "noon" });
    const strategies = { tooManyRoundTrips: "answer" } as const;
    await createAssistant({ ...policy, tools: { clock }, strategies }).chat("Hi");
    expect(requests()[0]?.tools ?? []).toEqual([]);
    expect(requests()[1]).toMatchObject({ toolChoice: { type: "none" }, tools: [{ name: "clock" }] });
    expect(requests()[1]?.tools?.[0]).not.toHaveProperty("description", expect.any(String));
  });

  test.each<[unknown, RegExp]>([
    [undefined, /^aiSdkModel's argument .*undefined/],
    [{}, /^model must be .*undefined/],
    [{ model: "" }, /^model must be .*""/],
    [{ model: null }, /^model must be .*null/],
    [{ model: 5 }, /^model must be .*5/],
    [{ model: "openai/gpt-5", setting: {} }, /takes model, settings; it was given "setting"/],
  ])("options of the wrong kind are refused when the model is made: %j", (options, message) => {
    expect(() => aiSdkModel(options as never)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringMatching(message) as string }),
    );
  });

  test.each([false, true])(
    "a call that the SDK finds invalid is the assistant's matter, streamed: %j",
    async (isStreamed) => {
      const unknown = { ...call, toolName: "functions.whether" };
      const broken = { ...call, toolCallId: "c2", input: '{"city"' };
      const number = { ...call, toolCallId: "c3", input: "7" };
      const { model, requests } = mock([[unknown, broken, number], [text]]);
      const memory = createChatMemory();
      const chat = createAssistant({
        model: aiSdkModel({ model }),
        memory,
        tools: { weather },
        toolConcurrency: 1,
      });
      const toolResults: unknown[] = [];
      if (isStreamed) {
        for await (const event of chat.stream("Weather?")) {
          if (event.type === "tool-result") toolResults.push(event.result);
        }
      } else {
        toolResults.push(...(await chat.chat("Weather?")).toolResults);
      }
      expect(toolResults).toMatchObject([
        { toolCallId: "c1", isError: true, output: expect.stringContaining("whether") },
        { toolCallId: "c2", isError: true, output: expect.stringContaining("valid JSON") },
        { toolCallId: "c3", isError: true, output: expect.stringContaining("JSON object") },
      ]);
      const [, calls, ...rest] = await memory.messages();
      const unreadable = (text: string) => ({
        input: {},
        providerOptions: { turnkeep: { unreadableInput: text } },
      });
      expect(calls?.content).toMatchObject([
        { input: { city: "Oslo" } },
        unreadable('{"city"'),
        unreadable("7"),
      ]);
      expect(rest.map(({ role }) => role)).toEqual(["tool", "tool", "tool", "assistant"]);
      // Providers refuse each later request with a name of another shape.
      const sent = requests()[1]?.prompt as { content: { toolName: string }[] }[] | undefined;
      expect(sent?.slice(1).map(({ content }) => content[0]?.toolName)).toEqual(
        Array(2).fill("functions_whether"),
      );
    },
  );

  test.each([false, true])("an error of the provider, streamed: %j", async (isStreamed) => {
    const run = async (error: Error): Promise<unknown> => {
      const { model } = mock([error]);
      const chat = createAssistant({
        model: aiSdkModel<ModelMessage>({ model, settings: { maxRetries: 0 } }),
      });
      if (!isStreamed) return chat.chat("Hi");
      for await (const _ of chat.stream("Hi"));
    };
    await expect(run(new Error("overloaded"))).rejects.toThrow("overloaded");
    await expect(run(new Error("This model's maximum context length is 9 tokens."))).rejects.toMatchObject({
      code: "PROMPT_TOO_LONG",
      cause: expect.any(Error),
      details: { memoryId: expect.any(String) },
    });
  });

  test("a stream that ended before its provider said why is an error, and calls of it are not carried out", async () => {
    for (const part of [
      { type: "text", text: "4 endl" },
      { ...call, toolName: "weather", input: "", text: "4 endl" },
    ] satisfies Content[]) {
      const { model } = mock([[part]]);
      const memory = createChatMemory();
      let isRun = false;
      const spy = tool({ inputSchema: {}, execute: () => (isRun = true) });
      const chat = createAssistant({
        model: aiSdkModel<ModelMessage>({ model }),
        memory,
        tools: { weather: spy },
      });
      const run = async (): Promise<void> => {
        for await (const _ of chat.stream("Hi"));
      };
      await expect(run()).rejects.toMatchObject({ code: "MODEL_ERROR" });
      expect(isRun).toBe(false);
      expect(await memory.messages()).toEqual([]);
    }
  });

  test("calls of one stream that share an id keep each its own input", async () => {
    const broken = { ...call, input: "{bad" };
    const { model } = mock([[call, broken], [text]]);
    const given: unknown[] = [];
    const spy = tool({ inputSchema: {}, execute: (input) => given.push(input) });
    const chat = createAssistant({ model: aiSdkModel<ModelMessage>({ model }), tools: { weather: spy } });
    for await (const _ of chat.stream("Hi"));
    expect(given).toEqual([{ city: "Oslo" }]);
  });

  test.each([
    ["c1", false],
    ["c1", true],
    ["", false],
    ["", true],
  ])("calls that share the id %j are both answered, streamed: %j", async (toolCallId, isStreamed) => {
    const oslo = { ...call, toolCallId };
    const rome = { ...oslo, input: '{"city":"Rome"}' };
    const { model, requests } = mock([[oslo, rome], [text]]);
    const memory = createChatMemory();
    const chat = createAssistant({ model: aiSdkModel({ model }), memory, tools: { weather } });
    if (isStreamed) for await (const _ of chat.stream("Hi"));
    else await chat.chat("Hi");
    const view = await memory.messages();
    const calls = view.flatMap((message) => modelMessageFormat.toolCalls(message));
    const results = view.flatMap((message) => modelMessageFormat.toolResults(message));
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    expect(results.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
    if (toolCallId !== "") expect(calls[0]?.id).toBe(toolCallId);
    // Of a whole answer the SDK itself gives every call of one id the input of the first.
    const second = isStreamed ? "Rome" : "Oslo";
    expect(JSON.stringify(requests()[1]?.prompt)).toMatch(
      RegExp(`"Oslo","celsius":4.*"${second}","celsius":4`),
    );
  });

  test("an unreadable input is marked on the call alone, not on what the provider answered it", async () => {
    const own = { ...call, toolName: "search", input: "{bad", providerExecuted: true, dynamic: true };
    const found = { type: "tool-result", toolCallId: "c1", toolName: "search", result: "r", dynamic: true };
    const { model } = mock([[own, found, { type: "text", text: "Found." }]]);
    const memory = createChatMemory();
    await createAssistant({ model: aiSdkModel<ModelMessage>({ model }), memory }).chat("Hi");
    const [, answer] = await memory.messages();
    expect(answer?.content).toMatchObject([{ type: "tool-call" }, { type: "tool-result" }, {}]);
    expect(answer?.content[1]).not.toHaveProperty("input");
  });

  test("an error that is none (a text) is one, and says so where the prompt is too long", async () => {
    const run = async (error: string): Promise<void> => {
      const { model } = mock([[{ type: "error", error }]]);
      for await (const _ of createAssistant({ model: aiSdkModel<ModelMessage>({ model }) }).stream("Hi"));
    };
    await expect(run("overloaded")).rejects.toMatchObject({ code: "MODEL_ERROR", cause: "overloaded" });
    await expect(run("maximum context length is 9")).rejects.toMatchObject({ code: "PROMPT_TOO_LONG" });
  });

  test("whoever leaves an answer ends its connection", async () => {
    const { model } = mock([[{ type: "text", text: "4 degrees and more" }]]);
    const signals: (AbortSignal | undefined)[] = [];
    const doStream = (model as unknown as { doStream: (options: { abortSignal?: AbortSignal }) => unknown })
      .doStream;
    Object.assign(model as object, {
      doStream: (options: { abortSignal?: AbortSignal }) => {
        signals.push(options.abortSignal);
        return doStream.call(model, options);
      },
    });
    const request = {
      messages: [{ role: "user", content: "Hi" }] as ModelMessage[],
      tools: [],
      toolChoice: "auto" as const,
      signal: new AbortController().signal,
      memoryId: "m",
      onDelta: () => {
        throw new Error("enough");
      },
    };
    await expect(aiSdkModel<ModelMessage>({ model })(request)).rejects.toThrow("enough");
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  test.each([
    [false, true],
    [true, true],
    [false, false],
    [true, false],
  ])(
    "a call that waits for the user is the assistant's matter, streamed: %j, approved: %j",
    async (...given) => {
      const [isStreamed, approved] = given;
      const other = { ...call, toolCallId: "c2", toolName: "clock" };
      const { model, requests } = mock([[call, other], [text]]);
      const memory = createChatMemory({ profile: strict });
      const runs: string[] = [];
      const execute = (_: unknown, { toolCallId }: ToolContext): string => `ran ${runs.push(toolCallId)}`;
      const { inputSchema } = weather;
      const tools = {
        weather: tool({ inputSchema: inputSchema as JsonSchema, needsApproval: true, execute }),
        clock: tool({ inputSchema: {}, execute }),
      };
      const chat = createAssistant({ model: aiSdkModel({ model }), memory, tools });
      const ask = async (said: string | Approvals): Promise<ChatResult<ModelMessage>> => {
        if (!isStreamed) return chat.chat(said as string, { id: "q-1" });
        for await (const event of chat.stream(said as string, { id: "q-1" }))
          if (event.type === "finish") return event.result;
        throw new Error("no result");
      };
      const waiting = await ask("Weather?");
      expect(waiting).toMatchObject({
        finishReason: "approval",
        approvalRequests: [{ call: { id: "c1", name: "weather", input: { city: "Oslo" } } }],
      });
      const approvals = waiting.approvalRequests.map(({ approvalId }) => ({ approvalId, approved }));
      expect(await ask({ approvals })).toMatchObject({
        text: "4 degrees.",
        finishReason: "stop",
      });
      expect(runs).toEqual(approved ? ["c2", "c1"] : ["c2"]);
      const prompt = requests()[1]?.prompt as unknown as readonly { content: readonly Content[] }[];
      const sent = prompt.slice(1).flatMap(({ content }) => content);
      expect(sent.map(({ type }) => type)).toEqual(["tool-call", "tool-call", "tool-result", "tool-result"]);
      expect(sent[2]).toMatchObject({
        toolName: "weather",
        output: approved
          ? { type: "text", value: "ran 2" }
          : { type: "execution-denied", reason: "The user denied this tool call." },
      });
    },
  );

  test.each([true, false])(
    "what a list says last of approvals is neither run nor refused by the SDK (%s)",
    async (approved) => {
      const { model, requests } = mock([[text]]);
      const request = { type: "tool-approval-request", approvalId: "ok", toolCallId: "c1" } as const;
      const response = (approvalId: string) =>
        ({ type: "tool-approval-response", approvalId, approved }) as const;
      const asking = {
        type: "tool-call",
        toolCallId: "c1",
        toolName: "weather",
        input: { city: "Oslo" },
      } as const;
      const messages: ModelMessage[] = [
        { role: "user", content: "Weather?" },
        { role: "assistant", content: [asking, request] },
        toolResult("c1", "weather", "4 degrees"),
        { role: "tool", content: [response("ok"), response("of another list")] },
      ];
      await aiSdkModel<ModelMessage>({ model })({
        messages,
        tools: [{ name: "weather", inputSchema: { type: "object" } }],
        toolChoice: "auto",
        signal: new AbortController().signal,
        memoryId: "m",
      });
      expect(requests()[0]?.prompt.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
      expect(JSON.stringify(requests()[0]?.prompt).match(/tool-result/g)).toHaveLength(1);
    },
  );

  test("an answer of nothing", async () => {
    const chat = createAssistant({ model: aiSdkModel<ModelMessage>({ model: mock([[]]).model }) });
    await expect(chat.chat("Hi")).rejects.toMatchObject({ code: "EMPTY_ANSWER" });
  });
}

/** The parts of a stream that both majors have in common. */
export function streamOf(content: readonly Content[]): Content[] {
  return content.flatMap((part, index): Content[] => {
    const { type, text: whole, providerMetadata } = part;
    if (["tool-call", "tool-result", "error"].includes(type)) return [part];
    const id = String(index);
    const more = providerMetadata === undefined ? {} : { providerMetadata };
    return [
      { type: `${type}-start`, id, ...more },
      ...String(whole)
        .split(/(?<= )/)
        .map((delta) => ({ type: `${type}-delta`, id, delta })),
      { type: `${type}-end`, id, ...more },
    ];
  });
}
