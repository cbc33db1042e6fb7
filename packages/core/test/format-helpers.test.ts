import { describe, expect, test } from "vitest";
import { assistant, modelMessageFormat, system, toolCall, toolResult, user } from "../src/index.ts";

describe("helpers build messages of the default format", () => {
  const image = { type: "image", image: new URL("https://example.com/cat.png") } as const;

  test.each([
    ["system", system("Be brief."), { role: "system", content: "Be brief." }],
    ["user, of text", user("Hello"), { role: "user", content: "Hello" }],
    ["user, of parts", user([image]), { role: "user", content: [image] }],
    ["assistant, of text", assistant("Hi"), { role: "assistant", content: "Hi" }],
    [
      "assistant, of parts",
      assistant([{ type: "reasoning", text: "hm" }]),
      { role: "assistant", content: [{ type: "reasoning", text: "hm" }] },
    ],
    [
      "a call",
      toolCall("1", "weather", { city: "Oslo" }),
      {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: "1", toolName: "weather", input: { city: "Oslo" } }],
      },
    ],
    [
      "a call with text before it, even none",
      toolCall("1", "weather", {}, ""),
      {
        role: "assistant",
        content: [
          { type: "text", text: "" },
          { type: "tool-call", toolCallId: "1", toolName: "weather", input: {} },
        ],
      },
    ],
  ])("%s", (_name, message, expected) => {
    expect(message).toStrictEqual(expected);
    expect(modelMessageFormat.decode(modelMessageFormat.encode(message))).toStrictEqual(expected);
  });

  test.each([
    ["text", "4 °C", undefined, { type: "text", value: "4 °C" }],
    ["JSON", { c: 4 }, undefined, { type: "json", value: { c: 4 } }],
    ["null", null, {}, { type: "json", value: null }],
    ["false", false, { isError: false }, { type: "json", value: false }],
    ["an error in text", "no", { isError: true }, { type: "error-text", value: "no" }],
    ["an error in JSON", ["no"], { isError: true }, { type: "error-json", value: ["no"] }],
    ["no answer", undefined as never, { isError: undefined }, { type: "json", value: null }],
  ])("a result of %s", (_name, output, options, expected) => {
    const message = toolResult("1", "weather", output, options);
    expect(message).toStrictEqual({
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "1", toolName: "weather", output: expected }],
    });
    expect(modelMessageFormat.toolResults(message)).toEqual([{ id: "1", name: "weather" }]);
  });

  test("what they are given stays the caller's", () => {
    const parts = [{ type: "text", text: "a" }] as const;
    expect(user([...parts]).content).toEqual(parts);
    const input = Object.freeze({ city: "Oslo" });
    expect(toolCall("1", "weather", input).content).toMatchObject([{ input }]);
  });
});
