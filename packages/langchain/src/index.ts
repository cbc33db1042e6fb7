/**
 * LangChain's messages in Turnkeep memories, and a chat message history over them.
 *
 * @module
 */
export { langchainFormat } from "./format.ts";
export { TurnkeepChatMessageHistory, type TurnkeepChatMessageHistoryInput } from "./history.ts";
