/**
 * Lets an assistant work with a memory of OpenAI's chat messages (`openaiFormat` of `@turnkeep/formats/openai`), which
 * stay in the API's own shape.
 *
 * @module
 */
export { type ChatMessageLike, openaiMessages } from "./openai/messages.ts";
