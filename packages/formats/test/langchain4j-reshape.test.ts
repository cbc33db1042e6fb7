import { describe } from "vitest";
import { type LangChain4jMessage, langchain4jFormat } from "../src/langchain4j.ts";
import { testReshapeCases } from "./reshape-cases.ts";

const text = (of: string) => ({ type: "TEXT" as const, text: of });
const image = { type: "IMAGE" as const, image: { url: "https://example.org/secret.png" } };
const user = (...contents: unknown[]) => ({ type: "USER", contents }) as LangChain4jMessage;
const call = (id: string, args = "{}") => ({ id, name: "find", arguments: args });
const result = (id: string | undefined, content: object) =>
  ({
    type: "TOOL_EXECUTION_RESULT",
    ...(id === undefined ? {} : { id }),
    toolName: "find",
    contents: [content],
  }) as LangChain4jMessage;
const named = (name: string, message: LangChain4jMessage) => ({ ...message, name }) as LangChain4jMessage;
const marked = (attributes: object, message: LangChain4jMessage) =>
  ({ ...message, attributes }) as LangChain4jMessage;

describe("langchain4jFormat", () => {
  testReshapeCases<LangChain4jMessage>(langchain4jFormat, {
    renamed: [
      [
        "an answer",
        { type: "AI", toolExecutionRequests: [call("1"), null, { name: "find" }] },
        { type: "AI", toolExecutionRequests: [call("new-1"), null, { name: "find" }] },
      ],
      ["a result", result("1", text("a")), result("new-1", text("a"))],
      ["a result without an id", result(undefined, text("a"))],
      ["a user", user(text("1"))],
    ],
    named: [
      [
        "an answer",
        { type: "AI", toolExecutionRequests: [call("1"), null, { id: "2" }] },
        {
          type: "AI",
          toolExecutionRequests: [{ ...call("1"), name: "new-find" }, null, { id: "2", name: "new-" }],
        },
      ],
      ["a result", result("1", text("a")), { ...result("1", text("a")), toolName: "new-find" } as never],
      [
        "a result without id and name",
        { type: "TOOL_EXECUTION_RESULT", contents: [text("a")] },
        { type: "TOOL_EXECUTION_RESULT", toolName: "new-", contents: [text("a")] },
      ],
      ["a result that bears none", { type: "TOOL_EXECUTION_RESULT", id: "1", contents: [text("a")] }],
      ["a named user", named("find", user(text("1")))],
    ],
    joined: [
      ["what a user says twice", user(text("a")), user(image, null), user(text("a"), image, null)],
      [
        "what a named user says",
        named("Ada", user(text("a"))),
        named("Ada", user(image)),
        named("Ada", user(text("a"), image)),
      ],
      ["not two users", named("Ada", user(text("a"))), user(image), undefined],
      [
        "messages of which one has attributes",
        marked({}, user(text("a"))),
        marked({ a: 1 }, user(image)),
        marked({ a: 1 }, user(text("a"), image)),
      ],
      [
        "no attributes that disagree",
        marked({ a: 2 }, user(text("a"))),
        marked({ a: 1 }, user(image)),
        undefined,
      ],
      [
        "calls that stand alone with what stands before them",
        { type: "AI", text: "a", thinking: "hm" },
        { type: "AI", toolExecutionRequests: [{ id: "1" }] },
        { type: "AI", text: "a", thinking: "hm", toolExecutionRequests: [{ id: "1" }] },
      ],
      [
        "no calls with a thought",
        { type: "AI", toolExecutionRequests: [{ id: "1" }] },
        { type: "AI", thinking: "hm", toolExecutionRequests: [{ id: "2" }] },
        undefined,
      ],
      ["no answers", { type: "AI", text: "a" }, { type: "AI", text: "b" }, undefined],
      ["no results", result("1", text("a")), result("2", text("a")), undefined],
    ],
    emptied: [
      ["a system message", { type: "SYSTEM", text: "\ufeff" }, "blank", undefined],
      ["contents", user(text(""), image, text(" ")), "empty", user(image, text(" "))],
      ["blank contents", user(text(""), image, null, text(" ")), "blank", user(image, null)],
      ["nothing but empty contents", user(text(""), null), "empty", undefined],
      [
        "a call's message",
        { type: "AI", text: "", toolExecutionRequests: [call("1")] },
        "empty",
        { type: "AI", toolExecutionRequests: [call("1")] },
      ],
      ["an answer", { type: "AI", text: " " }, "blank", undefined],
    ],
    full: [
      ["a result", result("1", text(""))],
      ["a custom message", { type: "CUSTOM" }],
      ["an answer without a text", { type: "AI" }],
      ["thinking", { type: "AI", thinking: "" }],
    ],
    mapped: [
      ["a system message", { type: "SYSTEM", text: "a secret" }, { type: "SYSTEM", text: "a …" }],
      ["contents", user(text("secret"), null, image), user(text("…"), null, image)],
      [
        "an unknown content",
        user({ type: "HOLOGRAM", body: "secret" }),
        user({ type: "HOLOGRAM", body: "…" }),
      ],
      [
        "an answer",
        {
          type: "AI",
          text: "secret",
          thinking: "secret",
          toolExecutionRequests: [call("secret", "secret"), null],
          attributes: { thinking_signature: "secret" },
        },
        {
          type: "AI",
          text: "…",
          thinking: "…",
          toolExecutionRequests: [call("secret", "…"), null],
          attributes: { thinking_signature: "secret" },
        },
      ],
      ["a result", result("secret", text("secret")), result("secret", text("…"))],
      [
        "a custom message",
        marked({ a: "secret" }, { type: "CUSTOM" }),
        marked({ a: "…" }, { type: "CUSTOM" }),
      ],
    ],
    cut: [
      [
        "a system message that becomes blank",
        { type: "SYSTEM", text: "    a" },
        { type: "SYSTEM", text: "…" },
      ],
      [
        "a custom message",
        marked({ a: "secret" }, { type: "CUSTOM" }),
        marked({ a: "secr" }, { type: "CUSTOM" }),
      ],
      ["an unknown content", user({ type: "HOLOGRAM" }), user(text('{"ty'))],
    ],
  });
});
