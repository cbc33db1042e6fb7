/**
 * Chat memory over the contents of Google's Gen AI SDK.
 *
 * @module
 */
export { geminiConversion } from "./gemini/conversion.ts";
export { geminiFormat } from "./gemini/format.ts";
export type {
  GeminiBlob,
  GeminiCodeExecutionResult,
  GeminiContent,
  GeminiExecutableCode,
  GeminiFileData,
  GeminiFunctionCall,
  GeminiFunctionResponse,
  GeminiFunctionResponsePart,
  GeminiPart,
  GeminiToolCall,
  GeminiToolResponse,
} from "./gemini/messages.ts";
