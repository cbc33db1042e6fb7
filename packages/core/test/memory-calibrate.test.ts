import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { modelMessageFormat as format } from "../src/format/model-message-format.ts";
import {
  assistant,
  type ChatMemory,
  createChatMemory,
  inMemoryStore,
  isTurnkeepError,
  type MemoryEvent,
  type ModelMessage,
  type ModelMessageLike,
  toolCall,
  user,
  type WindowOptions,
} from "../src/index.ts";
import { besideChanges } from "./events.ts";
import { characterCounter } from "./window-reference.ts";

const base = characterCounter.base ?? 0;
const counted = (view: readonly ModelMessageLike[]): number =>
  view.reduce((sum, message) => sum + characterCounter.count(message, format), base);

const remembering = (
  window: WindowOptions<ModelMessage>,
  events: MemoryEvent[] = [],
): ChatMemory<ModelMessage> =>
  createChatMemory<ModelMessage>({
    window: { counter: characterCounter, ...window },
    onEvent: besideChanges(events),
  });

/** Ten tokens. */
const ten = (name: string): ModelMessage => user(name.padEnd(7, "."));

describe("calibrate", () => {
  test("makes the window count what the provider counted: the view that was reported comes out at that number", async () => {
    const memory = remembering({ maxTokens: 100, target: 1 });
    await memory.add(ten("a"), ten("b"), ten("c"), ten("d"));
    expect(counted(await memory.messages())).toBe(42);
    await memory.calibrate({ inputTokens: 100 });
    expect(await memory.messages()).toHaveLength(4);
    await memory.calibrate({ inputTokens: 101 });
    expect(await memory.messages()).toHaveLength(3);
  });

  test("makes room where the provider counts less, and the newest report holds", async () => {
    const memory = remembering({ maxTokens: 42, target: 1 });
    await memory.add(ten("a"), ten("b"), ten("c"), ten("d"));
    await memory.messages();
    await memory.calibrate({ inputTokens: 22 });
    await memory.add(ten("e"), ten("f"));
    expect(await memory.messages()).toHaveLength(6);
    await memory.calibrate({ inputTokens: 82 });
    expect(await memory.messages()).toHaveLength(2);
  });

  test("takes a rate below 1 of what was reported alone: what comes beyond it counts as the counter says", async () => {
    const memory = remembering({ maxTokens: 52, target: 1 });
    await memory.add(ten("a"));
    await memory.messages();
    await memory.calibrate({ inputTokens: 6 });
    // 12 tokens were 6, and 40 more are 46; another 10 are too many.
    await memory.add(ten("b"), ten("c"), ten("d"), ten("e"));
    expect(await memory.messages()).toHaveLength(5);
    await memory.add(ten("f"));
    expect(await memory.messages()).toHaveLength(5);
    await memory.calibrate({ inputTokens: 26 });
    await memory.add(ten("g"), ten("h"));
    expect(await memory.messages()).toHaveLength(7);
  });

  test("leaves the reserve as it is, and takes other tokens for no part of the view", async () => {
    const memory = remembering({ maxTokens: 100, reserve: 16, target: 1 });
    await memory.add(ten("a"), ten("b"), ten("c"), ten("d"));
    await memory.messages();
    await memory.calibrate({ inputTokens: 93, otherTokens: 9 });
    expect(await memory.messages()).toHaveLength(4);
    await memory.calibrate({ inputTokens: 94, otherTokens: 9 });
    expect(await memory.messages()).toHaveLength(3);
  });

  test("evicts by the corrected count, and says in an overflow what is needed by it", async () => {
    const memory = remembering({ maxTokens: 60, target: 0.5 });
    await memory.add(ten("a"), ten("b"));
    await memory.messages();
    await memory.calibrate({ inputTokens: 44 });
    await memory.add(ten("c"));
    const { messages } = await memory.history({ states: ["live"] });
    expect(messages).toHaveLength(1);
    await memory.add(user("x".repeat(37)));
    await expect(memory.messages()).rejects.toMatchObject({
      code: "WINDOW_OVERFLOW",
      details: { needed: 84, limit: 60 },
    });
  });

  test("writes nothing: counts in the store stay the counter's, and another instance begins uncorrected", async () => {
    const store = inMemoryStore();
    const window = { maxTokens: 42, target: 1, counter: characterCounter };
    const memory = createChatMemory<ModelMessage>({ id: "m", store, window });
    await memory.add(ten("a"), ten("b"), ten("c"), ten("d"));
    const before = await store.getMessages("m");
    await memory.messages();
    await memory.calibrate({ inputTokens: 84 });
    expect(await store.getMessages("m")).toEqual(before);
    expect(await memory.messages()).toHaveLength(1);
    expect(await createChatMemory<ModelMessage>({ id: "m", store, window }).messages()).toHaveLength(4);
  });

  test("speaks of the last view, with what it showed: extra messages, interrupted results", async () => {
    const events: MemoryEvent[] = [];
    const memory = remembering({ maxTokens: 1_000 }, events);
    await memory.add(ten("a"));
    await memory.messages({ extra: [ten("b")] });
    await memory.calibrate({ inputTokens: 30 });
    expect(events.at(-1)).toEqual({ type: "calibrated", memoryId: "default", counted: 22, reported: 30 });
    await memory.add(toolCall("1", "t", {}), assistant("on"));
    const view = await memory.messages();
    expect(view.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    await memory.calibrate({ inputTokens: 200 });
    expect(events.at(-1)).toMatchObject({ counted: counted(view), reported: 200 });
    const prompt = await memory.prompt();
    prompt.messages.length = 0;
    await memory.calibrate({ inputTokens: 200 });
    expect(events.at(-1)).toMatchObject({ counted: counted(view) });
  });

  test("takes no rate below 0.5, and what is beyond four times the count for a fixed part", async () => {
    const events: MemoryEvent[] = [];
    const memory = remembering({ maxTokens: 200, target: 1 }, events);
    const warned = (): number => events.filter((event) => event.type === "warning").length;
    await memory.add(ten("a"), ten("b"));
    await memory.messages();
    await memory.calibrate({ inputTokens: 88 });
    expect(warned()).toBe(0);
    await memory.calibrate({ inputTokens: 120 });
    expect(warned()).toBe(1);
    // 22 tokens were 120, that is 88 and 32; 42 are 168 and 32.
    await memory.add(ten("c"), ten("d"));
    expect(await memory.messages()).toHaveLength(4);
    const tighter = remembering({ maxTokens: 199, target: 1 });
    await tighter.add(ten("a"), ten("b"));
    await tighter.messages();
    await tighter.calibrate({ inputTokens: 120 });
    await tighter.add(ten("c"), ten("d"));
    expect(await tighter.messages()).toHaveLength(3);
    await memory.add(ten("e"));
    expect(await memory.messages()).toHaveLength(4);
    await memory.calibrate({ inputTokens: 1 });
    // 42 tokens were 21, and 179 more are 200.
    await memory.add(user("x".repeat(179 - 3)));
    expect(await memory.messages()).toHaveLength(5);
    expect(events.findLast(({ type }) => type === "warning")).toMatchObject({ code: "calibration" });
  });

  test("warns of a rate below 0.5 where cached tokens may be missing, not where a short view is mostly framing", async () => {
    const events: MemoryEvent[] = [];
    const memory = remembering({ maxTokens: 2000 }, events);
    const warned = (): number => events.filter((event) => event.type === "warning").length;
    const view = counted([ten("a")]);
    await memory.add(user("x".repeat(1023 - counted([user("")]))));
    expect(counted(await memory.messages())).toBe(1023);
    await memory.calibrate({ inputTokens: 1 });
    expect(warned()).toBe(0);
    await memory.add(ten("a"));
    await memory.messages();
    await memory.calibrate({ inputTokens: view });
    expect(warned()).toBe(1);
  });

  test.each<[string, { inputTokens: number; otherTokens?: number }]>([
    ["inputTokens", { inputTokens: 0 }],
    ["inputTokens", { inputTokens: 1.5 }],
    ["inputTokens", { inputTokens: Number.NaN }],
    ["inputTokens", { inputTokens: "9" as never }],
    ["otherTokens", { inputTokens: 9, otherTokens: -1 }],
    ["otherTokens", { inputTokens: 9, otherTokens: 9 }],
    ["otherToken", { inputTokens: 9, otherToken: 1 } as never],
  ])("refuses %s of the wrong kind, or of no meaning: %j", async (name, options) => {
    const memory = remembering({ maxTokens: 100 });
    await memory.add(ten("a"));
    await memory.messages();
    await expect(memory.calibrate(options)).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringMatching(new RegExp(`${name} must be|"${name}"`)) as string,
    });
  });

  test("refuses what it cannot correct: no view yet, an empty one, no counter, a closed memory", async () => {
    const refused = async (
      memory: ChatMemory<ModelMessage>,
      message: RegExp,
      code = "INVALID_OPTION",
    ): Promise<void> => {
      await expect(memory.calibrate({ inputTokens: 9 })).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message) as string,
      });
    };
    const memory = remembering({ maxTokens: 100 });
    await memory.add(ten("a"));
    await refused(memory, /call messages\(\) or prompt\(\)/);
    const empty = remembering({ maxTokens: 100, counter: { ...characterCounter, base: 0 } });
    await empty.messages();
    await refused(empty, /counts 0 tokens/);
    const uncounted = createChatMemory<ModelMessage>({ window: { maxMessages: 3 } });
    await uncounted.messages();
    await refused(uncounted, /give window\.maxTokens and window\.counter/);
    await memory.messages();
    await memory.close();
    await refused(memory, /was closed/, "CLOSED");
  });

  test("after it, no view is shown that the provider would count over the limit at the rate it reported", async () => {
    const rate = fc.double({ min: 0.5, max: 4, noNaN: true });
    const turn = fc.record({
      length: fc.nat(25),
      kind: fc.constantFrom("user" as const, "assistant" as const, "call" as const),
      rate: fc.option(rate, { nil: undefined, freq: 3 }),
    });
    const window = fc.record({
      maxTokens: fc.integer({ min: 40, max: 300 }),
      reserve: fc.nat(30),
      target: fc.constantFrom(0.3, 0.7, 1),
      unit: fc.constantFrom("step" as const, "turn" as const, "message" as const),
      overflow: fc.constantFrom("throw" as const, "evict" as const),
    });
    await fc.assert(
      fc.asyncProperty(window, fc.array(turn, { maxLength: 25 }), async (options, turns) => {
        const memory = remembering(options);
        let reportedRate = 1;
        for (const [index, { length, kind, rate: next }] of turns.entries()) {
          const text = "x".repeat(length);
          if (kind === "user") await memory.add(user(text));
          else await memory.add(kind === "call" ? toolCall(`${index}`, "t", { text }) : assistant(text));
          const view = await memory.messages().catch((error: unknown) => {
            if (isTurnkeepError(error, "WINDOW_OVERFLOW")) return undefined;
            throw error;
          });
          if (view === undefined) continue;
          expect(counted(view) * reportedRate).toBeLessThanOrEqual(options.maxTokens - options.reserve);
          if (next === undefined || view.length === 0) continue;
          await memory.calibrate({ inputTokens: Math.ceil(counted(view) * next) });
          reportedRate = next;
          const again = await memory.messages().catch((error: unknown) => {
            if (isTurnkeepError(error, "WINDOW_OVERFLOW")) return [];
            throw error;
          });
          if (again.length > 0) {
            expect(counted(again) * next).toBeLessThanOrEqual(options.maxTokens - options.reserve);
          }
        }
      }),
    );
  });
});
