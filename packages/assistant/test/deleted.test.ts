import { type ChatMemory, createChatMemories, inMemoryStore, type ModelMessage } from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import { createAssistant, tool } from "../src/index.ts";
import { assistant, calling, scripted, toolCall, user } from "./script.ts";

const deleted = { code: "MEMORY_DELETED", details: { memoryId: "ann/1" } };

/** A conversation of Ann's, and what another process does that has her data erased. */
function conversation(): {
  memory: ChatMemory<ModelMessage>;
  other: ChatMemory<ModelMessage>;
  erase: () => Promise<unknown>;
} {
  const options = { store: inMemoryStore(), owner: "ann" };
  const elsewhere = createChatMemories(options);
  const memory = createChatMemories(options).get("ann/1");
  return { memory, other: elsewhere.get("ann/1"), erase: () => elsewhere.erase({ owner: "ann" }) };
}

describe.each([
  ["with", "question-1"],
  ["without", undefined],
])("a conversation that is erased under a turn %s an id stays erased", (_, id) => {
  test("while the model answers", async () => {
    const { memory, erase } = conversation();
    const model = scripted(() => erase().then(() => assistant("Dear Ann")));
    await expect(createAssistant({ model, memory }).chat("Go", { id })).rejects.toMatchObject(deleted);
    expect((await memory.history()).messages).toEqual([]);
  });

  test("while it calls tools for the second time", async () => {
    const { memory, erase } = conversation();
    const model = scripted(toolCall("1", "look", {}), () => erase().then(() => toolCall("2", "look", {})));
    const look = tool({ inputSchema: {}, execute: () => "Ann's secret" });
    const chat = createAssistant({ model, memory, tools: { look } });
    await expect(chat.chat("Go", { id })).rejects.toMatchObject(deleted);
    expect((await memory.history()).messages).toEqual([]);
  });

  test.each([1, 4])("while tools run, %i at once", async (toolConcurrency) => {
    const { memory, erase } = conversation();
    const model = scripted(calling(["1", "look"], ["2", "look"], ["3", "look"]));
    const look = tool({ inputSchema: {}, execute: () => erase().then(() => "Ann's secret") });
    const chat = createAssistant({ model, memory, toolConcurrency, tools: { look } });
    await expect(chat.chat("Go", { id })).rejects.toMatchObject(deleted);
    expect((await memory.history()).messages).toEqual([]);
  });

  test("also where another turn has begun it anew before the last tool is done", async () => {
    const { memory, other, erase } = conversation();
    const transaction = memory.transaction.bind(memory);
    let refused = 0;
    memory.transaction = (run, options) =>
      transaction(run, options).catch((error) => {
        refused++;
        throw error;
      });
    const tools = {
      first: tool({ inputSchema: {}, execute: () => erase().then(() => "Ann's secret") }),
      second: tool({
        inputSchema: {},
        execute: async () => {
          await expect.poll(() => refused).toBe(1);
          await other.add(user("New"));
          return "Ann's other secret";
        },
      }),
    };
    const chat = createAssistant({
      model: scripted(calling(["1", "first"], ["2", "second"])),
      memory,
      tools,
    });
    await expect(chat.chat("Go", { id })).rejects.toMatchObject(deleted);
    // The turn has ended before its second tool.
    const said = async () => (await other.history()).messages.map(({ message }) => message.content);
    await expect.poll(said).toEqual(["New"]);
  });

  test("also where the turn is aborted, or fails, behind it", async () => {
    const { memory, erase } = conversation();
    const controller = new AbortController();
    const look = tool({
      inputSchema: {},
      execute: async () => {
        await erase();
        controller.abort();
        throw new Error("no more");
      },
    });
    const chat = createAssistant({
      model: scripted(toolCall("1", "look", {}), toolCall("1", "look", {})),
      memory,
      tools: { look },
      strategies: { toolError: "throw" },
    });
    await expect(chat.chat("Go", { id, signal: controller.signal })).rejects.toMatchObject({
      code: "ABORTED",
    });
    await expect(chat.chat("Go", { id })).rejects.toThrow("no more");
    expect((await memory.history()).messages).toEqual([]);
  });

  test("and is there again for who asks once more", async () => {
    const { memory, erase } = conversation();
    const model = scripted(() => erase().then(() => assistant("1")), assistant("2"));
    const chat = createAssistant({ model, memory });
    await expect(chat.chat("Go", { id })).rejects.toMatchObject(deleted);
    expect((await chat.chat("Go", { id })).text).toBe("2");
    expect((await memory.messages()).map(({ content }) => content)).toEqual(["Go", "2"]);
  });
});
