import { createChatMemory, isTurnkeepError } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { ollamaFormat as format, type OllamaMessage } from "../src/ollama.ts";

const user = (content: string): OllamaMessage => ({ role: "user", content });
const call = (name: string, id?: string) => ({
  ...(id && { id }),
  function: { name, arguments: { city: "Ulm" } },
});
const asks = (...tool_calls: ReturnType<typeof call>[]): OllamaMessage =>
  ({ role: "assistant", content: "", tool_calls }) as OllamaMessage;
const result = (tool_name: string, content: string): OllamaMessage => ({ role: "tool", content, tool_name });

describe("calls and results", () => {
  it("are read by their names, and by ids where there are some", () => {
    expect(format.toolCalls(asks(call("weather"), call("time", "1")))).toEqual([
      { id: "tool weather", name: "weather" },
      { id: "1", name: "time" },
    ]);
    expect(format.toolResults(result("weather", "rain"))).toEqual([{ id: "tool weather", name: "weather" }]);
    expect(format.toolResults({ role: "tool", content: "9", tool_call_id: "1" })).toEqual([{ id: "1" }]);
    expect(format.toolCalls({ ...asks(call("weather")), role: "user" })).toEqual([]);
  });

  it("that were interrupted are answered one by one", () => {
    const calls = format.toolCalls(asks(call("weather"), call("time", "1")));
    expect(format.interruptedResults(calls, "gone")).toEqual([
      result("weather", "gone"),
      { ...result("time", "gone"), tool_call_id: "1" },
    ]);
  });
});

describe("pieces", () => {
  it("holds what a model reads, by place", () => {
    expect(format.pieces({ ...asks(call("weather")), content: "Let me see.", thinking: "Hm." })).toEqual([
      { type: "text", text: "Hm.", of: "reasoning" },
      { type: "text", text: "Let me see.", of: "content" },
      { type: "text", text: "weather", of: "name" },
      { type: "text", text: '{"city":"Ulm"}', of: "tool-call" },
    ]);
    expect(format.pieces(result("weather", "rain"))).toEqual([
      { type: "text", text: "weather", of: "name" },
      { type: "text", text: "rain", of: "tool-result" },
    ]);
    const bytes = new Uint8Array([1, 2]);
    expect(format.pieces({ role: "user", content: "", images: [bytes] })).toEqual([
      { type: "media", mediaType: "image/*", bytes: 2, data: bytes, of: "content" },
    ]);
  });
});

describe("a memory", () => {
  it("shows calls of one name without ids, and their results, as they were said", async () => {
    const memory = createChatMemory({ format });
    const said = [
      { role: "system", content: "Be brief." },
      user("Weather in Ulm and Rome?"),
      asks(call("weather"), call("weather"), call("time")),
      result("weather", "rain"),
      result("weather", "sun"),
      result("time", "9"),
      { role: "assistant", content: "Rain, and sun." },
      user("And now?"),
      asks(call("weather")),
      result("weather", "fog"),
    ];
    await memory.add(...said);
    expect(await memory.messages()).toEqual(said);
  });

  it("answers the call that has no result, by its name", async () => {
    const memory = createChatMemory({ format });
    await memory.add(user("?"), asks(call("weather"), call("time")), result("time", "9"), user("!"));
    expect((await memory.messages()).slice(2)).toEqual([
      result("time", "9"),
      result("weather", expect.stringContaining("interrupted")),
      user("!"),
    ]);
  });

  it("evicts a step as a whole", async () => {
    const memory = createChatMemory({ format, window: { maxMessages: 3 } });
    await memory.add(asks(call("weather")), result("weather", "rain"), user("a"), user("b"));
    expect(await memory.messages()).toEqual([user("a"), user("b")]);
  });
});

describe("what is refused", () => {
  it.each([
    ["a text", "Hello", "is a string"],
    ["an unknown role", { role: "model", content: "" }, 'has the role "model"'],
    ["content that is a list", { role: "user", content: [] }, "has an array as content"],
    ["a result that names neither tool nor call", { role: "tool", content: "4" }, "names no call"],
    ["images that are no list", { role: "user", content: "", images: "a" }, "has a string as images"],
    ["an image that is none", { role: "user", content: "", images: [1] }, "has a number as images[0]"],
    ["calls that are no list", { role: "assistant", content: "", tool_calls: {} }, "as tool_calls"],
    [
      "a call without a function",
      { role: "assistant", content: "", tool_calls: [{}] },
      "has undefined as tool_calls[0].function",
    ],
    [
      "a call without a name",
      { role: "assistant", content: "", tool_calls: [{ function: {} }] },
      "has undefined as tool_calls[0].function.name",
    ],
  ])("%s", (_, one, problem) => {
    const encode = (): string => format.encode(one as OllamaMessage);
    expect(encode).toThrow(problem);
    expect(encode).toThrow(expect.toSatisfy((error: unknown) => isTurnkeepError(error, "INVALID_MESSAGE")));
  });
});
