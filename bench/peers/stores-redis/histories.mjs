export {
  AIMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
export { RedisChatMessageHistory } from "@langchain/redis";
export { MessageList } from "@mastra/core/agent";
export { MessageHistory } from "@mastra/core/processors";
export { RedisStore } from "@mastra/redis";
export { createClient } from "redis";
