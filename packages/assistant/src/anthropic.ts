/**
 * Lets an assistant work with a memory of Anthropic's messages (`anthropicFormat` of `@turnkeep/formats/anthropic`),
 * which stay in the API's own shape.
 *
 * @module
 */
export { type AnthropicMessageLike, anthropicMessages } from "./anthropic/messages.ts";
