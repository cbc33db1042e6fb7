import { describe, expect, test } from "vitest";
import { type VectorMessage, vectorFormat } from "./vector-messages.ts";

const call = (id: string) => ({ id, name: "t", arguments: "{}" });
const calls: VectorMessage = { role: "assistant", text: "I look.", toolCalls: [call("a"), call("b")] };
const silent: VectorMessage = { role: "assistant", toolCalls: [call("a")] };
const result: VectorMessage = { role: "tool", toolCallId: "a", toolName: "t", text: "" };
const isA = (id: string): boolean => id === "a";

describe("the format of the recorded cases keeps the contract", () => {
  test("a copy lacks the calls and results that it is to lack, and is none if nothing is left", () => {
    expect(vectorFormat.without(calls, { toolCalls: isA })).toEqual({ ...calls, toolCalls: [call("b")] });
    expect(vectorFormat.without(calls, { toolCalls: () => true })).toEqual({
      role: "assistant",
      text: "I look.",
    });
    expect(vectorFormat.without(silent, { toolCalls: isA })).toBeUndefined();
    expect(vectorFormat.without(result, { toolResults: isA })).toBeUndefined();
    expect(calls.toolCalls).toHaveLength(2);
  });

  test("it is the message itself if there is nothing to leave out", () => {
    for (const message of [calls, silent, result]) {
      expect(vectorFormat.without(message, { reasoning: true, media: true })).toBe(message);
      expect(vectorFormat.without(message, { toolCalls: () => false, toolResults: () => false })).toBe(
        message,
      );
    }
  });

  test("a stored message names its format, and is told from those of others", () => {
    const text = vectorFormat.encode(calls);
    expect(vectorFormat.decode(text)).toEqual(calls);
    expect(JSON.parse(text)).toMatchObject({ format: "vector", version: 1 });
    expect(() => vectorFormat.decode(text.replace("vector", "other"))).toThrow(
      expect.objectContaining({ code: "CORRUPT_RECORD" }),
    );
  });

  test("a result of nothing is a result", () => {
    expect(vectorFormat.isEmpty(result)).toBe(false);
    expect(vectorFormat.isEmpty({ role: "assistant", text: " " })).toBe(true);
  });
});
