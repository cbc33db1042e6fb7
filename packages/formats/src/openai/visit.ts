import type { Piece } from "@turnkeep/core";
import {
  asText,
  type CallShape,
  dataUrlFacts,
  type ResultShape,
  type Visit,
  type Visitor,
  withMember,
} from "@turnkeep/core/format-kit";
import { base64Facts, imageFacts } from "../media.ts";
import { visitUnknownPart } from "../unknown-part.ts";
import type { ChatAssistantMessage, ChatFunctionMessage, ChatMessage, ChatToolMessage } from "./messages.ts";
import { type AnyChatPart, type AnyToolCall, callName, callsOf, legacyId } from "./parts.ts";

type Of = "content" | "tool-result";

/** Everything of a message that a model reads. Ids of calls are not counted: the API does not show them to it. */
export const visitMessage: Visit<ChatMessage> = (message, at) => {
  const { name } = message as { readonly name?: unknown };
  if (name) at.name(name);
  switch (message.role) {
    case "assistant":
      return visitAssistant(message, at);
    case "tool":
      return visitResult(message, at, toolResult);
    case "function":
      return visitResult(message, at, functionResult);
    default:
      return visitContent(message, at, "content");
  }
};

/** The name of a tool message is none of the API's members; others that speak the same protocol want it, as Mistral's does. */
const toolResult: ResultShape<ChatToolMessage> = {
  ref(message) {
    const { tool_call_id: id, name } = message as ChatToolMessage & { readonly name?: unknown };
    return typeof name === "string" ? { id, name } : { id };
  },
  id: "tool_call_id",
  name: "name",
};

const functionResult: ResultShape<ChatFunctionMessage> = {
  ref: ({ name }) => ({ id: legacyId(name), name }),
  name: "name",
};

/** A result stays one, whatever is left of what it holds. */
function visitResult<M extends ChatToolMessage | ChatFunctionMessage>(
  message: M,
  at: Visitor,
  shape: ResultShape<M>,
): M | undefined {
  const kept = at.result(message, shape);
  const told = kept && at.told(kept, "content", false);
  return told && (visitContent(told, at, "tool-result") ?? { ...told, content: "" });
}

/** `undefined` if nothing of the content is left. */
function visitContent<M extends ChatMessage>(message: M, at: Visitor, of: Of): M | undefined {
  if (typeof message.content === "string") return at.textPart(message, "content", of);
  if (!Array.isArray(message.content)) return message;
  const visited = at.list(message, "content", visitPart, of);
  return visited === message || visited.content?.length !== 0 ? visited : undefined;
}

function visitPart(part: AnyChatPart, at: Visitor, of: Of): AnyChatPart | undefined {
  switch (part.type) {
    case "text":
      return at.textPart(part, "text", of);
    case "refusal":
      return at.textPart(part, "refusal", of);
    case "image_url":
      return at.media(part, of, imagePiece, textPart);
    case "input_audio":
      return at.media(part, of, audioPiece, textPart);
    case "file":
      return at.media(part, of, filePiece, textPart);
    default:
      return at.unknown(part, of, textPart);
  }
}

function textPart(text: string): AnyChatPart {
  return { type: "text", text };
}

function visitAssistant(message: ChatAssistantMessage, at: Visitor): ChatAssistantMessage | undefined {
  const { content, refusal, audio, function_call: called } = message;
  const saysSomething = (content ?? refusal ?? audio ?? called ?? undefined) !== undefined;
  if (!saysSomething && callsOf(message).length === 0 && reasoningOf(message).length === 0)
    return at.unsent(message);
  return assistantMembers.reduce((copy, visit) => visit(copy, at), message);
}

/** In the order in which a model reads them. */
const assistantMembers = [visitReasoning, visitSaid, visitRefusal, visitAudio, visitCalls, visitFunctionCall];

/** What an assistant holds beside its content stands without any. */
function visitSaid(message: ChatAssistantMessage, at: Visitor): ChatAssistantMessage {
  return visitContent(message, at, "content") ?? { ...message, content: null };
}

/**
 * OpenAI's API shows no reasoning in chat messages. Servers that speak it too add it under these names: DeepSeek and
 * vLLM `reasoning_content`, OpenRouter `reasoning` and `reasoning_details`.
 */
const reasoningMembers = ["reasoning_content", "reasoning", "reasoning_details"] as const;

function reasoningOf(message: ChatAssistantMessage): readonly (typeof reasoningMembers)[number][] {
  const values = message as Partial<Record<(typeof reasoningMembers)[number], unknown>>;
  return reasoningMembers.filter((member) => (values[member] ?? "") !== "");
}

function visitReasoning(message: ChatAssistantMessage, at: Visitor): ChatAssistantMessage {
  const members = reasoningOf(message);
  if (members.length === 0) return message;
  const kept = at.reasoning(message);
  if (kept === undefined) return without(message, reasoningMembers);
  // A list, as of `reasoning_details`, is no text to a server that takes it.
  return members.reduce((copy, member) => at.text(copy, member, "reasoning", "json"), kept);
}

function visitRefusal(message: ChatAssistantMessage, at: Visitor): ChatAssistantMessage {
  if (!message.refusal) return message;
  return at.textPart(message, "refusal", "content") ?? { ...message, refusal: null };
}

function visitAudio(message: ChatAssistantMessage, at: Visitor): ChatAssistantMessage {
  if (!message.audio) return message;
  return at.media(message, "content", saidPiece) ?? without(message, ["audio"]);
}

function visitCalls(message: ChatAssistantMessage, at: Visitor): ChatAssistantMessage {
  if (callsOf(message).length === 0)
    return message.tool_calls === undefined || at.unsent(message) !== undefined
      ? message
      : without(message, ["tool_calls"]);
  const visited = at.list(message, "tool_calls", visitCall, undefined);
  return callsOf(visited).length > 0 ? visited : without(visited, ["tool_calls"]);
}

const call: CallShape<AnyToolCall> = {
  ref: (call) => ({ id: call.id, name: callName(call) }),
  id: "id",
  name(call, rename) {
    const named = withMember(call, "function", withName(call.function, rename));
    return withMember(named, "custom", withName(call.custom, rename));
  },
};

function withName<T extends { readonly name?: unknown } | null | undefined>(
  of: T,
  rename: (name: string) => string,
): T {
  return typeof of?.name === "string" ? withMember(of, "name", rename(of.name)) : of;
}

function visitCall(toolCall: AnyToolCall, at: Visitor): AnyToolCall | undefined {
  const kept = at.call(toolCall, call);
  if (kept === undefined) return undefined;
  at.name(callName(toolCall));
  const { function: called, custom } = kept;
  if ((called?.arguments ?? undefined) !== undefined)
    return withMember(kept, "function", at.text(called as object, "arguments", "tool-call"));
  if ((custom?.input ?? undefined) !== undefined)
    return withMember(kept, "custom", at.text(custom as object, "input", "tool-call"));
  return visitUnknownCall(kept, at);
}

/** Its result still has to find it, and its tool. */
function visitUnknownCall(toolCall: AnyToolCall, at: Visitor): AnyToolCall {
  const changed = visitUnknownPart(toolCall, "tool-call", ["id", "type"], at);
  if (changed === toolCall) return toolCall;
  const { function: called, custom } = toolCall;
  return {
    ...changed,
    ...(called ? { function: { ...changed.function, name: called.name } } : {}),
    ...(custom ? { custom: { ...changed.custom, name: custom.name } } : {}),
  };
}

interface WithFunctionCall extends ChatAssistantMessage {
  function_call: NonNullable<ChatAssistantMessage["function_call"]>;
}

const functionCall: CallShape<WithFunctionCall> = {
  ref: ({ function_call: { name } }) => ({ id: legacyId(name), name }),
  name: (message, rename) => withMember(message, "function_call", withName(message.function_call, rename)),
};

function visitFunctionCall(message: ChatAssistantMessage, at: Visitor): ChatAssistantMessage {
  if (!message.function_call) return message;
  const kept = at.call(message as WithFunctionCall, functionCall);
  if (kept === undefined) return without(message, ["function_call"]);
  at.name(message.function_call.name);
  return withMember(kept, "function_call", at.text(kept.function_call, "arguments", "tool-call"));
}

function without<T extends object>(of: T, members: readonly string[]): T {
  return Object.fromEntries(Object.entries(of).filter(([name]) => !members.includes(name))) as T;
}

function imagePiece({ image_url: image }: AnyChatPart, of: Of): Piece {
  return { type: "media", ...imageFacts(asText(image?.url), image?.detail), of };
}

function audioPiece({ input_audio: audio }: AnyChatPart, of: Of): Piece {
  const format = asText(audio?.format) || "*";
  const mediaType = format === "mp3" ? "audio/mpeg" : `audio/${format}`;
  const facts = typeof audio?.data === "string" ? base64Facts(audio.data) : { bytes: undefined };
  return { type: "media", ...facts, mediaType, of };
}

function filePiece({ file }: AnyChatPart, of: Of): Piece {
  const data = file?.file_data;
  if (typeof data !== "string") return { type: "media", mediaType: undefined, bytes: undefined, of };
  const facts = dataUrlFacts(data) ?? base64Facts(data);
  return { type: "media", ...facts, of };
}

/** What the assistant said aloud stays with the API, which tells its id alone. */
function saidPiece(_message: ChatAssistantMessage, of: Of): Piece {
  return { type: "media", mediaType: "audio/*", bytes: undefined, of };
}
