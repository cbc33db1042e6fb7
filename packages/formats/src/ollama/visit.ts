import type { Piece } from "@turnkeep/core";
import {
  type CallShape,
  type ResultShape,
  type Visit,
  type Visitor,
  withMember,
} from "@turnkeep/core/format-kit";
import { idByName } from "../id-by-name.ts";
import { carriedFacts } from "../media.ts";
import type { OllamaMessage } from "./messages.ts";
import { type AnyToolCall, callsOf, imagesOf, thoughtOf, without } from "./parts.ts";

type Of = "content" | "tool-result";

/** Everything of a message that a model reads. */
export const visitMessage: Visit<OllamaMessage> = (message, at) => {
  if (message.role === "tool") return visitResult(message, at);
  const said = visitSaid(visitThinking(message, at), at);
  return said && visitCalls(visitImages(said, at, "content"), at);
};

function visitThinking(message: OllamaMessage, at: Visitor): OllamaMessage {
  if (thoughtOf(message) === "") return message;
  const kept = at.reasoning(message);
  return kept === undefined ? without(message, "thinking") : at.text(kept, "thinking", "reasoning");
}

/** Beside anything else, no text at all is an empty one. */
function visitSaid(message: OllamaMessage, at: Visitor): OllamaMessage | undefined {
  const holdsMore = [thoughtOf(message), imagesOf(message), callsOf(message)].some(
    ({ length }) => length > 0,
  );
  if (message.content === "" && holdsMore) return message;
  const said = at.textPart(message, "content", "content");
  return said ?? (holdsMore ? { ...message, content: "" } : undefined);
}

function visitImages(message: OllamaMessage, at: Visitor, of: Of): OllamaMessage {
  const images = imagesOf(message);
  const kept = images.filter((image) => at.media({ image }, of, imagePiece) !== undefined);
  if (kept.length === images.length) return message;
  return kept.length > 0 ? { ...message, images: kept as string[] } : without(message, "images");
}

function imagePiece({ image }: { readonly image: Uint8Array | string }, of: Of): Piece {
  return { type: "media", ...carriedFacts(image), mediaType: "image/*", of };
}

function visitCalls(message: OllamaMessage, at: Visitor): OllamaMessage {
  const calls = callsOf(message);
  if (calls.length === 0) {
    const isUnsent = message.tool_calls !== undefined && at.unsent(message) === undefined;
    return isUnsent ? without(message, "tool_calls") : message;
  }
  const visited = at.list(message, "tool_calls", visitCall, undefined);
  return callsOf(visited).length > 0 ? visited : without(visited, "tool_calls");
}

/** Paired by its tool's name, as is a result like it: there is no id to rename. */
const callWithoutId: CallShape<AnyToolCall> = {
  ref({ id, function: { name } }) {
    return { id: typeof id === "string" && id !== "" ? id : idByName(name), name };
  },
  name: (call, rename) =>
    withMember(call, "function", withMember(call.function, "name", rename(call.function.name))),
};

const call: CallShape<AnyToolCall> = { ...callWithoutId, id: "id" };

function visitCall(toolCall: AnyToolCall, at: Visitor): AnyToolCall | undefined {
  const kept = at.call(toolCall, toolCall.id ? call : callWithoutId);
  if (kept === undefined) return undefined;
  at.name(toolCall.function.name);
  if ((toolCall.function.arguments ?? undefined) === undefined) return kept;
  return withMember(kept, "function", at.text(kept.function, "arguments", "tool-call", "json"));
}

const resultWithoutId: ResultShape<OllamaMessage> = {
  ref({ tool_call_id: id, tool_name: name }) {
    const ref = { id: id || idByName(name ?? "") };
    return name === undefined ? ref : { ...ref, name };
  },
  idAt: "tool_call_id",
  name: "tool_name",
  isProviders: () => false,
};

const result: ResultShape<OllamaMessage> = { ...resultWithoutId, id: "tool_call_id" };

/** A result stays one, whatever is left of what it holds. */
function visitResult(message: OllamaMessage, at: Visitor): OllamaMessage | undefined {
  const kept = at.result(message, message.tool_call_id ? result : resultWithoutId);
  if (kept === undefined) return undefined;
  if (message.tool_name) at.name(message.tool_name);
  const told = at.told(kept, "content", false);
  return visitImages(
    at.textPart(told, "content", "tool-result") ?? { ...told, content: "" },
    at,
    "tool-result",
  );
}
