import { createChatMemory, isTurnkeepError } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { type AnthropicBlock, type AnthropicMessage, anthropicFormat as format } from "../src/anthropic.ts";

type Assistant = Extract<AnthropicMessage, { role: "assistant" }>;

const use = (id: string, name = "weather") =>
  ({ type: "tool_use", id, name, input: { city: "Ulm" } }) as const satisfies AnthropicBlock;
const result = (id: string, content = "rain") =>
  ({ type: "tool_result", tool_use_id: id, content }) as const satisfies AnthropicBlock;
const search = (id: string) =>
  ({ type: "server_tool_use", id, name: "web_search", input: {} }) as const satisfies AnthropicBlock;
const found = (id: string) =>
  ({ type: "web_search_tool_result", tool_use_id: id, content: [] }) as const satisfies AnthropicBlock;
const thinking = { type: "thinking", thinking: "Hm.", signature: "sig" } as const satisfies AnthropicBlock;
const picture = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: "aGVsbG8=" },
} as const satisfies AnthropicBlock;
const pdf = {
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data: "aGk=" },
  title: "A",
} as const satisfies AnthropicBlock;
const text = (value: string) => ({ type: "text", text: value }) as const satisfies AnthropicBlock;

const asks: Assistant = {
  role: "assistant",
  content: [thinking, text("Let me see."), use("a"), use("b", "time")],
};
const user = (...content: AnthropicBlock[]): AnthropicMessage => ({ role: "user", content });
const assistant = (...content: unknown[]): AnthropicMessage =>
  ({ role: "assistant", content }) as AnthropicMessage;

describe("roles", () => {
  it.each([
    [{ role: "system", content: "s" }, "system"],
    [{ role: "user", content: "u" }, "user"],
    [{ role: "assistant", content: "a" }, "assistant"],
    [user(), "user"],
    [user(result("a"), result("b")), "tool"],
    [user(result("a"), text("and tell me more")), "user"],
    [user(text("first"), result("a")), "user"],
  ] as [AnthropicMessage, string][])("%j is %s", (message, role) => {
    expect(format.role(message)).toBe(role);
  });
});

describe("calls and results", () => {
  it("reads calls of the application and of the API", () => {
    expect(format.toolCalls(asks)).toEqual([
      { id: "a", name: "weather" },
      { id: "b", name: "time" },
    ]);
    const mcp = { type: "mcp_tool_use", id: "m", name: "find", server_name: "docs", input: {} };
    expect(format.toolCalls(assistant(search("s"), mcp))).toEqual([
      { id: "s", name: "web_search", providerExecuted: true },
      { id: "m", name: "find", providerExecuted: true },
    ]);
    expect(format.toolCalls(user(use("a")))).toEqual([]);
  });

  it("reads results in user messages, beside other content, and in the message of the call", () => {
    expect(format.toolResults(user(result("a"), text("more"), result("b")))).toEqual([
      { id: "a" },
      { id: "b" },
    ]);
    expect(format.toolResults(assistant(search("s"), found("s")))).toEqual([{ id: "s" }]);
    expect(format.toolResults(assistant({ type: "mcp_tool_result", tool_use_id: "m" }))).toEqual([
      { id: "m" },
    ]);
  });

  it("answers interrupted calls in one message", () => {
    expect(format.interruptedResults(format.toolCalls(asks), "gone")).toEqual([
      user(
        { type: "tool_result", tool_use_id: "a", content: "gone", is_error: true },
        { type: "tool_result", tool_use_id: "b", content: "gone", is_error: true },
      ),
    ]);
    expect(format.interruptedResults([], "gone")).toEqual([]);
  });

  it("repeats the toolset of a call in its result", () => {
    const click = { ...use("c", "left_click"), toolset_name: "browser" };
    expect(format.interruptedResults(format.toolCalls(assistant(click)), "gone")).toMatchObject([
      { content: [{ tool_use_id: "c", toolset_name: "browser" }] },
    ]);
  });
});

describe("hasReasoning and isBoundary", () => {
  it("sees thinking, shown or redacted", () => {
    expect(format.hasReasoning(asks)).toBe(true);
    expect(format.hasReasoning(assistant({ type: "redacted_thinking", data: "x" }))).toBe(true);
    expect(format.hasReasoning(assistant(text("no")))).toBe(false);
    expect(format.hasReasoning({ role: "assistant", content: "no" })).toBe(false);
  });

  it("sees a compaction block, and not one of a compaction that failed", () => {
    expect(format.isBoundary(assistant({ type: "compaction", content: "So far." }, text("Hi")))).toBe(true);
    expect(format.isBoundary(assistant({ type: "compaction", content: null }))).toBe(false);
    expect(format.isBoundary(asks)).toBe(false);
  });
});

describe("pieces", () => {
  it("holds what a model reads, by place", () => {
    expect(format.pieces(asks)).toEqual([
      { type: "text", text: "Hm.", of: "reasoning" },
      { type: "text", text: "Let me see.", of: "content" },
      { type: "text", text: "weather", of: "name" },
      { type: "text", text: '{"city":"Ulm"}', of: "tool-call" },
      { type: "text", text: "time", of: "name" },
      { type: "text", text: '{"city":"Ulm"}', of: "tool-call" },
    ]);
    expect(format.pieces({ role: "system", content: "Be brief." })).toEqual([
      { type: "text", text: "Be brief.", of: "content" },
    ]);
    expect(format.pieces(user({ ...result("a"), content: [text("rain"), picture] }, text("more")))).toEqual([
      { type: "text", text: "rain", of: "tool-result" },
      { type: "media", mediaType: "image/png", bytes: 5, data: "aGVsbG8=", of: "tool-result" },
      { type: "text", text: "more", of: "content" },
    ]);
  });

  it("tells type and size of media where the message does", () => {
    const message = user(
      { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
      { type: "image", source: { type: "file", file_id: "f" } },
      pdf,
      { type: "document", source: { type: "url", url: "https://example.org/a.pdf" }, context: "the law" },
      { type: "document", source: { type: "file", file_id: "f" } },
      { type: "container_upload", file_id: "f" },
    );
    const media = { type: "media", bytes: undefined, of: "content" };
    expect(format.pieces(message)).toEqual([
      { ...media, mediaType: "image/*" },
      { ...media, mediaType: "image/*" },
      { type: "text", text: "A", of: "content" },
      { ...media, mediaType: "application/pdf", bytes: 2, data: "aGk=" },
      { type: "text", text: "the law", of: "content" },
      { ...media, mediaType: "application/pdf" },
      { ...media, mediaType: undefined },
      { ...media, mediaType: undefined },
    ]);
  });

  it("counts documents of text, and of blocks, by what they hold", () => {
    const message = user(
      { type: "document", source: { type: "text", media_type: "text/plain", data: "plain" } },
      { type: "document", source: { type: "content", content: "one" } },
      { type: "document", source: { type: "content", content: [text("two"), picture] } },
      { type: "search_result", title: "T", source: "S", content: [text("three")] },
    );
    expect(format.pieces(message)).toEqual([
      { type: "text", text: "plain", of: "content" },
      { type: "text", text: "one", of: "content" },
      { type: "text", text: "two", of: "content" },
      { type: "media", mediaType: "image/png", bytes: 5, data: "aGVsbG8=", of: "content" },
      { type: "text", text: "T", of: "content" },
      { type: "text", text: "S", of: "content" },
      { type: "text", text: "three", of: "content" },
    ]);
  });

  it("counts what the API's own tools found", () => {
    const fetched = {
      type: "web_fetch_tool_result",
      tool_use_id: "f",
      content: { type: "web_fetch_result", url: "https://e.org", content: pdf },
    };
    const failed = {
      type: "web_fetch_tool_result",
      tool_use_id: "f",
      content: { type: "web_fetch_tool_result_error", error_code: "unavailable" },
    };
    expect(format.pieces(assistant(search("s"), fetched, failed))).toEqual([
      { type: "text", text: "web_search", of: "name" },
      { type: "text", text: "{}", of: "tool-call" },
      { type: "text", text: "https://e.org", of: "tool-result" },
      { type: "text", text: "A", of: "tool-result" },
      { type: "media", mediaType: "application/pdf", bytes: 2, data: "aGk=", of: "tool-result" },
      {
        type: "text",
        text: '{"type":"web_fetch_tool_result_error","error_code":"unavailable"}',
        of: "tool-result",
      },
    ]);
  });

  it("counts thinking that is not shown by what carries it", () => {
    expect(
      format.pieces(assistant({ ...thinking, thinking: "" }, { type: "redacted_thinking", data: "xyz" })),
    ).toEqual([
      { type: "text", text: "sig", of: "reasoning" },
      { type: "text", text: "xyz", of: "reasoning" },
    ]);
  });

  it("counts a compaction's summary, and a block of an unknown type by its JSON", () => {
    const compaction = { type: "compaction", content: "So far.", encrypted_content: "x" };
    expect(format.pieces(assistant(compaction, { type: "video", url: "v" }))).toEqual([
      { type: "text", text: "So far.", of: "content" },
      { type: "text", text: '{"type":"video","url":"v"}', of: "content" },
    ]);
  });
});

describe("isEmpty", () => {
  it.each([
    [{ role: "user", content: " \n" }, true],
    [user(), true],
    [user(text(" ")), true],
    [user(text(" "), picture), false],
    [user(result("a", "")), false],
    [assistant(thinking), false],
    [{ role: "system", output_config: { effort: "low" } }, false],
    [asks, false],
  ] as [AnthropicMessage, boolean][])("%j: %s", (message, empty) => {
    expect(format.isEmpty(message)).toBe(empty);
  });
});

describe("without", () => {
  const only = (id: string) => (other: string) => other === id;

  it("leaves single calls and results out and keeps the others as they are", () => {
    expect(format.without(asks, { toolCalls: only("a") })).toEqual(
      assistant(thinking, text("Let me see."), use("b", "time")),
    );
    expect(format.without(user(result("a"), result("b"), text("more")), { toolResults: only("a") })).toEqual(
      user(result("b"), text("more")),
    );
    const own = assistant(search("s"), found("s"), text("Found."));
    expect(format.without(own, { toolCalls: only("s"), toolResults: only("s") })).toEqual(
      assistant(text("Found.")),
    );
  });

  it("answers nothing where nothing is left, and the message itself where nothing changed", () => {
    expect(format.without(user(result("a")), { toolResults: only("a") })).toBeUndefined();
    expect(format.without(assistant(use("a"), text(" ")), { toolCalls: only("a") })).toBeUndefined();
    expect(format.without(asks, { toolCalls: only("x"), toolResults: () => true, media: true })).toBe(asks);
    const said: AnthropicMessage = { role: "user", content: "Hi" };
    expect(format.without(said, { toolCalls: () => true, reasoning: true, media: true })).toBe(said);
  });

  it("leaves thinking out", () => {
    expect(format.without(asks, { reasoning: true })).toEqual(
      assistant(text("Let me see."), use("a"), use("b", "time")),
    );
    expect(format.without(assistant(thinking), { reasoning: true })).toBeUndefined();
  });

  it("leaves media out, also of documents and results", () => {
    const both = { type: "document", source: { type: "content", content: [text("two"), picture] } } as const;
    const onlyPicture = { type: "document", source: { type: "content", content: [picture] } } as const;
    const message = user(
      { ...result("a"), content: [text("rain"), picture] },
      { ...result("b"), content: [picture, pdf] },
      picture,
      pdf,
      { type: "container_upload", file_id: "f" },
      { ...both, source: { ...both.source, content: [...both.source.content] } },
      { ...onlyPicture, source: { ...onlyPicture.source, content: [picture] } },
      text("What is this?"),
    );
    expect(format.without(message, { media: true })).toEqual(
      user(
        { ...result("a"), content: [text("rain")] },
        { type: "tool_result", tool_use_id: "b" },
        { type: "document", source: { type: "content", content: [text("two")] } },
        text("What is this?"),
      ),
    );
  });

  it("looks for media in no other source than one of content", () => {
    const source = { type: "text", media_type: "text/plain", data: "one", content: [null] } as const;
    const message = user({ type: "document", source });
    expect(format.without(message, { media: true })).toBe(message);
  });

  it("keeps whole what the API fetched itself", () => {
    const content = { type: "web_fetch_result", url: "https://e.org", content: pdf };
    const fetched = assistant({ type: "web_fetch_tool_result", tool_use_id: "f", content });
    expect(format.without(fetched, { media: true })).toBe(fetched);
  });
});

describe("encode", () => {
  it.each([
    [{ role: "tool", content: "x" }, 'the role "tool"'],
    [{ content: "x" }, "undefined as role"],
    ["hello", "is a string"],
    [{ role: "user" }, "has undefined as content"],
    [{ role: "system" }, "has undefined as content"],
    [{ role: "user", content: 7 }, "has a number as content"],
    [{ role: "user", content: ["secret"] }, "without a type as content[0]"],
    [{ role: "assistant", type: "message", content: [] }, "is a whole response"],
    [user({ type: "text" } as never), "has undefined as content[0].text"],
    [assistant({ type: "thinking", signature: "secret" }), "has undefined as content[0].thinking"],
    [assistant({ type: "redacted_thinking" }), "has undefined as content[0].data"],
    [assistant({ type: "tool_use", name: "secret" }), "has undefined as content[0].id"],
    [assistant({ type: "server_tool_use", id: "" }), "an empty string as content[0].id"],
    [assistant({ type: "tool_use", id: "a" }), "has undefined as content[0].name"],
    [user({ type: "tool_result", content: "secret" } as never), "has undefined as content[0].tool_use_id"],
    [user({ ...result("a"), content: 7 } as never), "has a number as content[0].content"],
    [user({ ...result("a"), content: [text("secret"), {}] } as never), "as content[0].content[1]"],
    [user({ type: "image" } as never), "has undefined as content[0].source"],
    [
      user({ type: "document", source: { type: "content", content: [7] } } as never),
      "content[0].source.content[0]",
    ],
    [user({ type: "search_result" } as never), "has undefined as content[0].content"],
    [assistant({ type: "web_fetch_tool_result", tool_use_id: "f" }), "has undefined as content[0].content"],
    [
      assistant({
        type: "web_fetch_tool_result",
        tool_use_id: "f",
        content: { content: { type: "document" } },
      }),
      "content[0].content.content.source",
    ],
    [{ role: "user", content: "secret", extra: () => 1 }, "extra"],
  ])("refuses %j and says why, without its content", (message, reason) => {
    let error: unknown;
    try {
      format.encode(message as unknown as AnthropicMessage);
    } catch (thrown) {
      error = thrown;
    }
    expect(isTurnkeepError(error, "INVALID_MESSAGE")).toBe(true);
    expect(String(error)).toContain(reason);
    expect(String(error)).not.toContain("secret");
  });

  it("takes what the beta API takes", () => {
    const message = { role: "system", output_config: { effort: "low" } } as unknown as AnthropicMessage;
    expect(format.decode(format.encode(message))).toEqual(message);
  });
});

describe("decode", () => {
  it("refuses what another format or a later version wrote, or other hands changed", () => {
    const encoded = format.encode({ role: "user", content: "x" });
    expect(() => format.decode(encoded.replace('"anthropic-messages"', '"other"'))).toThrow(/other/);
    expect(() => format.decode(encoded.replace('"version":1', '"version":2'))).toThrow(/version 2/);
    const changed = encoded.replace('"user"', '"robot"');
    expect(() => format.decode(changed)).toThrow(expect.objectContaining({ code: "CORRUPT_RECORD" }));
  });
});

describe("a memory", () => {
  const question: AnthropicMessage = { role: "user", content: "Weather and time?" };
  const answers = user(result("a"), result("b", "noon"));

  it("gives the system prompt apart", async () => {
    const memory = createChatMemory({ format });
    await memory.add({ role: "system", content: [text("Be brief.")] }, question);
    expect(await memory.prompt()).toEqual({
      system: { role: "system", content: [text("Be brief.")] },
      messages: [question],
    });
  });

  it("answers interrupted calls of an earlier step in the next message, and none of the API's own", async () => {
    const memory = createChatMemory({ format });
    const calls = assistant(search("s"), use("a"), use("b", "time"));
    await memory.add(question, calls, { role: "user", content: "Hello?" });
    const [, , interrupted, last] = await memory.messages();
    expect(format.toolResults(interrupted as AnthropicMessage)).toEqual([{ id: "a" }, { id: "b" }]);
    expect(last).toEqual({ role: "user", content: "Hello?" });
  });

  it("keeps results and what the user said beside them with the calls", async () => {
    const memory = createChatMemory({ format, window: { maxMessages: 2, unit: "turn" } });
    const more = user(...(answers.content as AnthropicBlock[]), text("And tomorrow?"));
    await memory.add({ role: "user", content: "Hi" }, { role: "assistant", content: "Hello." });
    await memory.add(question);
    await expect(memory.messages()).resolves.toEqual([question]);
    await memory.add(asks, more);
    await expect(memory.messages()).rejects.toThrow(/3/);
    const wide = createChatMemory({ format });
    await wide.add(question, asks, more);
    expect(await wide.messages()).toEqual([question, asks, more]);
  });

  it("shows what the user said beside results that come late or twice, without these", async () => {
    const memory = createChatMemory({ format });
    const reply: AnthropicMessage = { role: "assistant", content: "Hello." };
    await memory.add(question, asks, user(result("a")), { role: "user", content: "Hello?" }, reply);
    await memory.add(user(result("b", "late"), text("And tomorrow?")), user(result("a"), text("Well?")));
    const view = await memory.messages();
    expect(view.slice(0, 3)).toEqual([question, asks, user(result("a"))]);
    expect(format.toolResults(view[3] as AnthropicMessage)).toEqual([{ id: "b" }]);
    expect(view.slice(4)).toEqual([
      { role: "user", content: "Hello?" },
      reply,
      user(text("And tomorrow?")),
      user(text("Well?")),
    ]);
  });

  it("starts at the API's own compaction", async () => {
    const memory = createChatMemory({ format });
    const compacted = assistant({ type: "compaction", content: "So far." }, text("Go on."));
    await memory.add(question, asks, answers, compacted, question);
    expect(await memory.messages()).toEqual([compacted, question]);
  });
});
