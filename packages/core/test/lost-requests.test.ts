import { afterEach, describe, expect, it, vi } from "vitest";
import {
  type ChatMemory,
  createChatMemories,
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
  user,
} from "../src/index.ts";

afterEach(() => vi.unstubAllGlobals());

/** Has a call begin whose timers never fire, as those of a request that the runtime has dropped. */
async function dropCallOn(memory: ChatMemory<ModelMessage>): Promise<void> {
  vi.stubGlobal("setTimeout", () => undefined);
  memory.add(user("lost"));
  // It has begun.
  for (let turn = 0; turn < 200; turn++) await Promise.resolve();
  vi.unstubAllGlobals();
}

/** A memory with a call that was dropped while it waited for the store. */
async function memoryWithDroppedCall(): Promise<ChatMemory<ModelMessage>> {
  const store = inMemoryStore();
  const getMessages = store.getMessages.bind(store);
  let asked = 0;
  store.getMessages = (...args) => (asked++ === 0 ? new Promise(() => {}) : getMessages(...args));
  const memory = createChatMemory({ id: "one", store, timeoutMs: 30 });
  await dropCallOn(memory);
  return memory;
}

describe("a runtime that drops a request with its timers", () => {
  it("keeps nobody from the memory that the request had a call on", async () => {
    const memory = await memoryWithDroppedCall();
    await Promise.all([memory.add(user("first")), memory.add(user("second"))]);
    expect((await memory.messages()).map(({ content }) => content)).toEqual(["first", "second"]);
    await memory.close();
  });

  it("lets those who wait go on in their order, also where a later one's timer fires first", async () => {
    const memory = await memoryWithDroppedCall();
    const { setTimeout } = globalThis;
    vi.stubGlobal("setTimeout", (run: () => void, ms: number) => setTimeout(run, ms + 10));
    const first = memory.add(user("first"));
    vi.unstubAllGlobals();
    await Promise.all([first, memory.add(user("second")), memory.add(user("third"))]);
    expect((await memory.messages()).map(({ content }) => content)).toEqual(["first", "second", "third"]);
    await memory.close();
  });

  it("closes a memory that it had a call on", async () => {
    const memory = await memoryWithDroppedCall();
    await memory.close();
    await expect(memory.messages()).rejects.toMatchObject({ code: "CLOSED" });
  });
});

describe("a runtime that drops a request while it summarizes", () => {
  it("keeps nobody from the memory, nor from summaries", async () => {
    let asked = 0;
    const memory = createChatMemory({
      timeoutMs: 30,
      window: {
        maxMessages: 3,
        summarize: () => (asked++ === 0 ? new Promise(() => {}) : user("In short.")),
      },
    });
    await memory.add(user("one, and more"), user("two, and more"), user("three"));
    await dropCallOn(memory);
    await memory.add(user("five"));
    await memory.add(user("six"));
    expect(asked).toBe(2);
    expect((await memory.messages())[0]).toMatchObject({ content: "In short." });
    await memory.close();
  });
});

describe("a runtime without WeakRef", () => {
  it("serves many memories, one instance each, and closes them", async () => {
    vi.stubGlobal("WeakRef", undefined);
    vi.stubGlobal("FinalizationRegistry", undefined);
    const memories = createChatMemories({ store: inMemoryStore(), maxLoaded: 2 });
    const memory = memories.get("a");
    await memory.add(user("Hello"));
    expect(memories.get("a")).toBe(memory);
    await memories.close();
    await expect(memory.messages()).rejects.toMatchObject({ code: "CLOSED" });
  });
});
