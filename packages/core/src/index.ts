/**
 * Chat memory for LLM applications: one conversation, an exact budget, any database.
 *
 * @module
 */
export type {
  AssignRequest,
  ChatMemories,
  ChatMemoriesOptions,
  ForkOptions,
  MemoryListEntry,
  MemoryListPage,
  MemoryListQuery,
  MemoryOwner,
  Pruned,
  PruneRequest,
} from "./chat-memories.ts";
export type { ChatMemory } from "./chat-memory.ts";
export type { ChatMemoryOptions, MemoryPlace, MemoryPolicy, ViewOfOptions } from "./chat-memory-options.ts";
export {
  isTurnkeepError,
  TurnkeepError,
  type TurnkeepErrorCode,
  type TurnkeepErrorDetails,
} from "./errors.ts";
export { decodePayload, encodePayload } from "./format/codec.ts";
export { equalContent } from "./format/equal-content.ts";
export { mapJsonText } from "./format/map-json-text.ts";
export { assistant, system, toolCall, toolResult, user } from "./format/message-helpers.ts";
export type * from "./format/model-message.ts";
export { modelMessageFormat } from "./format/model-message-format.ts";
export { createChatMemories } from "./memory/create-chat-memories.ts";
export { createChatMemory } from "./memory/create-chat-memory.ts";
export { entry } from "./memory/entry.ts";
export {
  type RecallInput,
  type RecallTool,
  type RecallToolOptions,
  recallTool,
} from "./memory/recall-tool.ts";
export { viewOf } from "./memory/view-of.ts";
export type {
  Anchor,
  CalibrateOptions,
  MemoryCallOptions,
  PutOptions,
  PutRules,
  RemovalOptions,
  RemoveOptions,
  RemoveRules,
  ShrinkOptions,
  Shrunk,
  TransactionOptions,
  TurnOptions,
} from "./memory-call-options.ts";
export type { DataChange, JsonValue } from "./memory-data.ts";
export type { Entry } from "./memory-entry.ts";
export type { MemoryEvent } from "./memory-events.ts";
export type { HistoryMessage, MemoryHistoryPage, MemoryHistoryQuery } from "./memory-history.ts";
export type { MemoryTransaction } from "./memory-transaction.ts";
export type {
  ExplainedMessage,
  ExplainOptions,
  Explanation,
  NonSystemOf,
  Prompt,
  SystemOf,
  ViewOptions,
} from "./memory-view.ts";
export type {
  AnyMessage,
  ApprovalRef,
  CallPlace,
  MessageFormat,
  Omission,
  Piece,
  Role,
  SystemMessages,
  TextPlace,
  ToolCallRef,
  ToolResultRef,
} from "./message-format.ts";
export type { Processor, ProcessorContext } from "./processors/processor.ts";
export type { ProviderProfile, ShapedView, ViewStage } from "./provider-profile.ts";
export type {
  CallOptions,
  ChatMemoryStore,
  DeleteOptions,
  HistoryPage,
  HistoryQuery,
  ListPage,
  ListQuery,
  MemorySnapshot,
  MemoryUpdate,
  MessageState,
  ReadOptions,
  StoreCapabilities,
  StoredMessage,
} from "./store-contract.ts";
export { type InMemoryStoreOptions, inMemoryStore } from "./stores/in-memory-store.ts";
export {
  type KeyValueCall,
  type KeyValueEntry,
  type KeyValuePage,
  type KeyValueStoreOptions,
  keyValueStore,
} from "./stores/key-value-store.ts";
export { singleSlotStore } from "./stores/single-slot-store.ts";
export type {
  Limit,
  Summarize,
  SummarizeContext,
  SummarizeFailure,
  TokenCounter,
  WindowOptions,
  WindowOverflow,
  WindowUnit,
} from "./window-options.ts";
