import { createChatMemory, isTurnkeepError } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { langchain4jFormat as format, type LangChain4jMessage } from "../src/langchain4j.ts";

const text = (value: string) => ({ type: "TEXT", text: value }) as const;
const call = (id: string, name = "weather") => ({ id, name, arguments: '{"city":"Ulm"}' });
const asks: LangChain4jMessage = { type: "AI", toolExecutionRequests: [call("a"), call("b", "time")] };
const result: LangChain4jMessage = {
  type: "TOOL_EXECUTION_RESULT",
  id: "a",
  toolName: "weather",
  contents: [text("rain")],
};
const image = { type: "IMAGE", image: { url: "https://example.org/a.png" } } as const;

describe("roles", () => {
  it.each([
    [{ type: "SYSTEM", text: "s" }, "system"],
    [{ type: "USER", contents: [text("u")] }, "user"],
    [{ type: "AI" }, "assistant"],
    [result, "tool"],
    [{ type: "CUSTOM", attributes: {} }, "user"],
  ] as [LangChain4jMessage, string][])("%j is %s", (message, role) => {
    expect(format.role(message)).toBe(role);
  });
});

describe("calls and results", () => {
  it("reads calls and results by id", () => {
    expect(format.toolCalls(asks)).toEqual([
      { id: "a", name: "weather" },
      { id: "b", name: "time" },
    ]);
    expect(format.toolResults(result)).toEqual([{ id: "a", name: "weather" }]);
    expect(format.toolCalls(result)).toEqual([]);
    expect(format.toolResults(asks)).toEqual([]);
  });

  it("pairs a call without an id, or with an empty one, with the result of the tool of that name", () => {
    const nameless: LangChain4jMessage = { type: "AI", toolExecutionRequests: [{ name: "time" }, null] };
    const empty: LangChain4jMessage = { type: "AI", toolExecutionRequests: [{ id: "", name: "time" }] };
    const [ref] = format.toolCalls(nameless);
    expect(format.toolCalls(nameless)).toHaveLength(1);
    expect(format.toolCalls(empty)).toEqual([ref]);
    const answer: LangChain4jMessage = {
      type: "TOOL_EXECUTION_RESULT",
      toolName: "time",
      contents: [text("9")],
    };
    expect(format.toolResults(answer)).toEqual([ref]);
    expect(format.interruptedResults(format.toolCalls(nameless), "gone")).toEqual([
      {
        type: "TOOL_EXECUTION_RESULT",
        toolName: "time",
        contents: [text("gone")],
        isError: true,
        attributes: {},
      },
    ]);
  });

  it("answers interrupted calls with errors, so that a view has no open call", async () => {
    const memory = createChatMemory({ format });
    await memory.add({ type: "USER", contents: [text("?")] }, asks, result, {
      type: "USER",
      contents: [text("!")],
    });
    expect(await memory.messages()).toEqual([
      { type: "USER", contents: [text("?")] },
      asks,
      result,
      {
        type: "TOOL_EXECUTION_RESULT",
        id: "b",
        toolName: "time",
        contents: [text("The tool call was interrupted: no result was recorded.")],
        isError: true,
        attributes: {},
      },
      { type: "USER", contents: [text("!")] },
    ]);
  });
});

describe("pieces", () => {
  it("holds what a model reads, by place", () => {
    expect(format.pieces({ ...asks, thinking: "Hm.", text: "" })).toEqual([
      { type: "text", text: "Hm.", of: "reasoning" },
      { type: "text", text: "", of: "content" },
      { type: "text", text: "weather", of: "name" },
      { type: "text", text: '{"city":"Ulm"}', of: "tool-call" },
      { type: "text", text: "time", of: "name" },
      { type: "text", text: '{"city":"Ulm"}', of: "tool-call" },
    ]);
    expect(format.pieces({ ...result, attributes: { ms: 12 } })).toEqual([
      { type: "text", text: "weather", of: "name" },
      { type: "text", text: "rain", of: "tool-result" },
    ]);
    expect(format.pieces({ type: "USER", name: "Ada", contents: [text("Hi")] })).toEqual([
      { type: "text", text: "Ada", of: "name" },
      { type: "text", text: "Hi", of: "content" },
    ]);
    expect(format.pieces({ type: "CUSTOM", attributes: { n: 1 } })).toEqual([
      { type: "text", text: '{"n":1}', of: "content" },
    ]);
  });

  it("tells type and size of media where the message does", () => {
    const message: LangChain4jMessage = {
      type: "USER",
      contents: [
        { type: "IMAGE", image: { base64Data: "aGVsbG8=", mimeType: "image/png" } },
        image,
        { type: "IMAGE", image: { url: "data:image/webp;base64,aGk=" } },
        { type: "AUDIO", audio: { binaryData: "aGVsbG8=", mimeType: "audio/mp3" } },
        { type: "VIDEO" },
        { type: "PDF", pdfFile: { base64Data: "aGk=" } },
        { type: "PDF", pdfFile: { url: "data:application/octet-stream;base64,aGk=" } },
        null,
      ],
    };
    expect(format.pieces(message)).toEqual([
      { type: "media", mediaType: "image/png", bytes: 5, data: "aGVsbG8=", of: "content" },
      { type: "media", mediaType: "image/*", bytes: undefined, of: "content" },
      { type: "media", mediaType: "image/webp", bytes: 2, data: "aGk=", of: "content" },
      { type: "media", mediaType: "audio/mp3", bytes: 5, data: "aGVsbG8=", of: "content" },
      { type: "media", mediaType: "video/*", bytes: undefined, of: "content" },
      { type: "media", mediaType: "application/pdf", bytes: 2, data: "aGk=", of: "content" },
      { type: "media", mediaType: "application/pdf", bytes: 2, data: "aGk=", of: "content" },
    ]);
  });
});

describe("isEmpty", () => {
  it.each([
    [{ type: "USER", contents: [text(" \n"), null] }, true],
    [{ type: "USER", contents: [image] }, false],
    [{ type: "AI" }, true],
    [{ type: "AI", text: " ", toolExecutionRequests: [null] }, true],
    [{ type: "AI", thinking: "Hm." }, false],
    [asks, false],
    [{ type: "TOOL_EXECUTION_RESULT", contents: [text("")] }, false],
    [{ type: "CUSTOM" }, true],
    [{ type: "CUSTOM", attributes: { a: null } }, false],
  ] as [LangChain4jMessage, boolean][])("%j: %s", (message, empty) => {
    expect(format.isEmpty(message)).toBe(empty);
  });
});

describe("without", () => {
  const only = (id: string) => (other: string) => other === id;

  it("leaves calls and results out by id", () => {
    expect(format.without(asks, { toolCalls: only("a") })).toEqual({
      type: "AI",
      toolExecutionRequests: [call("b", "time")],
    });
    expect(format.without(asks, { toolCalls: () => true })).toBeUndefined();
    expect(format.without(asks, { toolCalls: only("x"), media: true, reasoning: true })).toBe(asks);
    expect(format.without(result, { toolResults: only("a") })).toBeUndefined();
    expect(format.without(result, { toolResults: only("b") })).toBe(result);
  });

  it("leaves thinking out, with the attributes in which LangChain4j keeps its signature", () => {
    const message: LangChain4jMessage = {
      type: "AI",
      text: "42",
      thinking: "6 × 7",
      attributes: { thinking_signature: "s", redacted_thinking: ["r"], cached: true },
    };
    expect(format.hasReasoning(message)).toBe(true);
    expect(format.without(message, { reasoning: true })).toEqual({
      type: "AI",
      text: "42",
      attributes: { cached: true },
    });
    expect(format.hasReasoning({ type: "AI", attributes: { redacted_thinking: ["r"] } })).toBe(true);
    expect(format.hasReasoning({ type: "AI", thinking: "", attributes: { cached: true } })).toBe(false);
  });

  it("keeps a result that was nothing but media, as an answer to its call", () => {
    expect(format.without({ ...result, contents: [image] }, { media: true })).toEqual({
      ...result,
      contents: [text("")],
    });
    expect(format.without({ type: "USER", contents: [image] }, { media: true })).toBeUndefined();
  });
});

describe("equals", () => {
  it("takes no calls and no attributes for empty ones, and tells a missing text from an empty one", () => {
    expect(
      format.equals(
        { type: "AI", text: "a" },
        { type: "AI", text: "a", toolExecutionRequests: [], attributes: {} },
      ),
    ).toBe(true);
    expect(format.equals({ type: "AI" }, { type: "AI", text: "" })).toBe(false);
    expect(format.equals({ type: "SYSTEM", text: "a" }, { type: "SYSTEM", text: "a " })).toBe(false);
  });
});

describe("encode", () => {
  it.each([
    ["hello", "message must be an object"],
    [{ text: "secret" }, "message.type must be one of"],
    [{ type: "ROBOT", text: "secret" }, "message.type must be one of"],
    // What LangChain4j's own constructors refuse (langchain4j-core 1.19.0).
    [{ type: "SYSTEM", text: "" }, "message.text"],
    [{ type: "SYSTEM", text: " \t\n" }, "message.text"],
    [{ type: "SYSTEM", text: "\u0001\u001f" }, "message.text"],
    [{ type: "USER", contents: [] }, "message.contents"],
    [{ type: "USER", text: "secret" }, "message.contents"],
    [{ type: "USER", name: 7, contents: [text("a")] }, "message.name"],
    [{ type: "USER", contents: [{ type: 7 }] }, "message.contents[0]"],
    [{ type: "USER", contents: [text("a"), "secret"] }, "message.contents[1]"],
    [{ type: "USER", contents: [{ type: "TEXT" }] }, "message.contents[0].text"],
    [{ type: "USER", contents: [{ type: "IMAGE" }] }, "message.contents[0].image"],
    [{ type: "USER", contents: [{ ...image, detailLevel: null }] }, "message.contents[0].detailLevel"],
    [{ type: "USER", contents: [{ type: "AUDIO", audio: { url: 7 } }] }, "message.contents[0].audio.url"],
    [{ type: "AI", text: null }, "message.text"],
    [{ type: "AI", thinking: null }, "message.thinking"],
    [{ type: "AI", toolExecutionRequests: "secret" }, "message.toolExecutionRequests"],
    [{ type: "AI", toolExecutionRequests: ["secret"] }, "message.toolExecutionRequests[0]"],
    [{ type: "AI", toolExecutionRequests: [{ id: 1 }] }, "message.toolExecutionRequests[0].id"],
    [{ type: "AI", toolExecutionRequests: [{ name: 1 }] }, "message.toolExecutionRequests[0].name"],
    [
      { type: "AI", toolExecutionRequests: [{ arguments: {} }] },
      "message.toolExecutionRequests[0].arguments",
    ],
    [{ type: "AI", attributes: ["secret"] }, "message.attributes"],
    [{ type: "AI", attributeDoubles: ["/a", 7] }, "message.attributeDoubles"],
    [{ type: "AI", attributeDoubles: "secret" }, "message.attributeDoubles"],
    [{ type: "TOOL_EXECUTION_RESULT", id: "a" }, "message.contents"],
    [{ ...result, isError: "secret" }, "message.isError"],
    [{ ...result, id: 7 }, "message.id"],
    [{ ...result, toolName: 7 }, "message.toolName"],
    [{ type: "AI", extra: () => "secret" }, "extra"],
  ])("refuses %j and says why, without its content", (message, reason) => {
    let error: unknown;
    try {
      format.encode(message as unknown as LangChain4jMessage);
    } catch (thrown) {
      error = thrown;
    }
    expect(isTurnkeepError(error, "INVALID_MESSAGE")).toBe(true);
    expect(String(error)).toContain(reason);
    expect(String(error)).not.toContain("secret");
  });

  it.each([
    [{ type: "SYSTEM", text: "\u00a0" }],
    [{ type: "USER", contents: [text("")] }],
    [{ type: "AI" }],
    [{ type: "USER", contents: [{ type: "SMELL", of: "roses" }] }],
  ])("takes %j", (message) => {
    const held = message as unknown as LangChain4jMessage;
    expect(format.decode(format.encode(held))).toEqual(held);
  });
});

describe("decode", () => {
  it("refuses what another format, a later version or another hand wrote", () => {
    const encoded = format.encode({ type: "SYSTEM", text: "x" });
    expect(() => format.decode(encoded.replace('"langchain4j"', '"other"'))).toThrow(/other/);
    expect(() => format.decode(encoded.replace('"version":1', '"version":2'))).toThrow(/version 2/);
    let error: unknown;
    try {
      format.decode(encoded.replace('"SYSTEM"', '"ROBOT"'));
    } catch (thrown) {
      error = thrown;
    }
    expect(isTurnkeepError(error, "CORRUPT_RECORD")).toBe(true);
  });
});
