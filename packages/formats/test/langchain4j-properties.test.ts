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
import { testProperties } from "./format-properties.ts";
import { testReshaping } from "./reshape-properties.ts";

describe("langchain4jFormat, for any message", () => {
  testProperties({ format, message: langchain4jMessage });
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
  testReshaping({
    format,
    message: langchain4jMessage,
    withNames: (message) => {
      if (message.type === "TOOL_EXECUTION_RESULT" && !message.id) return { toolName: "", ...message };
      if (message.type !== "AI" || message.toolExecutionRequests === undefined) return message;
      const calls = message.toolExecutionRequests.map((call) => call && { name: "", ...call });
      return { ...message, toolExecutionRequests: calls };
    },
  });
});
