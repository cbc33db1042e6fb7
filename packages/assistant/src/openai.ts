/**
 * What an assistant needs for a memory of OpenAI's chat messages (`openaiFormat` of `@turnkeep/formats/openai`): they stay
 * as the API gives and takes them.
 *
 * @module
 */
export { type ChatMessageLike, openaiMessages } from "./openai/messages.ts";
