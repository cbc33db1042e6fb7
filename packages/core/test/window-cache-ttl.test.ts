import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  assistant,
  type ChatMemory,
  createChatMemory,
  entry,
  inMemoryStore,
  type MemoryEvent,
  type ModelMessageLike,
  type ProviderProfile,
  toolCall,
  toolResult,
  user,
  type WindowOptions,
} from "../src/index.ts";
import { besideChanges } from "./events.ts";
import { characterCounter } from "./window-reference.ts";

const minute = 60_000;

/** Ten characters, which the counter takes for 13 tokens. */
const tens = (from: number, to: number): ModelMessageLike[] =>
  Array.from({ length: to - from + 1 }, (_, index) => user(`${from + index}`.padEnd(10, ".")));

/** Room for ten such messages beside the counter's base; seven stay, and nine are more than half-way. */
const window = { maxTokens: 135, counter: characterCounter, cacheTtlMs: 5 * minute };

const remembering = (more: Partial<WindowOptions<ModelMessageLike>> = {}): ChatMemory<ModelMessageLike> =>
  createChatMemory<ModelMessageLike>({ window: { ...window, ...more } });

const pass = (ms: number): unknown => vi.setSystemTime(Date.now() + ms);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("cacheTtlMs", () => {
  test("a message behind the cache's lifetime makes room when more than half of it is used", async () => {
    const memory = remembering();
    await memory.add(...tens(1, 8));
    pass(5 * minute + 1);
    await memory.add(...tens(9, 9));
    expect(await memory.messages()).toEqual(tens(3, 9));
  });

  test("not within the lifetime, nor before half-way, nor without the option", async () => {
    const within = remembering();
    await within.add(...tens(1, 8));
    pass(5 * minute);
    await within.add(...tens(9, 9));
    expect(await within.messages()).toEqual(tens(1, 9));

    const small = remembering();
    await small.add(...tens(1, 7));
    pass(60 * minute);
    await small.add(...tens(8, 8));
    expect(await small.messages()).toEqual(tens(1, 8));

    const plain = remembering({ cacheTtlMs: undefined });
    await plain.add(...tens(1, 8));
    pass(60 * minute);
    await plain.add(...tens(9, 9));
    expect(await plain.messages()).toEqual(tens(1, 9));
  });

  test("a message that is there already makes no room, however long the pause", async () => {
    const memory = remembering();
    const given = tens(1, 9).map((message, index) => entry(message, { id: String(index) }));
    await memory.add(...given);
    pass(60 * minute);
    expect(await memory.add(...given.slice(-1))).toEqual(["8"]);
    expect(await memory.messages()).toEqual(tens(1, 9));
  });

  test("the pause is that behind the newest message, whichever process added it", async () => {
    const options = { id: "m", store: inMemoryStore(), window };
    const first = createChatMemory<ModelMessageLike>(options);
    const second = createChatMemory<ModelMessageLike>(options);
    await first.add(...tens(1, 7));
    pass(4 * minute);
    await second.add(...tens(8, 8));
    pass(4 * minute);
    await first.add(...tens(9, 9));
    expect(await second.messages()).toEqual(tens(1, 9));
    pass(6 * minute);
    await second.add(assistant("10..."));
    expect(await first.messages()).toEqual([...tens(4, 9), assistant("10...")]);
  });

  test("a number of messages has its half-way too, where it has a target", async () => {
    const memory = remembering({ maxTokens: undefined, counter: undefined, maxMessages: 10, target: 0.5 });
    await memory.add(...tens(1, 7));
    pass(6 * minute);
    await memory.add(...tens(8, 8));
    expect(await memory.messages()).toEqual(tens(4, 8));
  });

  test("a view with extra messages depends on no clock", async () => {
    const memory = remembering();
    await memory.add(...tens(1, 8));
    pass(60 * minute);
    expect(await memory.messages({ extra: tens(9, 9) })).toEqual(tens(1, 9));
  });

  test("what makes room is summarized", async () => {
    const events: MemoryEvent[] = [];
    const memory = createChatMemory<ModelMessageLike>({
      window: { ...window, summarize: () => user("sum") },
      onEvent: besideChanges(events),
    });
    await memory.add(...tens(1, 8));
    pass(6 * minute);
    await memory.add(...tens(9, 9));
    expect((await memory.messages())[0]).toEqual(user("sum"));
    expect(events.map(({ type }) => type)).toContain("summarized");
  });

  test("a profile that binds reasoning keeps an open loop of tools whole", async () => {
    const profile: ProviderProfile = {
      name: "bound",
      firstMessage: "any",
      reasoning: "bound",
      shape: (messages) => ({ messages: [...messages], stages: [] }),
    };
    const shownBehind = async (profile: ProviderProfile | undefined): Promise<number> => {
      const memory = createChatMemory<ModelMessageLike>({
        profile,
        window: { maxMessages: 10, target: 0.5, cacheTtlMs: minute },
      });
      await memory.add(...tens(1, 6), toolCall("c", "t", {}));
      pass(2 * minute);
      await memory.add(toolResult("c", "t", "done"));
      return (await memory.messages()).length;
    };
    expect(await shownBehind(undefined)).toBe(5);
    expect(await shownBehind(profile)).toBe(8);
  });

  test.each([
    [{ cacheTtlMs: 0 }, /window\.cacheTtlMs must be a positive integer, in milliseconds; it is 0/],
    [{ cacheTtlMs: 1.5 }, /window\.cacheTtlMs .* 1\.5/],
    [{ target: 1 }, /window\.target must be below 1 with cacheTtlMs/],
    [{ unit: "message", target: 0.7 }, /window\.unit must be step or turn with cacheTtlMs/],
  ] as const)("%j is INVALID_OPTION", (more, message) => {
    expect(() => remembering(more)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(() => remembering(more)).toThrow(message);
  });
});
