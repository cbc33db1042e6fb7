/**
 * A chat loop with tools over a chat memory.
 *
 * @module
 */
export type {
  Approvals,
  Assistant,
  AssistantPolicy,
  CallStrategy,
  ChatEvent,
  ChatOptions,
  ChatResult,
  ChatUsage,
  ManyMemories,
  OfManyMemories,
  OfOneMemory,
  OfTurn,
  Strategies,
  SystemMessage,
  ToolAnswer,
} from "./assistant.ts";
export { createAssistant } from "./create-assistant.ts";
export {
  AssistantError,
  type AssistantErrorCode,
  type AssistantErrorDetails,
  isAssistantError,
} from "./errors.ts";
export type {
  ApprovalMessages,
  ApprovalRequest,
  ApprovalResponse,
  AssistantMessages,
  ToolCall,
  ToolResult,
} from "./messages.ts";
export type {
  Model,
  ModelDelta,
  ModelRequest,
  ModelResponse,
  ModelUsage,
  ToolDefinition,
} from "./model.ts";
export type { JsonSchema, OutputOf, StandardIssue, StandardResult, StandardSchema } from "./schema.ts";
export { type Tool, type ToolContext, type Tools, tool } from "./tool.ts";
