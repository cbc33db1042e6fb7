import {
  assistant,
  type ChatMemory,
  type ChatMemoryOptions,
  createChatMemory,
  entry,
  modelMessageFormat as format,
  inMemoryStore,
  type ModelMessage,
  type Processor,
  system,
  toolCall,
  toolResult,
  user,
} from "@turnkeep/core";
import { stripReasoning } from "@turnkeep/core/processors";
import { describe, expect, it } from "vitest";
import { anthropic, openai, openaiResponses } from "../src/profiles.ts";

/** An answer that the model reasoned about, under a name to find it by. */
function reasoned(name: string): ModelMessage {
  return assistant([
    { type: "reasoning", text: name, providerOptions: { anthropic: { signature: "c2lnbmVk" } } },
    { type: "text", text: `answer ${name}` },
  ]);
}

/** The names of the reasoning that a view shows. */
async function reasoningOf(
  memory: ChatMemory<ModelMessage>,
  options?: Parameters<ChatMemory<ModelMessage>["messages"]>[0],
): Promise<string[]> {
  const view = await memory.messages(options);
  return view.flatMap((message) =>
    format
      .pieces(message)
      .flatMap((piece) => (piece.type === "text" && piece.of === "reasoning" ? [piece.text] : [])),
  );
}

function memoryOf(options: Partial<ChatMemoryOptions<ModelMessage>> = {}): ChatMemory<ModelMessage> {
  return createChatMemory<ModelMessage>({
    id: "c",
    store: inMemoryStore(),
    profile: anthropic,
    ...options,
  } as ChatMemoryOptions<ModelMessage>);
}

describe("reasoning that is bound to what stood before it", () => {
  it("stays while the conversation only grows, over restarts too", async () => {
    const store = inMemoryStore();
    const first = memoryOf({ store });
    await first.add(system("Be brief."), user("1"), reasoned("a"), user("2"), reasoned("b"), user("3"));
    expect(await reasoningOf(first)).toEqual(["a", "b"]);
    expect(await reasoningOf(memoryOf({ store }))).toEqual(["a", "b"]);
  });

  it.each<[string, (memory: ChatMemory<ModelMessage>, ids: readonly string[]) => Promise<unknown>]>([
    [
      "an eviction",
      (memory) => memory.add(user("3"), assistant("x"), user("4"), assistant("y"), user("5"), assistant("z")),
    ],
    ["another system message", (memory) => memory.add(system("Be kind."))],
    ["a removal", (memory, ids) => memory.remove(ids[1] as string)],
    [
      "a summary",
      (memory, ids) => memory.compact({ through: ids[2] as string, replacement: user("So far: 1.") }),
    ],
    ["a replaced message", (memory, ids) => memory.put(ids[1] as string, user("One"))],
  ])("goes, all of it, after %s", async (_, change) => {
    const memory = memoryOf({ window: { maxMessages: 12, target: 0.75 } });
    const ids = await memory.add(
      system("Be brief."),
      user("1"),
      reasoned("a"),
      user("2"),
      reasoned("b"),
      user("?"),
      reasoned("c"),
    );
    expect(await reasoningOf(memory)).toEqual(["a", "b", "c"]);
    await change(memory, ids);
    expect(await reasoningOf(memory)).toEqual([]);
    const view = await memory.messages();
    expect(view).toContainEqual(assistant([{ type: "text", text: "answer c" }]));
    await memory.add(user("next"));
    await memory.add(reasoned("d"));
    expect(await reasoningOf(memory)).toEqual(["d"]);
  });

  it("goes when an answer was made with an extra message in sight", async () => {
    const memory = memoryOf();
    await memory.add(user("1"), reasoned("a"), user("2"));
    await memory.messages({ extra: [user("The time is 12:00.")] });
    await memory.add(reasoned("b"));
    expect(await reasoningOf(memory)).toEqual([]);
    await memory.add(user("3"));
    await memory.messages();
    await memory.add(reasoned("c"));
    expect(await reasoningOf(memory)).toEqual(["c"]);
  });

  it.each<[string, readonly ModelMessage[]]>([
    ["in one piece", [reasoned("b")]],
    ["as it grows", [assistant("answer b"), reasoned("b")]],
  ])("goes when an answer that is put %s was made with an extra message in sight", async (_, drafts) => {
    const memory = memoryOf();
    await memory.add(user("1"));
    await memory.messages({ extra: [user("The time is 12:00.")] });
    for (const draft of drafts) await memory.put("answer", draft);
    expect(await reasoningOf(memory)).toEqual([]);
    await memory.add(user("3"));
    await memory.put("next", reasoned("c"));
    expect(await reasoningOf(memory)).toEqual(["c"]);
  });

  it("is that of the model which an answer was put anew with", async () => {
    const memory = memoryOf();
    await memory.add(user("1"));
    await memory.put("answer", entry(reasoned("a"), { model: "one" }));
    await memory.put("answer", entry(reasoned("b"), { model: "two" }));
    expect(await reasoningOf(memory, { model: "two" })).toEqual(["b"]);
    expect(await reasoningOf(memory, { model: "one" })).toEqual([]);
  });

  it("goes where the window hides what was there when it was made", async () => {
    let limit = 10;
    const memory = memoryOf({ window: { maxMessages: () => limit } });
    await memory.add(user("1"), reasoned("a"), user("2"), reasoned("b"), user("3"));
    expect(await reasoningOf(memory)).toEqual(["a", "b"]);
    limit = 4;
    expect(await reasoningOf(memory)).toEqual([]);
  });

  it("goes behind what a processor changes, and stays where it changes each message alone", async () => {
    const messages = [user("1 secret"), reasoned("a"), user("2"), reasoned("b"), user("3")];
    const redacted = (eachAlone: boolean): Partial<ChatMemoryOptions<ModelMessage>> => ({
      processors: [
        {
          name: "redacted",
          eachAlone,
          process: (all) => all.map((one) => (one.content === "1 secret" ? user("1") : one)),
        },
      ],
    });
    const alone = memoryOf(redacted(true));
    await alone.add(...messages);
    expect(await reasoningOf(alone)).toEqual(["a", "b"]);
    const border = memoryOf(redacted(false));
    await border.add(...messages);
    expect(await reasoningOf(border)).toEqual([]);
  });

  /** Takes a word out of the users' messages that hold it. */
  const without = (word: string, eachAlone: boolean): Processor<ModelMessage> => ({
    name: `without ${word}`,
    eachAlone,
    process: (all) =>
      all.map((one) =>
        typeof one.content === "string" && one.content.includes(word)
          ? user(one.content.replace(word, ""))
          : one,
      ),
  });

  it.each<[string, Processor<ModelMessage>[], string[]]>([
    ["in front of what they change", [without("two", false)], ["a"]],
    ["where they change nothing", [without("nothing", false), without("one", true)], ["a", "b"]],
    ["where what is changed alone comes first", [without("one", true), without("two", false)], ["a"]],
    ["but not behind a change that comes first", [without("two", false), without("one", true)], []],
    ["where what is changed alone comes last", [without("two", false), without("three", true)], ["a"]],
  ])("stays %s (processors)", async (_, processors, stays) => {
    const messages = [user("1 one"), reasoned("a"), user("2 two"), reasoned("b"), user("3 three")];
    const memory = memoryOf({ processors });
    await memory.add(...messages);
    expect(await reasoningOf(memory)).toEqual(stays);
    const elsewhere = memoryOf({ processors, profile: openaiResponses });
    await elsewhere.add(...messages);
    expect(await reasoningOf(elsewhere)).toEqual(["a", "b"]);
  });

  it("is told of by explain where it goes, and by whom", async () => {
    const waysIn = async (memory: ChatMemory<ModelMessage>): Promise<unknown[]> => {
      await memory.add(user("1"), reasoned("a"), user("2"));
      await memory.add(system("Be brief."));
      return (await memory.explain()).messages.map(({ state, by }) => [state, by]);
    };
    const shown = ["shown", undefined];
    expect(await waysIn(memoryOf())).toEqual([shown, shown, ["repaired", "reasoning"], shown]);
    const stripped = memoryOf({ processors: [stripReasoning()], profile: openaiResponses });
    expect(await waysIn(stripped)).toEqual([shown, shown, ["cut", "strip-reasoning"], shown]);
  });

  it("goes with the rest of its step, of which a part was made before a change", async () => {
    const memory = memoryOf();
    const call = toolCall("toolu_1", "t", {});
    const thought = assistant([
      { type: "reasoning", text: "a", providerOptions: { anthropic: { signature: "c2lnbmVk" } } },
      ...(call.content as never[]),
    ]);
    await memory.add(system("Be brief."), user("1"), entry(thought, { model: "large" }));
    await memory.add(toolResult("toolu_1", "t", "ok"));
    expect(await reasoningOf(memory, { model: "large" })).toEqual(["a"]);
    expect(await reasoningOf(memory, { model: "small" })).toEqual([]);
    const changed = memoryOf();
    await changed.add(system("Be brief."), user("1"), thought);
    await changed.add(system("Be kind."));
    await changed.add(toolResult("toolu_1", "t", "ok"));
    expect(await reasoningOf(changed)).toEqual([]);
    expect((await changed.messages()).slice(2)).toEqual([call, toolResult("toolu_1", "t", "ok")]);
  });

  it("stays where its maker is not known", async () => {
    const memory = memoryOf();
    await memory.add(user("1"), reasoned("a"), user("2"));
    expect(await reasoningOf(memory, { model: "large" })).toEqual(["a"]);
  });

  it("goes with all before it when another model made it", async () => {
    const memory = memoryOf();
    await memory.add(user("1"), entry(reasoned("a"), { model: "large" }));
    await memory.add(user("2"), entry(reasoned("b"), { model: "small" }));
    await memory.add(user("3"), entry(reasoned("c"), { model: "large" }), user("4"));
    expect(await reasoningOf(memory)).toEqual(["a", "b", "c"]);
    expect(await reasoningOf(memory, { model: "large" })).toEqual(["c"]);
    expect(await reasoningOf(memory, { model: "small" })).toEqual([]);
  });

  it("stays through a late result, which the model was shown as interrupted", async () => {
    const memory = memoryOf();
    await memory.add(user("1"), toolCall("toolu_1", "t", {}), user("2"), reasoned("a"));
    const before = await memory.messages();
    await memory.add(toolResult("toolu_1", "t", "late"), user("3"));
    expect((await memory.messages()).slice(0, 5)).toEqual(before.slice(0, 5));
    expect(await reasoningOf(memory)).toEqual(["a"]);
  });

  it("stays for a provider that binds it to nothing", async () => {
    const memory = memoryOf({ window: { maxMessages: 4 }, profile: openaiResponses });
    await memory.add(user("1"), reasoned("a"), user("2"), reasoned("b"), user("3"));
    expect(await reasoningOf(memory)).toEqual(["a", "b"]);
  });
});

describe("the profile of one call", () => {
  it("holds for that call alone", async () => {
    const memory = createChatMemory();
    await memory.add(user("1"), assistant("a"));
    expect(await memory.messages({ profile: anthropic })).toEqual([
      user("1"),
      assistant("a"),
      user("Please continue."),
    ]);
    expect(await memory.messages()).toEqual([user("1"), assistant("a")]);
  });

  it("repairs a memory that shows itself as it is otherwise", async () => {
    const memory = createChatMemory({ repair: false });
    await memory.add(user("1"), toolCall("c1", "t", {}), user("2"));
    expect((await memory.messages()).length).toBe(3);
    expect((await memory.messages({ profile: openaiResponses })).length).toBe(4);
  });

  it("repairs what processors made of such a memory, too", async () => {
    const withoutCalls: Processor<ModelMessage> = {
      name: "without calls",
      process: (all) => all.filter(({ role }) => role !== "assistant"),
    };
    const memory = createChatMemory({ repair: false, processors: [withoutCalls] });
    await memory.add(user("1"), toolCall("c1", "t", {}), toolResult("c1", "t", "ok"), user("2"));
    expect((await memory.messages()).length).toBe(3);
    expect(await memory.messages({ profile: openaiResponses })).toEqual([user("1"), user("2")]);
  });

  it("that is no profile, or stands beside repair: false, is INVALID_OPTION", async () => {
    const invalid = expect.objectContaining({ code: "INVALID_OPTION" });
    expect(() => createChatMemory({ profile: anthropic, repair: false })).toThrow(invalid);
    expect(() => createChatMemory({ profile: "anthropic" as never })).toThrow(invalid);
    const memory = createChatMemory();
    await expect(memory.messages({ profile: {} as never })).rejects.toEqual(invalid);
  });
});

describe("a call that waits for its approved run", () => {
  const asked: ModelMessage = assistant([
    { type: "tool-call", toolCallId: "toolu_1", toolName: "pay", input: {} },
    { type: "tool-approval-request", approvalId: "ok_1", toolCallId: "toolu_1" },
  ]);
  const approved: ModelMessage = {
    role: "tool",
    content: [{ type: "tool-approval-response", approvalId: "ok_1", approved: true }],
  };

  it("stays open in the last step, once it is approved", async () => {
    const memory = memoryOf();
    await memory.add(user("Pay"), asked);
    expect((await memory.messages()).length).toBe(3);
    await memory.add(approved);
    expect(await memory.messages()).toEqual([user("Pay"), asked, approved]);
  });

  it("stays open behind a call that was interrupted: the approval is in the last message", async () => {
    const memory = memoryOf({ profile: openai });
    const both = assistant([
      { type: "tool-call", toolCallId: "toolu_0", toolName: "look", input: {} },
      { type: "tool-call", toolCallId: "toolu_1", toolName: "pay", input: {} },
      { type: "tool-approval-request", approvalId: "ok_1", toolCallId: "toolu_1" },
    ]);
    await memory.add(user("Pay"), both, approved);
    const view = await memory.messages();
    expect(view.map((message) => format.toolResults(message).map(({ id }) => id))).toEqual([
      [],
      [],
      ["toolu_0"],
      [],
    ]);
    expect(view.at(-1)).toEqual(approved);
    await memory.add(toolResult("toolu_1", "pay", "Done."));
    expect((await memory.messages()).slice(0, 3)).toEqual(view.slice(0, 3));
  });

  it("stays open beside others, however the approvals came: the last message has them all", async () => {
    const both = assistant(
      ["1", "2"].flatMap((id) => [
        { type: "tool-call", toolCallId: `toolu_${id}`, toolName: "pay", input: {} } as const,
        { type: "tool-approval-request", approvalId: `ok_${id}`, toolCallId: `toolu_${id}` } as const,
      ]),
    );
    const yes = (approvalId: string): ModelMessage => ({
      role: "tool",
      content: [{ type: "tool-approval-response", approvalId, approved: true }],
    });
    const memory = memoryOf();
    await memory.add(user("Pay"), both, yes("ok_1"), yes("ok_2"));
    const view = await memory.messages();
    expect(view.flatMap((message) => format.toolResults(message))).toEqual([]);
    expect(format.approvals(view.at(-1) as ModelMessage).map(({ approvalId }) => approvalId)).toEqual([
      "ok_1",
      "ok_2",
    ]);
  });
});

describe("a window for a provider that binds reasoning", () => {
  const filled = async (profile: typeof anthropic | typeof openaiResponses): Promise<string[]> => {
    const memory = memoryOf({ window: { maxMessages: 20, target: 0.5, unit: "turn" }, profile });
    for (let turn = 1; turn <= 8; turn++) await memory.add(user(`${turn}`), assistant("ok"));
    await memory.add(user("9"));
    for (let step = 1; step <= 3; step++) {
      await memory.add(
        assistant([
          { type: "reasoning", text: `${step}`, providerOptions: { anthropic: { signature: "c2lnbmVk" } } },
          { type: "tool-call", toolCallId: `toolu_${step}`, toolName: "t", input: {} },
        ]),
      );
      await memory.add(toolResult(`toolu_${step}`, "t", "ok"));
    }
    return reasoningOf(memory);
  };

  it("makes room when the user's message comes, so that it need not while the model works with tools", async () => {
    expect(await filled(anthropic)).toEqual(["1", "2", "3"]);
  });

  it("of another provider evicts as late as it may", async () => {
    const memory = memoryOf({
      window: { maxMessages: 20, target: 0.5, unit: "turn" },
      profile: openaiResponses,
    });
    for (let turn = 1; turn <= 9; turn++) await memory.add(user(`${turn}`), assistant("ok"));
    expect((await memory.messages()).length).toBe(18);
  });
});
