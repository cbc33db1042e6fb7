import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  langchain4jFormat as format,
  messageFromJson,
  messagesFromJson,
  messagesToJson,
  messageToJson,
} from "../src/langchain4j.ts";
import { langchain4jMessage, pureLangChain4jMessage } from "./arbitrary-langchain4j.ts";
import { testReshaping } from "./reshape-properties.ts";

describe("langchain4jFormat, for any message", () => {
  it("gives back what it encoded, to the last member", () => {
    fc.assert(
      fc.property(langchain4jMessage, (message) => {
        const before = structuredClone(message);
        const encoded = format.encode(message);
        const decoded = format.decode(encoded);
        expect(decoded).toStrictEqual(before);
        expect(message).toStrictEqual(before);
        expect(format.equals(decoded, message)).toBe(true);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: what a store refuses
        expect(encoded).not.toMatch(/\u0000|\p{Surrogate}/u);
      }),
    );
  });

  it("tells of calls and results what a copy without them no longer tells", () => {
    fc.assert(
      fc.property(langchain4jMessage, fc.constantFrom("call_1", "call_2"), (message, victim) => {
        const before = structuredClone(message);
        const copy = format.without(message, {
          toolCalls: (id) => id === victim,
          toolResults: (id) => id === victim,
        });
        expect(message).toStrictEqual(before);
        const [calls, results] = [format.toolCalls(message), format.toolResults(message)];
        if ([...calls, ...results].every(({ id }) => id !== victim)) {
          expect(copy).toBe(message);
          return;
        }
        const others = calls.filter(({ id }) => id !== victim);
        if (copy === undefined) {
          expect(others).toEqual([]);
          return;
        }
        expect(format.toolCalls(copy)).toEqual(others);
        expect(format.toolResults(copy)).toEqual(results.filter(({ id }) => id !== victim));
        expect(format.isEmpty(copy)).toBe(false);
      }),
    );
  });

  it("leaves out media and reasoning, and nothing else", () => {
    fc.assert(
      fc.property(langchain4jMessage, (message) => {
        const before = structuredClone(message);
        const copy = format.without(message, { media: true, reasoning: true });
        expect(message).toStrictEqual(before);
        const texts = format
          .pieces(message)
          .filter((piece) => piece.type === "text" && piece.of !== "reasoning" && piece.text.trim() !== "");
        if (copy === undefined) {
          expect(texts.filter((piece) => piece.of !== "name")).toEqual([]);
          return;
        }
        expect(format.hasReasoning(copy)).toBe(false);
        const left = format.pieces(copy);
        expect(left.filter((piece) => piece.type === "media")).toEqual([]);
        expect(left.filter((piece) => piece.type === "text" && piece.text.trim() !== "")).toEqual(texts);
        expect(format.toolCalls(copy)).toEqual(format.toolCalls(message));
        expect(format.toolResults(copy)).toEqual(format.toolResults(message));
        expect(() => format.encode(copy)).not.toThrow();
      }),
    );
  });

  it("answers each call with a result that names it and can be stored", () => {
    fc.assert(
      fc.property(langchain4jMessage, (message) => {
        const calls = format.toolCalls(message);
        const results = format.interruptedResults(calls, "interrupted");
        expect(results.flatMap((result) => format.toolResults(result))).toEqual(calls);
        for (const result of results) expect(() => messageToJson(result)).not.toThrow();
      }),
    );
  });
});

describe("LangChain4j's JSON, for any of its messages", () => {
  it("comes back to the character once written", () => {
    fc.assert(
      fc.property(pureLangChain4jMessage, (message) => {
        const before = structuredClone(message);
        const written = messageToJson(message);
        const read = messageFromJson(written);
        expect(messageToJson(read)).toBe(written);
        expect(message).toStrictEqual(before);
        const again = messageFromJson(written);
        expect(read !== null && again !== null && format.equals(read, again)).toBe(true);
      }),
    );
  });

  it("holds everything but an empty name and what was absent", () => {
    fc.assert(
      fc.property(pureLangChain4jMessage, (message) => {
        const read = messageFromJson(messageToJson(message));
        expect(read).not.toBeNull();
        if (read === null) return;
        expect(format.role(read)).toBe(format.role(message));
        expect(format.toolCalls(read)).toEqual(format.toolCalls(message));
        expect(format.toolResults(read)).toEqual(format.toolResults(message));
        expect(format.hasReasoning(read)).toBe(format.hasReasoning(message));
        expect(format.pieces(read)).toEqual(format.pieces(message));
        if ("attributes" in message) {
          expect("attributes" in read ? read.attributes : {}).toStrictEqual(message.attributes);
        }
      }),
    );
  });

  it("holds a list as it holds its messages", () => {
    fc.assert(
      fc.property(fc.array(fc.option(pureLangChain4jMessage), { maxLength: 5 }), (list) => {
        const written = messagesToJson(list);
        expect(written).toBe(`[${list.map(messageToJson).join(",")}]`);
        expect(messagesToJson(messagesFromJson(written))).toBe(written);
      }),
    );
  });
});

describe("langchain4jFormat, for any message that is shaped", () => {
  testReshaping({ format, message: langchain4jMessage });
});
