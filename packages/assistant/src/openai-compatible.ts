/**
 * Assistant models behind any server that speaks OpenAI's Chat Completions protocol. Uses `fetch`, no driver.
 *
 * @module
 */
export {
  type ChatAssistantMessage,
  openaiCompatible,
  openaiCompatibleChat,
} from "./openai-compatible/model.ts";
export type { OpenAICompatibleOptions } from "./openai-compatible/options.ts";
