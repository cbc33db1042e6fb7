import { describe, expect, test } from "vitest";
import {
  assistant,
  createChatMemory,
  entry,
  type MemoryEvent,
  type ModelMessage,
  type ProviderProfile,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { plain } from "./plain-profile.ts";

const call = (id: string): ModelMessage => toolCall(id, "look", {});
const result = (id: string): ModelMessage => toolResult(id, "look", `result ${id}`);
const results = (...ids: string[]): ModelMessage => ({
  role: "tool",
  content: ids.flatMap((id) => toolResult(id, "look", `result ${id}`).content),
});
const both = (...ids: string[]): ModelMessage =>
  assistant(ids.flatMap((id) => toolCall(id, "look", {}).content));
/** An answer that holds the result of a call before it, and calls again. */
const goingOn = assistant([...result("b").content, ...call("a").content] as never);
const text = { type: "text" as const, text: "It is this." };
const ownCall = {
  type: "tool-call" as const,
  toolCallId: "s",
  toolName: "search",
  input: {},
  providerExecuted: true,
};
const ownResult = {
  type: "tool-result" as const,
  toolCallId: "s",
  toolName: "search",
  output: { type: "text" as const, value: "found" },
};
const request = assistant([
  { type: "tool-call", toolCallId: "c", toolName: "pay", input: {} },
  { type: "tool-approval-request", approvalId: "ok", toolCallId: "c" },
]);
const response: ModelMessage = {
  role: "tool",
  content: [{ type: "tool-approval-response", approvalId: "ok", approved: true }],
};
const interrupted = (id: string, name = "look"): unknown =>
  expect.objectContaining({ content: [expect.objectContaining({ toolCallId: id, toolName: name })] });
const interruptedBoth = expect.objectContaining({
  content: ["a", "a"].map((toolCallId) => expect.objectContaining({ toolCallId })),
});

/** What a memory shows of messages that are called by their places, and what it reports of that. */
async function shownOf(
  messages: readonly ModelMessage[],
  profile?: ProviderProfile,
): Promise<{ view: ModelMessage[]; told: Extract<MemoryEvent, { type: "repaired" }>[] }> {
  const told: Extract<MemoryEvent, { type: "repaired" }>[] = [];
  const memory = createChatMemory<ModelMessage>({
    profile,
    onEvent: (event) => event.type === "repaired" && told.push(event),
  });
  await memory.add(...messages.map((message, place) => entry(message, { id: String(place) })));
  return { view: await memory.messages(), told };
}

/** Accepts everything. */
const any: ProviderProfile = {
  name: "any",
  firstMessage: "any",
  reasoning: "any",
  shape: (messages) => ({ messages: [...messages], stages: [] }),
};

describe("repair", () => {
  test.each<[string, ModelMessage[], unknown[], { leftOut?: string[]; interruptedCalls?: string[] }]>([
    ["a result without its call", [user("a"), result("x")], [user("a")], { leftOut: ["1"] }],
    [
      "a result that comes again",
      [call("a"), result("a"), result("a"), user("b")],
      [call("a"), result("a"), user("b")],
      { leftOut: ["2"] },
    ],
    [
      "a result behind one that says the call was aborted",
      [call("a"), toolResult("a", "look", "aborted by user after 3.2s"), result("a"), user("b")],
      [call("a"), result("a"), user("b")],
      { leftOut: ["1"] },
    ],
    [
      "a result before one that says the call was aborted",
      [call("a"), result("a"), toolResult("a", "look", "Cancelled."), user("b")],
      [call("a"), result("a"), user("b")],
      { leftOut: ["2"] },
    ],
    [
      "two results that say the call was aborted",
      [call("a"), toolResult("a", "look", "aborted"), toolResult("a", "look", "Interrupted."), user("b")],
      [call("a"), toolResult("a", "look", "aborted"), user("b")],
      { leftOut: ["2"] },
    ],
    [
      "results of calls that share an id, of which one was aborted and came after all",
      [both("a", "a"), toolResult("a", "look", "aborted"), results("a", "a"), user("b")],
      [both("a", "a"), results("a", "a"), user("b")],
      { leftOut: ["1"] },
    ],
    [
      "a result that comes when the model has gone on behind an aborted one",
      [call("a"), toolResult("a", "look", "aborted"), assistant("It was aborted."), result("a")],
      [call("a"), toolResult("a", "look", "aborted"), assistant("It was aborted.")],
      { leftOut: ["3"] },
    ],
    [
      "a long result that speaks of something cancelled",
      [call("a"), toolResult("a", "look", `Cancelled orders: ${"1, ".repeat(99)}`), result("a"), user("b")],
      [call("a"), toolResult("a", "look", `Cancelled orders: ${"1, ".repeat(99)}`), user("b")],
      { leftOut: ["2"] },
    ],
    [
      "a result beside another that nothing asked for",
      [call("a"), results("a", "x"), user("b")],
      [call("a"), result("a"), user("b")],
      { leftOut: ["1"] },
    ],
    [
      "a result of what the provider ran itself, which is there already",
      [assistant([ownCall, ownResult]), toolResult("s", "search", "again"), user("b")],
      [assistant([ownCall, ownResult]), user("b")],
      { leftOut: ["1"] },
    ],
    [
      "a result without its call, in an answer",
      [user("a"), assistant([ownResult, text]), user("b")],
      [user("a"), assistant([text]), user("b")],
      { leftOut: ["1"] },
    ],
    [
      "an answer that is no more than such a result",
      [user("a"), assistant([ownResult]), user("b")],
      [user("a"), user("b")],
      { leftOut: ["1"] },
    ],
    ["an approval of nothing", [user("a"), response, user("b")], [user("a"), user("b")], { leftOut: ["1"] }],
    [
      "an approval that comes when the call was taken for interrupted",
      [request, user("well?"), assistant("It was interrupted."), response],
      [request, interrupted("c", "pay"), user("well?"), assistant("It was interrupted.")],
      { leftOut: ["3"], interruptedCalls: ["c"] },
    ],
    [
      "calls of which some are answered",
      [assistant([...call("a").content, ...call("b").content] as never), result("b"), user("c")],
      [
        assistant([...call("a").content, ...call("b").content] as never),
        result("b"),
        interrupted("a"),
        user("c"),
      ],
      { interruptedCalls: ["a"] },
    ],
    [
      "calls that share an id, of which one is answered",
      [both("a", "a"), result("a"), user("b")],
      [both("a", "a"), result("a"), interrupted("a"), user("b")],
      { interruptedCalls: ["a"] },
    ],
    [
      "calls that share an id, of which none is answered",
      [both("a", "a"), user("b")],
      [both("a", "a"), interruptedBoth, user("b")],
      { interruptedCalls: ["a", "a"] },
    ],
    [
      "more results than calls that share an id",
      [both("a", "a"), results("a", "a", "a"), user("b")],
      [both("a", "a"), results("a", "a"), user("b")],
      { leftOut: ["1"] },
    ],
    [
      "a late result of calls that share an id",
      [both("a", "a"), result("a"), assistant("b"), result("a")],
      [both("a", "a"), result("a"), interrupted("a"), assistant("b")],
      { leftOut: ["3"], interruptedCalls: ["a"] },
    ],
    [
      "a call of two answers in one step, of which the first is answered",
      [both("a", "b"), goingOn, result("a"), user("b")],
      [both("a", "b"), result("a"), goingOn, interrupted("a"), user("b")],
      { interruptedCalls: ["a"] },
    ],
    [
      "calls stored one by one, of which the first is not answered",
      [call("a"), assistant("And b."), call("b"), result("b"), user("c")],
      [call("a"), interrupted("a"), assistant("And b."), call("b"), result("b"), user("c")],
      { interruptedCalls: ["a"] },
    ],
    [
      "calls stored one by one, of which the last is not answered",
      [call("a"), call("b"), call("c"), results("b", "a"), user("c")],
      [both("a", "b"), results("b", "a"), call("c"), interrupted("c"), user("c")],
      { interruptedCalls: ["c"] },
    ],
    [
      "a result behind another answer",
      [call("a"), call("b"), result("b"), assistant("It failed."), result("a")],
      [call("a"), interrupted("a"), call("b"), result("b"), assistant("It failed.")],
      { interruptedCalls: ["a"], leftOut: ["4"] },
    ],
    [
      "a call that is interrupted beside a result that is left out",
      [result("x"), call("a"), user("b")],
      [call("a"), interrupted("a"), user("b")],
      { leftOut: ["0"], interruptedCalls: ["a"] },
    ],
  ])("%s", async (_, messages, view, told) => {
    const shown = await shownOf(messages);
    expect(shown.view).toEqual(view);
    expect(shown.told).toEqual([
      {
        ...{ type: "repaired", memoryId: "default", interruptedCalls: [], leftOut: [], rules: [] },
        ...told,
      },
    ]);
  });

  test.each<[string, ModelMessage[]]>([
    ["an answered call", [call("a"), result("a"), user("b")]],
    ["calls that share an id", [both("a", "a"), results("a", "a"), user("b")]],
    ["calls that share an id, answered one by one", [both("a", "a"), result("a"), result("a"), user("b")]],
    ["results of several messages", [call("a"), result("a"), call("b"), results("b"), user("c")]],
    ["an approval and its result", [request, response, toolResult("c", "pay", "paid"), user("b")]],
    ["a call that still waits", [user("a"), call("a")]],
  ])("changes nothing of %s, and reports nothing", async (_, messages) => {
    expect(await shownOf(messages)).toEqual({ view: messages, told: [] });
  });

  test("puts results that came before their calls behind them, in their order", async () => {
    const [first, second] = [toolResult("a", "look", "first"), toolResult("a", "look", "second")];
    const messages = [first, second, both("a", "a"), user("b")];
    expect((await shownOf(messages)).view).toEqual([both("a", "a"), first, second, user("b")]);
  });

  test.each<[string, ModelMessage[], ModelMessage[]]>([
    [
      "results of one message",
      [call("a"), call("b"), results("a", "b"), user("c")],
      [both("a", "b"), results("a", "b"), user("c")],
    ],
    [
      "results one by one, in any order",
      [call("a"), call("b"), result("b"), result("a"), user("c")],
      [both("a", "b"), result("b"), result("a"), user("c")],
    ],
    [
      "words between the calls",
      [call("a"), assistant("And b."), call("b"), results("a", "b")],
      [
        assistant([...call("a").content, { type: "text", text: "And b." }, ...call("b").content] as never),
        results("a", "b"),
      ],
    ],
    [
      "calls that share an id",
      [call("a"), call("a"), result("a"), result("a")],
      [both("a", "a"), result("a"), result("a")],
    ],
    ["calls that still wait", [user("c"), call("a"), call("b")], [user("c"), both("a", "b")]],
    ["a call that still waits", [call("a"), call("b"), result("a")], [both("a", "b"), result("a")]],
  ])("calls that were stored one by one are one message: %s", async (_, messages, view) => {
    expect(await shownOf(messages)).toEqual({ view, told: [] });
  });

  test("where two of them cannot be one message, each is shown with its own results", async () => {
    const [first, second] = ["a", "b"].map(
      (id): ModelMessage => ({ ...call(id), providerOptions: { own: { id } } }) as ModelMessage,
    ) as [ModelMessage, ModelMessage];
    const { view, told } = await shownOf([first, second, results("a", "b"), user("c")]);
    expect(view).toEqual([first, result("a"), second, result("b"), user("c")]);
    expect(told).toEqual([]);
  });

  test("a call stored behind another one leaves memory with it", async () => {
    const memory = createChatMemory<ModelMessage>({ window: { maxMessages: 4 } });
    await memory.add(call("a"), call("b"), results("a", "b"), user("c"));
    expect(await memory.messages()).toEqual([both("a", "b"), results("a", "b"), user("c")]);
    await memory.add(assistant("d"));
    expect(await memory.messages()).toEqual([user("c"), assistant("d")]);
  });

  test("names the rules of the profile that asked for a change", async () => {
    const polite: ProviderProfile = {
      name: "polite",
      firstMessage: "any",
      reasoning: "any",
      shape: (messages) => ({ messages: [...messages], stages: [{ name: "greeting", messages }] }),
    };
    const { told } = await shownOf([user("a")], polite);
    expect(told).toEqual([
      expect.objectContaining({ leftOut: [], interruptedCalls: [], rules: ["greeting"] }),
    ]);
  });
});

describe("approvals that come one by one", () => {
  const asked = (...ids: string[]): ModelMessage =>
    assistant(
      ids.flatMap((id) => [
        { type: "tool-call" as const, toolCallId: id, toolName: "pay", input: {} },
        { type: "tool-approval-request" as const, approvalId: `ok ${id}`, toolCallId: id },
      ]),
    );
  const approved = (...ids: string[]): ModelMessage => ({
    role: "tool",
    content: ids.map((id) => ({ type: "tool-approval-response", approvalId: `ok ${id}`, approved: true })),
  });
  test.each([
    ["without a profile", undefined],
    ["for a provider", any],
  ])("are one message, whose calls all stay open, %s", async (_, profile) => {
    const said = [user("Pay."), asked("a", "b"), approved("a"), approved("b")];
    const { view, told } = await shownOf(said, profile);
    expect(view).toEqual([user("Pay."), asked("a", "b"), approved("a", "b")]);
    expect(told).toEqual([]);
    const paid = [toolResult("a", "pay", "paid"), toolResult("b", "pay", "paid"), user("Thanks.")];
    expect((await shownOf([...said, ...paid], profile)).view).toEqual([...view, ...paid]);
  });

  test("stay apart where a result came between them", async () => {
    const said = [asked("a", "b"), approved("a"), toolResult("a", "pay", "paid"), approved("b")];
    expect((await shownOf(said, any)).view).toEqual(said);
  });

  test("keep a call open that they approve beside a result of another", async () => {
    const both: ModelMessage = {
      role: "tool",
      content: [...toolResult("a", "pay", "paid").content, ...(approved("b").content as [])],
    };
    const said = [user("Pay."), asked("a", "b"), both];
    const { view, told } = await shownOf(said, any);
    expect(view).toEqual(said);
    expect(told).toEqual([]);
  });

  test("are not what asks for them", async () => {
    const { told } = await shownOf([user("Pay."), asked("a")], any);
    expect(told).toEqual([expect.objectContaining({ interruptedCalls: ["a"] })]);
  });

  test("leave no other call open", async () => {
    const { told } = await shownOf([asked("a", "b", "c"), approved("a"), approved("c")], any);
    expect(told).toEqual([expect.objectContaining({ interruptedCalls: ["b"] })]);
  });

  test("a call whose approval came too late is not left open once its step is the last again", async () => {
    const memory = createChatMemory();
    const call = { type: "tool-call" as const, toolCallId: "a", toolName: "t", input: {} };
    const request = { type: "tool-approval-request" as const, approvalId: "ok", toolCallId: "a" };
    await memory.add(user("Go"), assistant([call, request]), entry(assistant("Meanwhile"), { id: "said" }));
    const response = { type: "tool-approval-response" as const, approvalId: "ok", approved: true };
    await memory.add({ role: "tool", content: [response] });
    await memory.remove("said");
    const shown = await memory.messages({ profile: any });
    expect(JSON.stringify(shown.at(-1))).toContain("the user has not approved it");
  });

  test("a call that nobody has approved is told apart from one that may have run", async () => {
    const textOf = (view: readonly ModelMessage[], id: string): unknown =>
      view
        .flatMap(({ role, content }) => (role === "tool" ? content : []))
        .flatMap((part) => (part.type === "tool-result" && part.toolCallId === id ? [part.output] : []));
    const unapproved = [
      { type: "error-text", value: "The tool call was not carried out: the user has not approved it." },
    ];
    const unknown = [{ type: "error-text", value: "The tool call was interrupted: no result was recorded." }];
    const waits = [user("Pay."), asked("a", "b"), approved("b")];
    const waiting = (await shownOf(waits, any)).view;
    expect([textOf(waiting, "a"), textOf(waiting, "b")]).toEqual([unapproved, []]);
    const left = (await shownOf([...waits, user("Never mind.")])).view;
    expect([textOf(left, "a"), textOf(left, "b")]).toEqual([unapproved, unknown]);
    // Once the model has gone on, an approval changes nothing of what it was shown.
    const late = (await shownOf([...waits, user("Never mind."), assistant("Fine."), approved("a")])).view;
    expect(late).toEqual([...left, assistant("Fine.")]);
  });
});

describe("what the application says behind calls that wait", () => {
  const effort = (level: string): ModelMessage => ({
    role: "system",
    content: "",
    providerOptions: { openai: { reasoningEffortUpdate: level } },
  });
  const paid = toolResult("c", "pay", "paid");
  const thought = { type: "reasoning" as const, text: "hm" };
  const memoryOf = (options: { window?: { maxMessages: number }; profile?: ProviderProfile } = {}) =>
    createChatMemory<ModelMessage>({ ...options, systemMessages: "positioned" });

  test.each([
    ["a setting", effort("high")],
    ["an instruction", system("Be quick.")],
  ])("takes none for interrupted, and stands before them while they do: %s", async (_, said) => {
    const memory = memoryOf();
    await memory.add(user("Pay."), request);
    await memory.add(said);
    await memory.add(response);
    for (const profile of [undefined, any])
      expect(await memory.messages({ profile })).toEqual([user("Pay."), said, request, response]);
    await memory.add(paid);
    for (const profile of [undefined, any])
      expect(await memory.messages({ profile })).toEqual([user("Pay."), request, response, paid, said]);
  });

  test("stays behind a call that nobody has approved, where that gets a result", async () => {
    const memory = memoryOf();
    await memory.add(user("Pay."), request, effort("high"));
    expect(await memory.messages()).toEqual([user("Pay."), effort("high"), request]);
    expect(await memory.messages({ profile: any })).toEqual([
      user("Pay."),
      request,
      interrupted("c", "pay"),
      effort("high"),
    ]);
  });

  test("is one setting with what was set before them", async () => {
    const memory = memoryOf();
    await memory.add(user("Pay."), effort("low"), request, effort("high"), response);
    expect(await memory.messages({ profile: any })).toEqual([
      user("Pay."),
      effort("high"),
      request,
      response,
    ]);
  });

  test("makes the window count no result for them", async () => {
    const memory = memoryOf({ window: { maxMessages: 3 } });
    await memory.add(user("Pay."), request, effort("high"));
    expect(await memory.messages()).toEqual([user("Pay."), effort("high"), request]);
  });

  test("is a change before what the model thought of them, and after it", async () => {
    const bound = { ...any, reasoning: "bound" as const };
    const asked = assistant([thought, ...(request.content as never[])]);
    const memory = memoryOf({ profile: bound });
    await memory.add(user("Pay."), asked, response);
    expect(await memory.messages()).toEqual([user("Pay."), asked, response]);
    await memory.add(effort("high"));
    expect(await memory.messages()).toEqual([user("Pay."), effort("high"), request, response]);
    await memory.add(paid, assistant([thought, text]));
    expect(JSON.stringify(await memory.messages())).not.toContain("hm");
  });

  test("stands before them where a processor says it, too", async () => {
    const asked = assistant([thought, ...(request.content as never[])]);
    const memory = createChatMemory<ModelMessage>({
      processors: [{ name: "reminding", process: (messages) => [...messages, system("Be quick.")] }],
    });
    await memory.add(user("Pay."), asked, response);
    for (const profile of [undefined, any])
      expect(await memory.messages({ profile })).toEqual([
        user("Pay."),
        system("Be quick."),
        asked,
        response,
      ]);
    const bound = { ...any, reasoning: "bound" as const };
    const view = [user("Pay."), system("Be quick."), request, response];
    expect(await memory.messages({ profile: bound })).toEqual(view);
  });
});

describe("the beginning of a view in turns", () => {
  const window = { maxMessages: 10, unit: "turn" as const };
  test.each([true, false])("is a user's message (repair: %s)", async (repair) => {
    const memory = createChatMemory({ window, repair });
    await memory.add(assistant("a"));
    expect(await memory.messages()).toEqual([]);
    await memory.add(user("b"), assistant("c"));
    expect(await memory.messages()).toEqual([user("b"), assistant("c")]);
  });

  test("is a provider's compaction, whatever else stands in its step", async () => {
    const compacted = assistant([
      { type: "custom", kind: "openai.compaction", providerOptions: { openai: { itemId: "cmp_1" } } },
      ...(call("a").content as never[]),
    ]);
    const memory = createChatMemory<ModelMessage>({ window });
    await memory.add(compacted, result("a"), user("b"));
    expect(await memory.messages()).toEqual([compacted, result("a"), user("b")]);
  });

  test("is what there is, where a profile would be shown nothing else", async () => {
    const memory = createChatMemory({ window, profile: any });
    await memory.add(assistant("a"));
    expect(await memory.messages()).toEqual([assistant("a")]);
    await memory.add(user("b"));
    expect(await memory.messages()).toEqual([user("b")]);
  });
});

test.each([
  [true, [user("b")]],
  [false, [user("b"), result("a")]],
] as const)("a window of messages hides a part of a step (repair: %s)", async (repair, shown) => {
  let limit = 10;
  const memory = createChatMemory<ModelMessage>({
    window: { maxMessages: () => limit, unit: "message" },
    repair,
  });
  await memory.add(call("a"), user("b"), result("a"));
  limit = 2;
  expect(await memory.messages()).toEqual(shown);
});

describe("a request for approval that stands apart from its call", () => {
  const [asking, asks] = request.content as readonly unknown[];
  const apart = [user("Pay."), assistant([asking as never]), assistant([asks as never])];
  const paid = toolResult("c", "pay", "paid");

  test("is shown with the call, whose result it does not make late", async () => {
    const { view, told } = await shownOf([...apart, response, paid, assistant("Done.")]);
    expect(view).toEqual([user("Pay."), request, response, paid, assistant("Done.")]);
    expect(told).toEqual([]);
  });

  test("leaves the call open until it is answered", async () => {
    expect((await shownOf(apart)).view).toEqual([user("Pay."), request]);
    expect((await shownOf([...apart, response])).view).toEqual([user("Pay."), request, response]);
    const { view, told } = await shownOf([...apart, user("No.")]);
    expect(view).toEqual([user("Pay."), request, interrupted("c", "pay"), user("No.")]);
    expect(told).toEqual([expect.objectContaining({ interruptedCalls: ["c"], leftOut: [] })]);
  });

  test("leaves memory with it", async () => {
    const memory = createChatMemory<ModelMessage>({ window: { maxMessages: 4 } });
    await memory.add(...apart, response, paid, user("And now?"));
    expect(await memory.messages()).toEqual([user("And now?")]);
  });

  test("stays apart where the two cannot be one message", async () => {
    const other = { ...assistant([asks as never]), providerOptions: { a: { b: 1 } } };
    const first = { ...assistant([asking as never]), providerOptions: { a: { b: 2 } } };
    const { view } = await shownOf([user("Pay."), first, other, response, paid]);
    expect(view).toEqual([user("Pay."), first, other, response, paid]);
  });
});

test("one message may ask for tens of thousands of approvals", async () => {
  const ids = Array.from({ length: 40_000 }, (_, index) => String(index));
  const memory = createChatMemory<ModelMessage>({});
  const asks = ids.flatMap((id) => [
    { type: "tool-call" as const, toolCallId: `c${id}`, toolName: "pay", input: {} },
    { type: "tool-approval-request" as const, approvalId: id, toolCallId: `c${id}` },
  ]);
  const answers = ids.map((approvalId) => ({ ...response.content[0], approvalId }) as never);
  const messages: ModelMessage[] = [assistant(asks), { role: "tool", content: answers }];
  await memory.add(...messages);
  expect(await memory.messages()).toEqual(messages);
});

test("calls that share an id, their requests and the approvals of these are each shown once", async () => {
  const asking = (approvalId: string): ModelMessage =>
    assistant([
      { type: "tool-call", toolCallId: "c", toolName: "pay", input: { approvalId } },
      { type: "tool-approval-request", approvalId, toolCallId: "c" },
    ]);
  const approved = (approvalId: string): ModelMessage => ({
    role: "tool",
    content: [{ type: "tool-approval-response", approvalId, approved: true }],
  });
  const asked = [user("Pay twice."), asking("1"), asking("2"), approved("2"), approved("1")];
  const { view } = await shownOf([...asked, user("And?")]);
  const never = interrupted("c", "pay");
  expect(view).toEqual([
    ...[user("Pay twice."), asking("1"), never, approved("1"), asking("2"), never, approved("2")],
    user("And?"),
  ]);
});

test("one message with the results of calls between which others were not answered is shown with each of its own", async () => {
  const calls = ["a", "x", "b", "y", "a"];
  const { view } = await shownOf([user("Go"), ...calls.map(call), results("a", "b", "a"), user("And?")]);
  const pairs = calls.map((id) => [call(id), "xy".includes(id) ? interrupted(id) : result(id)]);
  expect(view).toEqual([user("Go"), ...pairs.flat(), user("And?")]);
});

test("a view that is to be sent leaves no call open that nobody runs now, whatever the profile", async () => {
  const asked = [user("Go"), both("a", "b"), result("a")];
  const memory = createChatMemory<ModelMessage>({ window: { maxMessages: 4 } });
  await memory.add(...asked);
  expect(await memory.messages()).toEqual(asked);
  expect(await memory.messages({ openCalls: "approved" })).toEqual([...asked, interrupted("b")]);
  expect((await memory.explain({ openCalls: "approved" })).messages.at(-1)?.state).toBe("repaired");
  const profile = plain;
  expect(await memory.messages({ profile })).toEqual([...asked, interrupted("b")]);
  expect(await memory.messages({ profile, openCalls: "any" })).toEqual(asked);
});

test("the window makes room for the results of calls that a view to be sent closes", async () => {
  const memory = createChatMemory<ModelMessage>({ window: { maxMessages: 4, target: 1 } });
  await memory.add(user("One"), user("Go"), both("a", "b"), result("a"));
  expect(await memory.messages()).toHaveLength(4);
  expect(await memory.messages({ openCalls: "approved" })).toEqual([
    ...[user("Go"), both("a", "b"), result("a")],
    interrupted("b"),
  ]);
});

test("approved calls stay open in a view that is to be sent", async () => {
  const memory = createChatMemory<ModelMessage>();
  await memory.add(user("Pay"), request, response);
  expect(await memory.messages({ openCalls: "approved" })).toEqual([user("Pay"), request, response]);
});
