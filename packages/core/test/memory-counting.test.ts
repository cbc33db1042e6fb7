import { expect, test } from "vitest";
import {
  assistant,
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
  type TokenCounter,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { truncateToolResults } from "../src/processors.ts";
import { characterCounter } from "./window-reference.ts";

/** Ten tokens a message, and how often it was asked. */
function tenEach(): TokenCounter & { calls: number } {
  return {
    name: "ten",
    calls: 0,
    count() {
      this.calls++;
      return 10;
    },
  };
}

function conversation(turns: number): ModelMessage[] {
  return Array.from({ length: turns }, (_, turn) => [
    user(`Weather in town ${turn}?`),
    toolCall(`call-${turn}`, "weather", { town: turn }),
    toolResult(`call-${turn}`, "weather", `${turn} °C`),
    assistant(`It has ${turn} °C.`),
  ]).flat();
}

test.each([1, 10, 100, 1_000])(
  "after %i turns one more message is counted once, and a view never",
  async (turns) => {
    const counter = tenEach();
    const options = { id: "chat", store: inMemoryStore(), window: { maxTokens: 400, counter } };
    const memory = createChatMemory(options);
    await memory.add(...conversation(turns));
    expect(counter.calls).toBe(turns * 4);
    counter.calls = 0;
    // Enough of them that the window evicts on the way.
    for (const [index, message] of conversation(20).entries()) {
      await memory.add(message);
      await memory.messages();
      expect(counter.calls).toBe(index + 1);
    }
  },
);

test("what a processor has cut is counted once, not once a view", async () => {
  const counter = tenEach();
  const processors = [truncateToolResults({ maxTokens: 60, counter: characterCounter })];
  const memory = createChatMemory({ processors, window: { maxTokens: 4_000, counter } });
  for (let n = 0; n < 5; n++)
    await memory.add(toolCall(`c${n}`, "read", {}), toolResult(`c${n}`, "read", "long ".repeat(50)));
  await memory.messages();
  counter.calls = 0;
  await memory.messages();
  await memory.add(user("And?"));
  await memory.messages();
  expect(counter.calls).toBe(1);
});

test("what another instance has counted is not counted again", async () => {
  const counter = tenEach();
  const options = { id: "chat", store: inMemoryStore(), window: { maxTokens: 400, counter } };
  await createChatMemory(options).add(...conversation(100));
  counter.calls = 0;
  const other = createChatMemory(options);
  expect((await other.messages()).length).toBeGreaterThan(4);
  expect(counter.calls).toBe(0);
  await other.add(user("And now?"));
  expect(counter.calls).toBe(1);
});

test("a counter that answers no number for a result that repair puts in is reported, and nothing is added", async () => {
  const counter: TokenCounter = {
    name: "broken",
    count: (message, format) => (format.role(message) === "tool" ? Number.NaN : 10),
  };
  const memory = createChatMemory({ window: { maxTokens: 400, counter } });
  await expect(
    memory.add(user("Weather?"), toolCall("call-1", "weather", {}), user("Well?")),
  ).rejects.toMatchObject({ code: "INVALID_OPTION" });
  expect(await memory.messages()).toEqual([]);
});
