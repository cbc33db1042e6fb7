import { describe, expect, it } from "vitest";
import { type AnthropicMessage, anthropicFormat } from "../src/anthropic.ts";
import { testReshapeCases } from "./reshape-cases.ts";

const user = (...content: unknown[]) => ({ role: "user", content }) as AnthropicMessage;
const assistant = (...content: unknown[]) => ({ role: "assistant", content }) as AnthropicMessage;
const text = (of: string) => ({ type: "text", text: of });
const image = { type: "image", source: { type: "url", url: "https://example.org/secret.png" } };
const call = (id: string, input: unknown = {}) => ({ type: "tool_use", id, name: "find", input });
const own = (id: string, input: unknown = {}) => ({ type: "server_tool_use", id, name: "web_search", input });
const result = (tool_use_id: string, content: unknown = "") => ({
  type: "tool_result",
  tool_use_id,
  content,
});
const document = (data: string) => ({
  type: "document",
  title: data,
  source: { type: "text", media_type: "text/plain", data },
});
const found = (title: string) => ({
  type: "web_search_tool_result",
  tool_use_id: "1",
  content: [{ type: "web_search_result", title, url: "u", encrypted_content: "secret" }],
});
const run = (stdout: string, type = "bash_code_execution_result") => ({
  type: "bash_code_execution_tool_result",
  tool_use_id: "1",
  content: { type, stdout },
});
const withMember = (message: AnthropicMessage, x: number): AnthropicMessage =>
  Object.assign({ ...message }, { x });
const compaction = { type: "compaction", content: "secret" };

describe("anthropicFormat", () => {
  testReshapeCases<AnthropicMessage>(anthropicFormat, {
    renamed: [
      ["an assistant", assistant(text("1"), call("1")), assistant(text("1"), call("new-1"))],
      ["results", user(result("1"), text("1")), user(result("new-1"), text("1"))],
      ["the API's own", assistant(own("1"), found("a"), { type: "mcp_tool_use", id: "1", name: "a" })],
      ["a text", { role: "user", content: "1" }],
    ],
    named: [
      [
        "an assistant",
        assistant(text("1"), call("1")),
        assistant(text("1"), { ...call("1"), name: "new-find" }),
      ],
      ["results", user(result("1"), text("1"))],
      ["the API's own", assistant(own("1"), found("a"), { type: "mcp_tool_use", id: "1", name: "a" })],
    ],
    joined: [
      [
        "what a user says twice",
        { role: "user", content: "a" },
        { role: "user", content: "b" },
        user(text("a"), text("b")),
      ],
      [
        "results before what the user says",
        user(text("a"), result("1")),
        user(image, result("2")),
        user(result("1"), result("2"), text("a"), image),
      ],
      [
        "answers",
        assistant(text("a"), call("1")),
        { role: "assistant", content: "b" },
        assistant(text("a"), call("1"), text("b")),
      ],
      ["no compaction", assistant(compaction), assistant(text("a")), undefined],
      ["no system messages", { role: "system", content: "a" }, { role: "system", content: "a" }, undefined],
      ["no two roles", user(text("a")), assistant(text("a")), undefined],
      [
        "messages of which one has a member more",
        withMember(user(text("a")), 1),
        user(text("b")),
        withMember(user(text("a"), text("b")), 1),
      ],
      [
        "no messages that disagree",
        withMember(user(text("a")), 1),
        withMember(user(text("a")), 2),
        undefined,
      ],
    ],
    emptied: [
      ["a text", { role: "user", content: "" }, "empty", undefined],
      ["a system message", { role: "system", content: "\n" }, "blank", undefined],
      ["blocks", user(text(""), image, text(" ")), "empty", user(image, text(" "))],
      ["blank blocks", user(text(""), image, text(" ")), "blank", user(image)],
      ["a call's message", assistant(text(""), call("1")), "empty", assistant(call("1"))],
      ["nothing but empty blocks", assistant(text("")), "empty", undefined],
      ["a document", user(image, document("")), "empty", user(image)],
      ["a blank document", user(document(" \n")), "blank", undefined],
      ["a document with a text", user(document("a")), "blank", user(document("a"))],
      [
        "a document of blocks",
        user({ type: "document", source: { type: "content", content: [text(" "), text("a")] } }),
        "blank",
        user({ type: "document", source: { type: "content", content: [text("a")] } }),
      ],
      [
        "documents of nothing",
        user(
          { type: "document", source: { type: "content", content: [text("")] } },
          { type: "document", source: { type: "content", content: "" } },
        ),
        "empty",
        undefined,
      ],
    ],
    full: [
      ["a result", user(result("1"), result("2", [text("")]))],
      ["thinking", assistant({ type: "thinking", thinking: "", signature: "s" })],
      ["a compaction", assistant({ type: "compaction", content: "" })],
      ["a list without blocks", user()],
    ],
    mapped: [
      ["a text", { role: "user", content: "a secret" }, { role: "user", content: "a …" }],
      [
        "thinking that is shown",
        assistant({ type: "thinking", thinking: "secret", signature: "secret" }),
        assistant({ type: "thinking", thinking: "…", signature: "secret" }),
      ],
      [
        "what only the API reads",
        assistant(
          { type: "thinking", thinking: "", signature: "secret" },
          { type: "redacted_thinking", data: "secret" },
          compaction,
          found("secret"),
        ),
      ],
      ["media", user(image, { type: "container_upload", file_id: "secret" })],
      ["documents", user(document("secret")), user(document("…"))],
      [
        "documents of blocks",
        user({ type: "document", source: { type: "content", content: [text("secret"), image] } }),
        user({ type: "document", source: { type: "content", content: [text("…"), image] } }),
      ],
      [
        "search results",
        user({ type: "search_result", title: "secret", source: "secret", content: [text("secret")] }),
        user({ type: "search_result", title: "…", source: "…", content: [text("…")] }),
      ],
      [
        "calls",
        assistant(call("1", { a: "secret" }), own("2", { a: "secret" })),
        assistant(call("1", { a: "…" }), own("2", { a: "…" })),
      ],
      ["a result", user(result("1", "secret")), user(result("1", "…"))],
      [
        "a result of blocks",
        user(result("1", [text("secret"), image])),
        user(result("1", [text("…"), image])),
      ],
      ["a result of the API's", assistant(run("secret")), assistant(run("…"))],
      [
        "what the API fetched",
        assistant({
          type: "web_fetch_tool_result",
          tool_use_id: "1",
          content: { type: "web_fetch_result", url: "secret", content: document("secret") },
        }),
        assistant({
          type: "web_fetch_tool_result",
          tool_use_id: "1",
          content: { type: "web_fetch_result", url: "…", content: document("…") },
        }),
      ],
      ["an unknown block", user({ type: "video", body: "secret" }), user({ type: "video", body: "…" })],
    ],
    cut: [
      [
        "an input",
        assistant(call("1", { path: "a.txt", lines: ["second", 41111] })),
        assistant(call("1", { path: "a.tx", lines: ["seco", "4111"] })),
      ],
      ["a result of the API's", assistant(run("secret", "bash")), assistant(run("secr", "bash"))],
      [
        "a document's title and text, not its kind",
        user({
          type: "document",
          title: "second",
          context: "",
          source: { type: "text", media_type: "text/plain", data: "third" },
        }),
        user({
          type: "document",
          title: "seco",
          context: "",
          source: { type: "text", media_type: "text/plain", data: "thir" },
        }),
      ],
      ["an unknown block", user({ type: "video" }), user(text('{"ty'))],
    ],
  });
});

describe("errors that say nothing", () => {
  const failed = (content?: unknown) => ({
    type: "tool_result",
    tool_use_id: "1",
    is_error: true,
    ...(content !== undefined && { content }),
  });

  it.each([
    ["an empty text", failed("")],
    ["no block", failed([])],
    ["no content", failed()],
  ])("are given a text: %s", (_, block) => {
    const message = user(block, result("2"));
    expect(anthropicFormat.withResultText?.(message, "failed")).toStrictEqual(
      user(failed("failed"), result("2")),
    );
  });

  it("alone: other results and errors stay as they are", () => {
    const message = user(result("1"), result("2", []), failed("gone"), failed([image]), text(""));
    expect(anthropicFormat.withResultText?.(message, "failed")).toBe(message);
  });
});
