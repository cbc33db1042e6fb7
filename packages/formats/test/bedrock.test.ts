import { createChatMemory, inMemoryStore, isTurnkeepError } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { type BedrockMessage, bedrockFormat as format } from "../src/bedrock.ts";
import { bedrock, validate } from "../src/profiles.ts";

const message = (role: string, content: object[]): BedrockMessage => ({ role, content }) as BedrockMessage;
const user = (...content: object[]): BedrockMessage => message("user", content);
const assistant = (...content: object[]): BedrockMessage => message("assistant", content);
const text = (of: string) => ({ text: of });
const call = (toolUseId: string, name = "weather") => ({
  toolUse: { toolUseId, name, input: { city: "Ulm" } },
});
const result = (toolUseId: string, of = "rain") => ({ toolResult: { toolUseId, content: [text(of)] } });
const thought = { reasoningContent: { reasoningText: { text: "Hm.", signature: "sig" } } };
const bytes = new Uint8Array([1, 2, 3]);
const cachePoint = { cachePoint: { type: "default" } };

describe("roles", () => {
  it.each([
    [message("system", [text("s")]), "system"],
    [user(text("u")), "user"],
    [user(), "user"],
    [assistant(text("a")), "assistant"],
    [user(result("a"), result("b")), "tool"],
    [user(result("a"), cachePoint), "tool"],
    [user(cachePoint), "user"],
    [user(result("a"), text("and?")), "user"],
  ] as [BedrockMessage, string][])("%j is %s", (one, role) => {
    expect(format.role(one)).toBe(role);
  });
});

describe("calls and results", () => {
  it("are read, and those of the API itself are none of the application's", () => {
    const own = { toolUse: { toolUseId: "s", name: "search", input: {}, type: "server_tool_use" } };
    const found = { toolResult: { toolUseId: "s", content: [text("x")], type: "found" } };
    expect(format.toolCalls(assistant(own, found, call("a")))).toEqual([{ id: "a", name: "weather" }]);
    expect(format.toolResults(assistant(own, found))).toEqual([]);
    expect(format.toolResults(user(result("a"), text("more"), result("b")))).toEqual([
      { id: "a" },
      { id: "b" },
    ]);
  });

  it("that were interrupted are answered in one message", () => {
    const calls = format.toolCalls(assistant(call("a"), call("b")));
    const gone = (toolUseId: string) => ({
      toolResult: { toolUseId, content: [text("gone")], status: "error" },
    });
    expect(format.interruptedResults(calls, "gone")).toEqual([user(gone("a"), gone("b"))]);
    expect(format.interruptedResults([], "gone")).toEqual([]);
  });
});

describe("pieces", () => {
  it("holds what a model reads, by place", () => {
    expect(format.pieces(assistant(thought, text("Let me see."), call("a"), cachePoint))).toEqual([
      { type: "text", text: "Hm.", of: "reasoning" },
      { type: "text", text: "Let me see.", of: "content" },
      { type: "text", text: "weather", of: "name" },
      { type: "text", text: '{"city":"Ulm"}', of: "tool-call" },
    ]);
    const image = { image: { format: "png", source: { bytes } } };
    const shown = { toolResult: { toolUseId: "a", content: [text("rain"), { json: { a: 1 } }, image] } };
    expect(format.pieces(user(shown))).toEqual([
      { type: "text", text: "rain", of: "tool-result" },
      { type: "text", text: '{"a":1}', of: "tool-result" },
      { type: "media", mediaType: "image/png", bytes: 3, data: bytes, of: "tool-result" },
    ]);
  });

  it("tells type and size of media where the message does", () => {
    const s3 = { s3Location: { uri: "s3://bucket/a" } };
    const file = { document: { format: "pdf", name: "A", context: "the law", source: { bytes: "AQID" } } };
    const one = user(
      { video: { format: "three_gp", source: s3 } },
      { audio: { format: "mp3", source: { bytes } } },
      file,
      { document: { name: "B", source: s3 } },
      { document: { name: "C", source: { content: [text("plain")] } } },
    );
    const media = { type: "media", bytes: undefined, of: "content" };
    expect(format.pieces(one)).toEqual([
      { ...media, mediaType: "video/3gpp" },
      { ...media, mediaType: "audio/mpeg", bytes: 3, data: bytes },
      { type: "text", text: "A", of: "name" },
      { type: "text", text: "the law", of: "content" },
      { ...media, mediaType: "application/pdf", bytes: 3, data: "AQID" },
      { type: "text", text: "B", of: "name" },
      { ...media, mediaType: undefined },
      { type: "text", text: "C", of: "name" },
      { type: "text", text: "plain", of: "content" },
    ]);
  });

  it("counts reasoning that is not shown by what carries it", () => {
    const hidden = { reasoningContent: { reasoningText: { text: "", signature: "sig" } } };
    const redacted = { reasoningContent: { redactedContent: bytes } };
    expect(format.pieces(assistant(hidden, redacted))).toEqual([
      { type: "text", text: "sig", of: "reasoning" },
      { type: "text", text: "AQID", of: "reasoning" },
    ]);
    expect(format.hasReasoning(assistant(redacted))).toBe(true);
  });
});

describe("a memory", () => {
  it("gives back bytes and signatures, from a store too, and shows an accepted list as it was", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "c", store, format, profile: bedrock });
    const said = [
      user(text("Weather?"), { image: { format: "png", source: { bytes } } }),
      assistant(thought, call("a"), call("b")),
      user(result("a"), result("b"), cachePoint),
      assistant({ reasoningContent: { redactedContent: bytes } }, text("Rain.")),
      user(text("Thanks.")),
    ];
    await memory.add(...said);
    expect(await memory.messages()).toEqual(said);
    const other = createChatMemory({ id: "c", store, format, profile: bedrock });
    expect((await other.messages())[0]).toStrictEqual(said[0]);
    expect(validate(said, bedrock, { format })).toEqual([]);
  });

  it("answers a call that a crash left open, in a turn of its own", async () => {
    const memory = createChatMemory({ format, profile: bedrock });
    await memory.add(user(text("Weather?")), assistant(call("a")), user(text("Are you there?")));
    const shown = await memory.messages();
    expect(shown[2]).toMatchObject({
      role: "user",
      content: [{ toolResult: { toolUseId: "a" } }, text("Are you there?")],
    });
    expect(validate(shown, bedrock, { format })).toEqual([]);
  });
});

describe("what is refused", () => {
  it.each([
    ["a text", "Hello", "is a string"],
    ["an unknown role", { role: "model", content: [] }, 'has the role "model"'],
    ["content that is a text", { role: "user", content: "Hello" }, "has a string as content"],
    ["a block that is no object", { role: "user", content: ["Hello"] }, "has a string as content[0]"],
    ["a text that is none", user({ text: 1 }), "has a number as content[0].text"],
    ["a call without an id", assistant({ toolUse: { name: "a" } }), "content[0].toolUse.toolUseId"],
    ["a call without a name", assistant({ toolUse: { toolUseId: "a" } }), "content[0].toolUse.name"],
    ["a result without an id", user({ toolResult: { content: [] } }), "content[0].toolResult.toolUseId"],
    [
      "a result of a text",
      user({ toolResult: { toolUseId: "a", content: "b" } }),
      "content[0].toolResult.content",
    ],
    ["an image without a source", user({ image: { format: "png" } }), "content[0].image.source"],
  ])("%s", (_, one, problem) => {
    const encode = (): string => format.encode(one as BedrockMessage);
    expect(encode).toThrow(problem);
    expect(encode).toThrow(expect.toSatisfy((error: unknown) => isTurnkeepError(error, "INVALID_MESSAGE")));
  });
});
