import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { convert, modelMessageConversion } from "../src/convert.ts";
import { commonConversation, conversationOf } from "./arbitrary-conversations.ts";
import { conversionOf, names, pairs, said, told } from "./conversions.ts";

const runs = { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 20) };

/** Bedrock fetches no links, and Ollama neither fetches them nor takes files. */
const heldBy = (...formats: readonly string[]) =>
  conversationOf({
    links: !formats.some((name) => name === "Bedrock" || name === "Ollama"),
    files: !formats.includes("Ollama"),
  });

describe("what every format holds", () => {
  it.each(pairs)("comes back from %s by way of %s as it was", (from, by) => {
    const [own, other] = [conversionOf(from), conversionOf(by)];
    fc.assert(
      fc.property(heldBy(from, by), (conversation) => {
        const given = convert(conversation, { from: modelMessageConversion, to: own }).messages;
        const before = structuredClone(said(given, own.format));
        const there = convert(given, { from: own, to: other });
        expect(there.lost).toEqual([]);
        for (const message of there.messages) other.format.encode(message);
        expect(told(there.messages, other.format)).toEqual(told(given, own.format));
        const back = convert(there.messages, { from: other, to: own });
        expect(back.lost).toEqual([]);
        for (const message of back.messages) own.format.encode(message);
        expect(said(back.messages, own.format)).toEqual(before);
        expect(said(given, own.format)).toEqual(before);
      }),
      runs,
    );
  });

  it.each(names)("is the same messages where %s stays what it is", (name) => {
    const own = conversionOf(name);
    fc.assert(
      fc.property(commonConversation, (conversation) => {
        const given = convert(conversation, { from: modelMessageConversion, to: own }).messages;
        const same = convert(given, { from: own, to: own });
        expect(same.lost).toEqual([]);
        expect(same.messages).toEqual(given);
        expect(same.messages).not.toBe(given);
        same.messages.forEach((message, index) => {
          expect(message).toBe(given[index]);
        });
      }),
      runs,
    );
  });
});

describe("a call's input", () => {
  const call = (input: unknown) => ({
    role: "assistant" as const,
    content: [{ type: "tool-call" as const, toolCallId: "call-1", toolName: "find", input }],
  });

  it.each(["OpenAI", "Responses", "LangChain4j"])(
    "of null stays null in %s, and none at all is an empty object",
    (name) => {
      const to = conversionOf(name);
      const text = (input: unknown) => {
        const { messages, lost } = convert([call(input)], { from: modelMessageConversion, to });
        expect(lost).toEqual([]);
        return messages.flatMap(to.format.pieces).filter((piece) => piece.of === "tool-call");
      };
      expect(text(null)).toEqual([{ type: "text", text: "null", of: "tool-call" }]);
      expect(text(undefined)).toEqual([{ type: "text", text: "{}", of: "tool-call" }]);
    },
  );

  it.each(pairs.filter(([from]) => ["OpenAI", "Responses", "LangChain4j"].includes(from)))(
    "that no message may hold, being nested too deep, is taken for text from %s to %s",
    (from, to) => {
      const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
      const source = convert([call(deep)], { from: modelMessageConversion, to: conversionOf(from) }).messages;
      const { messages } = convert(source, { from: conversionOf(from), to: conversionOf(to) });
      for (const message of messages) conversionOf(to).format.encode(message);
      const texts = messages.flatMap(conversionOf(to).format.pieces).filter(({ of }) => of === "tool-call");
      expect(JSON.stringify(texts)).toContain(deep);
    },
  );
});

describe("what is no conversion", () => {
  const own = modelMessageConversion;

  it.each([
    [
      undefined,
      "from must be a conversion, such as openaiConversion of @turnkeep/formats/openai, not undefined",
    ],
    [{ from: own }, "convert's to must be a conversion"],
    [{ from: own.format, to: own }, "not a message format."],
    [{ from: own, to: null }, "not null."],
    [{ form: own, to: own }, 'convert\'s second argument takes from, to; it was given "form".'],
    [{ from: own, to: own, convertDataPart: () => undefined }, 'it was given "convertDataPart".'],
  ])("is refused: %o", (options, message) => {
    const call = () => convert([], options as never);
    expect(call).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(message) }),
    );
  });

  it("and no list is refused", () => {
    expect(() => convert("[]" as never, { from: own, to: own })).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: "convert takes a list of messages, not a string.",
      }),
    );
  });
});
