/**
 * Turnkeep's memory for the AI SDK, major 6 or 7.
 *
 * @module
 */
export { type ChatStore, type ChatStoreOptions, chatStore } from "./chat-store.ts";
export {
  type StepInput,
  type StepLike,
  type Steps,
  type StepsOptions,
  type StepView,
  steps,
} from "./steps.ts";
