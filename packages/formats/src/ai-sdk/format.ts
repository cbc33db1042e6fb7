import type { ApprovalRef, MessageFormat } from "@turnkeep/core";
import { derived, joinedMembers, withMember } from "@turnkeep/core/format-kit";
import { callback, type Fields, optional, takeOptions } from "@turnkeep/core/store-kit";
import { checkMessage } from "./check.ts";
import { dataPartConverter } from "./data-parts.ts";
import { interrupted } from "./interrupted.ts";
import type { ConvertDataPart, UIMessageLike } from "./messages.ts";
import {
  type AnyUIPart,
  hasResponse,
  isCall,
  isCompaction,
  isData,
  isFile,
  partsOf,
  type ToolPart,
} from "./parts.ts";
import { withoutReasoningItems } from "./reasoning-items.ts";
import { renameCalls, renameTools } from "./rename.ts";
import { inForce, sets } from "./settings.ts";
import { visitWith } from "./visit.ts";

/** Options of {@link uiMessageFormat}: what only the application knows. */
export interface UIMessageFormatOptions {
  /**
   * The function that the application passes to the SDK's `convertToModelMessages` under this name. Without it, data
   * parts reach no model and count nothing.
   */
  readonly convertDataPart?: ConvertDataPart | undefined;
}

const fields = { convertDataPart: optional(callback) } satisfies Fields<UIMessageFormatOptions>;

/**
 * The AI SDK's `UIMessage`, kept as it is: what `useChat` shows and a message stream ends with, of major 6 or 7, with
 * the application's own metadata, data parts and tools. An assistant message holds all steps of one answer; each call
 * is one part with its approval and result. A call whose input still streams does not count as a call yet. Unknown
 * parts and members are kept. A later system message stays where it was said (`systemMessages`).
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
  options?: UIMessageFormatOptions,
): MessageFormat<M> {
  const taken = takeOptions("uiMessageFormat's argument", fields, options);
  const convertDataPart = dataPartConverter(taken.convertDataPart);
  const format = derived<M>(visitWith(convertDataPart), {
    name: "ai-sdk-ui-message",
    version: 1,
    systemMessages: "positioned",
    role: (message) => message.role,
    approvals: (message) => partsOf(message).filter(isCall).flatMap(approvalRefs),
    interruptedResults: () => [],
    interrupted,
    textMessage: (role, text) => textMessage(role, text) as M,
    renameCalls,
    renameTools,
    joined,
    sets,
    inForce,
    check: checkMessage,
  });
  return {
    ...format,
    without: (message, omission) =>
      format.without(omission.reasoning === true ? withoutReasoningItems(message) : message, omission),
    withoutAnswerFiles(message) {
      const copy = withoutAnswerFiles(message, convertDataPart);
      return copy === message || !format.isEmpty(copy) ? copy : undefined;
    },
  };
}

/** A message for a view. The SDK sends no ids, so that it needs none of its own. */
function textMessage(role: "user" | "assistant", text: string): UIMessageLike {
  return { id: "", role, parts: [{ type: "text", text } as AnyUIPart] };
}

/** A part keeps its request after the response came, so both are in the same message. */
function approvalRefs(part: ToolPart): readonly ApprovalRef[] {
  if (!part.approval) return [];
  const approvalId = part.approval.id;
  const request: ApprovalRef = { kind: "request", approvalId, toolCallId: part.toolCallId };
  return hasResponse(part) ? [request, { kind: "response", approvalId }] : [request];
}

/** One message under the id of the first. */
function joined<M extends UIMessageLike>(first: M, second: M): M | undefined {
  if (first.role !== second.role || first.role === "system") return undefined;
  const [before, after] = [partsOf(first), partsOf(second)];
  if (first.role === "assistant" && [...before, ...after].some(isCompaction)) return undefined;
  const members = joinedMembers(first, second, ["id", "parts"]);
  if (members === undefined) return undefined;
  // Without it the SDK would send the results of the first behind what the second says.
  const isOwnStep = first.role === "user" || after[0]?.type === "step-start";
  const parts = [...before, ...(isOwnStep ? [] : [{ type: "step-start" }]), ...after];
  return { ...members, id: first.id, parts } as unknown as M;
}

/** What the user sent while the answer was made is his; a data part may become a file. */
function withoutAnswerFiles<M extends UIMessageLike>(message: M, convertDataPart: ConvertDataPart): M {
  const isMade = (part: AnyUIPart): boolean => {
    const shown = isData(part) ? (convertDataPart(part) as AnyUIPart | undefined) : part;
    return shown !== undefined && isFile(shown);
  };
  const parts = partsOf(message);
  const kept = parts.filter((part) => !isMade(part));
  return message.role !== "assistant" || kept.length === parts.length
    ? message
    : withMember(message, "parts", kept);
}
