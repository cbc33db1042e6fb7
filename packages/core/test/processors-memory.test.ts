import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  createChatMemory,
  type MemoryEvent,
  type ModelMessage,
  type ModelMessageLike,
  modelMessageFormat,
  system,
  type TokenCounter,
  toolCall,
  toolResult,
  user,
  type WindowOptions,
} from "../src/index.ts";
import {
  type Processor,
  processorOf,
  redact,
  stripMedia,
  tokenLimiter,
  toolCallFilter,
  truncateToolResults,
} from "../src/processors.ts";
import { besideChanges } from "./events.ts";
import { characterCounter } from "./window-reference.ts";

const roles = (messages: readonly ModelMessage[]): string => messages.map(({ role }) => role[0]).join("");

describe("the processors of a memory", () => {
  test("let a tool loop go on, and leave its calls out once it has ended", async () => {
    const memory = createChatMemory({ processors: [toolCallFilter()] });
    await memory.add(system("s"), user("Weather?"));
    const shown: string[] = [];
    for (const step of [1, 2, 3]) {
      await memory.add(toolCall(`call-${step}`, "weather", { step }));
      await memory.add(toolResult(`call-${step}`, "weather", "4 °C"));
      shown.push(roles(await memory.messages()));
    }
    await memory.add(assistant("4 °C."), user("Thanks"));
    shown.push(roles(await memory.messages()));
    expect(shown).toEqual(["suat", "suatat", "suatatat", "suau"]);
    expect((await memory.history()).messages).toHaveLength(10);
  });

  test("change nothing that is stored, and are the same objects in every view", async () => {
    const memory = createChatMemory({
      processors: [
        redact({ patterns: [/sk-\d+/] }),
        stripMedia(),
        truncateToolResults({ maxTokens: 60, counter: characterCounter }),
      ],
    });
    await memory.add(
      user([
        { type: "text", text: "It is sk-1." },
        { type: "image", image: "AAAA" },
      ]),
      toolCall("call-1", "read", {}),
      toolResult("call-1", "read", "x".repeat(500)),
    );
    const first = await memory.messages();
    const second = await memory.messages();
    expect(first[0]).toEqual(user([{ type: "text", text: "It is [redacted]." }]));
    expect(second.every((message, index) => message === first[index])).toBe(true);
    const { messages } = await memory.history();
    expect(JSON.stringify(messages[0])).toContain("sk-1");
    expect(JSON.stringify(messages[2])).toContain("x".repeat(500));
  });

  test("count each message once, though they make others of it", async () => {
    let asked = 0;
    const counter: TokenCounter = {
      name: "asked",
      count: () => {
        asked++;
        return 1;
      },
    };
    const call = toolCall("call-1", "read", {});
    const spoken = assistant([{ type: "text", text: "Let me look." }, ...call.content.slice(0, 1)] as never);
    const memory = createChatMemory({
      processors: [
        toolCallFilter({ keepLastSteps: 0 }),
        redact({ patterns: ["look"] }),
        tokenLimiter({ limit: 1000, counter }),
      ],
    });
    await memory.add(user("a"), spoken, toolResult("call-1", "read", "ok"), assistant("b"));
    await memory.messages();
    expect(asked).toBe(3);
    for (let index = 0; index < 5; index++) await memory.messages();
    expect(asked).toBe(3);
  });

  test.each(["step", "turn", "message"] as const)(
    "make the window of unit %s give room for what they add",
    async (unit) => {
      const hint: Processor<ModelMessage> = {
        name: "hint",
        process: (messages) => [...messages, user("hint")],
      };
      const memory = createChatMemory({ window: { maxMessages: 3, unit }, processors: [hint] });
      await memory.add(user("1"), user("2"), user("3"));
      expect((await memory.messages()).map(({ content }) => content)).toEqual(["2", "3", "hint"]);
      expect((await memory.history({ states: ["live"] })).messages).toHaveLength(3);
    },
  );

  test("make it give just the room that they take, more where they add more to less", async () => {
    const hints: Processor<ModelMessage> = {
      name: "hints",
      process: (all) => [...all, ...(all.length < 4 ? ["12", "34", "5"] : ["1"]).map((text) => user(text))],
    };
    const counter: TokenCounter = {
      name: "characters",
      count: (message) => String((message as ModelMessage).content).length,
    };
    const messages = [user("aaaa"), user("bbb"), user("ccc"), user("dd")];
    const viewIn = async (window: WindowOptions<ModelMessage>): Promise<unknown[]> => {
      const memory = createChatMemory({ window: { ...window, target: 1 }, processors: [hints] });
      await memory.add(...messages);
      return (await memory.messages()).map(({ content }) => content);
    };
    expect(await viewIn({ maxMessages: 4 })).toEqual(["dd", "12", "34", "5"]);
    expect(await viewIn({ maxTokens: 12, counter })).toEqual(["ccc", "dd", "12", "34", "5"]);
  });

  test("are followed by repair, which answers for what they left out", async () => {
    const withoutCalls: Processor<ModelMessage> = {
      name: "without-calls",
      process: (messages) => messages.filter(({ role }) => role !== "assistant"),
    };
    const messages = [user("a"), toolCall("c", "look", {}), toolResult("c", "look", "ok"), user("b")];
    const repaired = createChatMemory({ processors: [withoutCalls] });
    await repaired.add(...messages);
    expect(roles(await repaired.messages())).toBe("uu");
    const asTheyAre = createChatMemory({ processors: [withoutCalls], repair: false });
    await asTheyAre.add(...messages);
    expect(roles(await asTheyAre.messages())).toBe("utu");
  });

  test("are given the memory's format, and a signal that ends with the caller's", async () => {
    const format = { ...modelMessageFormat };
    const ended: unknown[] = [];
    const controller = new AbortController();
    const curious: Processor<ModelMessageLike> = {
      name: "curious",
      process: (messages, context) => {
        expect(context.format).toBe(format);
        controller.abort();
        ended.push(context.signal.aborted);
        return messages;
      },
    };
    const memory = createChatMemory({ processors: [curious], format });
    await expect(memory.messages({ signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
    expect(ended).toEqual([true]);
  });

  describe("in a view that does not fit", () => {
    const twice: Processor<ModelMessage> = {
      name: "twice",
      process: (messages) =>
        messages.some(({ role }) => role !== "system")
          ? [...messages, user("once"), user("twice")]
          : messages,
    };
    const contents = async (memory: ChatMemory<ModelMessage>): Promise<unknown[]> =>
      (await memory.messages()).map(({ content }) => content);

    test("leave what they answer where the window keeps it, and tell of the overflow", async () => {
      const memory = createChatMemory({ window: { maxMessages: 2, overflow: "keep" }, processors: [twice] });
      await memory.add(user("a"));
      expect(await contents(memory)).toEqual(["a", "once", "twice"]);
      expect((await memory.explain()).overflow).toEqual({ needed: 3, limit: 2 });
    });

    test("leave it where a window of messages protects what is too long", async () => {
      const bye: Processor<ModelMessage> = { name: "bye", process: (messages) => [...messages, user("bye")] };
      const memory = createChatMemory({ window: { maxMessages: 1, unit: "message" }, processors: [bye] });
      await memory.add(system("s"), user("a"));
      expect(await contents(memory)).toEqual(["s", "bye"]);
      expect((await memory.explain()).overflow).toEqual({ needed: 2, limit: 1 });
    });

    test.each(["throw", "keep", "evict"] as const)(
      'never empty it in silence, unless the window shall (overflow: "%s")',
      async (overflow) => {
        const window = { maxMessages: 3, overflow };
        const memory = createChatMemory({ window, processors: [twice] });
        // Nothing is shown of the newest step, so that room is made by what is shown alone.
        await memory.add(system("s"), user("a"), toolResult("c", "look", "nobody's"));
        if (overflow === "throw") {
          await expect(memory.messages()).rejects.toMatchObject({
            code: "WINDOW_OVERFLOW",
            details: { needed: 4, limit: 3 },
          });
        } else {
          expect(await contents(memory)).toEqual(overflow === "keep" ? ["s", "a", "once", "twice"] : ["s"]);
          const { overflow: told } = await memory.explain();
          expect(told).toEqual(overflow === "keep" ? { needed: 4, limit: 3 } : undefined);
        }
      },
    );
  });

  test("warn of a limiter that is not the last, and say whose an error is", async () => {
    const events: MemoryEvent[] = [];
    const careless: Processor<ModelMessage> = {
      name: "careless",
      process: (messages) => {
        for (const message of messages) message.content = "";
        return messages;
      },
    };
    const memory = createChatMemory({
      processors: [tokenLimiter({ limit: 100, counter: characterCounter }), careless],
      onEvent: besideChanges(events),
    });
    await memory.add(user("Hello"));
    const error: unknown = await memory.messages().catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "INVALID_OPTION" });
    expect(processorOf(error)).toBe("careless");
    expect(events).toContainEqual(expect.objectContaining({ type: "warning", code: "processor-order" }));
    expect((await memory.history()).messages[0]?.message).toEqual(user("Hello"));
  });

  test("warn of no order where none keeps the view within a limit, or the last one does", () => {
    const events: MemoryEvent[] = [];
    const limiter = tokenLimiter({ limit: 100, counter: characterCounter });
    for (const processors of [[stripMedia(), toolCallFilter()], [toolCallFilter(), limiter], [limiter]])
      createChatMemory({ processors, onEvent: besideChanges(events) });
    expect(events).toEqual([]);
  });

  test.each([[], [toolCallFilter()]])(
    'what never leaves and does not fit is an overflow with `overflow: "evict"` (%#)',
    async (...processors) => {
      const window = {
        maxTokens: 12,
        counter: characterCounter,
        overflow: "evict" as const,
        pinned: ({ content }: ModelMessage) => content === "never leaves",
      };
      const memory = createChatMemory({ window, processors });
      await memory.add(user("never leaves"), user("a"));
      await expect(memory.messages()).rejects.toMatchObject({
        code: "WINDOW_OVERFLOW",
        details: { limit: 12 },
      });
    },
  );
});

describe("a summarizer", () => {
  test("is given what processors of each message alone leave of it, and what no other processor left out", async () => {
    const given: unknown[] = [];
    const onlyTheNewest: Processor<ModelMessage> = {
      name: "newest",
      process: (messages) => messages.slice(-1),
    };
    const memory = createChatMemory({
      processors: [redact({ patterns: ["sesame"] }), onlyTheNewest],
      window: {
        maxMessages: 3,
        summarize: (evicted, { previous }) => {
          given.push([evicted.map(({ content }) => content), previous?.content]);
          return user("sesame too");
        },
      },
    });
    await memory.add(user("open sesame"), assistant("b"), user("c"), assistant("d"));
    await memory.add(user("e"), assistant("f"));
    expect(given).toEqual([
      [["open [redacted]", "b", "c"], undefined],
      [["[redacted] too", "d", "e"], "[redacted] too"],
    ]);
  });

  test("has what it is given made by them in the memory's format", async () => {
    const format = { ...modelMessageFormat };
    const seen = new Set<unknown>();
    const curious: Processor<ModelMessageLike> = {
      name: "curious",
      eachAlone: true,
      process: (messages, context) => {
        seen.add(context.format);
        return messages;
      },
    };
    const window = { maxMessages: 2, summarize: () => user("sum") };
    const memory = createChatMemory({ processors: [curious], format, window });
    await memory.add(user("1"), user("2"), user("3"));
    expect([...seen]).toEqual([format]);
    expect(seen.has(format)).toBe(true);
  });

  test("is not asked about messages of which they leave nothing, and not where one fails", async () => {
    const reasons: string[] = [];
    let fails = false;
    const silent: Processor<ModelMessage> = {
      name: "silent",
      eachAlone: true,
      process: () => {
        if (fails) throw new Error("no");
        return [];
      },
    };
    const memory = createChatMemory({
      processors: [silent],
      window: { maxMessages: 3, summarize: () => expect.fail("It was asked.") },
      onEvent: (event) => {
        if (event.type === "summarize-failed") reasons.push(event.reason);
      },
    });
    await memory.add(user("a"), assistant("b"), user("c"), assistant("d"));
    fails = true;
    await memory.add(user("e"));
    expect(reasons).toEqual(["empty", "error"]);
  });
});
