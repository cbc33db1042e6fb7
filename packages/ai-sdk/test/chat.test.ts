import { createChatMemories, inMemoryStore } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { until } from "@turnkeep/store-tests/gate";
import { ToolLoopAgent, tool, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { chatHandler } from "../src/index.ts";
import { line } from "./browser.ts";
import { statusOf, stored, storedLines, usage, world } from "./chat-server.ts";
import { callsTool, modelOf, says, told } from "./models.ts";

test("a new chat, a second turn, and a page that is loaded", async () => {
  const { server, prompts, failures } = world(says("Hello, Ann."), says("You are Ann."));
  const { memories, tab, transport } = server();
  const chat = tab();
  await chat.sendMessage({ text: "I am Ann." });
  expect(chat.messages.map(line)).toEqual(["user: I am Ann.", "assistant: Hello, Ann."]);
  await chat.sendMessage({ text: "Who am I?" });
  const all = ["user: I am Ann.", "assistant: Hello, Ann.", "user: Who am I?", "assistant: You are Ann."];
  expect(chat.messages.map(line)).toEqual(all);
  expect(prompts[1]?.map(told)).toEqual(all.slice(0, 3));
  // What a browser shows and what another loads is the same.
  const { messages } = await transport().history("chat-1");
  expect(JSON.parse(JSON.stringify(chat.messages))).toEqual(messages);
  expect(await stored(memories)).toEqual(messages);
  expect(messages[3]?.metadata).toEqual({ status: "done", usage });
  const loaded = tab(messages);
  expect(loaded.messages.map(line)).toEqual(all);
  expect(failures).toEqual([]);
});

test("a question that was moved here under another id is answered anew, not asked twice", async () => {
  const { server, failures } = world(says("One."));
  const { memories, tab } = server();
  const memory = memories.get("chat-1", { owner: "ann" });
  const text = (text: string) => [{ type: "text" as const, text }];
  await memory.add({ id: "q1", role: "user", parts: text("Count.") });
  await memory.add({ id: "a1", role: "assistant", parts: text("None.") });
  const chat = tab();
  chat.messages = (await memory.entries()).map(({ message }) =>
    structuredClone(message),
  ) as typeof chat.messages;
  await chat.regenerate();
  expect((await memory.messages()).map(line)).toEqual(["user: Count.", "assistant: One."]);
  expect(failures).toEqual([]);
});

test("a new question is not looked for in all that was said", async () => {
  const { server, failures } = world(says("One."), says("Two."));
  const { memories, tab } = server();
  const chat = tab();
  await chat.sendMessage({ text: "Count." });
  memories.get("chat-1", { owner: "ann" }).historyPages = () => {
    throw new Error("It reads the whole history.");
  };
  await chat.sendMessage({ text: "Go on." });
  expect(chat.messages.map(line).at(-1)).toBe("assistant: Two.");
  expect(failures).toEqual([]);
});

test("two devices: both turns are kept, and each answer follows its question", async () => {
  const { server } = world(says("One."), says("Two."), says("Three."));
  const { memories, tab, transport } = server();
  const chat = tab();
  await chat.sendMessage({ text: "Hello" });
  const other = tab((await transport().history("chat-1")).messages);
  await Promise.all([chat.sendMessage({ text: "Left" }), other.sendMessage({ text: "Right" })]);
  const lines = await storedLines(memories);
  expect(lines.map((text) => text.split(":")[0])).toEqual([
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
    "assistant",
  ]);
  expect(lines.filter((text) => text.startsWith("user")).sort()).toEqual([
    "user: Hello",
    "user: Left",
    "user: Right",
  ]);
});

test("an agent answers, with its own tools", async () => {
  const { model } = modelOf(callsTool("look"), says("Seen."));
  const look = tool({ description: "looks", inputSchema: z.object({}), execute: async () => "seen" });
  const agent = new ToolLoopAgent({ model, tools: { look } });
  const { server, failures } = world();
  const { memories, tab } = server({ model: undefined, agent });
  const chat = tab();
  await chat.sendMessage({ text: "Look." });
  expect(await storedLines(memories)).toEqual(["user: Look.", "assistant: [output-available] Seen."]);
  expect(failures).toEqual([]);
});

test("an agent is shown the prompt of a memory that has one", async () => {
  const { model, prompts } = modelOf(says("Yes?"));
  const { server, failures } = world();
  const { memories, tab } = server({ model: undefined, agent: new ToolLoopAgent({ model }) });
  await memories
    .get("chat-1", { owner: "ann" })
    .instruct({ id: "s", role: "system", parts: [{ type: "text", text: "Be brief." }] });
  await tab().sendMessage({ text: "Hello" });
  expect(prompts.map((prompt) => prompt.map(told))).toEqual([["system: Be brief.", "user: Hello"]]);
  expect(await statusOf(memories)).toBe("done");
  expect(failures).toEqual([]);
});

test("what an agent's model fails with is told, and what its tools fail with is not", async () => {
  const { model } = modelOf(callsTool("look"), new Error("The model is away."));
  const look = tool({
    inputSchema: z.object({}),
    execute: (): Promise<string> => Promise.reject(new Error("It is dark.")),
  });
  // Its own `onError` is in place of the SDK's, which logs.
  const agent = new ToolLoopAgent({ model, tools: { look }, maxRetries: 0, onError: () => undefined });
  const { server, failures } = world();
  const { memories, tab } = server({ model: undefined, agent });
  const chat = tab();
  await chat.sendMessage({ text: "Look." });
  expect(chat.error?.message).toBe("An error occurred.");
  await until(async () => (await statusOf(memories)) === "failed");
  expect(failures).toEqual([expect.objectContaining({ message: "The model is away." })]);
});

test("says what is wrong with its options", () => {
  const memories = createChatMemories({ store: inMemoryStore(), format: uiMessageFormat<UIMessage>() });
  const owner = (): string => "ann";
  expect(() => chatHandler({ memories, owner })).toThrow("a model or an agent");
  expect(() => chatHandler({ memories, owner, model: "m", tool: {} } as never)).toThrow("tool");
  expect(() => chatHandler({ memories, owner, model: "m", path: "api/chat" })).toThrow("path");
  expect(() => chatHandler({ memories, owner: "ann", model: "m" } as never)).toThrow("owner");
});
