import { describe, expect, it } from "vitest";
import { type GeminiContent, geminiFormat } from "../src/gemini.ts";
import { testReshapeCases } from "./reshape-cases.ts";

const user = (...parts: object[]): GeminiContent => ({ role: "user", parts });
const model = (...parts: object[]): GeminiContent => ({ role: "model", parts });
const system = (text: string): GeminiContent => ({ role: "system", parts: [{ text }] });
const text = (of: string) => ({ text: of });
const image = { inlineData: { mimeType: "image/png", data: "aGk=" } };
const call = (id: string, args: object = {}) => ({ functionCall: { id, name: "find", args } });
const response = (id: string, said: object = {}) => ({
  functionResponse: { id, name: "find", response: said },
});
const callByName = { functionCall: { name: "find" } };
const responseByName = { functionResponse: { name: "find", response: {} } };
const signed = (part: object) => ({ ...part, thoughtSignature: "secret" });
const code = (of: string) => ({ executableCode: { language: "PYTHON", code: of } });

describe("geminiFormat", () => {
  testReshapeCases<GeminiContent>(geminiFormat, {
    renamed: [
      ["an answer", model(text("1"), signed(call("1"))), model(text("1"), signed(call("new-1")))],
      ["responses", user(response("1"), text("1")), user(response("new-1"), text("1"))],
      ["what has no id", model(callByName)],
      ["its response", user(responseByName)],
      [
        "the API's own",
        model({ toolCall: { id: "1", args: {} } }, { toolResponse: { id: "1", response: {} } }),
      ],
    ],
    named: [
      ["an answer", model(call("1")), model({ functionCall: { id: "1", name: "new-find", args: {} } })],
      ["what has no id", model(callByName), model({ functionCall: { name: "new-find" } })],
      ["its response", user(responseByName), user({ functionResponse: { name: "new-find", response: {} } })],
    ],
    joined: [
      ["what a user says twice", user(text("a")), user(text("b")), user(text("a"), text("b"))],
      ["a content without a role", { parts: [text("a")] }, user(text("b")), user(text("a"), text("b"))],
      [
        "responses before what the user says",
        user(text("a"), response("1")),
        user(image, response("2")),
        user(response("1"), response("2"), text("a"), image),
      ],
      ["answers", model(text("a"), call("1")), model(text("b")), model(text("a"), call("1"), text("b"))],
      ["no system instructions", system("a"), system("b"), undefined],
      ["no two roles", user(text("a")), model(text("b")), undefined],
    ],
    emptied: [
      ["an answer", model(text(""), call("1")), "empty", model(call("1"))],
      ["a text with a signature", model(signed(text(" ")), text("a")), "blank", model(text("a"))],
      ["nothing but blanks", user(text(" \n")), "blank", undefined],
      ["no parts", { role: "model" }, "empty", undefined],
    ],
    full: [
      ["a thought without a text", model({ text: "", thought: true }, text("a"))],
      ["a response", user(response("1", { output: "" }))],
      ["an image", user(image)],
    ],
    mapped: [
      ["a text", user(text("a secret")), user(text("a …"))],
      ["a thought", model({ text: "secret", thought: true }), model({ text: "…", thought: true })],
      ["arguments", model(signed(call("1", { a: "secret" }))), model(signed(call("1", { a: "…" })))],
      ["a response", user(response("1", { a: "secret" })), user(response("1", { a: "…" }))],
      [
        "what a function put out",
        user(response("1", { output: "secret" })),
        user(response("1", { output: "…" })),
      ],
      ["code", model(code("secret")), model(code("…"))],
      ["no medium and no signature", user(signed({ inlineData: { mimeType: "image/png", data: "secret" } }))],
      ["a part that it does not know", user(signed({ x: "secret" })), user(signed({ x: "…" }))],
    ],
    cut: [
      ["arguments", model(call("1", { a: "longer" })), model(call("1", { a: "long" }))],
      ["a response", user(response("1", { a: "longer" })), user(response("1", { output: '{"a"' }))],
      ["a part that it does not know", user({ x: "longer" }), user({ x: "long" })],
    ],
  });

  it("keeps a signed text where the API wants it back", () => {
    const content = model(signed(text("")));
    expect(geminiFormat.withoutEmptyText?.(content, "blank", true)).toBe(content);
  });

  it("leaves a response without its media", () => {
    const shown = user({
      functionResponse: { id: "1", name: "find", response: { output: "a" }, parts: [image] },
    });
    expect(geminiFormat.without(shown, { media: true })).toEqual(user(response("1", { output: "a" })));
  });

  it("puts responses before what the user says", () => {
    const content = user(text("a"), response("1"));
    expect(geminiFormat.resultsFirst?.(content)).toEqual(user(response("1"), text("a")));
    const first = user(response("1"), text("a"));
    expect(geminiFormat.resultsFirst?.(first)).toBe(first);
  });
});
