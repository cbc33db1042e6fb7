export { MessageList } from "@mastra/core/agent";
export { MessageHistory } from "@mastra/core/processors";
export { LibSQLStore } from "@mastra/libsql";
