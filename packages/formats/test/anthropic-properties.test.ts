import { describe } from "vitest";
import { type AnthropicMessage, anthropicFormat } from "../src/anthropic.ts";
import { anthropicMessage, messageOfEachBlock } from "./arbitrary-anthropic.ts";
import { testProperties } from "./format-properties.ts";
import { testReshaping } from "./reshape-properties.ts";

/** What the API fetched itself goes back whole. */
function hasFetched(message: AnthropicMessage): boolean {
  return JSON.stringify(message.content).includes('"web_fetch_tool_result"');
}

/** With a title and a context of its own. */
function hasDocument(message: AnthropicMessage): boolean {
  return JSON.stringify(message.content).includes('"type":"document"');
}

describe("anthropicFormat, for any message", () => {
  testProperties({
    format: anthropicFormat,
    message: anthropicMessage,
    kinds: messageOfEachBlock,
    keepsMedia: hasFetched,
    hasTextInMedia: hasDocument,
  });
});

/** Without signatures that stand alone, and what the API encrypted or compacted. */
function readable(message: AnthropicMessage): AnthropicMessage {
  if (!Array.isArray(message.content)) return message;
  const content = (message.content as { type: string; thinking?: string; content?: unknown }[]).filter(
    ({ type, thinking, content }) => {
      if (type === "thinking") return thinking !== "";
      if (type === "redacted_thinking" || type === "compaction") return false;
      return !type.endsWith("tool_result") || !/"encrypted_(content|stdout)"/.test(JSON.stringify(content));
    },
  );
  return { ...message, content } as AnthropicMessage;
}

describe("anthropicFormat, for any message that is shaped", () => {
  testReshaping({
    format: anthropicFormat,
    message: anthropicMessage,
    readable,
    nestsText: (message) => /"(document|search_result)"/.test(JSON.stringify(message.content)),
  });
});
