import { beforeEach, describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemory,
  entry,
  inMemoryStore,
  type MessageFormat,
  type ModelMessage,
  modelMessageFormat,
  type ProviderProfile,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { plain } from "./plain-profile.ts";
import { rewriteRecords } from "./stored-record.ts";

/** A provider that takes reasoning only while what stood before it stands there still. */
const binding: ProviderProfile = { ...plain, name: "binding", reasoning: "bound" };

const reasoned = (text: string): ModelMessage =>
  assistant([
    { type: "reasoning", text: "Hm." },
    { type: "text", text },
  ]);
const withoutReasoning = (text: string): ModelMessage => assistant([{ type: "text", text }]);
const epochIn = async (store: ChatMemoryStore): Promise<number> =>
  JSON.parse((await store.getMessages("m")).head ?? "{}").epoch;

describe("what a model reasoned with an extra message in sight", () => {
  const extra = [user("The time is 12:00.")];
  let store: ChatMemoryStore;
  let memory: ChatMemory<ModelMessage>;
  beforeEach(async () => {
    store = inMemoryStore();
    memory = createChatMemory({ id: "m", store, profile: binding });
    await memory.add(user("q"));
  });

  test.each<[string, (answer: ModelMessage) => Promise<unknown>]>([
    ["added", (answer) => memory.add(answer)],
    ["put", (answer) => memory.put("a", answer)],
    [
      "put in place of its beginning",
      async (answer) => {
        await memory.put("a", assistant("In short"));
        await memory.put("a", answer);
      },
    ],
    ["added in a transaction", (answer) => memory.transaction(({ add }) => add(answer))],
  ])("is left out of the next view, which does not hold that message: %s", async (_how, write) => {
    await memory.messages({ extra });
    await write(reasoned("a"));
    expect(await memory.messages()).toEqual([user("q"), withoutReasoning("a")]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["nothing was shown before", async () => {}],
    ["the view held none", () => memory.messages()],
    [
      "the last view held none",
      async () => {
        await memory.messages({ extra });
        await memory.messages();
      },
    ],
  ])("is what else it reasoned: that stays where %s", async (_what, show) => {
    await show();
    await memory.add(reasoned("a"));
    expect(await memory.messages()).toEqual([user("q"), reasoned("a")]);
  });

  test("takes no other reasoning with it before it is there, nor what is added without any", async () => {
    await memory.add(reasoned("a"));
    await memory.messages({ extra });
    await memory.add(user("well?"));
    await memory.put("b", assistant("Yes."));
    expect(await memory.messages()).toEqual([user("q"), reasoned("a"), user("well?"), assistant("Yes.")]);
  });

  test("changes the view's beginning once, however often its message is put", async () => {
    await memory.messages({ extra });
    await memory.put("a", reasoned("a"));
    const epoch = await epochIn(store);
    await memory.put("a", reasoned("a, and b"));
    await memory.put("a", reasoned("a, and b"));
    expect(await epochIn(store)).toBe(epoch);
    expect(epoch).toBe(1);
  });

  test("was not made when its message is put again as it is", async () => {
    await memory.put("a", reasoned("a"));
    await memory.messages({ extra });
    await memory.put("a", reasoned("a"));
    expect(await memory.messages()).toEqual([user("q"), reasoned("a")]);
  });

  test("leaves memory at once where the window has no room for it", async () => {
    const small = createChatMemory({ id: "m", store, profile: binding, window: { maxMessages: 1 } });
    await small.messages({ extra });
    await small.add(reasoned("a"), user("next"));
    expect(await small.messages()).toEqual([user("next")]);
  });
});

describe("what a model reasoned behind what is no longer so is left out, where in the meantime", () => {
  const place = { id: "m", profile: binding };
  let store: ChatMemoryStore;
  let memory: ChatMemory<ModelMessage>;
  beforeEach(() => {
    store = inMemoryStore();
    memory = createChatMemory({ ...place, store });
  });

  test.each<[string, (ids: string[]) => Promise<unknown>]>([
    ["this instance took a message away", ([first = ""]) => memory.remove(first)],
    ["another one did", ([first = ""]) => createChatMemory({ ...place, store }).remove(first)],
    [
      "a summary took the place of what it saw",
      ([first = ""]) => memory.compact({ through: first, replacement: user("s") }),
    ],
    ["there came another system message", () => memory.add(system("s"))],
    ["the question was changed", (ids) => memory.put(ids.at(-1) ?? "", user("another"))],
    ["the user said more", () => createChatMemory({ ...place, store }).add(user("more"))],
    ["others had a turn", () => createChatMemory({ ...place, store }).add(user("more"), assistant("b"))],
    ["this instance had a turn of another list", () => memory.add(user("more"), assistant("b"))],
  ])("%s", async (_what, change) => {
    const ids = await memory.add(user("1"), assistant("2"), user("q"));
    await memory.messages();
    await change(ids);
    await memory.add(reasoned("a"));
    expect((await memory.messages()).at(-1)).toEqual(withoutReasoning("a"));
  });

  test("a summary came that nobody waited for", async () => {
    let answer = (_: ModelMessage): void => {};
    let work: Promise<void> | undefined;
    memory = createChatMemory<ModelMessage>({
      ...place,
      store,
      window: {
        maxMessages: 3,
        summarize: () => new Promise<ModelMessage>((resolve) => (answer = resolve)),
        waitUntil: (summary) => (work = summary),
      },
    });
    await memory.add(user("1"), assistant("2"), user("3"), user("q"));
    await memory.messages();
    answer(user("s"));
    await work;
    await memory.add(reasoned("a"));
    expect((await memory.messages()).at(-1)).toEqual(withoutReasoning("a"));
  });

  test.each([
    ["the result came of a call that it was shown as interrupted", [user("well?")]],
    ["the same, with the call as the newest step", []],
  ])("%s", async (_what, more) => {
    await memory.add(user("q"), toolCall("c", "look", {}), ...more);
    await memory.messages();
    await memory.add(toolResult("c", "look", "seen"));
    await memory.add(reasoned("a"));
    expect((await memory.messages()).at(-1)).toEqual(withoutReasoning("a"));
  });

  test("is what it reasoned behind lists of the application's own: that stays", async () => {
    const turns = ["a", "b", "c"].map((name) => [user(`to ${name}`), reasoned(name)] as const);
    const [first, ...others] = turns;
    await memory.add(first?.[0] as ModelMessage);
    await memory.messages();
    await memory.add(first?.[1] as ModelMessage);
    for (const message of others.flat()) await memory.add(message);
    expect(await memory.messages()).toEqual(turns.flat());
  });

  test("is what it reasoned in the steps of a loop: that stays", async () => {
    await memory.add(user("q"));
    await memory.messages();
    const steps = [
      assistant([
        { type: "reasoning", text: "Hm." },
        { type: "tool-call", toolCallId: "c", toolName: "look", input: {} },
      ]),
      toolResult("c", "look", "seen"),
      reasoned("a"),
    ];
    for (const step of steps) await memory.add(step);
    expect(await memory.messages()).toEqual([user("q"), ...steps]);
  });
});

test("a result behind another message than its call changes the view before its end, and so raises the epoch", async () => {
  const store = inMemoryStore();
  const memory = createChatMemory({ id: "m", store });
  await memory.add(toolCall("c", "look", {}), user("well?"));
  await memory.add(toolResult("c", "look", "seen"));
  expect(await epochIn(store)).toBe(1);
});

describe("reasoning made under other tools is left out of a view whose tools are named", () => {
  const memoryOf = () => createChatMemory({ id: "m", store: inMemoryStore(), profile: binding });

  test("of the answer to a view of this instance", async () => {
    const memory = memoryOf();
    await memory.add(user("q"));
    await memory.messages({ toolsKey: "one" });
    await memory.add(reasoned("a"));
    expect(await memory.messages({ toolsKey: "one" })).toEqual([user("q"), reasoned("a")]);
    expect(await memory.messages({ toolsKey: "two" })).toEqual([user("q"), withoutReasoning("a")]);
    expect(await memory.messages()).toEqual([user("q"), reasoned("a")]);
  });

  test("of an entry that names its tools, with all reasoning before it", async () => {
    const memory = memoryOf();
    await memory.add(user("q"), reasoned("a"), user("r"), entry(reasoned("b"), { toolsKey: "one" }));
    await memory.add(user("s"), entry(reasoned("c"), { toolsKey: "two" }), user("t"));
    expect(await memory.messages({ toolsKey: "two" })).toEqual([
      user("q"),
      withoutReasoning("a"),
      user("r"),
      withoutReasoning("b"),
      user("s"),
      reasoned("c"),
      user("t"),
    ]);
  });

  test("of an answer that was put in its place, in the form in which it stands there", async () => {
    const memory = memoryOf();
    await memory.add(user("q"));
    await memory.messages({ toolsKey: "one" });
    await memory.put("answer", reasoned("a"));
    await memory.put("answer", reasoned("b"));
    expect(await memory.messages({ toolsKey: "two" })).toEqual([user("q"), withoutReasoning("b")]);
  });

  test("whose name is a text", async () => {
    const memory = memoryOf();
    const refused = { code: "INVALID_OPTION" };
    await expect(memory.messages({ toolsKey: 1 as never })).rejects.toMatchObject(refused);
    await expect(memory.add(entry(user("q"), { toolsKey: 1 as never }))).rejects.toMatchObject(refused);
  });
});

test("reasoning of another model is left out of a view for a model that is named", async () => {
  const memory = createChatMemory({ profile: binding });
  await memory.add(user("q"), entry(reasoned("a"), { model: "one" }));
  expect(await memory.messages({ model: "one" })).toEqual([user("q"), reasoned("a")]);
  expect(await memory.messages({ model: "another" })).toEqual([user("q"), withoutReasoning("a")]);
});

describe("the answer that a profile asks for behind the last call is counted", () => {
  test.each(["step", "turn"] as const)("in a window of unit %s", async (unit) => {
    const memory = createChatMemory({ profile: plain, window: { maxMessages: 3, unit } });
    await memory.add(user("1"), user("2"), toolCall("c", "look", {}));
    const shown = await memory.messages();
    expect(shown.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect((await memory.history({ states: ["evicted"] })).messages).toHaveLength(1);
  });
});

test.each([
  ["throw", { code: "WINDOW_OVERFLOW" }],
  ["evict", [system("Be brief, and kind.")]],
] as const)(
  "a system message over the limit of a window of unit message: overflow %s",
  async (overflow, answer) => {
    const counter = { name: "characters", count: (message: unknown) => JSON.stringify(message).length };
    const window = { maxTokens: 20, unit: "message", overflow, counter } as const;
    const memory = createChatMemory({ profile: plain, window });
    await memory.add(system("Be brief, and kind."));
    if (overflow === "evict") expect(await memory.messages()).toEqual(answer);
    else await expect(memory.messages()).rejects.toMatchObject(answer);
  },
);

describe("a result under the id that a view shows of a call", () => {
  let asked = 0;
  /** Shows the call `x` as `shown-x`. */
  const renaming: ProviderProfile = {
    ...plain,
    name: "renaming",
    shape: (messages, format) => ({
      messages: messages.map((message) => format.renameCalls?.(message, (id) => `shown-${id}`) ?? message),
      stages: [],
    }),
    storedCallIds: (messages, format) => {
      asked++;
      const ids = messages.flatMap((message) => format.toolCalls(message).map(({ id }) => id));
      return new Map(ids.map((id) => [`shown-${id}`, id]));
    },
  };
  const result = (id: string): ModelMessage => toolResult(id, "look", "found");
  const stored = async (memory: ChatMemory<ModelMessage>): Promise<ModelMessage[]> =>
    (await memory.history()).messages.map(({ message }) => message);
  let memory: ChatMemory<ModelMessage>;
  beforeEach(() => {
    memory = createChatMemory({ profile: renaming });
    asked = 0;
  });

  test.each<[string, (answer: ModelMessage) => Promise<unknown>]>([
    ["add", (answer) => memory.add(answer)],
    ["add in a transaction", (answer) => memory.transaction(({ add }) => add(answer))],
    ["put", (answer) => memory.put("r", answer)],
  ])("is stored under that of its call: %s", async (_how, write) => {
    await memory.add(toolCall("x", "look", {}));
    await write(result("shown-x"));
    expect(await stored(memory)).toEqual([toolCall("x", "look", {}), result("x")]);
    expect(await memory.messages()).toEqual([toolCall("shown-x", "look", {}), result("shown-x")]);
  });

  test("is shown as its answer where it is an extra message", async () => {
    await memory.add(toolCall("x", "look", {}));
    const shown = await memory.messages({ extra: [result("shown-x")] });
    expect(shown).toEqual([toolCall("shown-x", "look", {}), result("shown-x")]);
  });

  const providers = assistant([
    {
      type: "tool-result",
      toolCallId: "shown-x",
      toolName: "search",
      output: { type: "text", value: "The provider's own." },
    },
  ]);
  test.each<[string, ModelMessage[], ModelMessage[]]>([
    [
      "a result under a stored call's id is that call's",
      [toolCall("shown-x", "look", {})],
      [result("shown-x")],
    ],
    [
      "a result of a call that is added with it is that call's",
      [],
      [toolCall("shown-x", "look", {}), result("shown-x")],
    ],
    ["a result of no call that is known stays as it is", [], [result("nobody's")]],
    ["a provider's own result stays as it is", [], [providers, user("next")]],
  ])("%s", async (_what, before, added) => {
    await memory.add(toolCall("x", "look", {}), ...before);
    await memory.add(...added);
    expect(await stored(memory)).toEqual([toolCall("x", "look", {}), ...before, ...added]);
  });

  test("is told from others that are added with it", async () => {
    await memory.add(toolCall("x", "look", {}), toolCall("shown-x", "look", {}), toolCall("y", "look", {}));
    await memory.add(result("shown-x"), result("shown-y"), providers);
    expect((await stored(memory)).slice(3)).toEqual([result("shown-x"), result("y"), providers]);
  });

  test("is looked for where a result names no stored call, and not with every message", async () => {
    await memory.add(user("q"), toolCall("x", "look", {}));
    await memory.add(result("x"), user("next"));
    expect(asked).toBe(0);
  });

  test("is found beside a record that is damaged", async () => {
    const store = inMemoryStore();
    memory = createChatMemory({ id: "m", store, profile: renaming });
    await memory.add(user("q"), toolCall("x", "look", {}));
    await rewriteRecords(store, [0], { payload: "{broken" });
    const other = createChatMemory({ id: "m", store, profile: renaming });
    await other.add(result("shown-x"));
    expect(await stored(other)).toEqual([toolCall("x", "look", {}), result("x")]);
  });

  test("is stored as it came where the format renames no calls", async () => {
    const { renameCalls: _, ...format } = modelMessageFormat as MessageFormat<ModelMessage>;
    memory = createChatMemory({ profile: renaming, format });
    await memory.add(toolCall("x", "look", {}));
    await memory.add(result("shown-x"));
    expect(await stored(memory)).toEqual([toolCall("x", "look", {}), result("shown-x")]);
  });
});

test("what a profile adds to older messages leaves with them, before the newest does", async () => {
  /** Puts two messages between two answers in a row. */
  const apart: ProviderProfile = {
    ...plain,
    name: "apart",
    shape(messages, format) {
      const shown = messages.flatMap((message, index) => {
        const before = messages[index - 1];
        const isSecond = before !== undefined && format.role(before) === "assistant";
        if (!isSecond || format.role(message) !== "assistant") return [message];
        const more = format.textMessage?.("user", "Go on.") ?? message;
        return [more, more, message];
      });
      return { messages: shown, stages: [] };
    },
  };
  const memory = createChatMemory<ModelMessage>({
    profile: apart,
    window: { maxMessages: 4, overflow: "evict", pinned: ({ content }) => content === "pinned" },
  });
  await memory.add(assistant("1"), assistant("2"), assistant("pinned"), user("q"));
  expect(await memory.messages()).toEqual([assistant("pinned"), user("q")]);
});
