import {
  type ApprovalRef,
  equalContent,
  type MessageFormat,
  type ToolCallRef,
  type ToolResultRef,
} from "@turnkeep/core";
import { checkedCodec } from "@turnkeep/core/format-kit";
import { checkObject } from "@turnkeep/core/store-kit";
import { checkMessage } from "./check.ts";
import { dataPartConverter } from "./data-parts.ts";
import { interrupted } from "./interrupted.ts";
import { mapText } from "./map-text.ts";
import type { ConvertDataPart, UIMessageLike } from "./messages.ts";
import {
  isAnswered,
  isCall,
  isCompaction,
  isReasoning,
  partsOf,
  type ToolPart,
  toolNameOf,
} from "./parts.ts";
import { piecesOf } from "./pieces.ts";
import {
  joined,
  renameCalls,
  renameDocuments,
  renameTools,
  textMessage,
  withErrorText,
  withoutAnswerFiles,
  withoutEmptyText,
} from "./reshape.ts";
import { hasResponse, isEmptyMessage, withoutParts } from "./without.ts";

const name = "ai-sdk-ui-message";
const version = 1;

/** Options of {@link uiMessageFormat}: what only the application knows. */
export interface UIMessageFormatOptions {
  /**
   * The function that the application passes to the SDK's `convertToModelMessages` under this name. Without it, data
   * parts reach no model and count nothing.
   */
  readonly convertDataPart?: ConvertDataPart | undefined;
}

/**
 * The AI SDK's `UIMessage`, kept as it is: what `useChat` shows and a message stream ends with, of major 6 or 7, with
 * the application's own metadata, data parts and tools. An assistant message holds all steps of one answer; each call
 * is one part with its approval and result. A call whose input still streams does not count as a call yet. Unknown
 * parts and members are kept.
 *
 * If a crash left a call unanswered, the view shows an error as its result, in the message that holds the call.
 *
 * Errors: `INVALID_OPTION` for an unknown option, and from its methods if `convertDataPart` returns no part.
 *
 * Its `encode` throws `INVALID_MESSAGE` for an unknown role, parts without a type, a text or a file without its text or
 * URL, a tool part without id or state.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
 * import { convertToModelMessages, type UIMessage } from "ai";
 *
 * const memory = createChatMemory({ format: uiMessageFormat<UIMessage>(), window: { maxMessages: 40 } });
 * await memory.add({ id: "m-1", role: "user", parts: [{ type: "text", text: "Hello" }] });
 * const { messages } = await memory.prompt();
 * const sent = await convertToModelMessages(messages);
 * ```
 */
export function uiMessageFormat<M extends UIMessageLike = UIMessageLike>(
  options: UIMessageFormatOptions = {},
): MessageFormat<M> {
  checkObject("uiMessageFormat's argument", options, ["convertDataPart"]);
  const convertDataPart = dataPartConverter(options.convertDataPart);
  return {
    name,
    version,
    role: (message) => message.role,
    toolCalls: (message) => callsOf(message).map(callRef),
    toolResults: (message) => callsOf(message).filter(isAnswered).map(resultRef),
    approvals: (message) => callsOf(message).flatMap(approvalRefs),
    hasReasoning: (message) => partsOf(message).some(isReasoning),
    isBoundary: (message) => message.role === "assistant" && partsOf(message).some(isCompaction),
    isEmpty: (message) => isEmptyMessage(message, convertDataPart),
    pieces: (message) => piecesOf(message, convertDataPart),
    without: (message, omission) => withoutParts(message, omission, convertDataPart),
    interruptedResults: () => [],
    interrupted,
    textMessage: (role, text) => textMessage(role, text) as M,
    renameCalls,
    renameTools,
    joined,
    renameDocuments,
    withErrorText,
    withoutAnswerFiles: (message) => withoutAnswerFiles(message, convertDataPart),
    withoutEmptyText: (message, which, keepSigned = false) =>
      withoutEmptyText(message, which, { convertDataPart, keepSigned }),
    mapText: (message, change) => mapText(message, change, convertDataPart),
    equals: equalContent,
    ...checkedCodec<M>(name, version, checkMessage),
  };
}

function callsOf(message: UIMessageLike): readonly ToolPart[] {
  return partsOf(message).filter(isCall);
}

function callRef(part: ToolPart): ToolCallRef {
  const call = { id: part.toolCallId, name: toolNameOf(part) };
  return part.providerExecuted === true ? { ...call, providerExecuted: true } : call;
}

function resultRef(part: ToolPart): ToolResultRef {
  return { id: part.toolCallId, name: toolNameOf(part) };
}

/** A part keeps its request after the response came, so both are in the same message. */
function approvalRefs(part: ToolPart): readonly ApprovalRef[] {
  if (!part.approval) return [];
  const approvalId = part.approval.id;
  const request: ApprovalRef = { kind: "request", approvalId, toolCallId: part.toolCallId };
  return hasResponse(part) ? [request, { kind: "response", approvalId }] : [request];
}
