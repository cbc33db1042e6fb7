import type { Samples } from "./sample-values.ts";
import { aiSdk, modelMessage } from "./samples-ai-sdk.ts";
import { anthropic } from "./samples-anthropic.ts";
import { bedrock } from "./samples-bedrock.ts";
import { gemini } from "./samples-gemini.ts";
import { langchain4j } from "./samples-langchain4j.ts";
import { ollama } from "./samples-ollama.ts";
import { openai, openaiResponses } from "./samples-openai.ts";

/** By the name that {@link conversions} give the formats. */
export const samples: Readonly<Record<string, Samples<unknown>>> = {
  ModelMessage: modelMessage,
  UIMessage: aiSdk,
  OpenAI: openai,
  Responses: openaiResponses,
  Anthropic: anthropic,
  Gemini: gemini,
  Bedrock: bedrock,
  Ollama: ollama,
  LangChain4j: langchain4j,
};
