/**
 * Chat memory over the messages of Anthropic's Messages API.
 *
 * @module
 */
export { anthropicConversion } from "./anthropic/conversion.ts";
export { anthropicFormat } from "./anthropic/format.ts";
export type {
  AnthropicAssistantMessage,
  AnthropicBlock,
  AnthropicBrowserStateBlock,
  AnthropicContainerUploadBlock,
  AnthropicDocumentBlock,
  AnthropicImageBlock,
  AnthropicMessage,
  AnthropicRedactedThinkingBlock,
  AnthropicSearchResultBlock,
  AnthropicServerToolUseBlock,
  AnthropicSystemMessage,
  AnthropicTextBlock,
  AnthropicThinkingBlock,
  AnthropicToolReferenceBlock,
  AnthropicToolResultBlock,
  AnthropicToolUseBlock,
  AnthropicUserMessage,
} from "./anthropic/messages.ts";
export type {
  AnthropicCacheControl,
  AnthropicCitations,
  AnthropicProviderResultBlock,
  AnthropicToolCaller,
  AnthropicWebSearchResult,
} from "./anthropic/provider-blocks.ts";
