import { describe, expect, it } from "vitest";
import { type BedrockMessage, bedrockFormat } from "../src/bedrock.ts";
import { testReshapeCases } from "./reshape-cases.ts";

const message = (role: "user" | "assistant" | "system", content: object[]): BedrockMessage =>
  ({ role, content }) as BedrockMessage;
const user = (...content: object[]): BedrockMessage => message("user", content);
const assistant = (...content: object[]): BedrockMessage => message("assistant", content);
const text = (of: string) => ({ text: of });
const image = { image: { format: "png", source: { bytes: new Uint8Array([1, 2]) } } };
const call = (toolUseId: string, input: object = {}) => ({ toolUse: { toolUseId, name: "find", input } });
const own = { toolUse: { toolUseId: "1", name: "search", input: {}, type: "server_tool_use" } };
const result = (toolUseId: string, ...content: object[]) => ({ toolResult: { toolUseId, content } });
const thought = (of: string, signature = "secret") => ({
  reasoningContent: { reasoningText: { text: of, signature } },
});
const document = (name: string, of: string) => ({ document: { format: "txt", name, source: { text: of } } });
const cachePoint = { cachePoint: { type: "default" } };

describe("bedrockFormat", () => {
  testReshapeCases<BedrockMessage>(bedrockFormat, {
    renamed: [
      ["an answer", assistant(text("1"), call("1")), assistant(text("1"), call("new-1"))],
      ["results", user(result("1"), text("1")), user(result("new-1"), text("1"))],
      ["the API's own", assistant(own, { toolResult: { toolUseId: "1", content: [], type: "found" } })],
    ],
    named: [
      [
        "an answer",
        assistant(call("1")),
        assistant({ toolUse: { toolUseId: "1", name: "new-find", input: {} } }),
      ],
      ["results", user(result("1"))],
      ["the API's own", assistant(own)],
    ],
    joined: [
      ["what a user says twice", user(text("a")), user(text("b")), user(text("a"), text("b"))],
      [
        "results before what the user says",
        user(text("a"), result("1")),
        user(image, result("2")),
        user(result("1"), result("2"), text("a"), image),
      ],
      [
        "answers",
        assistant(text("a"), call("1")),
        assistant(text("b")),
        assistant(text("a"), call("1"), text("b")),
      ],
      ["no system messages", message("system", [text("a")]), message("system", [text("b")]), undefined],
      ["no two roles", user(text("a")), assistant(text("b")), undefined],
    ],
    emptied: [
      ["an answer", assistant(text(" "), call("1")), "blank", assistant(call("1"))],
      ["nothing but blanks", user(text(" \n")), "blank", undefined],
      ["a cache point that would stand alone", user(text(""), cachePoint), "empty", undefined],
    ],
    full: [
      ["a result", user(result("1", text("")))],
      ["an image", user(image)],
      ["reasoning", assistant(thought(""), text("a"))],
    ],
    mapped: [
      ["a text", user(text("a secret")), user(text("a …"))],
      ["reasoning, but not its signature", assistant(thought("secret")), assistant(thought("…"))],
      ["an input", assistant(call("1", { a: "secret" })), assistant(call("1", { a: "…" }))],
      ["a result", user(result("1", text("secret"))), user(result("1", text("…")))],
      [
        "JSON of a result",
        user(result("1", { json: { a: "secret" } })),
        user(result("1", { json: { a: "…" } })),
      ],
      ["a document, but not its name", user(document("secret", "secret")), user(document("secret", "…"))],
      [
        "what a guardrail looks at",
        user({ guardContent: { text: { text: "secret" } } }),
        user({ guardContent: { text: { text: "…" } } }),
      ],
      ["nothing that is redacted", assistant({ reasoningContent: { redactedContent: new Uint8Array([1]) } })],
      ["a block that it does not know", user({ x: "secret" }), user({ x: "…" })],
    ],
    cut: [
      ["an input", assistant(call("1", { a: "longer" })), assistant(call("1", { a: "long" }))],
      ["JSON of a result", user(result("1", { json: { a: "b" } })), user(result("1", text('{"a"')))],
      ["a block that it does not know", user({ x: "longer" }), user({ x: "long" })],
    ],
  });

  it("says in a block what a tool that said nothing did", () => {
    const failed = user({ toolResult: { toolUseId: "1", content: [], status: "error" } });
    expect(bedrockFormat.withResultText?.(failed, "It failed.", "Nothing.")).toEqual(
      user({ toolResult: { toolUseId: "1", content: [{ text: "It failed." }], status: "error" } }),
    );
    const blank = user(result("1", text("")), result("2"));
    expect(bedrockFormat.withResultText?.(blank, "It failed.", "Nothing.")).toEqual(
      user(result("1", text("Nothing.")), result("2", text("Nothing."))),
    );
  });

  it("renames documents", () => {
    expect(bedrockFormat.renameDocuments?.(user(document("a", "b")), (name) => `(2) ${name}`)).toEqual(
      user(document("(2) a", "b")),
    );
  });

  it("leaves out a document with its file, and its text with it", () => {
    const file = { document: { name: "a", context: "b", source: { bytes: new Uint8Array([1]) } } };
    expect(
      bedrockFormat.without(user(text("Read this."), file, document("b", "c")), { media: true }),
    ).toEqual(user(text("Read this."), document("b", "c")));
  });

  it("puts results before what the user says", () => {
    expect(bedrockFormat.resultsFirst?.(user(text("a"), result("1")))).toEqual(user(result("1"), text("a")));
  });
});
