import { describe } from "vitest";
import { ollamaFormat } from "../src/ollama.ts";
import { ollamaMessage } from "./arbitrary-ollama.ts";
import { testProperties } from "./format-properties.ts";
import { testReshaping } from "./reshape-properties.ts";

describe("ollamaFormat, for any message", () => {
  testProperties({ format: ollamaFormat, message: ollamaMessage });
});

describe("ollamaFormat, for any message that is shaped", () => {
  testReshaping({ format: ollamaFormat, message: ollamaMessage });
});
