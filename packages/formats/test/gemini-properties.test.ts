import { describe } from "vitest";
import { type GeminiContent, geminiFormat } from "../src/gemini.ts";
import { contentOfEachPart, geminiContent } from "./arbitrary-gemini.ts";
import { testProperties } from "./format-properties.ts";
import { testReshaping } from "./reshape-properties.ts";

describe("geminiFormat, for any content", () => {
  testProperties({ format: geminiFormat, message: geminiContent, kinds: contentOfEachPart });
});

describe("geminiFormat, for any content that is shaped", () => {
  testReshaping<GeminiContent>({ format: geminiFormat, message: geminiContent });
});
