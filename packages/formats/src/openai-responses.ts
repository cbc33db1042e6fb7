/**
 * Chat memory over the items of OpenAI's Responses API.
 *
 * @module
 */

export type * from "./openai-responses/call-items.ts";
export type * from "./openai-responses/content.ts";
export { openaiResponsesConversion } from "./openai-responses/conversion.ts";
export { openaiResponsesFormat } from "./openai-responses/format.ts";
export type * from "./openai-responses/items.ts";
export type * from "./openai-responses/provider-items.ts";
