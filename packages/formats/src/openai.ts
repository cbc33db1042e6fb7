/**
 * Chat memory over the messages of OpenAI's Chat Completions API.
 *
 * @module
 */
export { openaiConversion } from "./openai/conversion.ts";
export { openaiFormat } from "./openai/format.ts";
export type {
  ChatAssistantMessage,
  ChatAudioPart,
  ChatCacheBreakpoint,
  ChatCustomToolCall,
  ChatDeveloperMessage,
  ChatFilePart,
  ChatFunctionMessage,
  ChatFunctionToolCall,
  ChatImagePart,
  ChatMessage,
  ChatRefusalPart,
  ChatSystemMessage,
  ChatTextPart,
  ChatToolMessage,
  ChatUserMessage,
} from "./openai/messages.ts";
