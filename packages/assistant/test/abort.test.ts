import {
  type ChatMemory,
  createChatMemory,
  inMemoryStore,
  type MessageFormat,
  type ModelMessage,
  toolResult,
} from "@turnkeep/core";
import { type AnthropicMessage, anthropicFormat } from "@turnkeep/formats/anthropic";
import { type ChatMessage, openaiFormat } from "@turnkeep/formats/openai";
import { describe, expect, test } from "vitest";
import { anthropicMessages } from "../src/anthropic.ts";
import {
  type AssistantMessages,
  type AssistantPolicy,
  type ChatEvent,
  createAssistant,
  type ModelRequest,
  tool,
} from "../src/index.ts";
import { openaiMessages } from "../src/openai.ts";
import { type Answer, assistant, scripted, toolCall, user } from "./script.ts";

const endless = new Promise<never>(() => {});
const tools = { t: tool({ inputSchema: {}, execute: () => "r" }) };

/** An answer that streams those parts and never ends. */
const streaming =
  (...parts: string[]): Answer =>
  ({ onDelta }: ModelRequest<ModelMessage>) => {
    for (const text of parts) onDelta?.({ type: text === "hm" ? "reasoning" : "text", text });
    return endless;
  };

function setUp(answers: readonly Answer[], policy: Partial<AssistantPolicy<ModelMessage>> = {}) {
  const memory = createChatMemory({ id: "chat", store: inMemoryStore() });
  const model = scripted(...answers);
  return { memory, model, chat: createAssistant({ model, memory, tools, ...policy }) };
}

async function read(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

/** Reads a stream until it has had that many events of text, then stops in one of the ways. */
async function stopAfter(
  stream: (signal: AbortSignal) => AsyncIterable<ChatEvent<ModelMessage>>,
  texts: number,
  how: "signal" | "loop",
): Promise<unknown> {
  const controller = new AbortController();
  let seen = 0;
  try {
    for await (const event of stream(controller.signal)) {
      if (event.type !== "text" || ++seen < texts) continue;
      if (how === "loop") break;
      controller.abort();
    }
    return undefined;
  } catch (error) {
    return error;
  }
}

describe.each(["signal", "loop"] as const)("an answer that is stopped by the %s", (how) => {
  test.each([undefined, "q-1"])(
    "stays as far as it was streamed, and so does its question: id %s",
    async (id) => {
      const { memory, chat } = setUp([streaming("hm", "Hel", "lo"), assistant("Fine.")]);
      const error = await stopAfter((signal) => chat.stream("Go", { id, signal }), 2, how);
      expect(await memory.messages()).toEqual([user("Go"), assistant("Hello")]);
      const [question, kept] = (await memory.history()).messages;
      expect(kept?.id).toBe(`${question?.id}/0/aborted`);
      if (how === "signal") {
        expect(error).toMatchObject({
          code: "ABORTED",
          details: { memoryId: "chat", messageIds: [kept?.id] },
        });
      }
      // The conversation goes on.
      expect((await chat.chat("And now?")).text).toBe("Fine.");
      expect((await memory.messages()).at(-1)).toEqual(assistant("Fine."));
    },
  );

  test("is returned as it was left to who asks again, and made anew once it was rewound", async () => {
    const { memory, model, chat } = setUp([streaming("Hel"), streaming("Hi"), assistant("Hello")]);
    await stopAfter((signal) => chat.stream("Go", { id: "q-1", signal }), 1, how);
    const again = await chat.chat("Go", { id: "q-1" });
    expect(again).toMatchObject({ text: "Hel", finishReason: "aborted", continued: true });
    expect(model.requests).toHaveLength(1);

    await memory.rewind("q-1/0/aborted");
    await stopAfter((signal) => chat.stream("Go", { id: "q-1", signal }), 1, how);
    expect(await chat.chat("Go", { id: "q-1" })).toMatchObject({ text: "Hi", finishReason: "aborted" });

    await memory.rewind("q-1/1/aborted");
    expect(await chat.chat("Go", { id: "q-1" })).toMatchObject({ text: "Hello", finishReason: "stop" });
    expect(await memory.messages()).toEqual([user("Go"), assistant("Hello")]);
  });

  test("stands behind what the tools did", async () => {
    const { memory, chat } = setUp([toolCall("c1", "t", {}), streaming("Hel")]);
    await stopAfter((signal) => chat.stream("Go", { signal }), 1, how);
    expect(await memory.messages()).toEqual([
      user("Go"),
      toolCall("c1", "t", {}),
      toolResult("c1", "t", "r"),
      assistant("Hel"),
    ]);
  });

  test("is not kept if it is blank, but its question is", async () => {
    const { memory, chat } = setUp([streaming(" ", "\n"), assistant("Hello")]);
    const error = await stopAfter((signal) => chat.stream("Go", { id: "q-1", signal }), 2, how);
    expect(await memory.messages()).toEqual([user("Go")]);
    if (how === "signal") expect(error).not.toHaveProperty("details.messageIds");
    expect((await chat.chat("Go", { id: "q-1" })).text).toBe("Hello");
  });

  test.each([false, true])("leaves nothing with discard, keepFailedTurns %s", async (keepFailedTurns) => {
    const { memory, chat } = setUp([streaming("Hel")], { onAbort: "discard", keepFailedTurns });
    await stopAfter((signal) => chat.stream("Go", { signal }), 1, how);
    expect(await memory.messages()).toEqual(keepFailedTurns ? [user("Go")] : []);
  });
});

describe("a turn that is stopped", () => {
  test("before an answer with calls is stored keeps its text without the calls", async () => {
    const controller = new AbortController();
    const asks = tool({
      inputSchema: {},
      needsApproval: () => {
        controller.abort();
        return endless;
      },
      execute: () => "r",
    });
    const answer: Answer = async ({ onDelta }) => {
      onDelta?.({ type: "text", text: "I look." });
      return assistant([
        { type: "text", text: "I look." },
        { type: "tool-call", toolCallId: "c1", toolName: "t", input: {} },
      ]);
    };
    const { memory, chat } = setUp([answer], { tools: { t: asks } });
    const stream = chat.stream("Go", { signal: controller.signal });
    await expect(read(stream)).rejects.toMatchObject({ code: "ABORTED" });
    expect(await memory.messages()).toEqual([user("Go"), assistant("I look.")]);
  });

  test("while a tool runs keeps the answer that called it, once, with a result for each call", async () => {
    const controller = new AbortController();
    const slow = tool({
      inputSchema: {},
      execute: () => {
        controller.abort();
        return endless;
      },
    });
    const answer: Answer = async ({ onDelta }) => {
      onDelta?.({ type: "text", text: "I look." });
      return assistant([
        { type: "text", text: "I look." },
        { type: "tool-call", toolCallId: "c1", toolName: "t", input: {} },
      ]);
    };
    const { memory, chat } = setUp([answer], { tools: { t: slow } });
    const stream = chat.stream("Go", { signal: controller.signal });
    await expect(read(stream)).rejects.toMatchObject({ code: "ABORTED" });
    expect((await memory.messages()).map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  });

  test("where nobody reads the answer as a stream keeps the question, and goes on with the same id", async () => {
    const controller = new AbortController();
    const stopping: Answer = () => {
      controller.abort();
      return endless;
    };
    const { memory, chat } = setUp([stopping, assistant("Hello")]);
    const stopped = chat.chat("Go", { id: "q-1", signal: controller.signal });
    await expect(stopped).rejects.toMatchObject({ code: "ABORTED" });
    expect(await memory.messages()).toEqual([user("Go")]);
    expect((await chat.chat("Go", { id: "q-1" })).text).toBe("Hello");
  });

  test("in a conversation that was deleted meanwhile and begun anew stores nothing there", async () => {
    const store = inMemoryStore();
    const open = (): ChatMemory<ModelMessage> => createChatMemory({ id: "chat", store });
    const chat = createAssistant({ model: scripted(streaming("Hel")), memory: open() });
    for await (const event of chat.stream("Go", { id: "q-1" })) {
      if (event.type !== "text") continue;
      await open().clear();
      await open().add(user("New"));
      break;
    }
    expect(await open().messages()).toEqual([user("New")]);
  });

  test("whose rest the store does not take says so beside what stopped it", async () => {
    const { memory, chat } = setUp([streaming("Hel")]);
    const error = await stopAfter(
      (signal) => {
        memory.transaction = () => Promise.reject(new Error("no store"));
        return chat.stream("Go", { signal });
      },
      1,
      "signal",
    );
    expect(error).toMatchObject({
      code: "UNDO_FAILED",
      cause: { code: "ABORTED" },
      errors: [{ code: "ABORTED" }, { message: "no store" }],
    });
  });
});

interface Kind<M> {
  readonly format: MessageFormat<M>;
  readonly messages: AssistantMessages<M>;
}

async function keptOf<M>({ format, messages }: Kind<M>): Promise<M[]> {
  const memory = createChatMemory<M>({ format });
  const chat = createAssistant<M>({
    model: ({ onDelta }) => {
      onDelta?.({ type: "text", text: "Hel" });
      return endless;
    },
    memory,
    messages,
  });
  for await (const _ of chat.stream("Go")) break;
  return memory.messages();
}

test("what was streamed is kept in messages of OpenAI and Anthropic too", async () => {
  const kept = [
    { role: "user", content: "Go" },
    { role: "assistant", content: "Hel" },
  ];
  const openai = { format: openaiFormat, messages: openaiMessages<ChatMessage>() };
  expect(await keptOf<ChatMessage>(openai)).toEqual(kept);
  const anthropic = { format: anthropicFormat, messages: anthropicMessages<AnthropicMessage>() };
  expect(await keptOf<AnthropicMessage>(anthropic)).toEqual(kept);
});
