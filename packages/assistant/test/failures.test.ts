import {
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemory,
  inMemoryStore,
  isTurnkeepError,
  type ModelMessage,
  system,
  toolResult,
} from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import {
  AssistantError,
  type AssistantPolicy,
  createAssistant,
  isAssistantError,
  type Tools,
  tool,
} from "../src/index.ts";
import { type Answer, assistant, calling, scripted, toolCall, user } from "./script.ts";

const ok = tool({ inputSchema: {}, execute: () => "fine" });
const bad = tool({
  inputSchema: {},
  execute: () => {
    throw new Error("service down");
  },
});
const tools: Tools = { ok, bad };

function setUp(
  answers: readonly Answer[],
  policy: Partial<AssistantPolicy<ModelMessage>> = {},
): { readonly memory: ChatMemory<ModelMessage>; readonly ask: (id?: string) => Promise<unknown> } {
  const memory = createChatMemory({ id: "chat", store: inMemoryStore() });
  const chat = createAssistant({ model: scripted(...answers), memory, tools, toolConcurrency: 1, ...policy });
  return { memory, ask: (id) => chat.chat("Go", { id }).then(({ text }) => text) };
}

const roles = async (memory: ChatMemory<ModelMessage>): Promise<string[]> =>
  (await memory.messages()).map(({ role }) => role);

describe("a turn whose model fails", () => {
  test("before any tool ran leaves nothing of itself, neither in memory nor in history", async () => {
    const { memory, ask } = setUp([new Error("timeout"), assistant("Hi")], { systemMessage: "Be brief." });
    await expect(ask()).rejects.toThrow("timeout");
    expect(await memory.messages()).toEqual([system("Be brief.")]);
    expect((await memory.history()).messages).toHaveLength(1);
    expect(await ask()).toBe("Hi");
    expect(await roles(memory)).toEqual(["system", "user", "assistant"]);
  });

  test.each([undefined, "q-1"])(
    "is taken back at once, so that nobody sees the half of it (%s)",
    async (id) => {
      const store = inMemoryStore();
      const seen: number[] = [];
      const watched: ChatMemoryStore = {
        ...store,
        updateMessages: async (...given) => {
          await store.updateMessages(...given);
          seen.push((await store.getMessages("chat")).messages.length);
        },
      };
      const chat = createAssistant({
        model: scripted(calling(["c", "unknown"])),
        memory: createChatMemory({ id: "chat", store: watched }),
        strategies: { unknownTool: "throw" },
      });
      await expect(chat.chat("Go", { id })).rejects.toMatchObject({ code: "UNKNOWN_TOOL" });
      // The first and the last are of the lease.
      expect(seen).toEqual([0, 1, 2, 0, 0]);
    },
  );

  test("frees the caller's id with it", async () => {
    const { memory, ask } = setUp([new Error("timeout"), assistant("Hi")]);
    await expect(ask("q-1")).rejects.toThrow("timeout");
    expect(await memory.messages()).toEqual([]);
    expect(await ask("q-1")).toBe("Hi");
    expect(await memory.messages()).toEqual([user("Go"), assistant("Hi")]);
  });

  test("after a tool ran keeps what it did, and goes on from there when it is asked again", async () => {
    const model = scripted(toolCall("c1", "ok", {}), new Error("timeout"), assistant("Done."));
    const memory = createChatMemory();
    let runs = 0;
    const counted = tool({ inputSchema: {}, execute: () => `run ${++runs}` });
    const chat = createAssistant({ model, memory, tools: { ok: counted } });
    await expect(chat.chat("Go", { id: "q-1" })).rejects.toThrow("timeout");
    const kept = [user("Go"), toolCall("c1", "ok", {}), toolResult("c1", "ok", "run 1")];
    expect(await memory.messages()).toEqual(kept);
    const result = await chat.chat("Go", { id: "q-1" });
    expect(result).toMatchObject({ text: "Done.", continued: true, toolResults: [{ output: "run 1" }] });
    expect(await memory.messages()).toEqual([...kept, assistant("Done.")]);
    expect(runs).toBe(1);
  });

  test("for want of room goes on once the memory is smaller", async () => {
    const memory = createChatMemory({ id: "chat", store: inMemoryStore() });
    for (let n = 0; n < 10; n++) await memory.add(user(`u${n}`), assistant(`a${n}`));
    const model = scripted(
      toolCall("c1", "ok", {}),
      async ({ messages }) => {
        if (messages.length > 15) throw new AssistantError("PROMPT_TOO_LONG", "too long");
        return assistant("Done.");
      },
      async ({ messages }) => assistant(`Done with ${messages.length}.`),
    );
    const chat = createAssistant({ model, memory, tools });
    await expect(chat.chat("Go", { id: "q-1" })).rejects.toMatchObject({ code: "PROMPT_TOO_LONG" });
    expect(await memory.shrink()).not.toBe(false);
    const { text, toolResults } = await chat.chat("Go", { id: "q-1" });
    expect(Number(/\d+/.exec(text)?.[0])).toBeLessThan(23);
    expect(toolResults).toMatchObject([{ output: "fine" }]);
    expect((await memory.messages()).at(-1)).toEqual(assistant(text));
  });

  test("stays as it is with keepFailedTurns", async () => {
    const { memory, ask } = setUp([new Error("timeout"), assistant("Hi")], { keepFailedTurns: true });
    await expect(ask()).rejects.toThrow("timeout");
    expect(await memory.messages()).toEqual([user("Go")]);
    await ask();
    expect(await memory.messages()).toEqual([user("Go"), user("Go"), assistant("Hi")]);
  });

  test.each([
    ["nothing", assistant("  ")],
    // A reasoning model whose tokens end before its answer begins.
    ["reasoning alone, which providers do not take back", assistant([{ type: "reasoning", text: "Hm." }])],
  ])("by answering %s is a failure", async (_what, answer) => {
    const { memory, ask } = setUp([answer]);
    await expect(ask()).rejects.toMatchObject({
      code: "EMPTY_ANSWER",
      details: { memoryId: memory.id },
    });
    expect(await memory.messages()).toEqual([]);
  });

  test.each([
    [undefined, "undefined"],
    [{}, "an object"],
    [{ message: null }, "an object"],
    [{ message: user("I am no assistant") }, "an object"],
  ])("or its function, by answering %j", async (response, is) => {
    const memory = createChatMemory();
    const chat = createAssistant({ model: async () => response as never, memory });
    await expect(chat.chat("Go")).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: `The model's answer must be { message }, a message of the assistant; it is ${is}.`,
    });
    expect(await memory.messages()).toEqual([]);
  });

  test("as does the memory, if the window leaves nothing to send", async () => {
    const memory = createChatMemory({ window: { maxMessages: 1, unit: "message" } });
    const chat = createAssistant({ model: scripted(toolCall("c1", "ok", {})), memory, tools });
    await expect(chat.chat("Go")).rejects.toMatchObject({
      code: "WINDOW_OVERFLOW",
      details: { memoryId: memory.id },
    });
  });
});

describe("a tool that throws", () => {
  test("tells the model what it threw", async () => {
    const { memory, ask } = setUp([toolCall("c1", "bad", {}), assistant("Sorry.")]);
    expect(await ask()).toBe("Sorry.");
    expect((await memory.messages())[2]).toEqual(toolResult("c1", "bad", "service down", { isError: true }));
  });

  test("ends the turn with the strategy throw; every call has its result then", async () => {
    const { memory, ask } = setUp([calling(["c1", "ok"], ["c2", "bad"], ["c3", "ok"])], {
      strategies: { toolError: "throw" },
    });
    await expect(ask()).rejects.toThrow("service down");
    expect((await memory.messages()).slice(2)).toEqual([
      toolResult("c1", "ok", "fine"),
      toolResult("c2", "bad", "service down", { isError: true }),
      toolResult("c3", "ok", "The tool call was not carried out: the turn ended before it.", {
        isError: true,
      }),
    ]);
  });

  test("leaves its call unanswered with keepFailedTurns", async () => {
    const { memory, ask } = setUp([calling(["c1", "ok"], ["c2", "bad"])], {
      strategies: { toolError: "throw" },
      keepFailedTurns: true,
    });
    await expect(ask()).rejects.toThrow("service down");
    expect((await memory.messages()).slice(2)).toEqual([toolResult("c1", "ok", "fine")]);
  });

  test("may be answered by a function", async () => {
    const { memory, ask } = setUp([calling(["c1", "bad"], ["c2", "bad"]), assistant("Sorry.")], {
      strategies: {
        toolError: async (error, { id }) =>
          id === "c1" ? `Try later: ${(error as Error).message}` : { output: { retry: 5 }, isError: false },
      },
    });
    await ask();
    expect((await memory.messages()).slice(2, 4)).toEqual([
      toolResult("c1", "bad", "Try later: service down", { isError: true }),
      toolResult("c2", "bad", { retry: 5 }),
    ]);
  });

  test.each([
    ["an error without a message", new TypeError(" "), "TypeError"],
    ["a text", "nope", "nope"],
    ["a value", { secret: 1 }, "The tool failed."],
    [
      "an error whose message is no text",
      Object.assign(new RangeError(), { message: { a: 1 } }),
      "RangeError",
    ],
  ])("may throw %s", async (_what, thrown, text) => {
    const thrower = tool({
      inputSchema: {},
      execute: () => {
        throw thrown;
      },
    });
    const { memory, ask } = setUp([toolCall("c1", "t", {}), assistant("Sorry.")], { tools: { t: thrower } });
    await ask();
    expect((await memory.messages())[2]).toEqual(toolResult("c1", "t", text, { isError: true }));
  });

  test("or answer what JSON cannot hold", async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const odd = tool({
      inputSchema: {},
      execute: ({ kind }) => (kind === "circular" ? circular : new Date(0)),
    });
    const nothing = tool({ inputSchema: {}, execute: () => undefined });
    const { memory, ask } = setUp(
      [calling(["c1", "odd", { kind: "circular" }], ["c2", "odd"], ["c3", "nothing"]), assistant("Done.")],
      { tools: { odd, nothing } },
    );
    await ask();
    const circularity = expect.stringContaining("circular");
    expect((await memory.messages()).slice(2, 5)).toEqual([
      {
        role: "tool",
        content: [expect.objectContaining({ output: { type: "error-text", value: circularity } })],
      },
      toolResult("c2", "odd", "1970-01-01T00:00:00.000Z"),
      toolResult("c3", "nothing", null),
    ]);
  });
});

describe("a tool whose answer the memory does not take", () => {
  let nested: unknown = "deep";
  for (let depth = 0; depth < 600; depth++) nested = [nested];
  const answering = (output: unknown): Tools => ({ t: tool({ inputSchema: {}, execute: () => output }) });

  test.each([
    ["nested too deep", nested, "nested deeper than 500"],
    ["too large for the store", "x".repeat(17 * 1024 * 1024), "this store holds"],
  ])("has failed, and the model is told so: %s", async (_what, output, says) => {
    const { memory, ask } = setUp([toolCall("c1", "t", {}), assistant("Sorry.")], {
      tools: answering(output),
    });
    expect(await ask("q")).toBe("Sorry.");
    const value = expect.stringContaining(says);
    expect((await memory.messages())[2]).toMatchObject({
      content: [{ toolCallId: "c1", output: { type: "error-text", value } }],
    });
    expect(await ask("q")).toBe("Sorry.");
  });

  test("ends the turn with the strategy throw, which goes on when it is asked again", async () => {
    const { memory, ask } = setUp([toolCall("c1", "t", {}), assistant("Done.")], {
      tools: answering(nested),
      strategies: { toolError: "throw" },
    });
    await expect(ask("q")).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
    expect(await roles(memory)).toEqual(["user", "assistant", "tool"]);
    expect(await ask("q")).toBe("Done.");
    expect(await roles(memory)).toEqual(["user", "assistant", "tool", "assistant"]);
  });

  test("ends the turn with the strategy throw, and is kept as what failed", async () => {
    const strategies = { toolError: "throw" } as const;
    const { memory, ask } = setUp([toolCall("c1", "t", {})], { tools: answering(nested), strategies });
    await expect(ask()).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
    expect((await memory.messages())[2]?.content).toMatchObject([
      { output: { type: "error-text", value: expect.stringContaining("nested deeper than 500") } },
    ]);
  });
});

describe("a tool that there is not", () => {
  test("is answered with those that there are", async () => {
    const { memory, ask } = setUp([toolCall("c1", "okay", {}), assistant("Sorry.")]);
    await ask();
    const text = 'There is no tool "okay". There are: ok, bad.';
    expect((await memory.messages())[2]).toEqual(toolResult("c1", "okay", text, { isError: true }));
  });

  test("is answered also where there are none", async () => {
    const { memory, ask } = setUp([toolCall("c1", "okay", {}), assistant("Sorry.")], { tools: {} });
    await ask();
    const text = 'There is no tool "okay". There are no tools.';
    expect((await memory.messages())[2]).toEqual(toolResult("c1", "okay", text, { isError: true }));
  });

  test("is named on one line, without what a terminal acts on", async () => {
    const { ask } = setUp([toolCall("c1", "a\u009b\u202e\n", {})], { strategies: { unknownTool: "throw" } });
    await expect(ask()).rejects.toMatchObject({
      message: 'There is no tool "a\\u009b\\u202e\\n". There are: ok, bad.',
    });
  });

  test.each(["constructor", "__proto__", "toString"])("%s is none", async (name) => {
    const { memory, ask } = setUp([toolCall("c1", name, {}), assistant("Sorry.")]);
    await ask();
    expect((await memory.messages())[2]?.content).toMatchObject([{ output: { type: "error-text" } }]);
  });

  test("ends the turn with the strategy throw, and no tool ran, so that nothing stays", async () => {
    const { memory, ask } = setUp([toolCall("c1", "okay", {})], { strategies: { unknownTool: "throw" } });
    const error = await ask().catch((reason: unknown) => reason);
    expect(isAssistantError(error, "UNKNOWN_TOOL")).toBe(true);
    expect(error).toMatchObject({ details: { toolName: "okay", toolCallId: "c1" } });
    expect(await memory.messages()).toEqual([]);
    expect((await memory.history()).messages).toEqual([]);
  });

  test("may be answered by a function", async () => {
    const { memory, ask } = setUp([toolCall("c1", "okay", {}), assistant("Sorry.")], {
      strategies: { unknownTool: (_, { name }) => ({ output: `no ${name}`, isError: false }) },
    });
    await ask();
    expect((await memory.messages())[2]).toEqual(toolResult("c1", "okay", "no okay"));
  });
});

test.each([
  ["toolError", toolCall("c1", "bad", {}), undefined, "undefined"],
  ["unknownTool", toolCall("c1", "okay", {}), null, "null"],
  ["invalidInput", toolCall("c1", "ok", [] as never), false, "boolean"],
])(
  "a strategy %s that answers nothing is told so, with what went wrong as the cause",
  async (name, answer, nothing, shown) => {
    const { ask } = setUp([answer], { strategies: { [name]: () => nothing } });
    await expect(ask()).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringMatching(
        new RegExp(`strategies\\.${name} must return .* it returned ${shown}\\.$`),
      ),
      cause: expect.any(Error),
    });
  },
);

describe("too many round trips", () => {
  const looping = [1, 2, 3, 4].map((n) => toolCall(`c${n}`, "ok", {}));

  test("end the turn; the answer beyond them is not stored", async () => {
    const model = scripted(...looping);
    const memory = createChatMemory();
    const chat = createAssistant({ model, memory, tools, maxRoundTrips: 2 });
    await expect(chat.chat("Go")).rejects.toMatchObject({
      code: "TOO_MANY_ROUND_TRIPS",
      details: { memoryId: memory.id },
    });
    expect(await roles(memory)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "auto", "auto"]);
  });

  test("of none forbid tools", async () => {
    const { memory, ask } = setUp(looping, { maxRoundTrips: 0 });
    await expect(ask()).rejects.toMatchObject({ code: "TOO_MANY_ROUND_TRIPS" });
    expect(await memory.messages()).toEqual([]);
  });

  test("may be followed by an answer without tools", async () => {
    const model = scripted(...looping.slice(0, 2), assistant("Enough."));
    const memory = createChatMemory();
    const strategies = { tooManyRoundTrips: "answer" } as const;
    const chat = createAssistant({ model, memory, tools, maxRoundTrips: 2, strategies });
    expect((await chat.chat("Go")).text).toBe("Enough.");
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "auto", "none"]);
  });

  test("unless the model calls tools all the same", async () => {
    const strategies = { tooManyRoundTrips: "answer" } as const;
    const { memory, ask } = setUp(looping, { maxRoundTrips: 1, strategies });
    await expect(ask()).rejects.toMatchObject({ code: "TOO_MANY_ROUND_TRIPS" });
    expect(await roles(memory)).toEqual(["user", "assistant", "tool"]);
  });

  test("count those of a continued turn", async () => {
    const { ask } = setUp([looping[0], new Error("timeout"), looping[1]] as Answer[], { maxRoundTrips: 1 });
    await expect(ask("q-1")).rejects.toThrow("timeout");
    await expect(ask("q-1")).rejects.toMatchObject({ code: "TOO_MANY_ROUND_TRIPS" });
  });
});

describe("a store that fails", () => {
  /** A memory whose calls of those names fail from then on. */
  function failing(memory: ChatMemory<ModelMessage>, ...names: (keyof ChatMemory<ModelMessage>)[]): void {
    for (const name of names) {
      Object.defineProperty(memory, name, {
        value: async () => Promise.reject(new Error(`no ${String(name)}`)),
      });
    }
  }

  test("before the user's message is stored has nothing to take back", async () => {
    const { memory, ask } = setUp([assistant("Hi")]);
    failing(memory, "add", "remove");
    await expect(ask()).rejects.toThrow("no add");
  });

  test("while a failed turn is taken back is reported beside what failed first", async () => {
    const memory = createChatMemory();
    const chat = createAssistant({ model: scripted(new Error("timeout")), memory });
    failing(memory, "transaction");
    const error = await chat.chat("Go").catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "UNDO_FAILED",
      cause: { message: "timeout" },
      details: { memoryId: memory.id },
    });
    expect((error as { errors: Error[] }).errors.map(({ message }) => message)).toEqual([
      "timeout",
      "no transaction",
    ]);
  });

  test("with a result leaves a call that the next chat of that id answers as interrupted", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "chat", store });
    const breaking = tool({
      inputSchema: {},
      execute: () => {
        failing(memory, "transaction");
        return "done";
      },
    });
    const model = scripted(toolCall("c1", "t", {}), assistant("Was it done?"));
    const ask = (over: ChatMemory<ModelMessage>): Promise<unknown> =>
      createAssistant({ model, memory: over, tools: { t: breaking } }).chat("Go", { id: "q-1" });
    await expect(ask(memory)).rejects.toMatchObject({ code: "UNDO_FAILED" });
    const again = createChatMemory({ id: "chat", store });
    await ask(again);
    expect((await again.messages())[2]?.content).toMatchObject([
      { toolCallId: "c1", output: { type: "error-text", value: expect.stringContaining("interrupted") } },
    ]);
  });

  test("for a result ends the turn, also if it takes the next", async () => {
    const memory = createChatMemory();
    const transaction = memory.transaction.bind(memory);
    memory.transaction = (run, options) =>
      transaction((inner) => {
        const add = ((...messages: ModelMessage[]) => {
          if (JSON.stringify(messages).includes("fine")) throw new Error("no result");
          return inner.add(...messages);
        }) as typeof inner.add;
        return run({ ...inner, add });
      }, options);
    const chat = createAssistant({ model: scripted(toolCall("c1", "ok", {})), memory, tools });
    await expect(chat.chat("Go")).rejects.toThrow("no result");
    expect((await memory.messages())[2]?.content).toMatchObject([
      { toolCallId: "c1", output: { type: "error-text", value: expect.stringContaining("interrupted") } },
    ]);
  });
});

describe("a signal", () => {
  test("ends the turn while the model answers, whether it listens or not", async () => {
    const controller = new AbortController();
    const memory = createChatMemory();
    const model = scripted(() => {
      controller.abort(new Error("enough"));
      return new Promise(() => undefined);
    });
    const error = await createAssistant({ model, memory, onAbort: "discard" })
      .chat("Go", { signal: controller.signal })
      .catch((reason: unknown) => reason);
    expect(isTurnkeepError(error, "ABORTED")).toBe(true);
    expect(error).toMatchObject({ cause: { message: "enough" } });
    expect(await memory.messages()).toEqual([]);
  });

  test("ends it while a tool runs; what the tool did is not known", async () => {
    const controller = new AbortController();
    let seen: AbortSignal | undefined;
    const slow = tool({
      inputSchema: {},
      execute: (_, { signal }) => {
        seen = signal;
        controller.abort();
        return new Promise(() => undefined);
      },
    });
    const memory = createChatMemory();
    const model = scripted(calling(["c1", "ok"], ["c2", "slow"], ["c3", "ok"]));
    const chat = createAssistant({ model, memory, tools: { ok, slow }, toolConcurrency: 1 });
    await expect(chat.chat("Go", { signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
    expect(seen?.aborted).toBe(true);
    const outputs = (await memory.messages()).slice(2).map(({ content }) => content);
    expect(outputs).toMatchObject([
      [{ toolCallId: "c1", output: { value: "fine" } }],
      [{ toolCallId: "c2", output: { value: expect.stringContaining("interrupted") } }],
      [{ toolCallId: "c3", output: { value: expect.stringContaining("not carried out") } }],
    ]);
  });

  test("is no error of a tool: no strategy is asked", async () => {
    const controller = new AbortController();
    const asked: unknown[] = [];
    const listening = tool({
      inputSchema: {},
      execute: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          controller.abort();
        }),
    });
    const chat = createAssistant({
      model: scripted(toolCall("c1", "listening", {})),
      tools: { listening },
      strategies: { toolError: (error) => String(asked.push(error)) },
    });
    await expect(chat.chat("Go", { signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
    expect(asked).toEqual([]);
  });

  test("that fires while the store is asked for the turn takes the question back if told to, and leaves the id free", async () => {
    const controller = new AbortController();
    const inner = inMemoryStore();
    const store: typeof inner = {
      ...inner,
      getHistory: (...args) => {
        controller.abort();
        return inner.getHistory(...args);
      },
    };
    const memory = createChatMemory({ id: "chat", store });
    const chat = createAssistant({ model: scripted(assistant("Hi")), memory, onAbort: "discard" });
    const asked = chat.chat("Go", { id: "q-1", signal: controller.signal });
    await expect(asked).rejects.toMatchObject({ code: "ABORTED" });
    expect(await memory.messages()).toEqual([]);
    expect((await chat.chat("Something else", { id: "q-1" })).text).toBe("Hi");
  });

  test("that fires while the memory is read asks no model", async () => {
    const controller = new AbortController();
    const memory = createChatMemory();
    const read = memory.messages.bind(memory);
    memory.messages = (options) => {
      controller.abort();
      return read({ ...options, signal: undefined });
    };
    const model = scripted(assistant("Hi"));
    const asked = createAssistant({ model, memory }).chat("Go", { signal: controller.signal });
    await expect(asked).rejects.toMatchObject({ code: "ABORTED" });
    expect(model.requests).toEqual([]);
  });

  test("that fires while the answer is stored begins none of its calls", async () => {
    const controller = new AbortController();
    const memory = createChatMemory();
    const transaction = memory.transaction.bind(memory);
    memory.transaction = async (run, options) => {
      const result = await transaction(run, options);
      controller.abort();
      return result;
    };
    let runs = 0;
    const counted = tool({ inputSchema: {}, execute: () => ++runs });
    const chat = createAssistant({
      model: scripted(toolCall("c1", "t", {})),
      memory,
      tools: { t: counted },
      onAbort: "discard",
    });
    await expect(chat.chat("Go", { signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
    expect(runs).toBe(0);
    expect(await memory.messages()).toEqual([]);
  });

  test("that has fired begins nothing", async () => {
    const { memory, ask } = setUp([assistant("Hi")]);
    const chat = createAssistant({ model: scripted(), memory });
    await expect(chat.chat("Go", { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
    expect(await memory.messages()).toEqual([]);
    expect(await ask()).toBe("Hi");
  });
});

test("an error of an assistant is told from all others", () => {
  const error = new AssistantError("BUSY", "busy");
  expect(isAssistantError(error)).toBe(true);
  expect(isAssistantError(error, "EMPTY_ANSWER")).toBe(false);
  for (const other of [Object.assign(new Error("busy"), { code: "BUSY" }), null, undefined, "BUSY"])
    expect(isAssistantError(other)).toBe(false);
  expect(String(error)).toBe("AssistantError: busy");
  expect(error).not.toHaveProperty("cause");
  expect(error.errors).toEqual([]);
});
