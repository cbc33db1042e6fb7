import { createChatMemory, isTurnkeepError } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { geminiFormat as format, type GeminiContent } from "../src/gemini.ts";
import { gemini, validate } from "../src/profiles.ts";

const user = (...parts: object[]): GeminiContent => ({ role: "user", parts });
const model = (...parts: object[]): GeminiContent => ({ role: "model", parts });
const text = (of: string) => ({ text: of });
const call = (name: string, id?: string) => ({
  functionCall: { ...(id && { id }), name, args: { city: "Ulm" } },
});
const response = (name: string, output: string, id?: string) => ({
  functionResponse: { ...(id && { id }), name, response: { output } },
});
const picture = { inlineData: { mimeType: "image/png", data: "aGVsbG8=" } };
const thought = { text: "Hm.", thought: true, thoughtSignature: "sig" };

describe("roles", () => {
  it.each([
    [{ role: "system", parts: [text("s")] }, "system"],
    [user(text("u")), "user"],
    [{ parts: [text("u")] }, "user"],
    [user(), "user"],
    [model(text("a")), "assistant"],
    [user(response("a", "b")), "tool"],
    [{ parts: [response("a", "b")] }, "tool"],
    [{ role: "function", parts: [response("a", "b")] }, "tool"],
    [user(response("a", "b"), text("and?")), "user"],
  ] as [GeminiContent, string][])("%j is %s", (content, role) => {
    expect(format.role(content)).toBe(role);
  });
});

describe("calls and responses", () => {
  it("are read with their ids, and by their names where there are none", () => {
    expect(format.toolCalls(model(call("weather", "1"), call("time")))).toEqual([
      { id: "1", name: "weather" },
      { id: "tool time", name: "time" },
    ]);
    expect(format.toolResults(user(response("weather", "rain", "1"), response("time", "9")))).toEqual([
      { id: "1", name: "weather" },
      { id: "tool time", name: "time" },
    ]);
  });

  it("are read in the spelling of the REST documents", () => {
    const asked = model({ function_call: { name: "time", args: { a: 1 } }, thought_signature: "sig" });
    expect(format.toolCalls(asked)).toEqual([{ id: "tool time", name: "time" }]);
    const answered = user({ function_response: { name: "time", response: { a: 1 } } });
    expect(format.toolResults(answered)).toEqual([{ id: "tool time", name: "time" }]);
    expect(format.pieces(user({ inline_data: { mime_type: "image/png", data: "aGVsbG8=" } }))).toEqual([
      { type: "media", mediaType: "image/png", bytes: 5, data: "aGVsbG8=", of: "content" },
    ]);
  });

  it("of the API itself are none of the application's", () => {
    const own = model(
      { toolCall: { id: "t", args: { a: 1 } } },
      { toolResponse: { id: "t", response: { b: 2 } } },
      { executableCode: { code: "1 + 1" } },
      { codeExecutionResult: { output: "2" } },
    );
    expect(format.toolCalls(own)).toEqual([]);
    expect(format.toolResults(own)).toEqual([]);
    expect(format.pieces(own)).toEqual([
      { type: "text", text: '{"a":1}', of: "tool-call" },
      { type: "text", text: '{"b":2}', of: "tool-result" },
      { type: "text", text: "1 + 1", of: "tool-call" },
      { type: "text", text: "2", of: "tool-result" },
    ]);
  });

  it("that were interrupted are answered in one content", () => {
    const calls = format.toolCalls(model(call("weather", "1"), call("time")));
    expect(format.interruptedResults(calls, "gone")).toEqual([
      user(
        { functionResponse: { id: "1", name: "weather", response: { error: "gone" } } },
        { functionResponse: { name: "time", response: { error: "gone" } } },
      ),
    ]);
    expect(format.interruptedResults([], "gone")).toEqual([]);
  });
});

describe("pieces", () => {
  it("holds what a model reads, by place", () => {
    const content = model(thought, text("Let me see."), call("weather", "1"));
    expect(format.pieces(content)).toEqual([
      { type: "text", text: "Hm.", of: "reasoning" },
      { type: "text", text: "Let me see.", of: "content" },
      { type: "text", text: "weather", of: "name" },
      { type: "text", text: '{"city":"Ulm"}', of: "tool-call" },
    ]);
    expect(format.hasReasoning(content)).toBe(true);
    expect(format.hasReasoning(model({ ...text("a"), thoughtSignature: "sig" }))).toBe(false);
    const shown = { functionResponse: { name: "weather", response: { output: "rain" }, parts: [picture] } };
    expect(format.pieces(user(shown))).toEqual([
      { type: "text", text: "weather", of: "name" },
      { type: "text", text: "rain", of: "tool-result" },
      { type: "media", mediaType: "image/png", bytes: 5, data: "aGVsbG8=", of: "tool-result" },
    ]);
  });

  it("holds all of a response that is a value", () => {
    const value = { functionResponse: { name: "weather", response: { sky: "grey", output: 4 } } };
    expect(format.pieces(user(value))).toEqual([
      { type: "text", text: "weather", of: "name" },
      { type: "text", text: '{"sky":"grey","output":4}', of: "tool-result" },
    ]);
  });

  it("tells of a file elsewhere what the content tells", () => {
    const file = { fileData: { mimeType: "video/mp4", fileUri: "gs://a/b.mp4" } };
    expect(format.pieces(user(file))).toEqual([
      { type: "media", mediaType: "video/mp4", bytes: undefined, of: "content" },
    ]);
  });

  it("counts a part that it does not know as JSON", () => {
    expect(format.pieces(user({ audioTranscription: { text: "Hi" } }))).toEqual([
      { type: "text", text: '{"audioTranscription":{"text":"Hi"}}', of: "content" },
    ]);
  });
});

describe("a memory", () => {
  const ask = user(text("Weather in Ulm and Rome?"));

  it("shows two calls of one name, without ids, and their responses as they were said", async () => {
    const memory = createChatMemory({ format, profile: gemini });
    const said = [
      ask,
      model(call("weather"), call("weather"), call("time")),
      user(response("weather", "rain"), response("weather", "sun"), response("time", "9")),
      model(text("Rain, and sun.")),
      user(text("And now?")),
      model(call("weather")),
      user(response("weather", "fog")),
    ];
    await memory.add(...said);
    expect(await memory.messages()).toEqual(said);
    expect(validate(said, gemini, { format })).toEqual([]);
  });

  it("answers the call that has no response, by its name", async () => {
    const memory = createChatMemory({ format, profile: gemini });
    await memory.add(ask, model(call("weather"), call("time")), user(response("time", "9")), user(text("?")));
    const interrupted = { functionResponse: { name: "weather", response: { error: expect.any(String) } } };
    expect((await memory.messages()).slice(1)).toEqual([
      model(call("weather"), call("time")),
      user(interrupted, response("time", "9")),
      user(text("?")),
    ]);
  });

  it("keeps responses that came one by one with their calls", async () => {
    const memory = createChatMemory({ format, profile: gemini });
    await memory.add(ask, model(call("weather"), call("weather")));
    await memory.add(user(response("weather", "rain")));
    await memory.add(user(response("weather", "sun")));
    expect(await memory.messages()).toEqual([
      ask,
      model(call("weather"), call("weather")),
      user(response("weather", "rain"), response("weather", "sun")),
    ]);
  });

  it("gives the system instruction apart", async () => {
    const memory = createChatMemory({ format });
    const instruction: GeminiContent = { role: "system", parts: [text("Be brief.")] };
    await memory.add(instruction, ask);
    expect(await memory.prompt()).toEqual({ system: instruction, messages: [ask] });
  });
});

describe("what is refused", () => {
  it.each([
    ["a text", "Hello", "is a string"],
    ["an unknown role", { role: "assistant", parts: [] }, 'has the role "assistant"'],
    ["a user's content without parts", { role: "user" }, "has no parts"],
    ["parts that are no list", { role: "user", parts: "Hello" }, "has a string as parts"],
    ["a part that is no object", { role: "user", parts: ["Hello"] }, "has a string as parts[0]"],
    ["a text that is none", user({ text: 1 }), "has a number as parts[0].text"],
    ["a call that is none", model({ functionCall: "a" }), "has a string as parts[0].functionCall"],
    ["a call without a name", model({ functionCall: {} }), "has undefined as parts[0].functionCall.name"],
    [
      "a response without a name",
      user({ function_response: { name: "" } }),
      "has an empty string as parts[0].function_response.name",
    ],
    [
      "media of a response that are no list",
      user({ functionResponse: { name: "a", parts: 1 } }),
      "has a number as parts[0].functionResponse.parts",
    ],
  ])("%s", (_, content, problem) => {
    const encode = (): string => format.encode(content as GeminiContent);
    expect(encode).toThrow(problem);
    expect(encode).toThrow(expect.toSatisfy((error: unknown) => isTurnkeepError(error, "INVALID_MESSAGE")));
  });

  it("is not an answer that was cut off before it said anything", () => {
    const content: GeminiContent = { role: "model" };
    expect(format.decode(format.encode(content))).toEqual(content);
    expect(format.isEmpty(content)).toBe(true);
  });
});
