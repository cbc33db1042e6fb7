import type { ToolCallRef, ToolResultRef } from "@turnkeep/core";
import type { LangChain4jMessage, LangChain4jToolCall, LangChain4jToolResultMessage } from "./messages.ts";

/**
 * Some models give calls no id; then the tool's name pairs call and result. A blank keeps the id made of it apart from
 * every id that a model gives.
 */
const namePrefix = "tool ";

function idOf(id: string | undefined, name: string | undefined): string {
  return id === undefined || id === "" ? namePrefix + (name ?? "") : id;
}

export function callsOf(message: LangChain4jMessage): readonly LangChain4jToolCall[] {
  if (message.type !== "AI") return [];
  return (message.toolExecutionRequests ?? []).filter((call) => call !== null);
}

export function callId(call: LangChain4jToolCall): string {
  return idOf(call.id, call.name);
}

export function toolCallRefs(message: LangChain4jMessage): readonly ToolCallRef[] {
  return callsOf(message).map((call) => ({ id: callId(call), name: call.name ?? "" }));
}

export function toolResultRefs(message: LangChain4jMessage): readonly ToolResultRef[] {
  if (message.type !== "TOOL_EXECUTION_RESULT") return [];
  return [{ id: idOf(message.id, message.toolName), name: resultName(message) }];
}

/** A result without id and name answers a call without both: the empty name pairs them. */
export function resultName({ id, toolName }: LangChain4jToolResultMessage): string | undefined {
  return toolName ?? (id ? undefined : "");
}

export function interruptedResults(
  calls: readonly ToolCallRef[],
  text: string,
): readonly LangChain4jMessage[] {
  return calls.map(({ id, name }) => ({
    type: "TOOL_EXECUTION_RESULT",
    ...(id === namePrefix + name ? {} : { id }),
    toolName: name,
    contents: [{ type: "TEXT", text }],
    isError: true,
    attributes: {},
  }));
}
