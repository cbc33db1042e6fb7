/**
 * What an assistant needs for a memory of Anthropic's messages (`anthropicFormat` of `@turnkeep/formats/anthropic`): they
 * stay as the API gives and takes them.
 *
 * @module
 */
export { type AnthropicMessageLike, anthropicMessages } from "./anthropic/messages.ts";
