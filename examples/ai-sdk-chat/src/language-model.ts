import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "ai";
import { mockModel } from "./mock-model.ts";

/**
 * The model of the server that `MODEL_BASE_URL` (`http://localhost:11434/v1`), `MODEL_NAME` and, if it wants one,
 * `MODEL_API_KEY` name; without an address, the SDK's mock model.
 */
export function languageModel(): LanguageModel {
  const { MODEL_BASE_URL: baseURL, MODEL_NAME: name = "default", MODEL_API_KEY: apiKey } = process.env;
  if (baseURL !== undefined) {
    return createOpenAICompatible({ name: "server", baseURL, ...(apiKey && { apiKey }), includeUsage: true })(
      name,
    );
  }
  console.log("(No MODEL_BASE_URL: the AI SDK's mock model answers, which knows cities and nothing else.)");
  return mockModel();
}
