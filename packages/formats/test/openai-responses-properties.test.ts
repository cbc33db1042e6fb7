import { describe } from "vitest";
import { openaiResponsesFormat } from "../src/openai-responses.ts";
import { kindsOfItem, responsesItem } from "./arbitrary-responses.ts";
import { testProperties } from "./format-properties.ts";
import { testReshaping } from "./reshape-properties.ts";

describe("openaiResponsesFormat, for any item", () => {
  testProperties({
    format: openaiResponsesFormat,
    message: responsesItem,
    kinds: kindsOfItem,
    // A screenshot is all that the result of a computer call can be.
    keepsMedia: (item) => item.type === "computer_call_output",
    // By an item's id the API knows the reasoning that led to it.
    isBound: (item) => "id" in item,
  });
});

describe("openaiResponsesFormat, for any item that is shaped", () => {
  testReshaping({
    format: openaiResponsesFormat,
    message: responsesItem,
    readable: (item) => {
      if (item.type === "compaction") return { ...item, encrypted_content: "" };
      if (item.type !== "reasoning" || (item.content ?? []).length > 0) return item;
      return typeof item.encrypted_content === "string"
        ? { ...item, summary: [], encrypted_content: null }
        : item;
    },
    keepsProvidersIds: (item) => item.type !== "shell_call",
    namesTool: (call) => !("type" in call) || call.type === "custom_tool_call",
  });
});
