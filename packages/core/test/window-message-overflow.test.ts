import { describe, expect, test } from "vitest";
import { createChatMemory, system, type TokenCounter, user } from "../src/index.ts";

const counter: TokenCounter = {
  name: "characters",
  count: (message, format) =>
    format.pieces(message).reduce((sum, piece) => sum + (piece.type === "text" ? piece.text.length : 0), 0),
};

describe("unit message, where what never leaves does not fit", () => {
  const isPinned = ({ content }: { content: unknown }): boolean => String(content).startsWith("pin");

  test("pinned messages are no way past the limit", async () => {
    const memory = createChatMemory({ window: { unit: "message", maxMessages: 1, pinned: isPinned } });
    await memory.add(user("pin 1"), user("pin 2"), user("three"));
    await expect(memory.messages()).rejects.toMatchObject({
      code: "WINDOW_OVERFLOW",
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
});
