import type { ToolCallRef, ToolResultRef } from "@turnkeep/core";
import { asText } from "../as-text.ts";
import type { ChatMessage } from "./messages.ts";

/**
 * `function_call` and its result have no id; the function's name pairs them. A blank keeps the id made of it apart
 * from every id that the API gives.
 */
const legacyPrefix = "function_call ";

export function legacyId(name: string): string {
  return legacyPrefix + name;
}

/** The function's name, if the id was made by {@link legacyId}. */
export function legacyName(id: string): string | undefined {
  return id.startsWith(legacyPrefix) ? id.slice(legacyPrefix.length) : undefined;
}

/** Calls as they may come: also of a type that is not known here. */
export interface AnyToolCall {
  readonly id: string;
  readonly type?: string;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
  readonly custom?: { readonly name?: unknown; readonly input?: unknown } | null;
}

export function callsOf(message: ChatMessage): readonly AnyToolCall[] {
  return message.role === "assistant" ? ((message.tool_calls ?? []) as readonly AnyToolCall[]) : [];
}

export function callName(call: AnyToolCall): string {
  return asText(call.function?.name ?? call.custom?.name ?? call.type);
}

export function callInput(call: AnyToolCall): unknown {
  return call.function?.arguments ?? call.custom?.input ?? call;
}

export function toolCallRefs(message: ChatMessage): readonly ToolCallRef[] {
  if (message.role !== "assistant") return [];
  const calls = callsOf(message).map((call) => ({ id: call.id, name: callName(call) }));
  const legacy = message.function_call;
  return legacy ? [...calls, { id: legacyId(legacy.name), name: legacy.name }] : calls;
}

/** The name of a tool message is none of the API's members; others that speak the same protocol want it, as Mistral's does. */
export function toolResultRefs(message: ChatMessage): readonly ToolResultRef[] {
  if (message.role === "tool") {
    const { tool_call_id: id, name } = message as typeof message & { readonly name?: unknown };
    return typeof name === "string" ? [{ id, name }] : [{ id }];
  }
  if (message.role === "function") return [{ id: legacyId(message.name), name: message.name }];
  return [];
}

export function interruptedResults(calls: readonly ToolCallRef[], text: string): readonly ChatMessage[] {
  return calls.map(({ id }) => {
    const name = legacyName(id);
    return name === undefined
      ? { role: "tool", tool_call_id: id, content: text }
      : { role: "function", name, content: text };
  });
}
