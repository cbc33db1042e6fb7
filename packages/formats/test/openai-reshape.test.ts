import { describe } from "vitest";
import { type ChatMessage, openaiFormat } from "../src/openai.ts";
import { testReshapeCases } from "./reshape-cases.ts";

const text = (of: string) => ({ type: "text" as const, text: of });
const image = { type: "image_url" as const, image_url: { url: "data:image/png;base64,aGk=" } };
const call = (id: string, args = "{}") => ({
  type: "function" as const,
  id,
  function: { name: "find", arguments: args },
});
const custom = (id: string, input = "") => ({
  type: "custom" as const,
  id,
  custom: { name: "run", input },
});
const odd = (members: object) => members as ChatMessage;

describe("openaiFormat", () => {
  testReshapeCases<ChatMessage>(openaiFormat, {
    renamed: [
      [
        "an assistant",
        { role: "assistant", content: null, tool_calls: [call("1"), custom("2")] },
        { role: "assistant", content: null, tool_calls: [call("new-1"), custom("new-2")] },
      ],
      [
        "a result",
        { role: "tool", tool_call_id: "1", content: "" },
        { role: "tool", tool_call_id: "new-1", content: "" },
      ],
      ["a function_call", { role: "assistant", function_call: { name: "find", arguments: "" } }],
      ["a function message", { role: "function", name: "find", content: "" }],
    ],
    named: [
      [
        "an assistant",
        odd({
          role: "assistant",
          name: "Ada",
          tool_calls: [call("1"), custom("2"), { id: "3", type: "browser" }],
        }),
        odd({
          role: "assistant",
          name: "Ada",
          tool_calls: [
            { ...call("1"), function: { name: "new-find", arguments: "{}" } },
            { ...custom("2"), custom: { name: "new-run", input: "" } },
            { id: "3", type: "browser" },
          ],
        }),
      ],
      ["a result", { role: "tool", tool_call_id: "1", content: "" }],
      [
        "a result that bears a name",
        odd({ role: "tool", tool_call_id: "1", name: "find", content: "" }),
        odd({ role: "tool", tool_call_id: "1", name: "new-find", content: "" }),
      ],
      [
        "a function_call",
        { role: "assistant", function_call: { name: "find", arguments: "" } },
        { role: "assistant", function_call: { name: "new-find", arguments: "" } },
      ],
      [
        "a function message",
        { role: "function", name: "find", content: "" },
        { role: "function", name: "new-find", content: "" },
      ],
      ["a named user", { role: "user", content: "a", name: "find" }],
    ],
    joined: [
      [
        "what a user says twice",
        { role: "user", content: "a" },
        { role: "user", content: "b" },
        { role: "user", content: [text("a"), text("b")] },
      ],
      [
        "what a named user says",
        { role: "user", content: "a", name: "Ada" },
        { role: "user", content: [image], name: "Ada" },
        { role: "user", content: [text("a"), image], name: "Ada" },
      ],
      [
        "not two users",
        { role: "user", content: "a", name: "Ada" },
        { role: "user", content: "b" },
        undefined,
      ],
      [
        "two answers",
        { role: "assistant", content: "a", refusal: null },
        { role: "assistant", content: [text("b")], tool_calls: [] },
        { role: "assistant", content: [text("a"), text("b")], refusal: null, tool_calls: [] },
      ],
      [
        "an answer with one that makes calls",
        { role: "assistant", content: "a" },
        { role: "assistant", content: "b", tool_calls: [call("1")] },
        { role: "assistant", content: [text("a"), text("b")], tool_calls: [call("1")] },
      ],
      [
        "no answer with one that thinks",
        { role: "assistant", content: "a" },
        odd({ role: "assistant", content: "b", reasoning_content: "hm", tool_calls: [call("1")] }),
        undefined,
      ],
      [
        "no answer with calls",
        { role: "assistant", tool_calls: [call("1")] },
        { role: "assistant", content: "b" },
        undefined,
      ],
      [
        "calls that stand alone with what stands before them",
        odd({ role: "assistant", content: "a", reasoning_content: "hm", tool_calls: [call("1")] }),
        { role: "assistant", content: null, tool_calls: [call("2")] },
        odd({ role: "assistant", content: "a", reasoning_content: "hm", tool_calls: [call("1"), call("2")] }),
      ],
      [
        "calls alone",
        { role: "assistant", tool_calls: [call("1")] },
        { role: "assistant", content: null, tool_calls: [call("2")] },
        { role: "assistant", content: null, tool_calls: [call("1"), call("2")] },
      ],
      [
        "no calls with a function_call",
        { role: "assistant", function_call: { name: "find", arguments: "" } },
        { role: "assistant", tool_calls: [call("2")] },
        undefined,
      ],
      [
        "no answer before one with reasoning",
        { role: "assistant", content: "b" },
        odd({ role: "assistant", content: "a", reasoning_content: "hm" }),
        undefined,
      ],
      [
        "no results",
        { role: "tool", tool_call_id: "1", content: "" },
        { role: "tool", tool_call_id: "2", content: "" },
        undefined,
      ],
      ["no system messages", { role: "system", content: "a" }, { role: "system", content: "a" }, undefined],
      ["no two roles", { role: "user", content: "a" }, { role: "assistant", content: "a" }, undefined],
    ],
    emptied: [
      ["a text", { role: "user", content: "" }, "empty", undefined],
      ["a system message", { role: "developer", content: " " }, "blank", undefined],
      [
        "parts",
        { role: "user", content: [text(""), image, text(" ")] },
        "empty",
        { role: "user", content: [image, text(" ")] },
      ],
      [
        "blank parts",
        { role: "user", content: [text(""), image, text(" ")] },
        "blank",
        { role: "user", content: [image] },
      ],
      ["nothing but empty parts", { role: "user", content: [text("")] }, "empty", undefined],
      [
        "a call's message",
        { role: "assistant", content: "", tool_calls: [call("1")] },
        "empty",
        { role: "assistant", content: null, tool_calls: [call("1")] },
      ],
      [
        "a call's message with parts",
        {
          role: "assistant",
          content: [text(" "), { type: "refusal", refusal: "" }],
          tool_calls: [call("1")],
        },
        "blank",
        { role: "assistant", content: null, tool_calls: [call("1")] },
      ],
      ["an answer", { role: "assistant", content: "", tool_calls: [] }, "empty", undefined],
      ["an answer without content", { role: "assistant", content: null }, "empty", undefined],
      ["a blank refusal", { role: "assistant", refusal: " " }, "blank", undefined],
    ],
    full: [
      ["a result", { role: "tool", tool_call_id: "1", content: "" }],
      ["a function's result", { role: "function", name: "find", content: "" }],
      ["a call's message", { role: "assistant", tool_calls: [call("1", "")] }],
      ["a list without parts", { role: "user", content: [] }],
    ],
    mapped: [
      [
        "a text",
        { role: "user", content: "a secret", name: "secret" },
        { role: "user", content: "a …", name: "secret" },
      ],
      [
        "parts",
        odd({ role: "user", content: [text("secret"), image, { type: "video_url", video_url: "secret" }] }),
        odd({ role: "user", content: [text("…"), image, { type: "video_url", video_url: "…" }] }),
      ],
      [
        "a result",
        { role: "tool", tool_call_id: "secret", content: [text("secret")] },
        { role: "tool", tool_call_id: "secret", content: [text("…")] },
      ],
      [
        "calls",
        {
          role: "assistant",
          tool_calls: [call("secret", '{"a":"secret"}'), custom("2", "secret")],
          function_call: { name: "secret", arguments: "secret" },
        },
        {
          role: "assistant",
          tool_calls: [call("secret", '{"a":"…"}'), custom("2", "…")],
          function_call: { name: "secret", arguments: "…" },
        },
      ],
      [
        "a call of an unknown type",
        odd({ role: "assistant", tool_calls: [{ type: "browser", id: "secret", page: "secret" }] }),
        odd({ role: "assistant", tool_calls: [{ type: "browser", id: "secret", page: "…" }] }),
      ],
      [
        "an answer that refuses",
        { role: "assistant", content: [{ type: "refusal", refusal: "secret" }], refusal: "secret" },
        { role: "assistant", content: [{ type: "refusal", refusal: "…" }], refusal: "…" },
      ],
      [
        "reasoning",
        odd({ role: "assistant", reasoning_content: "secret", reasoning_details: [{ text: "secret" }] }),
        odd({ role: "assistant", reasoning_content: "…", reasoning_details: [{ text: "…" }] }),
      ],
    ],
    cut: [
      [
        "parts",
        { role: "user", content: [text("second"), image] },
        { role: "user", content: [text("seco"), image] },
      ],
      [
        "a refusal among parts",
        { role: "assistant", content: [{ type: "refusal", refusal: "secret" }] },
        { role: "assistant", content: [{ type: "refusal", refusal: "secr" }] },
      ],
      [
        "calls",
        {
          role: "assistant",
          content: null,
          tool_calls: [call("call-1", "second"), custom("call-2", "third")],
        },
        { role: "assistant", content: null, tool_calls: [call("call-1", "seco"), custom("call-2", "thir")] },
      ],
      [
        "calls without arguments",
        odd({
          role: "assistant",
          tool_calls: [
            { type: "function", id: "call-1", function: { name: "second", arguments: null }, note: "third" },
            { type: "custom", id: "call-2", custom: { name: "second", input: null }, note: "third" },
          ],
        }),
        odd({
          role: "assistant",
          tool_calls: [
            { type: "function", id: "call-1", function: { name: "second", arguments: null }, note: "thir" },
            { type: "custom", id: "call-2", custom: { name: "second", input: null }, note: "thir" },
          ],
        }),
      ],
      [
        "a part of an unknown type",
        odd({ role: "user", content: [{ type: "video_url", id: 1 }] }),
        { role: "user", content: [text('{"ty')] },
      ],
      [
        "a call of an unknown type",
        odd({ role: "assistant", tool_calls: [{ type: "browser", id: "call-1", page: "secret" }] }),
        odd({ role: "assistant", tool_calls: [{ type: "browser", id: "call-1", page: "secr" }] }),
      ],
      [
        "reasoning that is an array",
        odd({ role: "assistant", reasoning_details: [{ text: "secret" }] }),
        odd({ role: "assistant", reasoning_details: [{ text: "secr" }] }),
      ],
    ],
  });
});
