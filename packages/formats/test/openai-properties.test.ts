import { describe } from "vitest";
import { openaiFormat } from "../src/openai.ts";
import { chatMessage } from "./arbitrary-messages.ts";
import { testProperties } from "./format-properties.ts";
import { testReshaping } from "./reshape-properties.ts";

describe("openaiFormat, for any message", () => {
  testProperties({ format: openaiFormat, message: chatMessage });
});

describe("openaiFormat, for any message that is shaped", () => {
  testReshaping({
    format: openaiFormat,
    message: chatMessage,
    // Of a type that nobody knows.
    namesTool: ({ name }) => name !== "browser",
  });
});
