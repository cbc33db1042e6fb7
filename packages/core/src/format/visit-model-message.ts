import type { ToolCallRef } from "../message-format.ts";
import { type AnyPart, isCompaction, isUnsent } from "./any-part.ts";
import type { ModelMessageLike } from "./model-message.ts";
import { isMedia, mediaPiece } from "./model-message-media.ts";
import {
  type ApprovalShape,
  type CallShape,
  type ResultShape,
  type Visit,
  type Visitor,
  withMember,
} from "./visitor.ts";

type RoleOfParts = ModelMessageLike["role"];

/** Everything of a message that is more than its role, part by part. */
export const visitModelMessage: Visit<ModelMessageLike> = (message, at) =>
  typeof message.content === "string"
    ? at.textPart(message, "content", "content")
    : at.list(message, "content", visitPart, message.role);

function visitPart(part: AnyPart, at: Visitor, role: RoleOfParts): AnyPart | undefined {
  // A provider takes back only a compaction that it made.
  if (isCompaction(part)) return visitCompaction(part, at, role);
  switch (part.type) {
    case "text":
      return at.textPart(part, "text", "content", isSigned);
    case "reasoning": {
      const thought = at.reasoning(part);
      return thought && at.text(thought, "text", "reasoning");
    }
    case "reasoning-file": {
      const thought = at.reasoning(part);
      return thought && at.media(withDocumentName(thought, at), "reasoning", mediaPiece);
    }
    case "tool-call":
      return visitCall(part, at);
    case "tool-result":
      return visitResult(part, at, role);
    // Only the application sees approvals, never the model.
    case "tool-approval-request":
      return at.approval(part, approvalRequest);
    case "tool-approval-response":
      return at.approval(part, approvalResponse);
    default:
      return isUnsent(part) ? at.unsent(part) : visitContent(part, at, "content");
  }
}

function visitCompaction(part: AnyPart, at: Visitor, role: RoleOfParts): AnyPart {
  if (role === "assistant") at.boundary(part);
  return part.type === "text" ? at.text(part, "text", "content", "sealed") : at.unknown(part, "content");
}

/** What may stand in a message and in what a tool put out. */
function visitContent(part: AnyPart, at: Visitor, of: "content" | "tool-result"): AnyPart | undefined {
  const named = withDocumentName(part, at);
  return isMedia(part) ? at.media(named, of, mediaPiece, textPart) : at.unknown(named, of, textPart);
}

function textPart(text: string): AnyPart {
  return { type: "text", text };
}

function withDocumentName(part: AnyPart, at: Visitor): AnyPart {
  return /^(image|audio|video)/.test(String(part.mediaType)) ? part : at.fileName(part, "filename");
}

const call: CallShape<AnyPart> = {
  ref(part): ToolCallRef {
    const ref = { id: part.toolCallId as string, name: part.toolName as string };
    return part.providerExecuted === true ? { ...ref, providerExecuted: true } : ref;
  },
  id: "toolCallId",
  name: "toolName",
};

const result: ResultShape<AnyPart> = {
  ref: (part) => ({ id: part.toolCallId as string, name: part.toolName as string }),
  id: "toolCallId",
  name: "toolName",
};

const approvalRequest: ApprovalShape<AnyPart> = {
  ref: (part) => ({
    kind: "request",
    approvalId: part.approvalId as string,
    toolCallId: part.toolCallId as string,
  }),
  id: "toolCallId",
};

const approvalResponse: ApprovalShape<AnyPart> = {
  ref: (part) => ({ kind: "response", approvalId: part.approvalId as string }),
};

/** If the tool takes an object, providers refuse any other input. */
function visitCall(part: AnyPart, at: Visitor): AnyPart | undefined {
  const kept = at.call(part, call);
  if (kept === undefined) return undefined;
  at.name(part.toolName);
  return at.text(kept, "input", "tool-call", "json");
}

function visitResult(part: AnyPart, at: Visitor, role: RoleOfParts): AnyPart | undefined {
  const kept = at.result(part, result);
  if (kept === undefined) return undefined;
  at.name(part.toolName);
  return withMember(kept, "output", visitOutput(part.output as AnyPart, at, role));
}

/** What the model sees where a provider ran the tool must go back as it came. */
function visitOutput(output: AnyPart, at: Visitor, role: RoleOfParts): AnyPart {
  if (output.type === "execution-denied") return at.text(output, "reason", "tool-result");
  const isProviders = role === "assistant";
  const told = isProviders || isJson.has(output.type) ? output : toldOutput(output, at);
  if (told.type === "content") return at.list(told, "value", visitOutputPart, undefined);
  if (isProviders) return at.text(told, "value", "tool-result", "provider");
  return asOutput(at.text(told, "value", "tool-result"), output);
}

function toldOutput(output: AnyPart, at: Visitor): AnyPart {
  return asOutput(at.told(output, "value", output.type === "error-text"), output);
}

const isJson: ReadonlySet<string> = new Set(["json", "error-json"]);

/** Where a text has taken the place of something else. */
function asOutput(changed: AnyPart, output: AnyPart): AnyPart {
  const isText = typeof changed.value === "string" && typeof output.value !== "string";
  return isText ? { ...changed, type: asTextOutput.get(output.type) ?? output.type } : changed;
}

const asTextOutput: ReadonlyMap<string, string> = new Map([
  ["content", "text"],
  ["json", "text"],
  ["error-json", "error-text"],
]);

function visitOutputPart(part: AnyPart, at: Visitor): AnyPart | undefined {
  return part.type === "text" ? at.text(part, "text", "tool-result") : visitContent(part, at, "tool-result");
}

/** Where `@ai-sdk/google` 4.0.121 puts a thought signature, for Gemini's API and for Google Cloud's. */
const signers = ["google", "googleVertex", "vertex"];

function isSigned(part: AnyPart): boolean {
  const options = (part.providerOptions ?? {}) as Record<string, { thoughtSignature?: unknown } | undefined>;
  return signers.some((name) => typeof options[name]?.thoughtSignature === "string");
}
