import { describe } from "vitest";
import { type AnthropicMessage, anthropicFormat } from "../src/anthropic.ts";
import { anthropicMessage, messageOfEachBlock } from "./arbitrary-anthropic.ts";
import { testProperties } from "./format-properties.ts";

/** What the API fetched itself goes back whole. */
function hasFetched(message: AnthropicMessage): boolean {
  return JSON.stringify(message.content).includes('"web_fetch_tool_result"');
}

describe("anthropicFormat, for any message", () => {
  testProperties({
    format: anthropicFormat,
    message: anthropicMessage,
    kinds: messageOfEachBlock,
    keepsMedia: hasFetched,
  });
});
