/**
 * Turnkeep's memory for assistant-ui: its thread list and thread history, with branches, over `chatHandler` of `@turnkeep/ai-sdk`.
 *
 * @module
 */
export {
  type ChatThreads,
  type ChatThreadsOptions,
  chatThreads,
  type ResumableAnswers,
  type ThreadTransport,
} from "./chat-threads.ts";
