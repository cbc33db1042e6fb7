import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openaiFormat } from "../src/openai.ts";
import { chatMessage } from "./arbitrary-messages.ts";
import { testReshaping } from "./reshape-properties.ts";

describe("openaiFormat, for any message", () => {
  it("gives back what it encoded, to the last member", () => {
    fc.assert(
      fc.property(chatMessage, (message) => {
        const before = structuredClone(message);
        const encoded = openaiFormat.encode(message);
        const decoded = openaiFormat.decode(encoded);
        expect(decoded).toStrictEqual(before);
        expect(message).toStrictEqual(before);
        expect(openaiFormat.equals(decoded, message)).toBe(true);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: what a store refuses
        expect(encoded).not.toMatch(/\u0000|\p{Surrogate}/u);
      }),
    );
  });

  it("tells of calls and results what a copy without them no longer tells", () => {
    fc.assert(
      fc.property(chatMessage, fc.constantFrom("call_1", "call_2"), (message, victim) => {
        const before = structuredClone(message);
        const copy = openaiFormat.without(message, {
          toolCalls: (id) => id === victim,
          toolResults: (id) => id === victim,
        });
        expect(message).toStrictEqual(before);
        const [calls, results] = [openaiFormat.toolCalls(message), openaiFormat.toolResults(message)];
        if ([...calls, ...results].every(({ id }) => id !== victim)) {
          expect(copy).toBe(message);
          return;
        }
        if (copy === undefined) {
          expect(calls.filter(({ id }) => id !== victim)).toEqual([]);
          return;
        }
        expect(openaiFormat.toolCalls(copy)).toEqual(calls.filter(({ id }) => id !== victim));
        expect(openaiFormat.toolResults(copy)).toEqual(results.filter(({ id }) => id !== victim));
        expect(openaiFormat.isEmpty(copy)).toBe(false);
      }),
    );
  });

  it("leaves out media and reasoning, and nothing else", () => {
    fc.assert(
      fc.property(chatMessage, (message) => {
        const before = structuredClone(message);
        const copy = openaiFormat.without(message, { media: true, reasoning: true });
        expect(message).toStrictEqual(before);
        const texts = openaiFormat
          .pieces(message)
          .filter((piece) => piece.type === "text" && piece.of !== "reasoning" && piece.text.trim() !== "");
        if (copy === undefined) {
          expect(texts.filter((piece) => piece.of !== "name")).toEqual([]);
          return;
        }
        expect(openaiFormat.hasReasoning(copy)).toBe(false);
        const left = openaiFormat.pieces(copy);
        expect(left.filter((piece) => piece.type === "media")).toEqual([]);
        expect(left.filter((piece) => piece.type === "text" && piece.text.trim() !== "")).toEqual(texts);
        expect(openaiFormat.toolCalls(copy)).toEqual(openaiFormat.toolCalls(message));
        expect(openaiFormat.toolResults(copy)).toEqual(openaiFormat.toolResults(message));
      }),
    );
  });

  it("answers each call with a result that names it and can be stored", () => {
    fc.assert(
      fc.property(chatMessage, (message) => {
        const calls = openaiFormat.toolCalls(message);
        const results = openaiFormat.interruptedResults(calls, "interrupted");
        expect(results.flatMap((result) => openaiFormat.toolResults(result)).map(({ id }) => id)).toEqual(
          calls.map(({ id }) => id),
        );
        for (const result of results) expect(() => openaiFormat.encode(result)).not.toThrow();
      }),
    );
  });
});

describe("openaiFormat, for any message that is shaped", () => {
  testReshaping({ format: openaiFormat, message: chatMessage });
});
