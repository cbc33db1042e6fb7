import type { Omission } from "@turnkeep/core";
import { type AnyItem, isMedia, itemOf, partsOf } from "./any-item.ts";
import { roleOf, toolCallRefs, toolResultRefs } from "./calls.ts";
import type { ResponsesItem } from "./items.ts";

/** Whether a provider would see nothing of the item: only a message can be empty. */
export function isEmptyItem(message: ResponsesItem): boolean {
  const item = itemOf(message);
  if (item.type !== "message") return false;
  if (typeof item.content === "string") return isBlank(item.content);
  return partsOf(item.content).every(
    (part) =>
      (part.type === "input_text" && isBlank(part.text)) ||
      (part.type === "output_text" && isBlank(part.text)) ||
      (part.type === "refusal" && isBlank(part.refusal)),
  );
}

/** An item goes as a whole but for its media, and for the request that a call answers beside its own result. */
export function withoutParts(message: ResponsesItem, omission: Omission): ResponsesItem | undefined {
  const { toolCalls, toolResults, approvals } = omission;
  const item = itemOf(message);
  if (omission.reasoning === true && (item.type === "reasoning" || isRun(message))) return undefined;
  if (toolCalls !== undefined && toolCallRefs(message).some(({ id }) => toolCalls(id))) return undefined;
  if (item.type === "mcp_approval_response" && approvals?.(item.approval_request_id as string))
    return undefined;
  let copy = omission.reasoning === true ? withoutOwnId(message) : message;
  if (toolResults !== undefined) {
    const gone = toolResultRefs(message).filter(({ id }) => toolResults(id));
    const approved = gone.length === 1 && gone[0]?.id === item.approval_request_id;
    if (gone.length > 0 && !approved) return undefined;
    if (approved) copy = withoutRequest(copy);
  }
  if (omission.media !== true) return copy;
  const rest = withoutMedia(copy);
  return rest === copy || !isEmptyItem(rest) ? rest : undefined;
}

/** What the API ran goes back under the id that it gave it, by which it knows the reasoning that led to it. */
function isRun(message: ResponsesItem): boolean {
  const isAsked = itemOf(message).type === "mcp_approval_request";
  return !isAsked && toolCallRefs(message).some(({ providerExecuted }) => providerExecuted === true);
}

/** What the model put out and may go back without the id that the API gave it. */
const nameless: ReadonlySet<string> = new Set([
  "message",
  "function_call",
  "custom_tool_call",
  "shell_call",
  "apply_patch_call",
]);

/** By its id the API knows the reasoning that led to an item, and refuses it without. */
function withoutOwnId(message: ResponsesItem): ResponsesItem {
  const item = itemOf(message);
  if (!nameless.has(item.type) || item.id === undefined || roleOf(message) !== "assistant") return message;
  const { id: _, ...rest } = message as unknown as AnyItem;
  return rest as unknown as ResponsesItem;
}

function withoutRequest(message: ResponsesItem): ResponsesItem {
  const { approval_request_id: _, ...rest } = message as unknown as AnyItem;
  return rest as unknown as ResponsesItem;
}

/** A copy without images and files. A result stays an answer to its call; a screenshot is all that one can be. */
function withoutMedia(message: ResponsesItem): ResponsesItem {
  const item = itemOf(message);
  switch (item.type) {
    case "message":
      return withList(message, "content", item.content);
    case "function_call_output":
    case "custom_tool_call_output":
      return withList(message, "output", item.output, "");
    case "code_interpreter_call":
      return withList(message, "outputs", item.outputs);
    case "image_generation_call":
      return typeof item.result === "string" ? ({ ...message, result: null } as ResponsesItem) : message;
    default:
      return message;
  }
}

function withList(message: ResponsesItem, member: string, list: unknown, ifNone?: string): ResponsesItem {
  const parts = partsOf(list);
  const kept = parts.filter((part) => !isMedia(part));
  if (kept.length === parts.length) return message;
  return { ...message, [member]: kept.length > 0 ? kept : (ifNone ?? kept) } as ResponsesItem;
}

function isBlank(text: unknown): boolean {
  return (text as string).trim() === "";
}
