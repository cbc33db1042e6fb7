import type { Piece, ToolCallRef } from "@turnkeep/core";
import type { CallShape, ResultShape, Visit, Visitor } from "@turnkeep/core/format-kit";
import { imageFacts } from "../media.ts";
import type { ConvertDataPart, UIMessageLike } from "./messages.ts";
import {
  type AnyUIPart,
  isAnswered,
  isCall,
  isCompaction,
  isData,
  isFile,
  isMessageStart,
  isSigned,
  isTool,
  type ToolPart,
  toolNameOf,
  withoutResult,
} from "./parts.ts";

/** What a part cannot say of itself. */
interface Around {
  readonly convertDataPart: ConvertDataPart;
  /** Only a message's own parts are calls, results and reasoning, and only an answer's are boundaries. */
  readonly holder: "answer" | "message" | "part";
}

/** Everything of a message that a model reads, once the SDK has converted it. */
export function visitWith<M extends UIMessageLike>(convertDataPart: ConvertDataPart): Visit<M> {
  const inAnswer: Around = { convertDataPart, holder: "answer" };
  const inMessage: Around = { convertDataPart, holder: "message" };
  return (message, at) =>
    at.list(message, "parts", visitPart, message.role === "assistant" ? inAnswer : inMessage);
}

function visitPart(part: AnyUIPart, at: Visitor, around: Around): AnyUIPart | undefined {
  if (isTool(part)) return isCall(part) ? visitTool(part, at, around) : part;
  if (isData(part)) return visitData(part, at, around);
  if (isCompaction(part)) return visitCompaction(part, at, around);
  switch (part.type) {
    case "text":
      return at.textPart(part, "text", "content", isSigned);
    case "reasoning": {
      const thought = around.holder === "part" ? part : at.reasoning(part);
      return thought && at.text(thought, "text", "reasoning");
    }
    case "reasoning-file": {
      const thought = around.holder === "part" ? part : at.reasoning(part);
      return thought && at.media(thought, "reasoning", mediaPiece);
    }
    case "file":
      return at.media(withDocumentName(part, at), "content", mediaPiece);
    case "steering-message":
      return visitSteering(part, at, around);
    case "step-start":
    case "source-url":
    case "source-document":
      return part;
    default:
      return isMessageStart(part) ? at.unsent(part) : at.unknown(part, "content", textPart);
  }
}

function textPart(text: string): AnyUIPart {
  return { type: "text", text };
}

function visitCompaction(part: AnyUIPart, at: Visitor, { holder }: Around): AnyUIPart {
  if (holder === "answer") at.boundary(part);
  return part.type === "text" ? at.text(part, "text", "content", "sealed") : at.unknown(part, "content");
}

/** It goes with the last of its parts. */
function visitSteering(part: AnyUIPart, at: Visitor, { convertDataPart }: Around): AnyUIPart | undefined {
  const visited = at.list(part, "parts", visitPart, { convertDataPart, holder: "part" });
  return visited === part || (visited.parts as readonly AnyUIPart[]).length > 0 ? visited : undefined;
}

/** What a data part became is no data part. */
const inData: Around = { convertDataPart: () => undefined, holder: "part" };

/** Where what the model would read of a data part changed, that stands in its place. A file stays the application's. */
function visitData(
  part: Parameters<ConvertDataPart>[0] & AnyUIPart,
  at: Visitor,
  { convertDataPart }: Around,
): AnyUIPart | undefined {
  const converted = convertDataPart(part) as AnyUIPart | undefined;
  if (!converted) return part;
  const visited = visitPart(at.present(converted), at, inData);
  return visited === converted || (visited === undefined && isFile(converted)) ? part : visited;
}

const call: CallShape<ToolPart> = {
  ref(part): ToolCallRef {
    const ref = { id: part.toolCallId, name: toolNameOf(part) };
    return part.providerExecuted === true ? { ...ref, providerExecuted: true } : ref;
  },
};

const result: ResultShape<ToolPart> = {
  ref: (part) => ({ id: part.toolCallId, name: toolNameOf(part) }),
};

/** A call and its result share a part, so that a result cannot stay without its call. */
function visitTool(part: ToolPart, at: Visitor, { holder }: Around): ToolPart | undefined {
  const called = holder === "part" ? at.present(part) : at.call(part, call);
  if (called === undefined) return undefined;
  at.name(toolNameOf(part));
  const given = at.text(called, inputMember(part), "tool-call", "json");
  if (!isAnswered(part)) return given;
  const answered = holder === "part" ? given : at.result(given, result);
  if (answered === undefined) return withoutResult(given);
  at.name(toolNameOf(part));
  return visitOutput(answered, at);
}

/** Of a failed call, the raw input may be all that there is. */
function inputMember(part: ToolPart): "input" | "rawInput" {
  const isRaw = part.state === "output-error" && (part.input ?? undefined) === undefined;
  return isRaw && part.rawInput !== undefined ? "rawInput" : "input";
}

/** What the SDK says where a denial gives no reason. */
const denied = "Tool call execution denied.";

function visitOutput(part: ToolPart, at: Visitor): ToolPart {
  if (part.state === "output-available") {
    if (part.providerExecuted === true) return at.text(part, "output", "tool-result", "provider");
    const told = typeof part.output === "string" ? at.told(part, "output", false) : part;
    return at.text(told, "output", "tool-result");
  }
  if (part.state === "output-error")
    return at.text(at.told(part, "errorText", true), "errorText", "tool-result");
  const { approval } = part;
  const { reason } = at.text({ reason: approval?.reason ?? denied }, "reason", "tool-result");
  const isChanged = approval !== undefined && reason !== (approval.reason ?? denied);
  return isChanged ? { ...part, approval: { ...approval, reason } } : part;
}

function withDocumentName(part: AnyUIPart, at: Visitor): AnyUIPart {
  return /^(image|audio|video)/.test(String(part.mediaType)) ? part : at.fileName(part, "filename");
}

function mediaPiece(part: AnyUIPart, of: "content" | "reasoning"): Piece {
  // A file that the provider already has is sent by its reference; `data` is what a data part may have become.
  const source = part.providerReference === undefined ? (part.url ?? part.data) : undefined;
  const facts = typeof source === "string" ? imageFacts(source) : { bytes: undefined };
  return { type: "media", ...facts, mediaType: part.mediaType as string, of };
}
