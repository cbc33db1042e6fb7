import { describe, expect, test } from "vitest";
import {
  assistant,
  type ModelMessage,
  system,
  type TokenCounter,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { applyProcessors, tokenLimiter } from "../src/processors.ts";

/** Counts a message by the number that its text begins with; calls and results count 10. */
const counter: TokenCounter = {
  name: "numbers",
  count: (message) => {
    const { content } = message as ModelMessage;
    return typeof content === "string" ? Number.parseInt(content, 10) : 10;
  },
};

const texts = (messages: readonly ModelMessage[]): unknown[] =>
  messages.map(({ role, content }) => (typeof content === "string" ? content : role));

async function limited(
  messages: readonly ModelMessage[],
  options: Partial<Parameters<typeof tokenLimiter>[0]>,
): Promise<unknown[]> {
  return texts(
    await applyProcessors(messages, [tokenLimiter({ limit: 30, counter, target: 1, ...options })]),
  );
}

const step = (id: string): ModelMessage[] => [toolCall(id, "t", {}), toolResult(id, "t", "ok")];
const compaction = {
  role: "assistant",
  content: [{ type: "custom", kind: "openai.compaction", providerOptions: { openai: { itemId: "1" } } }],
} as ModelMessage;

describe("tokenLimiter", () => {
  test("keeps all that fits, to the token, and then the newest", async () => {
    const messages = [user("10 a"), assistant("10 b"), user("10 c")];
    expect(await limited(messages, {})).toEqual(["10 a", "10 b", "10 c"]);
    expect(await limited(messages, { limit: 29 })).toEqual(["10 b", "10 c"]);
    expect(await limited(messages, { reserve: 1 })).toEqual(["10 b", "10 c"]);
    expect(await limited(messages, { counter: { ...counter, base: 1 } })).toEqual(["10 b", "10 c"]);
  });

  test("leaves no gap: what is older than the first that does not fit goes too", async () => {
    const messages = [user("1 a"), assistant("40 b"), user("10 c")];
    expect(await limited(messages, {})).toEqual(["10 c"]);
  });

  test("keeps or leaves out a call with its results", async () => {
    const messages = [user("5 a"), ...step("1"), user("5 b")];
    expect(await limited(messages, { limit: 24 })).toEqual(["5 b"]);
    expect(await limited(messages, { limit: 25 })).toEqual(["assistant", "tool", "5 b"]);
  });

  test("takes two calls that one message answers for one step", async () => {
    const results = toolResult("1", "t", "ok");
    const both = { ...results, content: [...results.content, ...toolResult("2", "t", "ok").content] };
    const messages = [user("5 a"), toolCall("1", "t", {}), toolCall("2", "t", {}), both, user("5 b")];
    expect(await limited(messages, { limit: 34 })).toEqual(["5 b"]);
    expect(await limited(messages, { limit: 35 })).toEqual(["assistant", "assistant", "tool", "5 b"]);
    const tooEarly = [user("5 a"), both, toolCall("1", "t", {}), toolCall("2", "t", {}), user("5 b")];
    expect(await limited(tooEarly, { limit: 34 })).toEqual(["5 b"]);
    expect(await limited(tooEarly, { limit: 35 })).toEqual(["tool", "assistant", "assistant", "5 b"]);
  });

  test("takes calls that are answered crosswise for one step", async () => {
    const results = (...ids: string[]): ModelMessage => ({
      role: "tool",
      content: ids.flatMap((id) => toolResult(id, "t", "ok").content),
    });
    const calls = toolCall("2", "t", {});
    const both = { ...calls, content: [...(calls.content as []), ...(toolCall("3", "t", {}).content as [])] };
    const crossed = [
      toolCall("1", "t", {}),
      both,
      results("1", "2"),
      toolCall("4", "t", {}),
      results("3", "4"),
    ];
    const messages = [user("5 a"), ...crossed, user("5 b")];
    expect(await limited(messages, { limit: 54 })).toEqual(["5 b"]);
    expect(await limited(messages, { limit: 55 })).toEqual([...crossed.map(({ role }) => role), "5 b"]);
    const limiter = tokenLimiter({ limit: 45, counter, target: 1 });
    for (let length = 1; length <= messages.length; length++) {
      const shown = applyProcessors(messages.slice(0, length), [limiter]);
      const anew = applyProcessors(messages.slice(0, length), [
        tokenLimiter({ limit: 45, counter, target: 1 }),
      ]);
      expect(await shown.catch(({ code }) => code)).toEqual(await anew.catch(({ code }) => code));
    }
  });

  test("always keeps the system message, wherever it stands", async () => {
    const messages = [system("10 s"), user("10 a"), user("10 b"), user("10 c")];
    expect(await limited(messages, {})).toEqual(["10 s", "10 b", "10 c"]);
    expect(await limited(messages.toReversed(), {})).toEqual(["10 b", "10 a", "10 s"]);
  });

  test("always keeps a provider's newest compaction; what stands before it goes first", async () => {
    const messages = [system("5 s"), user("1 a"), compaction, user("5 b"), user("5 c"), user("5 d")];
    expect(await limited(messages, { limit: 31 })).toHaveLength(6);
    expect(await limited(messages, { limit: 30 })).toEqual(["5 s", "assistant", "5 b", "5 c", "5 d"]);
    expect(await limited(messages, { limit: 29 })).toEqual(["5 s", "assistant", "5 c", "5 d"]);
  });

  test("leaves out all that stands before a compaction as soon as not all fits, also what would", async () => {
    const messages = [user("20 a"), user("1 b"), compaction, user("5 c")];
    expect(await limited(messages, { limit: 36 })).toHaveLength(4);
    expect(await limited(messages, { limit: 35 })).toEqual(["assistant", "5 c"]);
  });

  test("begins with a question where it leaves out whole turns", async () => {
    const messages = [user("5 a"), assistant("5 b"), user("5 c"), assistant("5 d"), user("5 e")];
    expect(await limited(messages, { limit: 20 })).toEqual(["5 b", "5 c", "5 d", "5 e"]);
    expect(await limited(messages, { limit: 20, unit: "turn" })).toEqual(["5 c", "5 d", "5 e"]);
    expect(await limited(messages, { limit: 14, unit: "turn" })).toEqual(["5 e"]);
  });

  test("keeps the question of a turn that is too long alone, and its newest steps", async () => {
    const messages = [user("5 a"), user("5 b"), ...step("1"), ...step("2"), assistant("5 c")];
    const kept = ["5 b", "assistant", "tool", "5 c"];
    expect(await limited(messages, { limit: 49, unit: "turn" })).toEqual(kept);
    expect(await limited(messages, { limit: 30, unit: "turn" })).toEqual(kept);
    expect(await limited(messages, { limit: 29, unit: "turn" })).toEqual(["5 b", "5 c"]);
    await expect(limited(messages, { limit: 9, unit: "turn" })).rejects.toMatchObject({
      code: "WINDOW_OVERFLOW",
      details: { needed: 10, limit: 9 },
    });
    expect(await limited(messages, { limit: 9, unit: "turn", overflow: "keep" })).toEqual(["5 b", "5 c"]);
  });

  test("takes off what always stays from the room that a turn has, with its question only if the model is shown it", async () => {
    const turn = [user("5 b"), ...step("1"), assistant("5 c")];
    const withSystem = [system("5 s"), user("5 a"), ...turn];
    expect(await limited(withSystem, { limit: 35, unit: "turn" })).toEqual([
      "5 s",
      "5 b",
      "assistant",
      "tool",
      "5 c",
    ]);
    expect(await limited(withSystem, { limit: 34, unit: "turn" })).toEqual(["5 s", "5 b", "5 c"]);
    const behind = [compaction, ...turn];
    expect(await limited(behind, { limit: 39, unit: "turn" })).toEqual(["assistant", "5 b", "5 c"]);
    const within = [user("5 b"), compaction, ...step("1"), assistant("5 c")];
    expect(await limited(within, { limit: 39, unit: "turn" })).toEqual([
      "assistant",
      "assistant",
      "tool",
      "5 c",
    ]);
    expect(await limited(within, { limit: 34, unit: "turn" })).toEqual(["assistant", "5 c"]);
  });

  test("says so when the newest step does not fit, keeps it, or leaves it out", async () => {
    const messages = [system("10 s"), user("5 a"), ...step("1")];
    await expect(limited(messages, { limit: 29 })).rejects.toMatchObject({
      code: "WINDOW_OVERFLOW",
      details: { needed: 30, limit: 29 },
    });
    await expect(limited(messages, { reserve: 3, counter: { ...counter, base: 2 } })).rejects.toMatchObject({
      details: { needed: 35, limit: 30 },
    });
    expect(await limited(messages, { limit: 29, overflow: "keep" })).toEqual(["10 s", "assistant", "tool"]);
    expect(await limited(messages, { limit: 29, overflow: "evict" })).toEqual(["10 s"]);
    expect(await limited([system("40 s")], { overflow: "keep" })).toEqual(["40 s"]);
    await expect(limited([system("40 s")], {})).rejects.toMatchObject({ code: "WINDOW_OVERFLOW" });
  });

  test("moves the cut by a part of the room at once", async () => {
    const messages = Array.from({ length: 40 }, (_, index) => user(`5 message ${index}`));
    const first = async (count: number, target: number): Promise<number> => {
      const shown = await limited(messages.slice(0, count), { limit: 100, target });
      return messages.findIndex(({ content }) => content === shown[0]);
    };
    const firsts = await Promise.all(messages.map((_, index) => first(index + 1, 0.75)));
    expect(firsts).toEqual([...Array(20).fill(0), ...[5, 10, 15, 20].flatMap((at) => Array(5).fill(at))]);
    expect(await first(30, 1)).toBe(10);
    expect(await first(30, 0.7)).toBe(12);
  });

  test("asks the counter once for each message of a memory, and counts the same for every format", async () => {
    let asked = 0;
    const counting: TokenCounter = {
      name: "counting",
      count: () => {
        asked++;
        return 1;
      },
    };
    const messages = Object.freeze(
      Array.from({ length: 3000 }, (_, index) => Object.freeze(user(String(index)))),
    );
    const limiter = tokenLimiter({ limit: 100, counter: counting });
    await applyProcessors(messages, [limiter]);
    expect(asked).toBe(3000);
    await applyProcessors([...messages, user("new")], [limiter]);
    expect(asked).toBe(3001);
  });

  test.each<[string, unknown]>([
    ["no options", undefined],
    ["no limit", { counter }],
    ["a limit of 0", { limit: 0, counter }],
    ["a negative limit", { limit: -5, counter }],
    ["a limit that is no whole number", { limit: 1.5, counter }],
    ["a limit that is no number", { limit: "100", counter }],
    ["a limit without end", { limit: Number.POSITIVE_INFINITY, counter }],
    ["no counter", { limit: 10 }],
    ["a counter that cannot count", { limit: 10, counter: { name: "a" } }],
    ["a counter with a negative base", { limit: 10, counter: { ...counter, base: -1 } }],
    ["a negative reserve", { limit: 10, counter, reserve: -1 }],
    ["a reserve that leaves no room", { limit: 10, counter, reserve: 10 }],
    ["an unknown unit", { limit: 10, counter, unit: "message" }],
    ["a target of 0", { limit: 10, counter, target: 0 }],
    ["a target above 1", { limit: 10, counter, target: 1.1 }],
    ["a target that is no number", { limit: 10, counter, target: "0.5" }],
    ["an unknown overflow", { limit: 10, counter, overflow: "drop" }],
  ])("refuses %s", (_, options) => {
    expect(() => tokenLimiter(options as never)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });

  test("refuses a counter's answer that is no number of tokens", async () => {
    for (const answer of [-1, 0.5, Number.NaN]) {
      const wrong: TokenCounter = { name: "wrong", count: () => answer };
      await expect(limited([user("5 a")], { counter: wrong })).rejects.toMatchObject({
        code: "INVALID_OPTION",
      });
    }
  });
});
