import type { CallPlace } from "@turnkeep/core";
import { joinedMembers, withMember } from "@turnkeep/core/format-kit";
import { isLeftOut, mapList } from "../reshape.ts";
import { callsOf } from "./calls.ts";
import type { ChatMessage } from "./messages.ts";
import { type AnyPart, partsOf } from "./pieces.ts";
import { reasoningOf } from "./reasoning.ts";
import { isEmptyMessage } from "./without.ts";

/** A `function_call` and its result have no id on the wire: there is nothing to rename. */
export function renameCalls(
  message: ChatMessage,
  rename: (id: string, of?: CallPlace) => string,
): ChatMessage {
  if (message.role === "tool")
    return withMember(message, "tool_call_id", rename(message.tool_call_id, "result"));
  const calls = callsOf(message);
  if (calls.length === 0) return message;
  return withMember(
    message,
    "tool_calls",
    mapList(calls, (call) => withMember(call, "id", rename(call.id, "call"))),
  );
}

export function renameTools(message: ChatMessage, rename: (name: string) => string): ChatMessage {
  if (message.role === "tool" || message.role === "function") return renamed(message, rename);
  if (message.role !== "assistant") return message;
  const legacy = message.function_call;
  const copy = withMember(message, "function_call", legacy && renamed(legacy, rename));
  const calls = mapList(callsOf(message), (call) => {
    const named = withMember(call, "function", call.function && renamed(call.function, rename));
    return withMember(named, "custom", call.custom && renamed(call.custom, rename));
  });
  return calls.length === 0 ? copy : withMember(copy, "tool_calls", calls);
}

function renamed<T extends object>(of: T, rename: (name: string) => string): T {
  const { name } = of as { readonly name?: unknown };
  return typeof name === "string" ? withMember(of, "name", rename(name)) : of;
}

/**
 * Of an assistant's messages only those with nothing but content, because what else one holds has its place behind it;
 * and one with nothing but calls, whose place is at the end anyway.
 */
export function joined(first: ChatMessage, second: ChatMessage): ChatMessage | undefined {
  if (first.role !== second.role || (first.role !== "user" && first.role !== "assistant")) return undefined;
  const speakers = [first, second].map((message) => (message as { readonly name?: string }).name ?? "");
  if (speakers[0] !== speakers[1]) return undefined;
  if (first.role === "assistant" && holdsOnlyCalls(second)) return withCallsOf(first, second);
  if (holdsMore(first) || holdsMore(second)) return undefined;
  const members = joinedMembers(first, second, ["content"]);
  if (members === undefined) return undefined;
  return { ...members, content: [...contentParts(first), ...contentParts(second)] } as unknown as ChatMessage;
}

function withCallsOf(first: ChatMessage, second: ChatMessage): ChatMessage | undefined {
  const members = joinedMembers(first, second, ["content", "tool_calls"]);
  if (members === undefined || members.function_call) return undefined;
  const { content = second.content } = first;
  const said = content === undefined ? {} : { content };
  return {
    ...members,
    ...said,
    tool_calls: [...callsOf(first), ...callsOf(second)],
  } as unknown as ChatMessage;
}

function holdsOnlyCalls(message: ChatMessage): boolean {
  if (message.role !== "assistant" || callsOf(message).length === 0) return false;
  const others = [message.content, message.refusal, message.audio, message.function_call];
  return [...others, ...reasoningOf(message)].every((other) => (other ?? "") === "");
}

function holdsMore(message: ChatMessage): boolean {
  if (message.role !== "assistant") return false;
  const { refusal, audio, function_call: legacy } = message;
  const others = [refusal, audio, legacy, ...callsOf(message), ...reasoningOf(message)];
  return others.some((other) => other !== undefined && other !== null && other !== "");
}

function contentParts(message: ChatMessage): readonly AnyPart[] {
  if (typeof message.content === "string") return [{ type: "text", text: message.content }];
  return partsOf(message) ?? [];
}

export function withoutEmptyText(message: ChatMessage, which: "empty" | "blank"): ChatMessage | undefined {
  if (message.role === "tool" || message.role === "function") return message;
  const content = withoutEmptyParts(message.content, which);
  let copy = withMember(message, "content", content);
  if (copy.role === "assistant" && copy.refusal && isLeftOut(copy.refusal, which))
    copy = { ...copy, refusal: null };
  if (copy === message) return message;
  // An assistant's calls, and whatever else it may hold beside content, stand without any.
  const isNothing = (content ?? null) === null && (message.role !== "assistant" || isEmptyMessage(copy));
  return isNothing ? undefined : copy;
}

function withoutEmptyParts(content: unknown, which: "empty" | "blank"): unknown {
  if (typeof content === "string") return isLeftOut(content, which) ? null : content;
  if (!Array.isArray(content)) return content;
  const kept = (content as readonly AnyPart[]).filter((part) => !isEmptyPart(part, which));
  if (kept.length === content.length) return content;
  return kept.length > 0 ? kept : null;
}

function isEmptyPart(part: AnyPart, which: "empty" | "blank"): boolean {
  if (part.type === "text") return isLeftOut(part.text, which);
  return part.type === "refusal" && isLeftOut(part.refusal, which);
}
