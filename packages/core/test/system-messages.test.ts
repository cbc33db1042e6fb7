import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryOptions,
  createChatMemory,
  entry,
  inMemoryStore,
  type MemoryEvent,
  type ModelMessage,
  modelMessageFormat,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { besideChanges } from "./events.ts";
import { plain as plainProfile } from "./plain-profile.ts";

const textOf = (message: ModelMessage): string =>
  typeof message.content === "string" ? message.content : message.content.map(({ type }) => type).join();
const shown = async (memory: ChatMemory<ModelMessage>): Promise<string[]> =>
  (await memory.messages()).map(textOf);
const states = async (memory: ChatMemory<ModelMessage>): Promise<string[]> =>
  (await memory.history()).messages.map(({ message, state }) => `${textOf(message)} ${state}`);

/** As the AI SDK's providers take it. */
const effort = (level: string): ModelMessage => ({
  role: "system",
  content: "",
  providerOptions: { openai: { reasoningEffortUpdate: level } },
});
const changed = (type: string, toolName: string): ModelMessage => ({
  role: "system",
  content: "",
  providerOptions: { anthropic: { toolChanges: [{ type, toolName }] } },
});

describe("positioned", () => {
  const memoryOf = (window?: { maxMessages: number; unit?: "step" | "turn"; target?: number }) =>
    createChatMemory({ systemMessages: "positioned", window });

  test("a later system message stays where it was said, and the first is the prompt", async () => {
    const memory = memoryOf();
    await memory.add(system("s"), user("1"), assistant("2"), system("t"), user("3"));
    expect(await shown(memory)).toEqual(["s", "1", "2", "t", "3"]);
    expect(await memory.prompt()).toEqual({
      system: system("s"),
      messages: [user("1"), assistant("2"), system("t"), user("3")],
    });
    expect(await states(memory)).toEqual(["s live", "1 live", "2 live", "t live", "3 live"]);
  });

  test("two in front are both shown", async () => {
    const memory = memoryOf();
    await memory.add(system("s"), system("t"), user("1"));
    expect(await shown(memory)).toEqual(["s", "t", "1"]);
    await memory.set([system("u"), system("v"), user("2")]);
    expect(await shown(memory)).toEqual(["u", "v", "2"]);
  });

  test("a memory that did not begin with one has no prompt", async () => {
    const memory = memoryOf();
    await memory.add(user("1"), system("s"));
    expect(await shown(memory)).toEqual(["1", "s"]);
    expect(await memory.prompt()).toEqual({ system: undefined, messages: [user("1"), system("s")] });
  });

  test("one that is equal to the prompt is ignored; one equal to another is not", async () => {
    const memory = memoryOf();
    const [id] = await memory.add(system("s"), user("1"), system("t"), user("2"));
    expect(await memory.add(system("s"), system("t"))).toEqual([id, expect.any(String)]);
    expect(await shown(memory)).toEqual(["s", "1", "t", "2", "t"]);
  });

  test("it leaves with the step behind it", async () => {
    const memory = memoryOf({ maxMessages: 5, target: 1 });
    await memory.add(system("s"), user("1"), system("t"), assistant("2"), user("3"));
    await memory.add(assistant("4"));
    expect(await shown(memory)).toEqual(["s", "t", "2", "3", "4"]);
    await memory.add(user("5"));
    expect(await shown(memory)).toEqual(["s", "3", "4", "5"]);
    expect(await states(memory)).toContain("t evicted");
  });

  test("with unit turn, it leaves with the turn of the question behind it, or of the step behind it", async () => {
    const memory = memoryOf({ maxMessages: 7, target: 1, unit: "turn" });
    await memory.add(
      system("s"),
      user("1"),
      assistant("2"),
      system("t"),
      user("3"),
      system("u"),
      assistant("4"),
    );
    await memory.add(user("5"));
    expect(await shown(memory)).toEqual(["s", "t", "3", "u", "4", "5"]);
    await memory.add(assistant("6"), user("7"));
    expect(await shown(memory)).toEqual(["s", "5", "6", "7"]);
  });

  test("the newest one stays while nothing is behind it", async () => {
    const memory = memoryOf({ maxMessages: 3, target: 1 });
    await memory.add(system("s"), user("1"), assistant("2"), system("t"));
    expect(await shown(memory)).toEqual(["s", "2", "t"]);
    await memory.add(user("3"));
    expect(await shown(memory)).toEqual(["s", "t", "3"]);
  });

  test("of a turn that is too long, a step leaves with its own, and the question keeps its own", async () => {
    const memory = memoryOf({ maxMessages: 6, target: 1, unit: "turn" });
    await memory.add(system("s"), user("0"), system("q"), user("1"));
    for (const id of ["a", "b", "c"])
      await memory.add(system(`t${id}`), toolCall(id, "look", {}), toolResult(id, "look", id));
    expect(await shown(memory)).toEqual(["s", "q", "1", "tc", "tool-call", "tool-result"]);
  });

  test("the newest step, if it does not fit, leaves with its own", async () => {
    const memory = createChatMemory({
      systemMessages: "positioned",
      window: { maxMessages: 2, overflow: "evict" },
    });
    await memory.add(system("s"), system("t"), user("1"));
    expect(await shown(memory)).toEqual(["s"]);
  });

  test("a pinned step keeps its instruction, and a pinned instruction its step", async () => {
    for (const pin of ["t", "2"]) {
      const memory = createChatMemory({
        systemMessages: "positioned",
        window: { maxMessages: 4, target: 1, pinned: (message) => textOf(message) === pin },
      });
      await memory.add(system("s"), user("1"), system("t"), assistant("2"), user("3"), assistant("4"));
      expect(await shown(memory)).toEqual(["s", "t", "2", "4"]);
    }
  });

  test("between a call and its result, it stands behind the result", async () => {
    const memory = memoryOf();
    await memory.add(
      system("s"),
      user("1"),
      toolCall("c", "look", {}),
      system("t"),
      toolResult("c", "look", "x"),
    );
    expect(await shown(memory)).toEqual(["s", "1", "tool-call", "tool-result", "t"]);
  });

  test("compact and shrink take it with its step", async () => {
    const memory = memoryOf();
    const [, , , second] = await memory.add(
      system("s"),
      user("1"),
      system("t"),
      assistant("2"),
      system("u"),
      user("3"),
      assistant("4"),
    );
    await memory.compact({ through: second, replacement: user("sum") });
    expect(await shown(memory)).toEqual(["s", "sum", "u", "3", "4"]);
    const answer = await memory.shrink({ target: 0.9 });
    expect(answer).toHaveProperty("messageIds.length", 2);
    expect(await shown(memory)).toEqual(["s", "sum", "4"]);
  });

  test("what comes back after a rewind brings its own along", async () => {
    const memory = memoryOf({ maxMessages: 4, target: 1, unit: "turn" });
    await memory.add(system("s"), system("t"), user("1"), assistant("2"));
    const [third] = await memory.add(user("3"));
    expect(await shown(memory)).toEqual(["s", "3"]);
    await memory.rewind(third);
    expect(await shown(memory)).toEqual(["s", "t", "1", "2"]);
  });

  test("said last, it is an append: the beginning of the view stays as it was", async () => {
    const bound = { ...plainProfile, reasoning: "bound" as const };
    const thought: ModelMessage = {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "2" },
      ],
    };
    const memory = createChatMemory({ systemMessages: "positioned", profile: bound });
    await memory.add(system("s"), user("1"), thought);
    await memory.add(system("t"), user("3"));
    expect(await memory.messages()).toContainEqual(thought);
    await memory.instruct(system("u"));
    expect(await memory.messages()).not.toContainEqual(thought);
  });

  test("an answer made before it came is not bound to it", async () => {
    const thought: ModelMessage = {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "2" },
      ],
    };
    const memory = createChatMemory({
      systemMessages: "positioned",
      profile: { ...plainProfile, reasoning: "bound" },
    });
    await memory.add(user("1"));
    await memory.messages();
    await memory.add(system("t"));
    await memory.add(thought);
    expect(await memory.messages()).not.toContainEqual(thought);
  });

  test("one for a view alone is shown last", async () => {
    const memory = memoryOf();
    await memory.add(system("s"), user("1"));
    expect((await memory.messages({ extra: [system("t")] })).map(textOf)).toEqual(["s", "1", "t"]);
    expect(await shown(memory)).toEqual(["s", "1"]);
  });
});

describe("instruct", () => {
  test.each(["one", "positioned"] as const)(
    "takes the prompt's place, in front (%s)",
    async (systemMessages) => {
      const events: MemoryEvent[] = [];
      const memory = createChatMemory({ systemMessages, onEvent: besideChanges(events) });
      await memory.add(system("s"), user("1"));
      const id = await memory.instruct(system("t"));
      expect(await shown(memory)).toEqual(["t", "1"]);
      expect(await states(memory)).toEqual(["s superseded", "1 live", "t live"]);
      expect(await memory.instruct(system("t"))).toBe(id);
      expect(await memory.instruct(entry(system("u"), { id: "own" }))).toBe("own");
      expect((await memory.prompt()).system).toEqual(system("u"));
      expect(events).toEqual([]);
    },
  );

  test("leaves what was said later in its place, and begins a memory", async () => {
    const memory = createChatMemory({ systemMessages: "positioned" });
    await memory.instruct(system("s"));
    await memory.add(user("1"), system("t"));
    await memory.instruct(system("u"));
    expect(await shown(memory)).toEqual(["u", "1", "t"]);
  });

  test("gives a prompt to a memory that began without", async () => {
    const memory = createChatMemory({ systemMessages: "positioned" });
    await memory.add(user("1"));
    await memory.instruct(system("s"));
    expect(await shown(memory)).toEqual(["s", "1"]);
  });

  test("stands beside other changes in a transaction", async () => {
    const memory = createChatMemory({ systemMessages: "positioned" });
    await memory.add(system("s"), user("1"));
    await memory.transaction(async (transaction) => {
      transaction.instruct(system("t"));
      transaction.add(user("2"));
      expect((await transaction.messages()).map(textOf)).toEqual(["t", "1", "2"]);
    });
    expect(await shown(memory)).toEqual(["t", "1", "2"]);
  });

  test("refuses what cannot be a prompt", async () => {
    const memory = createChatMemory();
    for (const message of [user("1"), system(" "), effort("low")])
      await expect(memory.instruct(message)).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
  });

  test("works with unit message, where the prompt goes to the end", async () => {
    const memory = createChatMemory({ window: { maxMessages: 9, unit: "message" } });
    await memory.add(system("s"), user("1"));
    await memory.instruct(system("t"));
    expect(await shown(memory)).toEqual(["1", "t"]);
  });
});

describe("one", () => {
  test("an event tells that a later one took the prompt's place", async () => {
    const events: MemoryEvent[] = [];
    const memory = createChatMemory({ onEvent: besideChanges(events) });
    const [id] = await memory.add(system("s"), user("1"));
    await memory.add(system("s"));
    expect(events).toEqual([]);
    await memory.add(system("t"));
    expect(await shown(memory)).toEqual(["t", "1"]);
    expect(events).toMatchObject([{ type: "warning", code: "system-replaced" }]);
    expect(events[0]).toHaveProperty("message", expect.stringContaining(`"${id}"`));
  });

  test("is the default of model messages, of unit message, and without a prompt in front", async () => {
    const positioned = { ...modelMessageFormat, systemMessages: "positioned" as const };
    const options = [
      {},
      { format: positioned, window: { maxMessages: 9, unit: "message" as const } },
      { format: positioned, systemFirst: false },
      { format: positioned, systemMessages: "one" as const },
    ];
    for (const option of options) {
      const memory = createChatMemory<ModelMessage>(option as object);
      await memory.add(system("s"), user("1"), system("t"));
      expect((await shown(memory)).toSorted()).toEqual(["1", "t"]);
    }
    const memory = createChatMemory({ format: positioned });
    await memory.add(system("s"), user("1"), system("t"));
    expect((await memory.messages()).map(({ content }) => content)).toEqual(["s", "1", "t"]);
  });

  test("positioned is refused where there is no prompt in front", () => {
    for (const option of [{ systemFirst: false }, { window: { maxMessages: 9, unit: "message" as const } }])
      expect(() => createChatMemory({ ...option, systemMessages: "positioned" })).toThrow(
        /needs a prompt in front/,
      );
    expect(() => createChatMemory({ systemMessages: "two" as never })).toThrow(/"one" or "positioned"/);
  });

  test("what was stored in its place stays there", async () => {
    const store = inMemoryStore();
    const before = createChatMemory({ id: "m", store, systemMessages: "positioned" });
    await before.add(system("s"), user("1"), system("t"), user("2"));
    const memory = createChatMemory({ id: "m", store });
    expect(await shown(memory)).toEqual(["s", "1", "t", "2"]);
    await memory.add(system("u"));
    expect(await shown(memory)).toEqual(["u", "1", "t", "2"]);
  });

  test("a profile shows the prompt in front, wherever the memory has it", async () => {
    const memory = createChatMemory({ systemFirst: false, profile: plainProfile });
    await memory.add(user("1"), system("s"), user("2"));
    expect(await shown(memory)).toEqual(["s", "1", "2"]);
  });
});

describe.each(["one", "positioned"] as const)("what only sets something (%s)", (systemMessages) => {
  test("never takes the prompt's place, and stays where it was said", async () => {
    const memory = createChatMemory({ systemMessages });
    await memory.add(system("s"), user("1"), effort("high"), user("2"));
    expect(await memory.messages()).toEqual([system("s"), user("1"), effort("high"), user("2")]);
    expect((await memory.prompt()).system).toEqual(system("s"));
    const early = createChatMemory({ systemMessages });
    await early.add(effort("high"), system("s"), user("1"));
    expect((await early.prompt()).system).toEqual(system("s"));
  });

  test("stays while it is in force, as one message in front of what stays", async () => {
    const memory = createChatMemory({ systemMessages, window: { maxMessages: 5, target: 0.8 } });
    await memory.add(system("s"), user("1"), effort("low"), assistant("2"), user("3"), effort("high"));
    await memory.add(assistant("4"), user("5"));
    expect(await memory.messages()).toEqual([system("s"), effort("high"), user("5")]);
    expect(
      (await memory.history({ states: ["evicted"] })).messages.map(({ message }) => message),
    ).toContainEqual(effort("low"));
    await memory.add(changed("tool_addition", "a"), assistant("6"), user("7"));
    const one = { ...effort("high") };
    expect(await memory.messages()).toEqual([
      system("s"),
      {
        ...one,
        providerOptions: { ...one.providerOptions, ...changed("tool_addition", "a").providerOptions },
      },
      user("7"),
    ]);
  });

  test("of several changes of a tool, the last is in force", async () => {
    const memory = createChatMemory({ systemMessages });
    await memory.add(
      user("1"),
      changed("tool_addition", "a"),
      changed("tool_removal", "b"),
      changed("tool_removal", "a"),
    );
    const toolChanges = [
      { type: "tool_removal", toolName: "b" },
      { type: "tool_removal", toolName: "a" },
    ];
    expect((await memory.messages()).at(-1)).toEqual({
      role: "system",
      content: "",
      providerOptions: { anthropic: { toolChanges } },
    });
  });

  test("repair: false shows it as it was said", async () => {
    const memory = createChatMemory({ systemMessages, repair: false });
    await memory.add(user("1"), effort("low"), effort("high"));
    expect(await memory.messages()).toEqual([user("1"), effort("low"), effort("high")]);
  });

  test.each<
    [
      string,
      (memory: ChatMemory<ModelMessage>) => Promise<unknown>,
      ChatMemoryOptions<ModelMessage>["window"],
    ]
  >([
    ["a summary", async () => undefined, { maxMessages: 6, summarize: () => user("s") }],
    ["a summary that fails", async () => undefined, { maxMessages: 6, summarize: () => undefined }],
    ["shrink", (memory) => memory.shrink({ target: 0.2 }), { maxMessages: 100 }],
    [
      "compact",
      async (memory) => {
        const through = (await memory.entries()).findLast(({ message }) => message.role === "user")?.id ?? "";
        await memory.compact({ through, replacement: user("s") });
      },
      { maxMessages: 100 },
    ],
  ])("leaves with what was said before it is overruled, by %s too", async (_, leave, window) => {
    const memory = createChatMemory<ModelMessage>({ systemMessages, window });
    for (let turn = 0; turn < 8; turn++)
      await memory.add(
        effort(turn % 2 === 0 ? "low" : "high"),
        user(`question ${turn}`),
        assistant("answer"),
      );
    await leave(memory);
    const live = await memory.entries();
    const said = live.findIndex(({ message: { role, content } }) => role !== "system" && content !== "s");
    const settings = live.slice(0, said).filter(({ message }) => message.role === "system");
    // What a summary stands for is overruled only by what it stands for too.
    expect(settings.length).toBeLessThanOrEqual(2);
    expect((await memory.messages()).at(-1)).toEqual(assistant("answer"));
  });

  test("each tool that is added is in force, as it was defined last", async () => {
    const tools = (...additionalTools: object[]): ModelMessage => ({
      role: "system",
      content: "",
      providerOptions: { openai: { additionalTools } as never },
    });
    const [a, b, search] = [
      { type: "function", name: "a" },
      { type: "function", name: "b" },
      { type: "web_search" },
    ];
    const memory = createChatMemory<ModelMessage>({
      systemMessages,
      window: { maxMessages: 4, target: 0.5 },
    });
    await memory.add(
      tools(a, b),
      user("1"),
      assistant("2"),
      tools({ ...a, strict: true }, search),
      user("3"),
    );
    await memory.add(assistant("4"), user("5"));
    expect(await memory.messages()).toEqual([tools(b, { ...a, strict: true }, search), user("5")]);
  });

  test.each([
    ["an effort", effort("low"), effort("high")],
    ["tools", changed("tool_addition", "a"), changed("tool_removal", "a")],
  ])(
    "%s is in force again once what overruled it is taken back behind a summary",
    async (_, first, second) => {
      const memory = createChatMemory<ModelMessage>({ systemMessages });
      const ids = await memory.add(first, user("1"), assistant("a"), second, user("2"));
      await memory.compact({ through: ids[2] as string, replacement: user("s") });
      await memory.rewind(ids[3] as string);
      expect(await memory.messages()).toEqual([user("s"), first]);
    },
  );

  test("is in force again once what overruled it is taken back", async () => {
    const memory = createChatMemory({ systemMessages, window: { maxMessages: 4, target: 1 } });
    await memory.add(system("s"), effort("low"), user("1"));
    const [high] = await memory.add(effort("high"), user("2"), user("3"));
    expect(await memory.messages()).toEqual([system("s"), effort("high"), user("3")]);
    await memory.rewind(high);
    expect(await memory.messages()).toEqual([system("s"), effort("low"), user("1")]);
  });
});
