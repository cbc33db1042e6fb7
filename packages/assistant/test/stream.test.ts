import { createChatMemory, type ModelMessage } from "@turnkeep/core";
import { expect, test } from "vitest";
import { type ChatEvent, createAssistant, tool } from "../src/index.ts";
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

test("left in the middle, it aborts the turn and takes it back", async () => {
  const memory = createChatMemory();
  let signal: AbortSignal | undefined;
  const model = scripted((request) => {
    signal = request.signal;
    request.onDelta?.({ type: "text", text: "Hel" });
    return new Promise(() => undefined);
  });
  for await (const event of createAssistant({ model, memory }).stream("Go")) {
    expect(event).toEqual({ type: "text", text: "Hel" });
    break;
  }
  expect(signal?.aborted).toBe(true);
  expect(await memory.messages()).toEqual([]);
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
