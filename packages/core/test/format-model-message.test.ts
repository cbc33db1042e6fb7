import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { modelMessageFormat as format, type ModelMessage, type ModelMessageLike } from "../src/index.ts";
import {
  assistant,
  blank,
  call,
  file,
  request,
  response,
  result,
  text,
  thought,
  thoughtFile,
  tool,
  userParts,
} from "./format-parts.ts";
import { anyMessage, copied, described } from "./format-support.ts";

describe("encode and decode", () => {
  test("give back every message of the type, whatever it holds", () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const before = described(message);
        const encoded = format.encode(message);
        expect(described(message)).toEqual(before);
        expect(encoded).not.toMatch(/\p{Surrogate}/u);
        expect(encoded).not.toContain("\u0000");
        expect(JSON.parse(encoded)).toMatchObject({ format: "model-message", version: 1 });
        const back = format.decode(encoded);
        expect(described(back)).toEqual(before);
        expect(format.equals(back, message)).toBe(true);
        expect(format.encode(back)).toBe(encoded);
      }),
    );
  });

  test("no other method throws for, or changes, a message that was accepted", () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const before = described(message);
        format.pieces(message);
        format.isEmpty(message);
        format.isBoundary(message);
        format.hasReasoning(message);
        format.approvals(message);
        format.toolCalls(message);
        format.toolResults(message);
        const shorter = format.without(message, {
          toolCalls: () => true,
          toolResults: () => true,
          reasoning: true,
          media: true,
        });
        expect(described(message)).toEqual(before);
        if (shorter === undefined) return;
        expect(described(format.decode(format.encode(shorter)))).toEqual(described(shorter));
        expect(format.toolCalls(shorter)).toEqual([]);
        expect(format.toolResults(shorter)).toEqual([]);
        expect(format.hasReasoning(shorter)).toBe(false);
        expect(format.pieces(shorter).filter((piece) => piece.type === "media")).toEqual([]);
      }),
    );
  });

  test("of plain text is what JSON.stringify writes, in an envelope", () => {
    const message: ModelMessage = { role: "user", content: 'Hé "you"' };
    expect(format.encode(message)).toBe(
      `{"format":"model-message","version":1,"message":${JSON.stringify(message)}}`,
    );
  });

  test("equality agrees with the copy, and not with another text", () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        expect(format.equals(message, copied(message) as ModelMessageLike)).toBe(true);
        expect(format.equals(message, { role: "user", content: "another text" })).toBe(false);
      }),
    );
  });
});

describe("what a memory asks", () => {
  test("the role", () => {
    expect(format.role({ role: "tool", content: [] })).toBe("tool");
  });

  test("calls and results in their order, results beside calls of one message too", () => {
    const message = assistant(text, call("2"), result("9"), call("1"), result("2"));
    expect(format.toolCalls(message)).toEqual([
      { id: "2", name: "t-2" },
      { id: "1", name: "t-1" },
    ]);
    expect(format.toolResults(message)).toEqual([
      { id: "9", name: "t-9" },
      { id: "2", name: "t-2" },
    ]);
    expect(format.toolCalls({ role: "user", content: "tool-call" })).toEqual([]);
    expect(format.toolResults({ role: "user", content: "tool-result" })).toEqual([]);
  });

  test("approvals, both halves", () => {
    expect(format.approvals(assistant(call("1"), request("1"), request("2")))).toEqual([
      { kind: "request", approvalId: "a-1", toolCallId: "1" },
      { kind: "request", approvalId: "a-2", toolCallId: "2" },
    ]);
    expect(format.approvals(tool(response("1"), result("1")))).toEqual([
      { kind: "response", approvalId: "a-1" },
    ]);
    expect(format.approvals({ role: "user", content: "yes" })).toEqual([]);
  });

  test("reasoning", () => {
    expect(format.hasReasoning(assistant(text, thought))).toBe(true);
    expect(format.hasReasoning(assistant(thoughtFile))).toBe(true);
    expect(format.hasReasoning(assistant(text, call("1")))).toBe(false);
    expect(format.hasReasoning({ role: "assistant", content: "reasoning" })).toBe(false);
  });

  test("boundaries of providers", () => {
    const item = (kind: string, providerOptions: unknown): object => ({
      type: "custom",
      kind,
      providerOptions,
    });
    const compaction = (kind: string, options: unknown = { openai: { itemId: "cmp" } }): ModelMessageLike =>
      assistant(text, item(kind, options));
    const marked = (part: object, options: unknown): ModelMessageLike =>
      assistant({ ...part, providerOptions: options });
    expect(format.isBoundary(compaction("openai.compaction"))).toBe(true);
    expect(format.isBoundary(compaction("openai.compaction", { azure: { itemId: "cmp" } }))).toBe(true);
    expect(format.isBoundary(compaction("openai.other"))).toBe(false);
    // What the provider package leaves out in silence must not hide what stands before it.
    expect(format.isBoundary(compaction("openai.compaction", {}))).toBe(false);
    expect(format.isBoundary(marked({ ...text, text: "" }, { anthropic: { type: "compaction" } }))).toBe(
      false,
    );
    const asked = { role: "user", content: [item("openai.compaction", { openai: { itemId: "cmp" } })] };
    expect(format.isBoundary(asked as ModelMessageLike)).toBe(false);
    expect(format.isBoundary(marked(text, { anthropic: { type: "compaction" } }))).toBe(true);
    expect(format.isBoundary(marked(text, { anthropic: { type: "other" } }))).toBe(false);
    expect(format.isBoundary(marked(text, { anthropic: null }))).toBe(false);
    expect(format.isBoundary(marked(text, { openai: { type: "compaction" } }))).toBe(false);
    expect(format.isBoundary(marked(thought, { anthropic: { type: "compaction" } }))).toBe(false);
    expect(format.isBoundary({ role: "assistant", content: "compaction" })).toBe(false);
  });

  test.each<[boolean, string, ModelMessageLike]>([
    [true, "no text", { role: "user", content: "" }],
    [true, "blanks", { role: "assistant", content: " \n\u00a0" }],
    [false, "text", { role: "user", content: " a " }],
    [true, "no parts", assistant()],
    [true, "blank parts", assistant(blank, blank)],
    [false, "text among blanks", assistant(blank, text)],
    [false, "a call", assistant(blank, call("1"))],
    [false, "a result", tool(result("1"))],
    [false, "reasoning", assistant(thought)],
    [false, "a file", userParts(file)],
    [false, "an unknown part", userParts({ type: "hologram" })],
  ])("empty is %s for %s", (expected, _name, message) => {
    expect(format.isEmpty(message)).toBe(expected);
  });

  test("interrupted results answer each call with an error", () => {
    const messages = format.interruptedResults(
      [
        { id: "1", name: "a" },
        { id: "2", name: "b" },
      ],
      "stopped",
    );
    expect(messages).toEqual([
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "1",
            toolName: "a",
            output: { type: "error-text", value: "stopped" },
          },
          {
            type: "tool-result",
            toolCallId: "2",
            toolName: "b",
            output: { type: "error-text", value: "stopped" },
          },
        ],
      },
    ]);
    expect(messages.flatMap((message) => format.toolResults(message)).map(({ id }) => id)).toEqual([
      "1",
      "2",
    ]);
    for (const message of messages) expect(format.decode(format.encode(message))).toEqual(message);
  });
});
