import type { MessageFormat, Role, ToolCallRef } from "@turnkeep/core";
import { derived, joinedParts } from "@turnkeep/core/format-kit";
import { withResultsFirst } from "../results-first.ts";
import { type AnyBlock, blocksOf, isCompaction, isResult } from "./blocks.ts";
import { checkMessage } from "./check.ts";
import type { AnthropicMessage, AnthropicToolResultBlock } from "./messages.ts";
import { inForce, sets } from "./settings.ts";
import { type CallRef, visitMessage } from "./visit.ts";

/**
 * The messages of Anthropic's Messages API, kept as they are: pass to `add` what `client.messages.create({ messages })`
 * takes, and `role` and `content` of its response. A user message that holds only `tool_result` blocks counts as a tool
 * message. The system prompt is a message of role `system`, which `prompt()` returns apart; a later one stays where it was
 * said (`systemMessages`). Calls that the API runs
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
export const anthropicFormat: MessageFormat<AnthropicMessage> = derived(visitMessage, {
  name: "anthropic-messages",
  version: 1,
  systemMessages: "positioned",
  role,
  interruptedResults,
  textMessage: (role, text) => ({ role, content: text }),
  joined,
  resultsFirst,
  sets,
  inForce,
  check: checkMessage,
});

/**
 * A user message that holds nothing but results is a tool message. One that holds anything else too is what the user
 * said: it stays a user message, and its results still join the step of their calls.
 */
function role(message: AnthropicMessage): Role {
  if (message.role !== "user") return message.role;
  const blocks = blocksOf(message);
  return blocks.length > 0 && blocks.every(isResult) ? "tool" : "user";
}

/** One message for all calls: the API wants every result in the message that follows the calls. */
function interruptedResults(calls: readonly ToolCallRef[], text: string): readonly AnthropicMessage[] {
  if (calls.length === 0) return [];
  const content = calls.map((call: CallRef): AnthropicToolResultBlock => {
    const result = { type: "tool_result" as const, tool_use_id: call.id, content: text, is_error: true };
    return call.toolsetName === undefined ? result : { ...result, toolset_name: call.toolsetName };
  });
  return [{ role: "user", content }];
}

/** The API wants results before anything else of a message. */
function joined(first: AnthropicMessage, second: AnthropicMessage): AnthropicMessage | undefined {
  if (first.role !== second.role || first.role === "system") return undefined;
  if ([...blocksOf(first), ...blocksOf(second)].some(isCompaction)) return undefined;
  const both = joinedParts(first, second, "content", contentBlocks);
  return both && resultsFirst(both);
}

function contentBlocks(message: AnthropicMessage): readonly AnyBlock[] {
  return typeof message.content === "string" ? [{ type: "text", text: message.content }] : blocksOf(message);
}

function resultsFirst(message: AnthropicMessage): AnthropicMessage {
  return message.role === "user"
    ? withResultsFirst(message, "content", blocksOf(message), isResult)
    : message;
}
