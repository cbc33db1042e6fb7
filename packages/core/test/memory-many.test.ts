import { expect, test } from "vitest";
import { createChatMemory, inMemoryStore, modelMessageFormat, user } from "../src/index.ts";

test("more live messages than a call may have arguments are explained, and leave for a window that comes late", async () => {
  const many = 150_000;
  const store = inMemoryStore();
  const payload = modelMessageFormat.encode(user("x"));
  const append = Array.from({ length: many }, (_, index) => {
    return { id: `${index + 1}`, seq: index + 1, createdAt: index, payload };
  });
  const begin = { expected: null, version: "1", nextSeq: many + 1, append, replace: [], move: [] };
  await store.updateMessages("m", begin);

  const unbounded = createChatMemory({ id: "m", store });
  const { messages } = await unbounded.explain();
  expect(messages).toHaveLength(many);
  const bounded = createChatMemory({ id: "m", store, window: { maxMessages: 10 } });
  await bounded.add(user("y"));
  expect(await bounded.messages()).toHaveLength(10);
  expect((await store.getHistory("m", { states: ["live"] })).messages).toHaveLength(10);
});
