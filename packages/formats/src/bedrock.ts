/**
 * Chat memory over the messages of Amazon Bedrock's Converse API.
 *
 * @module
 */
export { bedrockConversion } from "./bedrock/conversion.ts";
export { bedrockFormat } from "./bedrock/format.ts";
export type {
  BedrockAudioBlock,
  BedrockBytes,
  BedrockContentBlock,
  BedrockDocumentBlock,
  BedrockGuardContent,
  BedrockImageBlock,
  BedrockMediaSource,
  BedrockMessage,
  BedrockReasoningContent,
  BedrockResultBlock,
  BedrockSearchResultBlock,
  BedrockToolReference,
  BedrockToolResultBlock,
  BedrockToolUseBlock,
  BedrockValue,
  BedrockVideoBlock,
} from "./bedrock/messages.ts";
