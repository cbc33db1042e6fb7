import type { TextPlace } from "@turnkeep/core";
import { withMember } from "@turnkeep/core/format-kit";
import { asText } from "../as-text.ts";
import { type Change, mapList, mapMember, mapUnknownPart, mapValue } from "../reshape.ts";
import { type AnyToolCall, callsOf } from "./calls.ts";
import type { ChatMessage } from "./messages.ts";
import { type AnyPart, isMedia, partsOf } from "./pieces.ts";
import { reasoningMembers } from "./reasoning.ts";

export function mapText(message: ChatMessage, change: Change): ChatMessage {
  if (message.role !== "assistant") return mapContent(message, change);
  let copy: ChatMessage = message;
  for (const member of reasoningMembers) copy = mapPresent(copy, member, "reasoning", change);
  copy = mapPresent(mapContent(copy, change), "refusal", "content", change);
  const calls = callsOf(message);
  if (calls.length > 0)
    copy = withMember(
      copy,
      "tool_calls",
      mapList(calls, (call) => mapCall(call, change)),
    );
  const { function_call: legacy } = message;
  return legacy
    ? withMember(copy, "function_call", mapMember(legacy, "arguments", "tool-call", change))
    : copy;
}

function mapContent(message: ChatMessage, change: Change): ChatMessage {
  const of = message.role === "tool" || message.role === "function" ? "tool-result" : "content";
  if (typeof message.content === "string") return mapMember(message, "content", of, change);
  const parts = partsOf(message);
  if (parts === undefined) return message;
  return withMember(
    message,
    "content",
    mapList(parts, (part) => mapPart(part, of, change)),
  );
}

function mapPart(part: AnyPart, of: TextPlace, change: Change): AnyPart {
  if (part.type === "text") return mapMember(part, "text", of, change);
  if (part.type === "refusal") return mapMember(part, "refusal", of, change);
  return isMedia(part) ? part : mapUnknownPart(part, of, change, (text) => ({ type: "text", text }));
}

function mapPresent<T extends object>(of: T, member: string, place: TextPlace, change: Change): T {
  const value = (of as Record<string, unknown>)[member];
  if (asText(value) === "") return of;
  // A list, as of `reasoning_details`, is no text to a server that takes it.
  return withMember(of, member, mapValue(value, place, change, true));
}

function mapCall(call: AnyToolCall, change: Change): AnyToolCall {
  if (call.function?.arguments !== undefined && call.function.arguments !== null)
    return withMember(call, "function", mapMember(call.function, "arguments", "tool-call", change));
  if (call.custom?.input !== undefined && call.custom.input !== null)
    return withMember(call, "custom", mapMember(call.custom, "input", "tool-call", change));
  const changed = mapValue(call, "tool-call", change, true) as AnyToolCall;
  return changed === call ? call : { ...changed, ...identityOf(call, changed) };
}

/** A call of an unknown type is changed as a whole; its result still has to find it. */
function identityOf({ id, type, function: named, custom }: AnyToolCall, changed: AnyToolCall): AnyToolCall {
  return {
    id,
    ...(type === undefined ? {} : { type }),
    ...(named ? { function: { ...changed.function, name: named.name } } : {}),
    ...(custom ? { custom: { ...changed.custom, name: custom.name } } : {}),
  };
}
