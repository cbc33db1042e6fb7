import { equalContent, type MessageFormat } from "@turnkeep/core";
import { checkedCodec } from "../codec.ts";
import { blocksOf, isCompaction, isReasoning } from "./blocks.ts";
import { interruptedResults, roleOf, toolCallRefs, toolResultRefs } from "./calls.ts";
import { checkMessage } from "./check.ts";
import { mapText } from "./map-text.ts";
import type { AnthropicMessage } from "./messages.ts";
import { piecesOf } from "./pieces.ts";
import {
  joined,
  renameCalls,
  renameTools,
  resultsFirst,
  withErrorText,
  withoutEmptyText,
} from "./reshape.ts";
import { isEmptyMessage, withoutParts } from "./without.ts";

const name = "anthropic-messages";
const version = 1;

/**
 * The messages of Anthropic's Messages API, kept as they are: pass to `add` what `client.messages.create({ messages })`
 * takes, and `role` and `content` of its response. A user message that holds only `tool_result` blocks counts as a tool
 * message. The system prompt is a message of role `system`, which `prompt()` returns apart. Calls that the API runs
 * itself need no result of yours. Blocks of the beta API (`mcp_tool_use`, `compaction`) are understood; unknown members
 * and blocks are kept.
 *
 * Its `encode` throws `INVALID_MESSAGE` for an unknown role, a whole response, content that is neither text nor a list
 * of typed blocks, a call without id or name and a result without the id of its call.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { anthropicFormat } from "@turnkeep/formats/anthropic";
 *
 * const memory = createChatMemory({ format: anthropicFormat, window: { maxMessages: 40, unit: "turn" } });
 * await memory.add({ role: "system", content: "Be brief." }, { role: "user", content: "Hello" });
 * const { system, messages } = await memory.prompt();
 * ```
 */
export const anthropicFormat: MessageFormat<AnthropicMessage> = {
  name,
  version,
  role: roleOf,
  toolCalls: toolCallRefs,
  toolResults: toolResultRefs,
  approvals: () => [],
  hasReasoning: (message) => blocksOf(message).some(isReasoning),
  isBoundary: (message) => blocksOf(message).some(isCompaction),
  isEmpty: isEmptyMessage,
  pieces: piecesOf,
  without: withoutParts,
  interruptedResults,
  textMessage: (role, text) => ({ role, content: text }),
  renameCalls,
  renameTools,
  joined,
  resultsFirst,
  withErrorText,
  withoutEmptyText,
  mapText,
  equals: equalContent,
  ...checkedCodec<AnthropicMessage>(name, version, checkMessage),
};
