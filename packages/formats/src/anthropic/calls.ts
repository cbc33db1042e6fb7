import type { Role, ToolCallRef, ToolResultRef } from "@turnkeep/core";
import { asText } from "../as-text.ts";
import { blocksOf, isCall, isResult } from "./blocks.ts";
import type { AnthropicMessage, AnthropicToolResultBlock } from "./messages.ts";

/** A call with what its result has to repeat. */
interface CallRef extends ToolCallRef {
  readonly toolsetName?: string;
}

/**
 * A user message that holds nothing but results is a tool message. One that holds anything else too is what the user
 * said: it stays a user message, and its results still join the step of their calls.
 */
export function roleOf(message: AnthropicMessage): Role {
  if (message.role !== "user") return message.role;
  const blocks = blocksOf(message);
  return blocks.length > 0 && blocks.every(isResult) ? "tool" : "user";
}

export function toolCallRefs(message: AnthropicMessage): readonly ToolCallRef[] {
  if (message.role !== "assistant") return [];
  return blocksOf(message)
    .filter(isCall)
    .map((block): CallRef => {
      const call = { id: block.id as string, name: asText(block.name) };
      if (block.type !== "tool_use") return { ...call, providerExecuted: true };
      return typeof block.toolset_name === "string" ? { ...call, toolsetName: block.toolset_name } : call;
    });
}

export function toolResultRefs(message: AnthropicMessage): readonly ToolResultRef[] {
  return blocksOf(message)
    .filter(isResult)
    .map((block) => ({ id: block.tool_use_id as string }));
}

/** One message for all calls: the API wants every result in the message that follows the calls. */
export function interruptedResults(calls: readonly ToolCallRef[], text: string): readonly AnthropicMessage[] {
  if (calls.length === 0) return [];
  const content = calls.map((call: CallRef): AnthropicToolResultBlock => {
    const result = { type: "tool_result" as const, tool_use_id: call.id, content: text, is_error: true };
    return call.toolsetName === undefined ? result : { ...result, toolset_name: call.toolsetName };
  });
  return [{ role: "user", content }];
}
