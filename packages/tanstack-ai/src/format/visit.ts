import type { ModelMessage, ToolCall } from "@tanstack/ai";
import type { Piece } from "@turnkeep/core";
import {
  type CallShape,
  isObject,
  type ResultShape,
  type Visit,
  type Visitor,
  withMember,
} from "@turnkeep/core/format-kit";
import { type AnyPart, mediaPiece } from "./media.ts";

type Of = Extract<Piece["of"], "content" | "tool-result">;

/** Everything of a message that a model reads: not its id, its time, its metadata, nor the parsed form of its text. */
export const visitMessage: Visit<ModelMessage> = (message, at) => {
  if (message.name) at.name(message.name);
  if (message.role === "tool") return visitResult(message, at);
  return message.role === "assistant" ? visitAssistant(message, at) : visitContent(message, at, "content");
};

const result: ResultShape<ModelMessage> = {
  ref({ toolCallId, name }) {
    const id = toolCallId as string;
    return name ? { id, name } : { id };
  },
  id: "toolCallId",
  name: (message, rename) => (message.name ? withMember(message, "name", rename(message.name)) : message),
};

/** A result stays one, whatever is left of what it holds. */
function visitResult(message: ModelMessage, at: Visitor): ModelMessage | undefined {
  const kept = at.result(message, result);
  const told = kept && at.told(kept, "content", kept.error !== undefined);
  return told && (visitContent(told, at, "tool-result") ?? { ...told, content: "" });
}

/** `undefined` if nothing of the content is left. */
function visitContent(message: ModelMessage, at: Visitor, of: Of): ModelMessage | undefined {
  if (typeof message.content === "string") return at.textPart(message, "content", of);
  if (!Array.isArray(message.content)) return of === "content" ? at.unsent(message) : message;
  const visited = at.list(message, "content", visitPart, of);
  return visited === message || visited.content?.length !== 0 ? visited : undefined;
}

function visitPart(part: AnyPart, at: Visitor, of: Of): AnyPart | undefined {
  if (part.type === "text") return at.textPart(part, "content", of);
  return isObject(part.source) ? at.media(part, of, mediaPiece, textPart) : at.unknown(part, of, textPart);
}

function textPart(text: string): AnyPart {
  return { type: "text", content: text };
}

function visitAssistant(message: ModelMessage, at: Visitor): ModelMessage | undefined {
  const hasMore = (message.thinking?.length ?? 0) > 0 || (message.toolCalls?.length ?? 0) > 0;
  if (!hasMore) return visitContent(message, at, "content");
  const thought = visitThinking(message, at);
  const said =
    thought.content === null
      ? thought
      : (visitContent(thought, at, "content") ?? { ...thought, content: null });
  return visitCalls(said, at);
}

/** Thoughts go together: a provider refuses signed ones of which some are left out. */
function visitThinking(message: ModelMessage, at: Visitor): ModelMessage {
  if (!message.thinking?.length) return message;
  const kept = at.reasoning(message);
  return kept === undefined
    ? without(message, "thinking")
    : at.list(kept, "thinking", visitThought, undefined);
}

type Thought = NonNullable<ModelMessage["thinking"]>[number];

/** Where the thought is not shown, the signature carries it. */
function visitThought(thought: Thought, at: Visitor): Thought {
  return thought.content === "" && thought.signature
    ? at.text(thought, "signature", "reasoning", "sealed")
    : at.text(thought, "content", "reasoning");
}

function visitCalls(message: ModelMessage, at: Visitor): ModelMessage {
  if (!message.toolCalls?.length) return message;
  const visited = at.list(message, "toolCalls", visitCall, undefined);
  return visited.toolCalls?.length ? visited : without(visited, "toolCalls");
}

const call: CallShape<ToolCall> = {
  ref(toolCall) {
    const { id, function: called } = toolCall;
    return { id, name: called.name, ...(isProviders(toolCall) ? { providerExecuted: true } : {}) };
  },
  id: "id",
  name: (toolCall, rename) =>
    withMember(toolCall, "function", withMember(toolCall.function, "name", rename(toolCall.function.name))),
};

function isProviders({ metadata }: ToolCall): boolean {
  return isObject(metadata) && metadata.providerExecuted === true;
}

function visitCall(toolCall: ToolCall, at: Visitor): ToolCall | undefined {
  const kept = at.call(toolCall, call);
  if (kept === undefined) return undefined;
  at.name(toolCall.function.name);
  const asked = withMember(kept, "function", at.text(kept.function, "arguments", "tool-call"));
  // What a provider's own tool has found goes back with the call.
  return isProviders(asked) ? at.text(asked, "metadata", "tool-result", "provider") : asked;
}

function without(message: ModelMessage, member: keyof ModelMessage): ModelMessage {
  const { [member]: _, ...rest } = message;
  return rest as ModelMessage;
}
