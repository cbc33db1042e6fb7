import { beforeEach, describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  entry,
  type ModelMessage,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { withoutHistory } from "./without-history.ts";

const texts = async (memory: ChatMemory<ModelMessage>): Promise<unknown[]> =>
  (await memory.messages()).map(({ role, content }) => (typeof content === "string" ? content : role));

describe("a memory in a store without history", () => {
  let store: ChatMemoryStore;
  let memory: ChatMemory<ModelMessage>;
  beforeEach(async () => {
    store = withoutHistory();
    memory = createChatMemory({ id: "m", store, window: { maxMessages: 4 } });
    await memory.add(...["0", "1", "2"].map((text) => entry(user(text), { id: text })));
    await memory.add(entry(toolCall("c", "look", {}), { id: "call" }), toolResult("c", "look", "r"));
  });

  test("adds once what is still there, and again what has left", async () => {
    expect(await texts(memory)).toEqual(["1", "2", "assistant", "tool"]);
    await memory.add(entry(user("2"), { id: "2" }));
    expect(await texts(memory)).toEqual(["1", "2", "assistant", "tool"]);
    await memory.put("0", user("0"));
    expect(await texts(memory)).toEqual(["2", "assistant", "tool", "0"]);
  });

  test("rewinds as far as messages are there, and brings nothing back", async () => {
    await memory.rewind("call");
    expect(await texts(memory)).toEqual(["1", "2"]);
    await expect(memory.rewind("0")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("removes a whole step, and finds nothing where it has left", async () => {
    expect(await memory.remove("call")).toHaveLength(2);
    expect(await memory.remove("0")).toEqual([]);
    expect(await texts(memory)).toEqual(["1", "2"]);
  });

  test("changes at once what it would change one by one, also what leaves in between", async () => {
    const one = createChatMemory({ id: "one", store, window: { maxMessages: 1 } });
    await one.transaction((change) => {
      change.add(entry(user("a"), { id: "a" }));
      change.update(1);
      change.add(user("b"));
      change.put("a", user("a2"));
    });
    expect(await texts(one)).toEqual(["a2"]);
    expect(await one.data()).toBe(1);
  });

  test("compacts what is there", async () => {
    await memory.compact({ through: "2", replacement: user("sum") });
    expect(await texts(memory)).toEqual(["sum", "assistant", "tool"]);
    const gone = memory.compact({ through: "0", replacement: user("sum") });
    await expect(gone).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("explains what is there, shrinks, and says that it keeps no history", async () => {
    await memory.add(assistant("a"));
    expect((await memory.explain()).messages.map(({ state }) => state)).toEqual(Array(4).fill("shown"));
    expect(await memory.shrink({ target: 0.5 })).toMatchObject({ messagesBefore: 4 });
    await expect(memory.history()).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });

  test("is forked as it is, up to a message that is there", async () => {
    const memories = createChatMemories({ store });
    expect(await texts(await memories.fork("m", "whole"))).toEqual(["1", "2", "assistant", "tool"]);
    expect(await texts(await memories.fork("m", "part", { at: "2" }))).toEqual(["1", "2"]);
    await expect(memories.fork("m", "none", { at: "0" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
