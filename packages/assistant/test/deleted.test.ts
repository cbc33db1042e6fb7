import { type ChatMemory, createChatMemories, inMemoryStore, type ModelMessage } from "@turnkeep/core";
import { gate } from "@turnkeep/store-tests/gate";
import { describe, expect, test, vi } from "vitest";
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

describe.each(["this process", "another"])("a question that waits for a turn of %s", (whose) => {
  /** A conversation with a turn whose model fails once `end` is called, and an assistant that answers beside it. */
  async function running(before: readonly ModelMessage[]) {
    const { memory, other, erase } = conversation();
    await memory.add(...before);
    const { opened, open } = gate();
    const failing = scripted(() => opened.then(() => Promise.reject(new Error("down"))));
    const first = createAssistant({ model: failing, memory }).chat("First");
    const ended = first.catch(() => undefined);
    await expect.poll(() => failing.requests.length).toBe(1);
    const own = whose === "another" ? other : memory;
    const turn = vi.spyOn(own, "turn");
    const model = scripted(assistant("Yes"));
    return {
      chat: createAssistant({ model, memory: own }),
      model,
      erase,
      hasBegunToWait: () =>
        expect.poll(() => turn.mock.calls.map(([, options]) => options?.busy)).toContain("wait"),
      end: () => {
        open();
        return ended;
      },
      said: async () => (await own.history()).messages.map(({ message }) => message.content),
    };
  }

  test.each(["q-2", undefined])("goes with the conversation that is erased meanwhile: id %s", async (id) => {
    const { chat, model, erase, hasBegunToWait, end, said } = await running([user("Before")]);
    const asked = expect(chat.chat("Second", { id })).rejects.toMatchObject(deleted);
    await hasBegunToWait();
    await erase();
    await end();
    await asked;
    expect(model.requests).toEqual([]);
    expect(await said()).toEqual([]);
  });

  test("begins the conversation anew if it was asked behind that", async () => {
    const { chat, erase, end, said } = await running([user("Before")]);
    await erase();
    const asked = chat.chat("Second");
    await end();
    expect((await asked).text).toBe("Yes");
    expect(await said()).toEqual(["Second", "Yes"]);
  });

  test("is answered where the first turn of the conversation was taken back", async () => {
    const { chat, hasBegunToWait, end, said } = await running([]);
    const asked = chat.chat("Second");
    await hasBegunToWait();
    await end();
    expect((await asked).text).toBe("Yes");
    expect(await said()).toEqual(["Second", "Yes"]);
  });
});
