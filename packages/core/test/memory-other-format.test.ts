import { expect, test } from "vitest";
import {
  type ChatMemory,
  createChatMemory,
  decodePayload,
  encodePayload,
  inMemoryStore,
  type MessageFormat,
  type ModelMessage,
  modelMessageFormat,
  user,
} from "../src/index.ts";

const otherFormat: MessageFormat<ModelMessage> = {
  ...(modelMessageFormat as MessageFormat<ModelMessage>),
  name: "other",
  encode: (message) => encodePayload("other", 1, message),
  decode: (text) => decodePayload(text, "other", 1) as ModelMessage,
};

test.each<[string, (memory: ChatMemory<ModelMessage>, id: string) => Promise<unknown>]>([
  ["add", (memory) => memory.add(user("b"))],
  ["put", (memory) => memory.put("new", user("b"))],
  ["put in place", (memory, id) => memory.put(id, user("b"))],
  ["compact", (memory, id) => memory.compact({ through: id, replacement: user("b") })],
  ["transaction", (memory) => memory.transaction((adds) => adds.add(user("b")))],
])(
  "%s puts no message beside those of another format, where neither could be read",
  async (_call, change) => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "m", store });
    const [first] = await memory.add(user("a"), user("z"));
    const wrong = createChatMemory({ id: "m", store, format: otherFormat, window: { maxMessages: 2 } });
    await expect(change(wrong, first as string)).rejects.toMatchObject({
      code: "CORRUPT_RECORD",
      message: expect.stringContaining('written by the message format "model-message"'),
    });
    expect(await memory.messages()).toEqual([user("a"), user("z")]);
  },
);

test("set takes a memory over to another format", async () => {
  const store = inMemoryStore();
  await createChatMemory({ id: "m", store }).add(user("a"));
  const other = createChatMemory({ id: "m", store, format: otherFormat });
  await other.set([user("b")]);
  await other.add(user("c"));
  expect(await other.messages()).toEqual([user("b"), user("c")]);
});
