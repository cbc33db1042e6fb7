import { TurnkeepError } from "../errors.ts";
import type {
  ApprovalRef,
  MessageFormat,
  Omission,
  Piece,
  ToolCallRef,
  ToolResultRef,
} from "../message-format.ts";
import { type AnyPart, isBoundary, isUnseen, partsOf, withParts } from "./any-part.ts";
import { modelMessageProblem } from "./check-model-message.ts";
import { decodePayload, encodePayload } from "./codec.ts";
import { equalContent } from "./equal-content.ts";
import { mapText } from "./map-model-message-text.ts";
import type { ModelMessage, ModelMessageLike } from "./model-message.ts";
import { isMedia, piecesOf } from "./model-message-pieces.ts";
import {
  joined,
  renameCalls,
  renameDocuments,
  renameTools,
  withErrorText,
  withoutEmptyText,
} from "./reshape-model-message.ts";

const name = "model-message";
const version = 1;

/**
 * The default format: messages in the shape of the AI SDK's `ModelMessage`. Unknown parts are kept as they are.
 *
 * In an assistant message, two parts are a provider's compaction and thus a boundary: the custom part
 * `openai.compaction` that names its item (`@ai-sdk/openai` 4.0.118), and a non-empty text part with
 * `providerOptions.anthropic.type` of `"compaction"` (`@ai-sdk/anthropic` 3.0.141 and 4.0.105).
 *
 * @example
 * ```ts
 * import { modelMessageFormat, toolCall } from "@turnkeep/core";
 *
 * modelMessageFormat.toolCalls(toolCall("call-1", "weather", { city: "Oslo" })); // [{ id: "call-1", name: "weather" }]
 * ```
 */
export const modelMessageFormat: MessageFormat<ModelMessageLike> = {
  name,
  version,
  role: (message) => message.role,
  toolCalls: (message) =>
    partsOf(message).flatMap((part): ToolCallRef[] => (part.type === "tool-call" ? [callOf(part)] : [])),
  toolResults: (message) =>
    partsOf(message).flatMap((part): ToolResultRef[] =>
      part.type === "tool-result" ? [{ id: part.toolCallId as string, name: part.toolName as string }] : [],
    ),
  approvals: (message) => partsOf(message).flatMap(approvalsOf),
  hasReasoning: (message) => partsOf(message).some(isReasoning),
  isBoundary,
  isEmpty,
  pieces: (message) =>
    typeof message.content === "string"
      ? [{ type: "text", text: message.content, of: "content" } satisfies Piece]
      : partsOf(message).flatMap(piecesOf),
  without,
  interruptedResults: (calls, text) => {
    if (calls.length === 0) return [];
    const content = calls.map((call) => ({
      type: "tool-result" as const,
      toolCallId: call.id,
      toolName: call.name,
      output: { type: "error-text" as const, value: text },
    }));
    return [{ role: "tool", content } satisfies ModelMessage];
  },
  textMessage: (role, text) => ({ role, content: text }),
  renameCalls,
  renameTools,
  joined,
  renameDocuments,
  withErrorText,
  withoutEmptyText,
  mapText,
  equals: equalContent,
  encode,
  decode,
};

function encode(message: ModelMessageLike): string {
  const text = encodePayload(name, version, message);
  const problem = modelMessageProblem(message);
  if (problem !== undefined) throw new TurnkeepError("INVALID_MESSAGE", problem);
  return text;
}

function decode(text: string): ModelMessageLike {
  const message = decodePayload(text, name, version);
  // Every other method trusts the shape, so a record that somebody else changed must be stopped here.
  const problem = modelMessageProblem(message);
  if (problem === undefined) return message as ModelMessageLike;
  throw new TurnkeepError(
    "CORRUPT_RECORD",
    `Its payload is no model message: ${problem} Restore the record, or remove it.`,
  );
}

function callOf(part: AnyPart): ToolCallRef {
  const call = { id: part.toolCallId as string, name: part.toolName as string };
  return part.providerExecuted === true ? { ...call, providerExecuted: true } : call;
}

function approvalsOf(part: AnyPart): ApprovalRef[] {
  const approvalId = part.approvalId as string;
  if (part.type === "tool-approval-response") return [{ kind: "response", approvalId }];
  if (part.type !== "tool-approval-request") return [];
  return [{ kind: "request", approvalId, toolCallId: part.toolCallId as string }];
}

function isReasoning(part: AnyPart): boolean {
  return part.type === "reasoning" || part.type === "reasoning-file";
}

function isEmpty(message: ModelMessageLike): boolean {
  if (typeof message.content === "string") return message.content.trim() === "";
  return partsOf(message).every(
    (part) => isUnseen(part) || (part.type === "text" && (part.text as string).trim() === ""),
  );
}

function without(message: ModelMessageLike, omission: Omission): ModelMessageLike | undefined {
  const parts = partsOf(message);
  const isParted = omission.reasoning === true && parts.some(isReasoning);
  const bound = isParted && parts.some(isReasoningItem) ? callsOfProvider(parts) : new Set();
  const kept = parts.flatMap((part) => (bound.has(part.toolCallId) ? [] : keep(part, omission)));
  const copy = withParts(message, isParted ? kept.map(withoutItemId) : kept);
  return copy !== message && isEmpty(copy) ? undefined : copy;
}

function keep(part: AnyPart, omission: Omission): AnyPart[] {
  const id = part.toolCallId as string;
  if (part.type === "tool-call" || part.type === "tool-approval-request")
    return omission.toolCalls?.(id) ? [] : [part];
  if (part.type === "tool-result" && omission.toolResults?.(id)) return [];
  if (part.type === "tool-approval-response" && omission.approvals?.(part.approvalId as string)) return [];
  if (omission.reasoning === true && isReasoning(part)) return [];
  if (omission.media !== true) return [part];
  return isMedia(part) ? [] : [withoutMediaInOutput(part)];
}

/**
 * The SDK keeps the id of each item that OpenAI's Responses API produced. By that id the API finds the reasoning that
 * led to the item, and it refuses the one without the other.
 */
function withoutItemId(part: AnyPart): AnyPart {
  if (part.type !== "text" && part.type !== "tool-call") return part;
  const options = Object.entries((part.providerOptions ?? {}) as Record<string, WithItemId | null>);
  if (!options.some(([, own]) => own?.itemId !== undefined)) return part;
  const left = options.map(([provider, own]) => {
    const { itemId: _, ...rest } = own ?? {};
    return [provider, rest] as const;
  });
  return { ...part, providerOptions: Object.fromEntries(left) };
}

/** Reasoning that OpenAI's Responses API knows by its id. */
function isReasoningItem(part: AnyPart): boolean {
  const options = (part.providerOptions ?? {}) as Record<string, WithItemId | null>;
  return isReasoning(part) && Object.values(options).some((own) => own?.itemId !== undefined);
}

/** Calls that the API ran itself go back by their id alone, so they cannot stay without their reasoning. */
function callsOfProvider(parts: readonly AnyPart[]): ReadonlySet<unknown> {
  const calls = parts.filter((part) => part.type === "tool-call" && part.providerExecuted === true);
  return new Set(calls.map((part) => part.toolCallId));
}

interface WithItemId {
  readonly itemId?: unknown;
}

function withoutMediaInOutput(part: AnyPart): AnyPart {
  const output = part.output as { type?: unknown; value?: unknown } | undefined;
  if (part.type !== "tool-result" || output?.type !== "content" || !Array.isArray(output.value)) return part;
  const value = output.value.filter((content: AnyPart) => !isMedia(content));
  return value.length === output.value.length ? part : { ...part, output: { ...output, value } };
}
