/**
 * Chat memory over the messages of LangChain4j, and its JSON.
 *
 * @module
 */
export { langchain4jConversion } from "./langchain4j/conversion.ts";
export { langchain4jFormat } from "./langchain4j/format.ts";
export type {
  LangChain4jAiMessage,
  LangChain4jAttributes,
  LangChain4jAudioContent,
  LangChain4jContent,
  LangChain4jCustomMessage,
  LangChain4jImageContent,
  LangChain4jMessage,
  LangChain4jPdfContent,
  LangChain4jSystemMessage,
  LangChain4jTextContent,
  LangChain4jToolCall,
  LangChain4jToolResultMessage,
  LangChain4jUserMessage,
  LangChain4jValue,
  LangChain4jVideoContent,
} from "./langchain4j/messages.ts";
export { messageFromJson, messagesFromJson } from "./langchain4j/read.ts";
export { messagesToJson, messageToJson } from "./langchain4j/write.ts";
