export { DynamoDBClient } from "@aws-sdk/client-dynamodb";
export { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
export { DynamoDBChatMessageHistory } from "@langchain/community/stores/message/dynamodb";
export {
  AIMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
export { MessageList } from "@mastra/core/agent";
export { MessageHistory } from "@mastra/core/processors";
export { DynamoDBStore } from "@mastra/dynamodb";
