/**
 * Turnkeep's memory for the AI SDK, major 6 or 7.
 *
 * @module
 */
export {
  type AssistantCall,
  type AssistantEvent,
  type AssistantStreamOptions,
  toUIMessageStream,
} from "./assistant-stream.ts";
export type { AboutChat } from "./chat-handler/about.ts";
export type { ChatMessage, ChatMetadata, ChatUsage } from "./chat-handler/metadata.ts";
export type { ChatList, ChatPage, ListedChat } from "./chat-handler/pages.ts";
export type { ChatFiles } from "./chat-handler/posted.ts";
export type { ChatTree } from "./chat-handler/tree.ts";
export type { MessageVersions } from "./chat-handler/versions.ts";
export { type ChatAgent, type ChatHandlerOptions, type ChatSettings, chatHandler } from "./chat-handler.ts";
export { type ChatStore, type ChatStoreOptions, chatStore } from "./chat-store.ts";
export {
  type StepInput,
  type StepLike,
  type Steps,
  type StepsOptions,
  type StepView,
  steps,
} from "./steps.ts";
