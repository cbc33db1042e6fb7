import { type ChatMemory, createChatMemory, entry, type ModelMessage } from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import { type ChatEvent, createAssistant, type ModelRequest, type Tool, tool } from "../src/index.ts";
import { type Answer, assistant, calling, scripted, user } from "./script.ts";

const tools = { t: tool({ inputSchema: {}, execute: () => "r" }) };

async function all(stream: AsyncIterable<ChatEvent<ModelMessage>>): Promise<ChatEvent<ModelMessage>[]> {
  const events: ChatEvent<ModelMessage>[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const spoken =
  (text: string, ...parts: string[]): Answer =>
  async ({ onDelta }) => {
    for (const part of parts) onDelta?.({ type: part === "hm" ? "reasoning" : "text", text: part });
    return assistant(text);
  };

test("says what happens as it happens, and ends with the result", async () => {
  const memory = createChatMemory();
  const model = scripted(calling(["c1", "t"], ["c2", "x"]), spoken("Hello", "hm", "Hel", "lo"));
  const events = await all(createAssistant({ model, memory, tools, toolConcurrency: 1 }).stream("Go"));
  expect(events).toMatchObject([
    { type: "tool-call", call: { id: "c1", name: "t", input: {} } },
    { type: "tool-call", call: { id: "c2", name: "x" } },
    { type: "tool-result", result: { toolCallId: "c1", output: "r", isError: false } },
    { type: "tool-result", result: { toolCallId: "c2", isError: true } },
    { type: "reasoning", text: "hm" },
    { type: "text", text: "Hel" },
    { type: "text", text: "lo" },
    { type: "finish", result: { text: "Hello", finishReason: "stop" } },
  ]);
});

/** What is told of those answers, as `type` or as `text: …`. */
async function told(
  stream: AsyncIterable<ChatEvent<ModelMessage>>,
): Promise<readonly (readonly [type: string, text?: string])[]> {
  return (await all(stream)).map((event) => ("text" in event ? [event.type, event.text] : [event.type]));
}

describe("a text that the model did not stream", () => {
  test("is one event, before the end", async () => {
    const model = scripted(
      assistant([
        { type: "text", text: "Hel" },
        { type: "text", text: "lo" },
      ]),
    );
    expect(await told(createAssistant({ model }).stream("Go"))).toEqual([["text", "Hello"], ["finish"]]);
  });

  test("beside calls is one before them, and each answer is told of in its turn", async () => {
    const calls = [
      { type: "text" as const, text: "I look." },
      { type: "tool-call" as const, toolCallId: "c1", toolName: "t", input: {} },
    ];
    const model = scripted(assistant(calls), calling(["c2", "t"]), spoken("Yes", "Yes"), assistant("No"));
    const chat = createAssistant({ model, tools });
    expect(await told(chat.stream("Go"))).toEqual([
      ["text", "I look."],
      ["tool-call"],
      ["tool-result"],
      ["tool-call"],
      ["tool-result"],
      ["text", "Yes"],
      ["finish"],
    ]);
    expect(await told(chat.stream("Go"))).toEqual([["text", "No"], ["finish"]]);
  });

  test("is told of though its reasoning was streamed, and a delta of nothing", async () => {
    const model = scripted(spoken("Hello", "hm", ""));
    expect(await told(createAssistant({ model }).stream("Go"))).toEqual([
      ["reasoning", "hm"],
      ["text", ""],
      ["text", "Hello"],
      ["finish"],
    ]);
  });

  test("is not told of where a part of it was streamed", async () => {
    const model = scripted(spoken("Hello", "Hel"));
    expect(await told(createAssistant({ model }).stream("Go"))).toEqual([["text", "Hel"], ["finish"]]);
  });

  test("comes once though the model streams it after it has answered", async () => {
    let late: ModelRequest<ModelMessage>["onDelta"];
    const model = scripted(
      async ({ onDelta }) => {
        late = onDelta;
        return assistant([
          { type: "text", text: "I look." },
          { type: "tool-call", toolCallId: "c1", toolName: "t", input: {} },
        ]);
      },
      async () => {
        late?.({ type: "text", text: "I look." });
        late?.({ type: "reasoning", text: "hm" });
        return assistant("Yes");
      },
    );
    expect(await told(createAssistant({ model, tools }).stream("Go"))).toEqual([
      ["text", "I look."],
      ["tool-call"],
      ["tool-result"],
      ["reasoning", "hm"],
      ["text", "Yes"],
      ["finish"],
    ]);
  });

  test("is not told of where the answer is not stored", async () => {
    const model = scripted(
      assistant([
        { type: "text", text: "I look." },
        { type: "tool-call", toolCallId: "c1", toolName: "t", input: {} },
      ]),
    );
    const events: unknown[] = [];
    const read = async (): Promise<void> => {
      const chat = createAssistant({ model, tools, maxRoundTrips: 0 });
      for await (const event of chat.stream("Go")) events.push(event);
    };
    await expect(read()).rejects.toMatchObject({ code: "TOO_MANY_ROUND_TRIPS" });
    expect(events).toEqual([]);
  });
});

describe("a turn asked again with its id", () => {
  const calls = assistant([
    { type: "text", text: "I look." },
    { type: "tool-call", toolCallId: "c1", toolName: "t", input: {} },
  ]);

  test("gives the text of its result as one event, however it was streamed first", async () => {
    const memory = createChatMemory();
    const model = scripted(calls, spoken("Hello", "Hel", "lo"));
    const chat = createAssistant({ model, memory, tools });
    await all(chat.stream("Go", { id: "q-1" }));
    expect(await told(chat.stream("Go", { id: "q-1" }))).toEqual([["text", "Hello"], ["finish"]]);
    expect(model.requests).toHaveLength(2);
  });

  test("gives what the model said beside calls that ended it, and nothing where it said nothing", async () => {
    const direct = { t: tool({ inputSchema: {}, execute: () => "r", returnBehavior: "immediate" }) };
    for (const [answer, text] of [
      [calls, [["text", "I look."]]],
      [calling(["c1", "t"]), []],
    ] as const) {
      const chat = createAssistant({ model: scripted(answer), memory: createChatMemory(), tools: direct });
      expect(await told(chat.stream("Go", { id: "q-1" }))).toEqual([
        ...text,
        ["tool-call"],
        ["tool-result"],
        ["finish"],
      ]);
      expect(await told(chat.stream("Go", { id: "q-1" }))).toEqual([...text, ["finish"]]);
    }
  });

  test("that goes on tells of what is new, and of a stored answer only if it is the last", async () => {
    const left = async (): Promise<ChatMemory<ModelMessage>> => {
      const memory = createChatMemory();
      await memory.add(entry(user("Go"), { id: "q-1" }), calls);
      return memory;
    };
    const again = { inputSchema: {}, execute: () => "r", idempotent: true };
    const model = scripted(assistant("Yes"));
    const onward = createAssistant({ model, memory: await left(), tools: { t: again } });
    expect(await told(onward.stream("Go", { id: "q-1" }))).toEqual([
      ["tool-result"],
      ["text", "Yes"],
      ["finish"],
    ]);
    const direct: Tool = { ...again, returnBehavior: "immediate" };
    const ended = createAssistant({ model, memory: await left(), tools: { t: direct } });
    expect(await told(ended.stream("Go", { id: "q-1" }))).toEqual([
      ["tool-result"],
      ["text", "I look."],
      ["finish"],
    ]);
  });

  test("whose rest is an empty answer ends without a text", async () => {
    const memory = createChatMemory();
    await memory.add(entry(user("Go"), { id: "q-1" }), calls);
    const chat = createAssistant({ model: scripted(assistant("")), memory, tools });
    expect(await told(chat.stream("Go", { id: "q-1" }))).toEqual([["tool-result"], ["finish"]]);
  });
});

test("nobody who chats is streamed to", async () => {
  const model = scripted(assistant("Hi"));
  await createAssistant({ model }).chat("Go");
  expect(model.requests[0]).not.toHaveProperty("onDelta");
});

test("does nothing before it is read", async () => {
  const memory = createChatMemory();
  const model = scripted(assistant("Hi"));
  createAssistant({ model, memory }).stream("Go");
  await createAssistant({ model, memory }).chat("Other");
  expect(await memory.messages()).toEqual([user("Other"), assistant("Hi")]);
});

test("throws what fails, after what came before it", async () => {
  const memory = createChatMemory();
  const model = scripted(async ({ onDelta }) => {
    onDelta?.({ type: "text", text: "Hel" });
    throw new Error("timeout");
  });
  const events: unknown[] = [];
  const read = async (): Promise<void> => {
    for await (const event of createAssistant({ model, memory }).stream("Go")) events.push(event);
  };
  await expect(read()).rejects.toThrow("timeout");
  expect(events).toEqual([{ type: "text", text: "Hel" }]);
  expect(await memory.messages()).toEqual([]);
});

test("left in the middle, it aborts the turn and takes it back if told to", async () => {
  const memory = createChatMemory();
  let signal: AbortSignal | undefined;
  const model = scripted((request) => {
    signal = request.signal;
    request.onDelta?.({ type: "text", text: "Hel" });
    return new Promise(() => undefined);
  });
  for await (const event of createAssistant({ model, memory, onAbort: "discard" }).stream("Go")) {
    expect(event).toEqual({ type: "text", text: "Hel" });
    break;
  }
  expect(signal?.aborted).toBe(true);
  expect(await memory.messages()).toEqual([]);
});

test("left while an event is waited for, it aborts the turn at once and takes it back if told to", async () => {
  const memory = createChatMemory();
  const model = scripted(() => new Promise(() => undefined));
  const stream = createAssistant({ model, memory, onAbort: "discard" }).stream("Go");
  const waiting = stream.next();
  await expect.poll(() => model.requests.length).toBe(1);
  expect(await stream.return?.()).toEqual({ done: true, value: undefined });
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(model.requests[0]?.signal.reason).toMatchObject({ code: "ABORTED" });
  expect(await memory.messages()).toEqual([]);
});

test("left after its end, it aborts nothing", async () => {
  const model = scripted(assistant("Hello"));
  for await (const event of createAssistant({ model }).stream("Go")) if (event.type === "finish") break;
  expect(model.requests[0]?.signal.aborted).toBe(false);
});

test("left at its end, the turn stays", async () => {
  const memory = createChatMemory();
  for await (const event of createAssistant({ model: scripted(assistant("Hi")), memory }).stream("Go")) {
    if (event.type === "finish") break;
  }
  expect(await memory.messages()).toEqual([user("Go"), assistant("Hi")]);
});

test("the caller's signal ends it too", async () => {
  const controller = new AbortController();
  const model = scripted(() => {
    controller.abort();
    return new Promise(() => undefined);
  });
  const stream = createAssistant({ model }).stream("Go", { signal: controller.signal });
  await expect(all(stream)).rejects.toMatchObject({ code: "ABORTED" });
});

test("a caller's signal that has fired begins nothing", async () => {
  const memory = createChatMemory();
  const model = scripted(assistant("Hi"));
  const signal = AbortSignal.abort();
  const stream = createAssistant({ model, memory }).stream("Go", { signal });
  await expect(all(stream)).rejects.toMatchObject({ code: "ABORTED" });
  expect([await memory.messages(), model.requests]).toEqual([[], []]);
});

test.each([{ signal: 5 }, { Id: "request-1" }])(
  "options of the wrong shape are told when it is read: %j",
  async (options) => {
    const stream = createAssistant({ model: scripted() }).stream("Go", options as never);
    await expect(all(stream)).rejects.toMatchObject({ code: "INVALID_OPTION" });
  },
);
