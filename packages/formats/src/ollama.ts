/**
 * Chat memory over the messages of Ollama's chat API.
 *
 * @module
 */
export { ollamaConversion } from "./ollama/conversion.ts";
export { ollamaFormat } from "./ollama/format.ts";
export type { OllamaMessage, OllamaToolCall } from "./ollama/messages.ts";
