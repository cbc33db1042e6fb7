import { isTurnkeepError } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { type ChatMessage, openaiFormat as format } from "../src/openai.ts";

const call = (id: string, name = "weather") =>
  ({ id, type: "function", function: { name, arguments: '{"city":"Ulm"}' } }) as const;
const asks: ChatMessage = { role: "assistant", content: null, tool_calls: [call("a"), call("b", "time")] };
const custom: ChatMessage = {
  role: "assistant",
  content: "",
  tool_calls: [{ id: "c", type: "custom", custom: { name: "sql", input: "select 1" } }],
};
const legacy: ChatMessage = {
  role: "assistant",
  content: null,
  function_call: { name: "weather", arguments: "{}" },
};

describe("roles", () => {
  it.each([
    [{ role: "system", content: "s" }, "system"],
    [{ role: "developer", content: "d" }, "system"],
    [{ role: "user", content: "u" }, "user"],
    [{ role: "assistant", content: "a" }, "assistant"],
    [{ role: "tool", content: "t", tool_call_id: "a" }, "tool"],
    [{ role: "function", content: null, name: "f" }, "tool"],
  ] as [ChatMessage, string][])("%j is %s", (message, role) => {
    expect(format.role(message)).toBe(role);
  });
});

describe("calls and results", () => {
  it("reads function calls, custom calls and the older function_call", () => {
    expect(format.toolCalls(asks)).toEqual([
      { id: "a", name: "weather" },
      { id: "b", name: "time" },
    ]);
    expect(format.toolCalls(custom)).toEqual([{ id: "c", name: "sql" }]);
    expect(format.toolCalls({ role: "user", content: "no calls" })).toEqual([]);
  });

  it("pairs function_call with the function message of that name", () => {
    const [ref] = format.toolCalls(legacy);
    expect(ref?.name).toBe("weather");
    expect(format.toolResults({ role: "function", name: "weather", content: "rain" })).toEqual([ref]);
    expect(format.interruptedResults(ref === undefined ? [] : [ref], "gone")).toEqual([
      { role: "function", name: "weather", content: "gone" },
    ]);
  });

  it("answers interrupted calls with tool messages", () => {
    expect(format.interruptedResults(format.toolCalls(asks), "gone")).toEqual([
      { role: "tool", tool_call_id: "a", content: "gone" },
      { role: "tool", tool_call_id: "b", content: "gone" },
    ]);
  });
});

describe("pieces", () => {
  it("holds what a model reads, by place", () => {
    expect(format.pieces(asks)).toEqual([
      { type: "text", text: "weather", of: "name" },
      { type: "text", text: '{"city":"Ulm"}', of: "tool-call" },
      { type: "text", text: "time", of: "name" },
      { type: "text", text: '{"city":"Ulm"}', of: "tool-call" },
    ]);
    expect(
      format.pieces({ role: "tool", tool_call_id: "a", content: [{ type: "text", text: "rain" }] }),
    ).toEqual([{ type: "text", text: "rain", of: "tool-result" }]);
    expect(format.pieces({ role: "user", name: "Ada", content: "Hi" })).toEqual([
      { type: "text", text: "Ada", of: "name" },
      { type: "text", text: "Hi", of: "content" },
    ]);
    expect(
      format.pieces({ role: "assistant", content: null, audio: { id: "audio-1" }, refusal: "No." }),
    ).toEqual([
      { type: "text", text: "No.", of: "content" },
      { type: "media", mediaType: "audio/*", of: "content" },
    ]);
  });

  it("tells type and size of media where the message does", () => {
    const content: ChatMessage & { role: "user" } = {
      role: "user",
      content: [
        { type: "image_url", image_url: { url: "data:image/png;base64,aGVsbG8=" } },
        { type: "image_url", image_url: { url: "https://example.org/a.png", detail: "low" } },
        { type: "input_audio", input_audio: { data: "aGVsbG8=", format: "mp3" } },
        { type: "input_audio", input_audio: { data: "aGVsbG8=", format: "wav" } },
        { type: "file", file: { file_id: "file-1" } },
        { type: "file", file: { file_data: "data:application/pdf;base64,aGk=", filename: "a.pdf" } },
        { type: "file", file: { file_data: "aGk=", filename: "a.pdf" } },
      ],
    };
    expect(format.pieces(content)).toEqual([
      { type: "media", mediaType: "image/png", bytes: 5, data: "aGVsbG8=", of: "content" },
      { type: "media", mediaType: "image/*", bytes: undefined, detail: "low", of: "content" },
      { type: "media", mediaType: "audio/mpeg", bytes: 5, data: "aGVsbG8=", of: "content" },
      { type: "media", mediaType: "audio/wav", bytes: 5, data: "aGVsbG8=", of: "content" },
      { type: "media", mediaType: undefined, bytes: undefined, of: "content" },
      { type: "media", mediaType: "application/pdf", bytes: 2, data: "aGk=", of: "content" },
      { type: "media", mediaType: undefined, bytes: 2, data: "aGk=", of: "content" },
    ]);
  });

  it.each([
    ["data:image/png;base64,aG\n kK", { mediaType: "image/png", bytes: 3, data: "aG\n kK" }],
    ["DATA: Image/PNG ;name=a; BASE64 ,aGk=", { mediaType: "image/png", bytes: 2, data: "aGk=" }],
    ["data:image/svg+xml;utf8,%3Csvg/>", { mediaType: "image/svg+xml", bytes: 6 }],
    ["data:,a", { mediaType: "text/plain", bytes: 1 }],
    ["data:image/png", { mediaType: "image/*", bytes: undefined }],
    ["https://example.org/?of=data:image/png;base64,aGk=", { mediaType: "image/*", bytes: undefined }],
  ])("reads type and size in %j", (url, facts) => {
    const message: ChatMessage = { role: "user", content: [{ type: "image_url", image_url: { url } }] };
    expect(format.pieces(message)).toEqual([{ type: "media", of: "content", ...facts }]);
  });

  it("holds what stands beside an answer's text", () => {
    const message = {
      role: "assistant",
      reasoning_content: "Hm.",
      content: [{ type: "refusal", refusal: "No." }],
      audio: { id: "audio_1" },
      function_call: { name: "weather", arguments: "{}" },
    } as ChatMessage;
    expect(format.pieces(message)).toEqual([
      { type: "text", text: "Hm.", of: "reasoning" },
      { type: "text", text: "No.", of: "content" },
      { type: "media", mediaType: "audio/*", bytes: undefined, of: "content" },
      { type: "text", text: "weather", of: "name" },
      { type: "text", text: "{}", of: "tool-call" },
    ]);
  });

  it("counts a part of an unknown type by its JSON", () => {
    const message = { role: "user", content: [{ type: "video_url", video_url: { url: "v" } }] };
    expect(format.pieces(message as unknown as ChatMessage)).toEqual([
      { type: "text", text: '{"type":"video_url","video_url":{"url":"v"}}', of: "content" },
    ]);
  });

  it("are texts, whatever the application gave as a name or a refusal", () => {
    const message = { role: "assistant", content: null, name: 17, refusal: { reason: "No." } };
    expect(format.pieces(message as unknown as ChatMessage)).toEqual([
      { type: "text", text: "17", of: "name" },
      { type: "text", text: '{"reason":"No."}', of: "content" },
    ]);
  });
});

describe("isEmpty", () => {
  it.each([
    [{ role: "user", content: " \n" }, true],
    [{ role: "user", content: [] }, true],
    [{ role: "user", content: [{ type: "text", text: " " }] }, true],
    [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }, false],
    [{ role: "assistant", content: null }, true],
    [{ role: "assistant", content: null, refusal: "No." }, false],
    [{ role: "assistant", content: [{ type: "refusal", refusal: "No." }] }, false],
    [{ role: "assistant", content: [{ type: "refusal", refusal: " " }] }, true],
    [{ role: "assistant", content: null, audio: { id: "audio-1" } }, false],
    [{ role: "assistant", tool_calls: [] }, true],
    [{ role: "assistant", content: null, reasoning_content: "Hm." }, false],
    [{ role: "function", name: "weather", content: null }, false],
    [asks, false],
    [legacy, false],
    [{ role: "tool", content: "", tool_call_id: "a" }, false],
  ] as [ChatMessage, boolean][])("%j: %s", (message, empty) => {
    expect(format.isEmpty(message)).toBe(empty);
  });
});

describe("without", () => {
  const only = (id: string) => (other: string) => other === id;

  it("leaves single calls out and keeps the others as they are", () => {
    expect(format.without(asks, { toolCalls: only("a") })).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [call("b", "time")],
    });
  });

  it("answers nothing where nothing is left, and the message itself where nothing changed", () => {
    expect(format.without(asks, { toolCalls: () => true })).toBeUndefined();
    expect(format.without(legacy, { toolCalls: () => true })).toBeUndefined();
    expect(format.without(custom, { toolCalls: only("x"), media: true, reasoning: true })).toBe(custom);
  });

  it("keeps an assistant's text without its calls, and without an empty list of calls", () => {
    expect(format.without({ ...asks, content: "Let me see." }, { toolCalls: () => true })).toEqual({
      role: "assistant",
      content: "Let me see.",
    });
  });

  it("keeps a function_call beside calls that are left out", () => {
    const function_call = { name: "weather", arguments: "{}" };
    expect(format.without({ ...asks, function_call }, { toolCalls: (id) => id.length === 1 })).toEqual(
      legacy,
    );
  });

  it("keeps calls without the media beside them", () => {
    const content = [{ type: "image_url", image_url: { url: "https://example.org/a.png" } }];
    const message = { ...asks, content, audio: { id: "audio-1" } } as unknown as ChatMessage;
    expect(format.without(message, { media: true })).toEqual(asks);
  });

  it("leaves a result out by the id of its call", () => {
    const result: ChatMessage = { role: "tool", content: "rain", tool_call_id: "a" };
    expect(format.without(result, { toolResults: only("a") })).toBeUndefined();
    expect(format.without(result, { toolResults: only("b") })).toBe(result);
  });

  it("leaves reasoning out that servers add beside OpenAI's members", () => {
    const message = { role: "assistant", content: "42", reasoning_content: "6 × 7" } as ChatMessage;
    expect(format.hasReasoning(message)).toBe(true);
    expect(format.without(message, { reasoning: true })).toEqual({ role: "assistant", content: "42" });
  });

  it("keeps a result that was nothing but media, as an answer to its call", () => {
    const message = {
      role: "tool",
      tool_call_id: "a",
      content: [{ type: "image_url", image_url: { url: "https://example.org/a.png" } }],
    } as unknown as ChatMessage;
    expect(format.without(message, { media: true })).toEqual({
      role: "tool",
      tool_call_id: "a",
      content: "",
    });
  });
});

describe("encode", () => {
  it.each([
    [{ role: "robot", content: "x" }, 'the role "robot"'],
    [{ content: "x" }, "undefined as role"],
    ["hello", "is a string"],
    [{ role: "user" }, "has undefined as content"],
    [{ role: "user", content: 7 }, "has a number as content"],
    [{ role: "user", content: ["secret"] }, "without a type at index 0"],
    [{ role: "tool", content: "secret" }, "has undefined as tool_call_id"],
    [{ role: "tool", content: "secret", tool_call_id: "" }, "an empty string as tool_call_id"],
    [{ role: "function", content: "secret" }, "has undefined as name"],
    [{ role: "assistant", tool_calls: [{ type: "function" }] }, "has undefined as tool_calls[0].id"],
    [{ role: "assistant", tool_calls: "secret" }, "has a string as tool_calls"],
    [{ role: "assistant", function_call: {} }, "has undefined as function_call.name"],
    [{ role: "user", content: "secret", extra: () => 1 }, "extra"],
  ])("refuses %j and says why, without its content", (message, reason) => {
    let error: unknown;
    try {
      format.encode(message as unknown as ChatMessage);
    } catch (thrown) {
      error = thrown;
    }
    expect(isTurnkeepError(error, "INVALID_MESSAGE")).toBe(true);
    expect(String(error)).toContain(reason);
    expect(String(error)).not.toContain("secret");
  });

  it("takes a message without content where the API does", () => {
    expect(() => format.encode({ role: "assistant", tool_calls: [call("a")] })).not.toThrow();
    expect(() => format.encode({ role: "function", name: "f", content: null })).not.toThrow();
  });
});

describe("decode", () => {
  it("refuses what another format or a later version wrote", () => {
    const text = format.encode({ role: "user", content: "x" });
    expect(() => format.decode(text.replace('"openai-chat"', '"other"'))).toThrow(/other/);
    expect(() => format.decode(text.replace('"version":1', '"version":2'))).toThrow(/version 2/);
  });

  it.each([
    "null",
    "[]",
    '{"role":"a secret"}',
    '{"role":"user","content":{"secret":1}}',
    '{"role":"tool","content":"secret"}',
  ])("refuses a record whose message is %s, without its content", (message) => {
    const text = `{"format":"openai-chat","version":1,"message":${message}}`;
    expect(() => format.decode(text)).toThrow(
      expect.objectContaining({ code: "CORRUPT_RECORD", message: expect.not.stringContaining("secret") }),
    );
  });
});
