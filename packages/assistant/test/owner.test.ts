import { createChatMemories, createChatMemory, inMemoryStore } from "@turnkeep/core";
import { expect, test } from "vitest";
import { createAssistant } from "../src/index.ts";
import { assistant, scripted } from "./script.ts";

test("a chat about somebody else's memory is refused before the model is asked", async () => {
  const store = inMemoryStore();
  const memories = createChatMemories({ store });
  const model = scripted(assistant("Hello, Ann."), assistant("Hello again."));
  const chat = createAssistant({ model, memories, systemMessage: "Be kind." });
  const memoryId = "chat-1";
  await chat.chat("Hello", { memoryId, owner: "ann" });
  const before = await store.getMessages(memoryId);
  expect(before.owner).toBe("ann");

  const refused = { code: "OWNER_MISMATCH", details: { memoryId } };
  await expect(chat.chat("Hello", { memoryId, owner: "bob" })).rejects.toMatchObject(refused);
  await expect(chat.chat("Hello", { id: "q-1", memoryId, owner: "bob" })).rejects.toMatchObject(refused);
  await expect(chat.stream("Hello", { memoryId, owner: "bob" }).next()).rejects.toMatchObject(refused);
  expect(await store.getMessages(memoryId)).toEqual(before);
  expect(model.requests).toHaveLength(1);
  expect((await chat.chat("Hello", { memoryId, owner: "ann" })).text).toBe("Hello again.");
});

test("an owner that is missing, or where there is nothing to choose, is refused", async () => {
  const model = scripted();
  const many = createAssistant({ model, memories: createChatMemories({ store: inMemoryStore() }) });
  const missing = { memoryId: "chat-1", owner: undefined as unknown as string };
  await expect(many.chat("Hello", missing)).rejects.toMatchObject({ code: "INVALID_OPTION" });
  const one = createAssistant({ model, memory: createChatMemory() });
  await expect(one.chat("Hello", { owner: "ann" })).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message: expect.stringContaining("owner must be left out"),
  });
});
