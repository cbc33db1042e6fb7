export { PostgresChatMessageHistory } from "@langchain/community/stores/message/postgres";
export {
  AIMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
export { MessageList } from "@mastra/core/agent";
export { MessageHistory } from "@mastra/core/processors";
export { PostgresStore } from "@mastra/pg";
