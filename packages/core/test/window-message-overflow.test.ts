import { describe, expect, test } from "vitest";
import { createChatMemory, system, type TokenCounter, toolCall, toolResult, user } from "../src/index.ts";

const counter: TokenCounter = {
  name: "characters",
  count: (message, format) =>
    format.pieces(message).reduce((sum, piece) => sum + (piece.type === "text" ? piece.text.length : 0), 0),
};

describe("unit message, where what never leaves does not fit", () => {
  const isPinned = ({ content }: { content: unknown }): boolean => JSON.stringify(content).includes("pin");

  test("pinned messages are no way past the limit", async () => {
    const memory = createChatMemory({ window: { unit: "message", maxMessages: 1, pinned: isPinned } });
    await memory.add(user("pin 1"), user("pin 2"), user("three"));
    await expect(memory.messages()).rejects.toMatchObject({
      code: "WINDOW_OVERFLOW",
      message:
        'What is never evicted of memory "default" needs 2 messages; the limit is 1. ' +
        'Raise the limit, shorten the messages, pin less, or set window.overflow to "keep". Nothing is lost.',
      details: { needed: 2, limit: 1 },
    });
  });

  test.each([undefined, [{ name: "same", process: <M>(messages: readonly M[]) => messages }]])(
    "explain says that a system message exceeds the limit, with processors and without",
    async (processors) => {
      const memory = createChatMemory({ window: { unit: "message", maxTokens: 3, counter }, processors });
      await memory.add(system("long enough"));
      expect(await memory.messages()).toHaveLength(1);
      expect((await memory.explain()).overflow).toEqual({ needed: 11, limit: 3 });
    },
  );

  test("a system message that is pinned too is shown all the same", async () => {
    const memory = createChatMemory({
      window: { unit: "message", maxTokens: 3, counter, pinned: () => true },
    });
    await memory.add(system("long enough"));
    expect(await memory.messages()).toHaveLength(1);
  });

  test("the newest result is not torn from its call", async () => {
    const messages = [system("s"), toolCall("1", "weather", {}), toolResult("1", "weather", "4 degrees")];
    const [keep, refuse] = (["keep", "throw"] as const).map((overflow) =>
      createChatMemory({ window: { unit: "message", maxMessages: 2, overflow } }),
    );
    await keep?.add(...messages);
    expect(await keep?.messages()).toEqual(messages);
    await refuse?.add(...messages);
    await expect(refuse?.messages()).rejects.toMatchObject({ details: { needed: 3, limit: 2 } });
  });

  test("results behind a call leave with it, but for those of a pinned step", async () => {
    const memory = createChatMemory({
      window: { unit: "message", maxMessages: 2, pinned: isPinned },
      repair: false,
    });
    await memory.add(
      toolCall("1", "weather", {}, "pin"),
      user("And in Rome?"),
      toolCall("2", "weather", {}),
      toolResult("1", "weather", "4 degrees"),
      toolResult("2", "weather", "5 degrees"),
    );
    const { messages } = await memory.history();
    expect(messages.map(({ state }) => state)).toEqual(["live", "evicted", "evicted", "live", "evicted"]);
  });
});
