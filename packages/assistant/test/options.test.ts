import { createChatMemories, createChatMemory, inMemoryStore } from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type AssistantPolicy,
  createAssistant,
  type StandardSchema,
  type Tools,
  tool,
} from "../src/index.ts";
import { openaiMessages } from "../src/openai.ts";
import { assistant, calling, scripted } from "./script.ts";

const model = scripted();
const run = (): number => 1;
const memory = createChatMemory();
const memories = createChatMemories({ store: inMemoryStore() });

describe("an option of the wrong shape is INVALID_OPTION", () => {
  test.each([
    ['model must be an async function, or what an adapter makes; it is "gpt-5".', { model: "gpt-5" }],
    ["it is null.", { model: null }],
    ["it is an array.", { model: [] }],
    ["maxRoundTrips must be a non-negative integer; it is -1.", { maxRoundTrips: -1 }],
    ["maxRoundTrips", { maxRoundTrips: 1.5 }],
    ["toolConcurrency must be a positive integer; it is 0.", { toolConcurrency: 0 }],
    ['busy must be "reject" or "enqueue"; it is "wait".', { busy: "wait" }],
    ["timeoutMs must be a positive integer of milliseconds below 2147483648; it is 0.", { timeoutMs: 0 }],
    ["timeoutMs", { timeoutMs: 2 ** 31 }],
    ["timeoutMs", { timeoutMs: 1.5 }],
    ["keepFailedTurns must be true or false", { keepFailedTurns: "yes" }],
    ['onAbort must be "keep" or "discard"; it is "stay".', { onAbort: "stay" }],
    [
      'strategies.toolError must be "answer", "throw" or a function; it is "ignore".',
      { strategies: { toolError: "ignore" } },
    ],
    ["strategies.invalidInput", { strategies: { invalidInput: 1 } }],
    ["strategies.unknownTool", { strategies: { unknownTool: "" } }],
    ["strategies.tooManyRoundTrips", { strategies: { tooManyRoundTrips: "continue" } }],
    ['tools["t"].execute', { tools: { t: { inputSchema: {} } } }],
    ['tools["t"].execute', { tools: { t: undefined } }],
    ['tools["t"].inputSchema', { tools: { t: { inputSchema: "object", execute: run } } }],
    ['tools["t"].inputSchema', { tools: { t: { inputSchema: null, execute: run } } }],
    [
      'tools["t"].returnBehavior must be "model", "immediate" or "immediate-if-last"',
      { tools: { t: { inputSchema: {}, execute: run, returnBehavior: "now" } } },
    ],
    [
      'A name in tools must be 1 to 128 characters of a-z, A-Z, 0-9, "_", "-", "." and ":"; it is "bad name!".',
      { tools: { "bad name!": { inputSchema: {}, execute: run } } },
    ],
    ['it is "".', { tools: { "": { inputSchema: {}, execute: run } } }],
    ['it is "größe".', { tools: { größe: { inputSchema: {}, execute: run } } }],
    ['it is "t\\n".', { tools: { "t\n": { inputSchema: {}, execute: run } } }],
    ["A name in tools", { tools: { ["t".repeat(129)]: { inputSchema: {}, execute: run } } }],
    ["memory must be a ChatMemory, such as createChatMemory(); it is an object.", { memory: {} }],
    ["it is a function.", { maxRoundTrips: () => "secret" }],
    ["memory must be a ChatMemory, such as createChatMemory(); it is null.", { memory: null }],
    ["memories must be", { memories: {}, memory: undefined }],
    ["it is null.", { memories: null, memory: undefined }],
    [
      "messages must be the methods of your messages, such as openaiMessages(); it is null.",
      { messages: null },
    ],
    ["Give memory or memories", { memories }],
    ["leaseMs must be a whole number of milliseconds from 100 to 2147483647; it is 99.", { leaseMs: 99 }],
    ["tools must be an object of tools by their names; it is an array.", { tools: [] }],
    ["it is a promise: await it first.", { tools: Promise.resolve({}) }],
    ["tools must be an object of tools by their names; it is an object.", { tools: new Map() }],
    ["tools must be an object of tools by their names; it is null.", { tools: null }],
    ["tools must be an object of tools by their names; it is true.", { tools: true }],
    ["messages must be the methods of your messages", { messages: "openai" }],
    ["messages.system must be a function; it is undefined.", { messages: {} }],
    ["messages.toolResult must be a function", { messages: { ...openaiMessages(), toolResult: 5 } }],
    ['; it was given "system".', { system: "You are brief." }],
    [
      'strategies takes toolError, invalidInput, unknownTool, tooManyRoundTrips; it was given "toolErr".',
      { strategies: { toolErr: "throw" } },
    ],
  ])("%s of %j", (name, options) => {
    const make = (): unknown => createAssistant({ model, memory, ...options } as never);
    expect(make).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(name) }),
    );
  });

  test.each([
    [
      "message must be text that is not blank, a message of the user that is not empty, or { approvals }; it is 7.",
      7,
      {},
    ],
    [
      "message must be text that is not blank, a message of the user that is not empty, or { approvals }; it is null.",
      null,
      {},
    ],
    [
      "message must be text that is not blank, a message of the user that is not empty, or { approvals }; it is undefined.",
      undefined,
      {},
    ],
    [
      "message must be text that is not blank, a message of the user that is not empty, or { approvals }; it is an object.",
      assistant("I am no user"),
      {},
    ],
    ["id", "Go", { id: "" }],
    ["id must be a text of 1 to 240 bytes; it is 5.", "Go", { id: 5 }],
    ["id", "Go", { id: "é".repeat(121) }],
    ["memoryId", "Go", { memoryId: "other" }],
    ['takes id, memoryId, owner, signal; it was given "Id".', "Go", { Id: "request-1" }],
    ['must be an object of options; it is "request-1".', "Go", "request-1"],
    ["signal must be an AbortSignal; it is 5.", "Go", { signal: 5 }],
    ["signal must be an AbortSignal; it is null.", "Go", { signal: null }],
  ])("%s of a chat: %j, %j", async (name, message, options) => {
    const chat = createAssistant({ model, memory });
    const expected = { code: "INVALID_OPTION", message: expect.stringContaining(name) };
    await expect(chat.chat(message as never, options as never)).rejects.toMatchObject(expected);
    expect(await memory.messages()).toEqual([]);
  });

  test.each([
    ["inputSchem", { inputSchem: {}, execute: run }],
    ["idempotnet", { inputSchema: {}, execute: run, idempotnet: true }],
    ["needApproval", { inputSchema: {}, execute: run, needApproval: true }],
  ])("a member that no tool has: %s", (name, definition) => {
    expect(() => tool(definition as never)).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: `tool's argument takes description, inputSchema, jsonSchema, execute, returnBehavior, idempotent, needsApproval; it was given "${name}".`,
      }),
    );
  });

  test.each([
    ["tool's execute must be a function; it is undefined.", { inputSchema: {} }],
    ["tool's execute must be a function; it is a promise", { inputSchema: {}, execute: Promise.resolve() }],
    ["tool's inputSchema must be a JSON Schema, or a schema of", { execute: run }],
    ['it is "object".', { inputSchema: "object", execute: run }],
  ])("%s of a tool", (says, definition) => {
    expect(() => tool(definition as never)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(says) }),
    );
  });

  test.each([undefined, null, 5, [], run])("a tool that is none: %s", (definition) => {
    expect(() => tool(definition as never)).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: expect.stringContaining("tool's argument"),
      }),
    );
  });

  test("but what a tool that is an instance of a class holds is its own", () => {
    class Weather {
      readonly inputSchema = {};
      readonly station: string = "Oslo";
      execute(): string {
        return this.station;
      }
    }
    const weather = new Weather();
    expect(tool(weather)).toBe(weather);
  });

  test("a chat that names none of many memories", async () => {
    const chat = createAssistant({ model, memories });
    await expect(chat.chat("Go", {} as never)).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining("without it, all users would share one"),
    });
  });

  test("an id may have 240 bytes, and the one memory may be named", async () => {
    const own = createChatMemory();
    const chat = createAssistant({ model: scripted(assistant("Hi")), memory: own });
    const id = "é".repeat(120);
    expect(await chat.chat("Go", { id, memoryId: own.id })).toMatchObject({ id, text: "Hi" });
  });

  test("a system message that is none", async () => {
    const chat = createAssistant({ model, memory, systemMessage: assistant("no") });
    await expect(chat.chat("Go")).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  test.each([7, {}])("a function's system message that is %j", async (none) => {
    const chat = createAssistant({ model, memory, systemMessage: () => none as never });
    await expect(chat.chat("Go")).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });
});

test.each([undefined, null])("a function that answers %j as system message leaves it out", async (none) => {
  const own = createChatMemory();
  const chat = createAssistant({
    model: scripted(assistant("Hi")),
    memory: own,
    systemMessage: () => none as never,
  });
  await chat.chat("Go");
  expect((await own.messages()).map(({ role }) => role)).toEqual(["user", "assistant"]);
});

test("a tool may have every name that some provider takes", async () => {
  const asked = scripted(assistant("Hi"));
  const names = ["t", "-", "4", "get_Weather-2", "server:files.read", "t".repeat(128)];
  const tools = Object.fromEntries(names.map((name) => [name, { inputSchema: {}, execute: run }]));
  await createAssistant({ model: asked, tools }).chat("Go");
  expect(asked.requests[0]?.tools.map(({ name }) => name).sort()).toEqual(names.sort());
});

test("every option may be undefined", async () => {
  const policy: Required<AssistantPolicy<never>> | Record<string, unknown> = {
    tools: undefined,
    systemMessage: undefined,
    maxRoundTrips: undefined,
    toolConcurrency: undefined,
    strategies: undefined,
    busy: undefined,
    timeoutMs: undefined,
    onAbort: undefined,
    keepFailedTurns: undefined,
    messages: undefined,
    memory: undefined,
    memories: undefined,
  };
  const chat = createAssistant({ model: scripted(assistant("Hi")), ...policy });
  const options = { id: undefined, memoryId: undefined, signal: undefined };
  expect((await chat.chat("Go", options)).text).toBe("Hi");
});

describe("a tool's schema", () => {
  const seen: unknown[] = [];
  const execute = (input: unknown): string => {
    seen.push(input);
    return "r";
  };
  /** A schema of a library that has Standard Schema and cannot write JSON Schema. */
  const bare: StandardSchema<{ n: number }> = {
    "~standard": {
      version: 1,
      vendor: "bare",
      validate: async (value) => {
        const { n } = value as { n?: unknown };
        return typeof n === "number"
          ? { value: { n: n + 1 } }
          : { issues: [{ message: "is no number", path: ["n", { key: 0 }] }, { message: "sorry" }] };
      },
    },
  };

  /** What the model is told of one call with that input. */
  async function answerTo(input: unknown, tools: Tools): Promise<unknown> {
    seen.length = 0;
    const chat = createAssistant({ model: scripted(calling(["c1", "t", input]), assistant("Done.")), tools });
    return (await chat.chat("Go")).toolResults[0];
  }

  test("of Zod checks and converts the input, and says what is wrong", async () => {
    const t = tool({
      inputSchema: z.object({ city: z.string().trim(), days: z.coerce.number().default(1) }),
      execute: (input) => execute(input),
    });
    expect(await answerTo({ city: " Oslo " }, { t })).toMatchObject({ output: "r", isError: false });
    expect(seen).toEqual([{ city: "Oslo", days: 1 }]);
    expect(await answerTo({ days: 2 }, { t })).toMatchObject({
      output: expect.stringMatching(/^The arguments of "t" are not what the tool takes: city: /),
      isError: true,
    });
    expect(seen).toEqual([]);
  });

  test("of Zod is sent to the model as JSON Schema", async () => {
    const asked = scripted(assistant("Hi"));
    const t = tool({ inputSchema: z.object({ city: z.string().describe("A city") }), execute: () => "r" });
    await createAssistant({ model: asked, tools: { t } }).chat("Go");
    expect(asked.requests[0]?.tools[0]).toEqual({
      name: "t",
      inputSchema: expect.objectContaining({
        type: "object",
        properties: { city: { type: "string", description: "A city" } },
        required: ["city"],
      }),
    });
    expect(asked.requests[0]?.tools[0]?.inputSchema).not.toHaveProperty("$schema");
  });

  test("of a library that cannot write JSON Schema needs one beside it", async () => {
    const t = tool({ inputSchema: bare, execute: ({ n }) => execute(n) });
    expect(() => createAssistant({ model, tools: { t } })).toThrow(
      'tools["t"].inputSchema is of bare, which cannot write JSON Schema by itself: give jsonSchema beside it.',
    );
    const tools = { t: { ...t, jsonSchema: { type: "object" } } };
    await answerTo({ n: 1 }, tools);
    expect(seen).toEqual([2]);
    expect(await answerTo({ n: "1" }, tools)).toMatchObject({
      output: expect.stringMatching(/: n\.0: is no number; sorry$/),
    });
  });

  test("that its library cannot write as JSON Schema needs one beside it", async () => {
    const inputSchema = z.object({ at: z.coerce.date() });
    const remind = tool({ inputSchema, execute: ({ at }) => execute(at) });
    expect(() => createAssistant({ model, tools: { remind } })).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message:
          'tools["remind"].inputSchema cannot be written as JSON Schema by zod (the cause says why): give jsonSchema beside it.',
        cause: expect.objectContaining({ message: expect.stringContaining("Date") }),
      }),
    );
    expect(await answerTo({ at: "2020-01-01" }, { t: { ...remind, jsonSchema: {} } })).toMatchObject({
      isError: false,
    });
    expect(seen).toEqual([new Date("2020-01-01")]);
  });

  test("is asked for the draft of JSON Schema that providers know", async () => {
    const asked = scripted(assistant("Hi"));
    const jsonSchema = { input: ({ target }: { readonly target: string }) => ({ $schema: "s", target }) };
    const inputSchema = { "~standard": { ...bare["~standard"], jsonSchema } } as StandardSchema;
    await createAssistant({ model: asked, tools: { t: { inputSchema, execute } } }).chat("Go");
    expect(asked.requests[0]?.tools).toEqual([{ name: "t", inputSchema: { target: "draft-07" } }]);
  });

  test("may be a function, as ArkType's are", async () => {
    const inputSchema = Object.assign(() => undefined, bare);
    await answerTo({ n: 1 }, { t: { inputSchema, jsonSchema: {}, execute } });
    expect(seen).toEqual([{ n: 2 }]);
  });

  test.each([
    ['{"city":"Oslo"}', { city: "Oslo" }],
    ['"{\\"city\\":\\"Oslo\\"}"', { city: "Oslo" }],
    ["", {}],
    [" \n", {}],
    [null, {}],
  ])("of JSON takes %j", async (input, expected) => {
    expect(await answerTo(input, { t: tool({ inputSchema: {}, execute }) })).toMatchObject({
      isError: false,
    });
    expect(seen).toEqual([expected]);
  });

  const thrice = JSON.stringify(JSON.stringify("{}"));
  test.each(['{"city":', "[]", "7", '"text"', thrice, 7, [], true])(
    "of JSON does not take %j",
    async (input) => {
      const result = await answerTo(input, { t: tool({ inputSchema: {}, execute }) });
      expect(result).toMatchObject({ isError: true, output: expect.stringContaining("JSON") });
      expect(seen).toEqual([]);
    },
  );

  test.each([
    ["what a function repairs", { input: { n: 1 } }, { output: "r", isError: false }],
    ["what it answers", "Give a number.", { output: "Give a number.", isError: true }],
    [
      "a repair that is wrong too",
      { input: { n: "x" } },
      { output: expect.stringContaining("n.0: "), isError: true },
    ],
  ])("that refuses an input takes %s", async (_what, answer, expected) => {
    const t = tool({ inputSchema: bare, jsonSchema: {}, execute });
    const chat = createAssistant({
      model: scripted(calling(["c1", "t", "{"]), assistant("Done.")),
      tools: { t },
      strategies: { invalidInput: () => answer },
    });
    expect((await chat.chat("Go")).toolResults).toMatchObject([expected]);
  });

  test("that refuses an input ends the turn with the strategy throw", async () => {
    const t = tool({ inputSchema: bare, jsonSchema: {}, execute });
    const strategies = { invalidInput: "throw" } as const;
    const chat = createAssistant({ model: scripted(calling(["c1", "t", {}])), tools: { t }, strategies });
    await expect(chat.chat("Go")).rejects.toMatchObject({
      code: "INVALID_TOOL_INPUT",
      details: { toolName: "t", toolCallId: "c1" },
    });
  });
});
