import { describe } from "vitest";
import { openaiResponsesFormat } from "../src/openai-responses.ts";
import { kindsOfItem, responsesItem } from "./arbitrary-responses.ts";
import { testProperties } from "./format-properties.ts";

describe("openaiResponsesFormat, for any item", () => {
  testProperties({
    format: openaiResponsesFormat,
    message: responsesItem,
    kinds: kindsOfItem,
    // A screenshot is all that the result of a computer call can be.
    keepsMedia: (item) => item.type === "computer_call_output",
  });
});
