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
import { rewriteRecords } from "./stored-record.ts";

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
    await expect(change(wrong, first)).rejects.toMatchObject({
      code: "CORRUPT_RECORD",
      message: expect.stringContaining('written by the message format "model-message"'),
    });
    expect(await memory.messages()).toEqual([user("a"), user("z")]);
  },
);

test.each([
  ["no JSON", "{broken"],
  ["of this format, and no message", encodePayload(modelMessageFormat.name, 1, { role: "nobody" })],
])("where the newest message is damaged, %s, others are added behind it", async (_what, payload) => {
  const store = inMemoryStore();
  const memory = createChatMemory({ id: "m", store });
  const [, damaged] = await memory.add(user("a"), user("b"));
  await rewriteRecords(store, [1], { payload });
  await expect(memory.messages()).rejects.toMatchObject({ details: { messageIds: [damaged] } });
  await memory.add(user("c"));
  await memory.remove(damaged);
  expect(await memory.messages()).toEqual([user("a"), user("c")]);
});

test("an error of the format's own is thrown as it is, by a view and by history", async () => {
  const store = inMemoryStore();
  await createChatMemory({ id: "m", store }).add(user("a"));
  const own = new Error("out of letters");
  const decode = (): never => {
    throw own;
  };
  const broken = createChatMemory({ id: "m", store, format: { ...otherFormat, decode } });
  await expect(broken.messages()).rejects.toBe(own);
  await expect(broken.history()).rejects.toBe(own);
});

test("set takes a memory over to another format", async () => {
  const store = inMemoryStore();
  await createChatMemory({ id: "m", store }).add(user("a"));
  const other = createChatMemory({ id: "m", store, format: otherFormat });
  await other.set([user("b")]);
  await other.add(user("c"));
  expect(await other.messages()).toEqual([user("b"), user("c")]);
});
