export {
  AIMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
export { MongoDBChatMessageHistory } from "@langchain/mongodb";
export { MessageList } from "@mastra/core/agent";
export { MessageHistory } from "@mastra/core/processors";
export { MongoDBStore } from "@mastra/mongodb";
export { MongoClient } from "mongodb";
