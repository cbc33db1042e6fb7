import fc from "fast-check";
import { anthropicMessage, messageOfEachBlock } from "./arbitrary-anthropic.ts";
import { bedrockMessage } from "./arbitrary-bedrock.ts";
import { geminiContent } from "./arbitrary-gemini.ts";
import { langchain4jMessage } from "./arbitrary-langchain4j.ts";
import { chatMessage } from "./arbitrary-messages.ts";
import { modelMessage } from "./arbitrary-model-messages.ts";
import { ollamaMessage } from "./arbitrary-ollama.ts";
import { kindsOfItem, responsesItem } from "./arbitrary-responses.ts";
import { uiMessage } from "./arbitrary-ui-messages.ts";

/** Messages of every kind, by the format's name in the documents. */
export const sources: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  ModelMessage: modelMessage,
  UIMessage: uiMessage,
  OpenAI: chatMessage,
  Responses: fc.oneof(responsesItem, ...kindsOfItem.map(([, item]) => item)),
  Anthropic: fc.oneof(anthropicMessage, ...messageOfEachBlock.map(([, message]) => message)),
  Gemini: geminiContent,
  Bedrock: bedrockMessage,
  Ollama: ollamaMessage,
  LangChain4j: langchain4jMessage,
};
