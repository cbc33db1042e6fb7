import { readdirSync } from "node:fs";
import {
  assistant,
  createChatMemory,
  modelMessageFormat as format,
  type ModelMessage,
  system,
  toolCall,
  toolResult,
  user,
} from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { uiMessageFormat } from "../src/ai-sdk.ts";
import * as profiles from "../src/profiles.ts";
import { characters } from "./profiles-conversations.ts";
import { byName } from "./rules/describe-rule.ts";
import { asked, begun, call, callsOf, half, otherCall, result, resultsOf } from "./rules/samples.ts";

const { validate, profileOf } = profiles;

const source = "https://example.com";

it.each([null, undefined, 5, {}, { role: "human", content: "a" }, { role: "user", content: [null] }])(
  "%j is no message, and INVALID_MESSAGE",
  (message) => {
    const messages = [user("a"), message as ModelMessage];
    expect(() => validate(messages, profiles.openai, { format })).toThrow(
      expect.objectContaining({ code: "INVALID_MESSAGE" }),
    );
  },
);

it("names each call and each result whose id is refused", () => {
  const messages = [user("a"), toolCall("search:0", "t", {}), toolResult("search:0", "t", "ok")];
  expect(validate(messages, profiles.bedrock, { format })).toMatchObject([
    { rule: "call-ids", index: 1, problem: expect.stringContaining("call's id") },
    { rule: "call-ids", index: 2, problem: expect.stringContaining("result's id") },
  ]);
});

it("names each call and each result whose tool's name is refused", () => {
  expect(validate(asked("a b", "abcDEF123"), profiles.mistral, { format })).toMatchObject([
    { rule: "tool-names", index: 1, problem: expect.stringContaining("call's tool") },
    { rule: "tool-names", index: 2, problem: expect.stringContaining("result's tool") },
  ]);
});

it("gives a new name to the tool of a call that is refused, and to nothing beside it", () => {
  const own = { ...half("srvtoolu_1", "tool-call", "web search"), input: {} };
  const found = half("srvtoolu_1", "tool-result", "web search");
  const made = { type: "tool-call" as const, toolCallId: "toolu_1", toolName: "a b", input: {} };
  const messages = [
    ...asked("search", "toolu_0"),
    assistant([own, found, made]),
    toolResult("toolu_1", "a b", "no"),
    assistant([found, { type: "text", text: "c" }]),
    assistant([half("srvtoolu_gone", "tool-result", "web search"), { type: "text", text: "d" }]),
  ];
  const named = profileOf("named", [{ rule: "tool-names", pattern: /^[a-z_]+$/, source }]);
  const shaped = named.shape(messages, format).messages;
  expect(shaped[3]).toEqual(assistant([own, found, { ...made, toolName: "a_b" }]));
  expect(shaped[4]).toEqual(toolResult("toolu_1", "a_b", "no"));
  for (const index of [0, 1, 2, 5, 6]) expect(shaped[index]).toBe(messages[index]);
  expect(validate(shaped, named, { format })).toEqual([]);
  const { renameTools: _, ...unable } = format;
  expect(named.shape([user("a"), assistant([own, found])], unable).stages).toEqual([]);
  const bare = profileOf("bare", [{ rule: "tool-names", pattern: /^[a-z]+$/, source }]);
  expect(bare.shape(asked("a b"), format).messages).toEqual(asked("a_b"));
});

it("leaves the names that the provider takes beside one that it refuses", () => {
  const calls = (...names: string[]) =>
    assistant(
      names.map((toolName, at) => ({ type: "tool-call", toolCallId: `call_${at}`, toolName, input: {} })),
    );
  const view = profiles.gemini.shape([user("a"), calls("mcp:pay.now", "a b", "x".repeat(128))], format);
  expect(view.messages[1]).toEqual(calls("mcp:pay.now", "a_b", "x".repeat(128)));
});

it("tells calls of tools that came to one name apart by their ids", () => {
  const calls = assistant(
    ["a.b", "a b"].map((toolName, at) => ({
      type: "tool-call",
      toolCallId: `call_${at}`,
      toolName,
      input: {},
    })),
  );
  const messages = [user("a"), calls, toolResult("call_0", "a.b", "1"), toolResult("call_1", "a b", "2")];
  const view = profiles.openai.shape(messages, format).messages;
  expect(view.slice(2)).toEqual([toolResult("call_0", "a_b", "1"), toolResult("call_1", "a_b", "2")]);
  expect(validate(view, profiles.openai, { format })).toEqual([]);
});

it("memory keeps the name that the model made up, and explain says what changed it in the view", async () => {
  const memory = createChatMemory({ profile: profiles.bedrock });
  const messages = asked("functions.weather");
  await memory.add(...messages);
  expect(await memory.messages()).toEqual(asked("functions_weather"));
  expect((await memory.history()).messages.map(({ message }) => message)).toEqual(messages);
  expect((await memory.explain()).messages.map(({ state, by }) => [state, by])).toEqual([
    ["shown", undefined],
    ["repaired", "tool-names"],
    ["repaired", "tool-names"],
  ]);
});

it("a call of a tool that a model made up is interrupted under the name that it is shown under", async () => {
  const memory = createChatMemory({ profile: profiles.gemini });
  await memory.add(...asked("weather now").slice(0, 2), user("b"));
  const view = await memory.messages();
  expect(view[1]).toEqual(toolCall("toolu_1", "weather_now", {}));
  expect(format.toolResults(view[2] as ModelMessage)).toEqual([{ id: "toolu_1", name: "weather_now" }]);
});

it("names a call without a result before a message that answers another and calls again", () => {
  const { content } = toolResult("a", "t", "ok");
  const again = assistant([...content, ...toolCall("c", "t", {}).content] as never);
  const calls = assistant([...toolCall("a", "t", {}).content, ...toolCall("b", "t", {}).content]);
  const messages = [user("a"), calls, again, toolResult("c", "t", "ok")];
  expect(validate(messages, profiles.openai, { format })).toMatchObject([{ rule: "tool-results", index: 1 }]);
});

it("names a call that shares its id with another, where there is one result for both", () => {
  const calls = assistant([...toolCall("a", "t", {}).content, ...toolCall("a", "t", {}).content] as never);
  const result = toolResult("a", "t", "ok");
  const rulesOf = (...results: ModelMessage[]) =>
    validate([user("a"), calls, ...results], profiles.openai, { format }).map(({ rule, index }) => [
      rule,
      index,
    ]);
  const shared = ["call-ids", 1];
  expect(rulesOf(result)).toEqual([["tool-results", 1], shared]);
  expect(rulesOf(result, result)).toEqual([shared]);
  expect(rulesOf(result, result, result)).toEqual([["tool-results", 4], shared]);
});

it("says that an answer comes first, or that one with calls does", () => {
  const problems = (profile: profiles.ProfileRules) =>
    validate([call, result, user("a")], profile, { format }).flatMap(({ rule, problem }) =>
      rule === "first-message" ? [problem] : [],
    );
  expect(problems(profiles.gemini)).toEqual(["the first message is not the user's"]);
  expect(problems(profiles.mistral)).toEqual(["the first message makes calls"]);
});

it("gives a new id to what is refused, and to nothing beside it", () => {
  const own = toolCall("srv:1", "look", {});
  const [part] = own.content as [object];
  const run = assistant([{ ...part, providerExecuted: true } as never, { type: "text", text: "b" }]);
  const messages = [run, toolCall("abc", "t", {}), toolResult("abc", "t", "ok"), toolCall("a:c", "t", {})];
  const short = profileOf("short", [{ rule: "call-ids", pattern: /^[a-z0-9]+$/, unique: "request", source }]);
  const shaped = short.shape(messages, format).messages;
  for (const index of [0, 1, 2]) expect(shaped[index]).toBe(messages[index]);
  expect(validate(shaped, short, { format })).toEqual([]);
});

it("tells a provider's own calls by their names alone, where the profile says so", () => {
  const rule: profiles.ProviderRule = { rule: "provider-calls", own: { name: /^web_/ }, source };
  const local = profileOf("local", [rule]);
  const found = (name: string) =>
    assistant([half("1", "tool-call", name), half("1", "tool-result", name), { type: "text", text: "b" }]);
  expect(validate([user("a"), found("web_search")], local, { format })).toEqual([]);
  expect(validate([user("a"), found("search")], local, { format })).toMatchObject([{ index: 1 }]);
});

it("every rule has a test of its own, with a case for every profile that has it", () => {
  const tests = readdirSync(new URL("./rules/", import.meta.url));
  for (const [name, profile] of Object.entries(byName)) {
    expect(profile.name).toBe(name);
    for (const { rule, source } of profile.rules) {
      expect(source).toMatch(/^https:\/\//);
      expect(tests).toContain(`${rule}.test.ts`);
    }
  }
});

it("a list that nobody refuses stays as it is, message for message", () => {
  const messages = [
    system("Be brief."),
    user("a"),
    toolCall("abcDEF123", "t", {}),
    toolResult("abcDEF123", "t", "ok"),
    assistant("b"),
    user("c"),
  ];
  for (const profile of Object.values(byName)) {
    const shaped = profile.shape(messages, format);
    expect(shaped.stages).toEqual([]);
    for (const [index, message] of shaped.messages.entries()) expect(message).toBe(messages[index]);
  }
});

it("strict has every rule that another has", () => {
  const own = new Set(profiles.strict.rules.map(({ rule }) => rule));
  for (const { rules } of Object.values(byName)) for (const { rule } of rules) expect(own).toContain(rule);
});

it("nothing is put before a provider's own compaction, and nothing before it is shown", async () => {
  const compaction: ModelMessage = assistant([
    { type: "text", text: "So far: 1.", providerOptions: { anthropic: { type: "compaction" } } },
  ]);
  for (const profile of [profiles.anthropic, profiles.strict]) {
    const memory = createChatMemory({ profile });
    await memory.add(system("Be brief."), user("1"), assistant("a"), compaction, user("2"));
    const view = await memory.messages();
    expect(view).toEqual([system("Be brief."), compaction, user("2")]);
    expect(validate(view, profile, { format })).toEqual([]);
  }
});

it("a call without a result is interrupted in its place, before the result of a later call", async () => {
  for (const profile of [profiles.gemini, profiles.strict]) {
    const memory = createChatMemory({ profile });
    const calls = callsOf(3);
    await memory.add(user("a"), calls, toolResult("call_2", "t", "ok"), toolResult("call_1", "t", "ok"));
    await memory.add(user("b"));
    const results = (await memory.messages()).flatMap((message) => format.toolResults(message));
    const asked = format.toolCalls((await memory.messages())[1] as ModelMessage);
    expect(results.map(({ id }) => id)).toEqual(asked.map(({ id }) => id));
  }
});

it("a memory evicts what is more than a request may hold, without a window of its own", async () => {
  const memory = createChatMemory({ profile: profileOf("small", [{ rule: "messages", limit: 3, source }]) });
  for (const text of ["1", "2", "3", "4"]) await memory.add(user(text));
  expect(await memory.messages()).toEqual([user("2"), user("3"), user("4")]);
});

describe("a memory whose profile wants the user's message first", () => {
  const opening = user("Here is our conversation so far.");

  it.each([
    ["whole turns", profiles.anthropic, [user("2"), assistant("b"), user("3")]],
    ["steps, for another", profiles.openai, [assistant("a"), user("2"), assistant("b"), user("3")]],
  ])("evicts %s", async (_, profile, view) => {
    const memory = createChatMemory({ profile, window: { maxTokens: 100, counter: characters } });
    await memory.add(user("1".repeat(99)), assistant("a"), user("2"), assistant("b"), user("3"));
    expect(await memory.messages()).toEqual(view);
  });

  it("shows what the model said before the user came", async () => {
    const memory = createChatMemory({ profile: profiles.anthropic, window: { maxMessages: 40 } });
    await memory.add(system("Be brief."), assistant("Where do you live?"), user("Oslo"));
    expect(await memory.messages()).toEqual([
      system("Be brief."),
      opening,
      assistant("Where do you live?"),
      user("Oslo"),
    ]);
  });

  it("shows the steps before a late question, and lets the oldest go where it is to be smaller", async () => {
    const memory = createChatMemory({ profile: profiles.gemini });
    for (let index = 0; index < 10; index++) {
      await memory.add(
        toolCall(`call_${index}`, "look", {}),
        toolResult(`call_${index}`, "look", "x".repeat(50)),
      );
    }
    await memory.add(user("What have you found?"));
    expect(await memory.messages()).toHaveLength(1 + 20 + 1);
    expect(await memory.shrink()).toMatchObject({ messagesBefore: 21 });
    const { messages } = await memory.history({ states: ["live"] });
    expect(messages.length).toBeLessThan(21);
  });
});

it.each<[string, () => unknown, RegExp]>([
  [
    "a rule that there is not",
    () => profileOf("x", [{ rule: "first", source: "" } as never]),
    /"x".*"first"/,
  ],
  ["rules that are no list", () => profileOf("x", "not-empty" as never), /an array of rules/],
  ["a profile without a name", () => profileOf([] as never, [] as never), /takes a profile's name/],
  ["an empty name", () => profileOf("", []), /takes a profile's name/],
  ["nothing in a rule's place", () => profileOf("x", [null as never]), /"x" has null among its rules/],
  ["a rule without a name", () => profileOf("x", [{ source } as never]), /"x" has a rule undefined/],
  [
    "a rule that there is already",
    () => profileOf("x", [...profiles.openai.rules, { rule: "messages", limit: 9, source }]),
    /the rule "messages" twice: filter out the one/,
  ],
  [
    "a rule without its source",
    () => profileOf("x", [{ rule: "not-empty" } as never]),
    /"not-empty" of the profile "x": source must be a text .*; it is undefined\./,
  ],
  [
    "a limit in words",
    () => profileOf("x", [{ rule: "images", limit: "20", source } as never]),
    /"images" of the profile "x": limit must be a non-negative integer; it is "20"\./,
  ],
  [
    "a limit below nothing",
    () => profileOf("x", [{ rule: "calls", limit: -1, source }]),
    /"calls" .*: limit must be a non-negative integer; it is -1\./,
  ],
  [
    "a pattern in words",
    () => profileOf("x", [{ rule: "call-ids", pattern: "a+", unique: "request", source } as never]),
    /pattern must be a regular expression .*; it is "a\+"\./,
  ],
  [
    "a pattern that begins where it stopped the last time",
    () => profileOf("x", [{ rule: "call-ids", pattern: /a+/g, unique: "request", source }]),
    /pattern must be .* without the flags g and y; it is "\/a\+\/g"\./,
  ],
  [
    "a pattern of names that is none",
    () => profileOf("x", [{ rule: "tool-names", source } as never]),
    /"tool-names" .*: pattern must be a regular expression .*; it is undefined\./,
  ],
  [
    "names that are to be unique",
    () => profileOf("x", [{ rule: "tool-names", pattern: /a/, unique: true, source } as never]),
    /"tool-names" of the profile "x" takes pattern, source; it was given "unique"\./,
  ],
  [
    "another one",
    () => profileOf("x", [{ rule: "provider-calls", own: { id: /a+/y }, source }]),
    /own must be .* without the flags g and y; it is an object\./,
  ],
  [
    "own calls by what they are not told by",
    () => profileOf("x", [{ rule: "provider-calls", own: { type: /a/ }, source } as never]),
    /own must be an object of name and id, .*; it is an object\./,
  ],
  [
    "roles that are none",
    () => profileOf("x", [{ rule: "same-role", roles: ["human"], source } as never]),
    /roles must be an array of "system", "user", "assistant", "tool"; it is an array\./,
  ],
  [
    "a field that there is not",
    () => profileOf("x", [{ rule: "last-message", pause: true, source } as never]),
    /"last-message" of the profile "x" takes paused, source; it was given "pause"\./,
  ],
  [
    "another kind of reasoning",
    () => profileOf("x", [{ rule: "reasoning", kept: "some", source } as never]),
    /kept must be "none" or "bound"; it is "some"\./,
  ],
  [
    "a list without its format",
    () => validate([], profiles.openai, {} as never),
    /needs the messages' format/,
  ],
  [
    "a list with nothing beside its profile",
    () => validate([], profiles.openai, undefined as never),
    /needs the messages' format/,
  ],
  [
    "a profile's name in its place",
    () => validate([], "openai" as never, { format }),
    /a profile, such as openai, not a string/,
  ],
  [
    "a misspelt option",
    () => validate([], profiles.openai, { format, formats: format } as never),
    /^validate's third argument .*"formats"/,
  ],
  [
    "no list of messages",
    () => validate("[]" as never, profiles.openai, { format }),
    /a list of messages, not a string/,
  ],
])("%s is INVALID_OPTION", (_, call, message) => {
  expect(call).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringMatching(message) }),
  );
});

it("shows no provider that an answer began, since some of the AI SDK's packages throw at it", async () => {
  const ui = uiMessageFormat();
  for (const profile of [
    profiles.anthropic,
    profiles.gemini,
    profiles.bedrock,
    profiles.mistral,
    profiles.strict,
  ]) {
    const memory = createChatMemory({ profile });
    await memory.add(user("a"), assistant([begun, { type: "text", text: "b" }]), user("c"));
    expect(JSON.stringify(await memory.messages())).not.toContain("message_start");
    const shown = createChatMemory({ format: ui, profile });
    const { providerOptions: providerMetadata, ...part } = begun;
    const parts = [
      { ...part, providerMetadata },
      { type: "text", text: "b" },
    ] as never;
    await shown.add(
      { id: "1", role: "user", parts: [{ type: "text", text: "a" }] as never },
      { id: "2", role: "assistant", parts },
      { id: "3", role: "user", parts: [{ type: "text", text: "c" }] as never },
    );
    expect(JSON.stringify(await shown.messages())).not.toContain("message_start");
  }
});

it("leaves out what OpenAI ran with the reasoning that led to it", async () => {
  const reasoning = (id: string) => ({
    type: "reasoning" as const,
    text: "",
    providerOptions: { openai: { itemId: id } },
  });
  const memory = createChatMemory({ profile: profiles.openaiResponses });
  const cutOff = [
    reasoning("rs_1"),
    half("ws_1", "tool-call"),
    half("ws_1", "tool-result"),
    reasoning("rs_2"),
  ];
  await memory.add(user("a"), assistant(cutOff), user("b"));
  expect(await memory.messages()).toEqual([user("a"), user("b")]);
});

it("of answers that a provider joins, each call needs its result all the same", () => {
  const messages = [user("a"), call, assistant("And"), otherCall, result, user("b")];
  expect(validate(messages, profiles.anthropic, { format })).toMatchObject([
    { rule: "tool-results", index: 3 },
  ]);
});

it("explaining a view tells what a provider takes too much of", async () => {
  const memory = createChatMemory({ profile: profiles.openai });
  await memory.add(user("a"), callsOf(129), resultsOf(129));
  await expect(memory.messages()).rejects.toMatchObject({ code: "WINDOW_OVERFLOW" });
  expect((await memory.explain()).overflow).toEqual({ needed: 129, limit: 128 });
});
