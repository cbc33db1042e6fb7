import { describe, expect, it } from "vitest";
import { type OllamaMessage, ollamaFormat } from "../src/ollama.ts";
import { testReshapeCases } from "./reshape-cases.ts";

const user = (content: string): OllamaMessage => ({ role: "user", content });
const call = (id?: string, args: object = {}, name = "find") => ({
  ...(id && { id }),
  function: { name, arguments: { ...args } },
});
const assistant = (content: string, ...tool_calls: ReturnType<typeof call>[]): OllamaMessage =>
  ({ role: "assistant", content, ...(tool_calls.length > 0 && { tool_calls }) }) as OllamaMessage;
const result = (members: object, content = "4"): OllamaMessage => ({ role: "tool", content, ...members });
const seen: OllamaMessage = { role: "user", content: "", images: ["aGk="] };
const thought: OllamaMessage = { role: "assistant", content: "", thinking: "secret" };

describe("ollamaFormat", () => {
  testReshapeCases<OllamaMessage>(ollamaFormat, {
    renamed: [
      ["an answer", assistant("1", call("1"), call()), assistant("1", call("new-1"), call())],
      ["a result", result({ tool_call_id: "1" }), result({ tool_call_id: "new-1" })],
      ["a result without an id", result({ tool_name: "find" })],
    ],
    named: [
      ["an answer", assistant("", call()), assistant("", call(undefined, {}, "new-find"))],
      ["a result", result({ tool_name: "find" }), result({ tool_name: "new-find" })],
      ["a result that names its call alone", result({ tool_call_id: "1" })],
    ],
    joined: [
      [
        "calls that came one by one",
        assistant("a", call("1")),
        assistant("", call("2")),
        assistant("a", call("1"), call("2")),
      ],
      ["no two texts", assistant("a"), assistant("b", call("1")), undefined],
      ["nothing that a user says twice", user("a"), user("b"), undefined],
      [
        "no thought behind an answer",
        assistant("a"),
        { ...thought, tool_calls: [call("1")] } as OllamaMessage,
        undefined,
      ],
    ],
    emptied: [
      ["an answer", assistant(" ", call()), "blank", assistant("", call())],
      ["nothing but blanks", user(" "), "blank", undefined],
      ["no calls", { role: "assistant", content: "a", tool_calls: [] }, "empty", assistant("a")],
    ],
    full: [
      ["calls without a text", assistant("", call())],
      ["images without a text", seen],
      ["a thought without a text", thought],
      ["a result", result({ tool_name: "find" }, "")],
    ],
    mapped: [
      ["a text", user("a secret"), user("a …")],
      ["a thought", thought, { ...thought, thinking: "…" }],
      ["arguments", assistant("", call("1", { a: "secret" })), assistant("", call("1", { a: "…" }))],
      ["a result", result({ tool_name: "find" }, "secret"), result({ tool_name: "find" }, "…")],
    ],
    cut: [["arguments", assistant("", call("1", { a: "longer" })), assistant("", call("1", { a: "long" }))]],
  });

  it("leaves out what it thought, and what a user shows", () => {
    const both: OllamaMessage = { ...assistant("4"), thinking: "2 + 2" };
    expect(ollamaFormat.without(both, { reasoning: true })).toEqual(assistant("4"));
    expect(ollamaFormat.without(thought, { reasoning: true })).toBeUndefined();
    expect(ollamaFormat.without({ ...seen, content: "a" }, { media: true })).toEqual(user("a"));
    expect(ollamaFormat.without(seen, { media: true })).toBeUndefined();
  });
});
