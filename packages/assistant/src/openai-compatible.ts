/**
 * Models behind any server that speaks OpenAI's Chat Completions protocol, for an assistant: by `fetch`, without a driver.
 *
 * @module
 */
export {
  type ChatAssistantMessage,
  openaiCompatible,
  openaiCompatibleChat,
} from "./openai-compatible/model.ts";
export type { OpenAICompatibleOptions } from "./openai-compatible/options.ts";
