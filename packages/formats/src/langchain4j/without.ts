import type { Omission } from "@turnkeep/core";
import { callId, callsOf, toolResultRefs } from "./calls.ts";
import type { LangChain4jContent, LangChain4jMessage } from "./messages.ts";
import { contentsOf, isMedia } from "./pieces.ts";

/** Attributes in which LangChain4j keeps what a provider wants back with its thinking. */
const reasoningAttributes = ["thinking_signature", "redacted_thinking"];

export function hasReasoning(message: LangChain4jMessage): boolean {
  if (message.type !== "AI") return false;
  const { attributes = {} } = message;
  return Boolean(message.thinking) || reasoningAttributes.some((name) => Object.hasOwn(attributes, name));
}

/** Whether a provider would see nothing of the message. A result is always seen, and so is a call. */
export function isEmptyMessage(message: LangChain4jMessage): boolean {
  switch (message.type) {
    case "SYSTEM":
      return !isText(message.text);
    case "USER":
      return contentsOf(message).every((content) => content.type === "TEXT" && !isText(content.text));
    case "AI":
      return !isText(message.text) && callsOf(message).length === 0 && !hasReasoning(message);
    case "TOOL_EXECUTION_RESULT":
      return false;
    case "CUSTOM":
      return Object.keys(message.attributes ?? {}).length === 0;
  }
}

export function withoutParts(
  message: LangChain4jMessage,
  omission: Omission,
): LangChain4jMessage | undefined {
  const { toolResults } = omission;
  if (toolResults !== undefined && toolResultRefs(message).some(({ id }) => toolResults(id)))
    return undefined;
  let copy = message;
  if (omission.toolCalls !== undefined) copy = withoutCalls(copy, omission.toolCalls);
  if (omission.reasoning === true) copy = withoutReasoning(copy);
  if (omission.media === true) copy = withoutMedia(copy);
  return copy === message || !isEmptyMessage(copy) ? copy : undefined;
}

function withoutCalls(message: LangChain4jMessage, leftOut: (id: string) => boolean): LangChain4jMessage {
  if (message.type !== "AI") return message;
  const calls = message.toolExecutionRequests ?? [];
  const kept = calls.filter((call) => call === null || !leftOut(callId(call)));
  return kept.length === calls.length ? message : { ...message, toolExecutionRequests: kept };
}

function withoutReasoning(message: LangChain4jMessage): LangChain4jMessage {
  if (message.type !== "AI" || !hasReasoning(message)) return message;
  const { thinking: _, ...rest } = message;
  if (rest.attributes === undefined) return rest;
  const kept = Object.entries(rest.attributes).filter(([name]) => !reasoningAttributes.includes(name));
  return { ...rest, attributes: Object.fromEntries(kept) };
}

function withoutMedia(message: LangChain4jMessage): LangChain4jMessage {
  if (message.type !== "USER" && message.type !== "TOOL_EXECUTION_RESULT") return message;
  const kept = message.contents.filter((content) => content === null || !isMedia(content));
  if (kept.length === message.contents.length) return message;
  // A list must hold something, and a result stays a result.
  const nothing: LangChain4jContent = { type: "TEXT", text: "" };
  return { ...message, contents: kept.length > 0 ? kept : [nothing] };
}

function isText(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== "";
}
