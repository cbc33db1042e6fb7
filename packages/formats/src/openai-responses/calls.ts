import type { ApprovalRef, Role, ToolCallRef, ToolResultRef } from "@turnkeep/core";
import { type AnyItem, itemOf } from "./any-item.ts";
import type { ResponsesItem } from "./items.ts";

/** A call with what decides the kind of its result, where it is no function call. */
interface CallRef extends ToolCallRef {
  readonly type?: string;
}

const messageRoles: Readonly<Record<string, Role>> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
};

/** Items that neither the user nor the model says: they stand between, as results do. */
const asides: ReadonlySet<string> = new Set([
  "mcp_approval_response",
  "additional_tools",
  "configuration_update",
  "compaction_trigger",
]);

/** Calls that the application answers; each has an item of its own for the result. */
const answeredCalls: ReadonlySet<string> = new Set([
  "function_call",
  "custom_tool_call",
  "computer_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call",
  "tool_search_call",
]);

/** The calls that say which tool the model asked for, and their results, which may say it too. */
export const namedItems: ReadonlySet<string> = new Set(
  ["function_call", "custom_tool_call"].flatMap((type) => [type, `${type}_output`]),
);

/** What the model puts out has the role `assistant`; results, whoever ran the call, have the role `tool`. */
export function roleOf(message: ResponsesItem): Role {
  const item = itemOf(message);
  if (item.type === "message") return messageRoles[item.role as string] as Role;
  if (asides.has(item.type) || item.type.endsWith("_output")) return "tool";
  return item.role === "user" ? "user" : "assistant";
}

export function toolCallRefs(message: ResponsesItem): readonly ToolCallRef[] {
  const item = itemOf(message);
  const id = callId(item);
  if (id === undefined) return [];
  const name = callName(item);
  if (isProviders(item)) return [{ id, name, providerExecuted: true }];
  const call: CallRef = item.type === "function_call" ? { id, name } : { id, name, type: item.type };
  return [call];
}

export function callName(item: AnyItem): string {
  return typeof item.name === "string" ? item.name : item.type.replace(/_call$/, "");
}

/** The id that an item's result names; `undefined` for an item that is no call, or cannot be answered. */
function callId(item: AnyItem): string | undefined {
  if (item.type === "mcp_approval_request") return textOf(item.id);
  if (item.type !== "program" && !item.type.endsWith("_call")) return undefined;
  if (typeof item.call_id === "string") return item.call_id;
  return holdsResult(item) ? textOf(item.id) : undefined;
}

/** Calls that the API runs itself: those that no other kind of item answers, and some that one does. */
function isProviders(item: AnyItem): boolean {
  if (!answeredCalls.has(item.type)) return true;
  if (item.type === "tool_search_call") return item.execution !== "client";
  const environment = item.environment as { readonly type?: unknown } | null | undefined;
  return item.type === "shell_call" && environment?.type === "container_reference";
}

/** `web_search_call`, `mcp_call` and their like: call and result in one. */
function holdsResult(item: AnyItem): boolean {
  return item.type.endsWith("_call") && !answeredCalls.has(item.type) && typeof item.call_id !== "string";
}

export function toolResultRefs(message: ResponsesItem): readonly ToolResultRef[] {
  const item = itemOf(message);
  if (item.type.endsWith("_output")) {
    // The types of the local shell's output know only the id, the API wants the call's too.
    const own = item.type === "local_shell_call_output" ? item.id : undefined;
    const id = textOf(item.call_id) ?? textOf(own);
    if (id === undefined) return [];
    return namedItems.has(item.type) && typeof item.name === "string" ? [{ id, name: item.name }] : [{ id }];
  }
  if (!holdsResult(item)) return [];
  // A call that was approved also answers the request.
  return [textOf(item.id), textOf(item.approval_request_id)].flatMap((id) =>
    id === undefined ? [] : [{ id }],
  );
}

/** A request counts as a call that the provider runs, under its own id: the call itself has none before it runs. */
export function approvalRefs(message: ResponsesItem): readonly ApprovalRef[] {
  const item = itemOf(message);
  if (item.type === "mcp_approval_request") {
    const id = item.id as string;
    return [{ kind: "request", approvalId: id, toolCallId: id }];
  }
  if (item.type !== "mcp_approval_response") return [];
  return [{ kind: "response", approvalId: item.approval_request_id as string }];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
