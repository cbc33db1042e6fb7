import {
  AIMessage,
  type BaseMessage,
  BaseMessageChunk,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  RemoveMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { checkFormat } from "@turnkeep/conformance";
import { createChatMemory, isTurnkeepError } from "@turnkeep/core";
import { redact } from "@turnkeep/core/processors";
import { bedrock, gemini, strict, validate } from "@turnkeep/formats/profiles";
import { describe, expect, it } from "vitest";
import { copyOf, toDict } from "../src/format/dict.ts";
import { dictFormat } from "../src/format.ts";
import { langchainFormat } from "../src/index.ts";
import { samples, withDocument } from "./samples.ts";

const again = (message: BaseMessage): BaseMessage => langchainFormat.decode(langchainFormat.encode(message));

describe.each(Object.entries(samples()))("%s", (_, message) => {
  it("comes back as an instance of its class, to the last member", () => {
    const back = again(message);
    expect(back).toBeInstanceOf(message.constructor);
    expect(back instanceof BaseMessageChunk).toBe(message instanceof BaseMessageChunk);
    expect(toDict(back)).toEqual(toDict(message));
    expect(Object.isFrozen(back)).toBe(false);
    expect(back.contentBlocks).toEqual(message.contentBlocks);
  });

  it("can be serialized by LangChain with all that it holds", () => {
    expect(JSON.parse(JSON.stringify(again(message), bigints)).kwargs).toMatchObject(
      JSON.parse(JSON.stringify(toDict(message).data, bigints)),
    );
  });
});

const bigints = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);

it("keeps what a format promises", () => {
  checkFormat(dictFormat, Object.values(samples()).map(toDict));
});

it("is LangChain's own stored form, where that loses nothing", () => {
  const messages = [samples().named, samples().anthropic, samples().result] as BaseMessage[];
  const stored = messages.map((message) => JSON.parse(JSON.stringify(toDict(message))));
  const theirs = mapStoredMessagesToChatMessages(stored);
  expect(theirs.map(toDict)).toEqual(messages.map(toDict));
  expect(mapChatMessagesToStoredMessages(messages.map(again))).toEqual(messages.map(toDict));
});

it("keeps an artifact of a class as JSON would", () => {
  expect((again(withDocument()) as ToolMessage).artifact).toEqual([
    { pageContent: "A fjord is deep.", metadata: { page: 3, at: new Date(0) } },
  ]);
});

it("copies a message as the codec brings it back, and shares nothing with it", () => {
  for (const message of [...Object.values(samples()), withDocument()]) {
    const copy = copyOf(message);
    expect(copy).toBeInstanceOf(message.constructor);
    expect(toDict(copy)).toEqual(toDict(again(message)));
  }
  const artifact = {
    bytes: new Uint8Array([1, 2]),
    buffer: new Uint8Array([3, 4]).buffer,
    at: new Date(0),
    link: new URL("https://example.com/one"),
    rows: [{ n: 1 }],
  };
  const copy = copyOf(new ToolMessage({ content: "", tool_call_id: "call-1", artifact })) as ToolMessage;
  artifact.bytes[0] = 9;
  new Uint8Array(artifact.buffer)[0] = 9;
  artifact.at.setTime(9);
  artifact.link.pathname = "/nine";
  artifact.rows.push({ n: 9 });
  expect(copy.artifact).toEqual({
    bytes: new Uint8Array([1, 2]),
    buffer: new Uint8Array([3, 4]).buffer,
    at: new Date(0),
    link: new URL("https://example.com/one"),
    rows: [{ n: 1 }],
  });
});

it.each([
  ["a RemoveMessage", new RemoveMessage({ id: "human-1" }), /RemoveMessage/],
  ["plain data", { role: "user", content: "Hello" } as never, /no message of @langchain\/core/],
  [
    "a call without an id",
    new AIMessage({ content: "", tool_calls: [{ name: "one", args: {} }] }),
    /tool_calls\[0\]\.id/,
  ],
  ["a result without its call's id", new ToolMessage({ content: "", tool_call_id: "" }), /tool_call_id/],
  ["a block without a type", new HumanMessage({ content: [{ text: "private" }] as never }), /index 0/],
])("refuses %s", (_, message, text) => {
  const encode = () => langchainFormat.encode(message as BaseMessage);
  expect(encode).toThrow(text);
  expect(encode).not.toThrow(/private/);
  try {
    encode();
  } catch (error) {
    expect(isTurnkeepError(error, "INVALID_MESSAGE")).toBe(true);
  }
});

it("refuses an artifact that contains itself, or is nested without end", () => {
  const own: { self?: unknown } = {};
  own.self = own;
  let deep: object = {};
  for (let level = 0; level < 100_000; level++) deep = { deep };
  for (const artifact of [own, deep]) {
    const message = new ToolMessage({ content: "", tool_call_id: "call-1", artifact });
    expect(() => langchainFormat.encode(message)).toThrow(/INVALID_MESSAGE|could not be read again/);
  }
});

it("leaves a call out wherever the answer shows it", () => {
  for (const name of ["calls", "anthropic", "v1"]) {
    const message = samples()[name] as AIMessage;
    const left = langchainFormat.without(message, { toolCalls: (id) => id === "call-1" }) as AIMessage;
    expect(left).toBeInstanceOf(AIMessage);
    expect(JSON.stringify(toDict(left))).not.toContain("call-1");
    expect(left.text).toBe("I look.");
  }
});

it("changes a text wherever the answer shows it", () => {
  const message = samples().answer as AIMessage;
  const changed = langchainFormat.mapText?.(message, () => "…") as AIMessage;
  expect(changed.text).toBe("…");
  expect(changed.response_metadata).not.toHaveProperty("output");
  expect(changed.usage_metadata).toEqual(message.usage_metadata);
});

it("shows a provider what it accepts", async () => {
  const memory = createChatMemory({ format: langchainFormat });
  await memory.add(
    new HumanMessage({ content: "One", id: "h-1" }),
    new HumanMessage({ content: "Two", id: "h-2" }),
    new AIMessage({
      content: "I look.",
      id: "a-1",
      tool_calls: [{ id: "call-1", name: "search", args: {} }],
    }),
  );
  for (const profile of [bedrock, gemini]) {
    const view = await memory.messages({ profile, extra: [new HumanMessage("Go on")] });
    expect(view.map(({ type }) => type)).toEqual(["human", "ai", "tool", "human"]);
    const [question, answer, result] = view as [HumanMessage, AIMessage, ToolMessage];
    expect(question.text).toBe("OneTwo");
    expect(answer.tool_calls).toHaveLength(1);
    expect(result).toBeInstanceOf(ToolMessage);
    expect(result.status).toBe("error");
    expect(validate(view, profile, { format: langchainFormat })).toEqual([]);
  }
  const strictly = await memory.messages({ profile: strict });
  expect(validate(strictly, strict, { format: langchainFormat })).toEqual([]);
});

it("joins what belongs together, and nothing that would say something else", () => {
  const said = new AIMessage({ content: "I look.", id: "a-1" });
  const called = new AIMessage({
    content: "",
    id: "a-2",
    tool_calls: [{ id: "1", name: "search", args: {} }],
  });
  const joined = langchainFormat.joined?.(said, called) as AIMessage;
  expect(joined.text).toBe("I look.");
  expect(joined.tool_calls).toHaveLength(1);
  const v1 = new AIMessage({
    content: [{ type: "text", text: "Yes." }],
    response_metadata: { output_version: "v1" },
  });
  for (const [first, second] of [
    [called, said],
    [said, v1],
    [said, new HumanMessage("Yes.")],
    [new HumanMessage({ content: "Yes.", name: "ann" }), new HumanMessage({ content: "No.", name: "bob" })],
  ] as const) {
    expect(langchainFormat.joined?.(first, second)).toBeUndefined();
  }
});

it("works with processors, which see frozen messages", async () => {
  const memory = createChatMemory({
    format: langchainFormat,
    processors: [redact({ patterns: [/Oslo/], replacement: "…" })],
  });
  await memory.add(new HumanMessage("Weather in Oslo?"));
  const [shown] = await memory.messages();
  expect(shown).toBeInstanceOf(HumanMessage);
  expect(shown?.text).toBe("Weather in …?");
});
