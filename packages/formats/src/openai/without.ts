import type { Omission } from "@turnkeep/core";
import { callsOf, legacyId, toolResultRefs } from "./calls.ts";
import type { ChatMessage } from "./messages.ts";
import { isMedia, partsOf } from "./pieces.ts";
import { reasoningOf, withoutReasoning } from "./reasoning.ts";

/** Whether a provider would see nothing of the message. A result is always seen, and so is a call. */
export function isEmptyMessage(message: ChatMessage): boolean {
  if (message.role === "tool" || message.role === "function") return false;
  if (typeof message.content === "string" && isText(message.content)) return false;
  const parts = partsOf(message) ?? [];
  if (parts.some((part) => part.type !== "text" || isText(part.text))) return false;
  if (message.role !== "assistant") return true;
  return (
    !isText(message.refusal) &&
    !message.audio &&
    !message.function_call &&
    callsOf(message).length === 0 &&
    reasoningOf(message).length === 0
  );
}

export function withoutParts(message: ChatMessage, omission: Omission): ChatMessage | undefined {
  const { toolResults } = omission;
  if (toolResults !== undefined && toolResultRefs(message).some(({ id }) => toolResults(id)))
    return undefined;
  let copy = message;
  if (omission.toolCalls !== undefined) copy = withoutCalls(copy, omission.toolCalls);
  if (omission.reasoning === true) copy = withoutReasoning(copy);
  if (omission.media === true) copy = withoutMedia(copy);
  return copy === message || !isEmptyMessage(copy) ? copy : undefined;
}

function withoutCalls(message: ChatMessage, leftOut: (id: string) => boolean): ChatMessage {
  if (message.role !== "assistant") return message;
  const calls = message.tool_calls ?? [];
  const kept = calls.filter((call) => !leftOut(call.id));
  const legacy = message.function_call;
  const dropsLegacy = legacy ? leftOut(legacyId(legacy.name)) : false;
  if (kept.length === calls.length && !dropsLegacy) return message;
  const { tool_calls: _calls, function_call: _legacy, ...rest } = message;
  return {
    ...rest,
    ...(kept.length > 0 ? { tool_calls: kept } : {}),
    ...(legacy && !dropsLegacy ? { function_call: legacy } : {}),
  };
}

function withoutMedia(message: ChatMessage): ChatMessage {
  const parts = partsOf(message);
  const kept = parts?.filter((part) => !isMedia(part));
  let copy = message;
  if (parts !== undefined && kept !== undefined && kept.length < parts.length) {
    // An empty list is no content: an assistant's calls stand without any, a result stays a result.
    const content = kept.length > 0 ? kept : message.role === "assistant" ? null : "";
    copy = { ...message, content } as ChatMessage;
  }
  if (copy.role === "assistant" && copy.audio) {
    const { audio: _audio, ...rest } = copy;
    return rest;
  }
  return copy;
}

function isText(text: unknown): boolean {
  return typeof text === "string" && text.trim() !== "";
}
