import type { ToolCallRef } from "@turnkeep/core";
import type { ApprovalShape, CallShape, ResultShape } from "@turnkeep/core/format-kit";
import type { AnyItem } from "./any-item.ts";

/** How items say that they are calls, results and approvals. */

/** A call with what decides the kind of its result, where it is no function call. */
export interface CallRef extends ToolCallRef {
  readonly type?: string;
}

export const call: CallShape<AnyItem> = {
  ref(item): CallRef {
    const ref = { id: callId(item) as string, name: callName(item) };
    if (isProviders(item)) return { ...ref, providerExecuted: true };
    return item.type === "function_call" ? ref : { ...ref, type: item.type };
  },
  // What joins a call and its result is `call_id`, not the item's `id`.
  id: "call_id",
  name: "name",
};

/** The id that an item's result names; `undefined` for a call that cannot be answered. */
export function callId(item: AnyItem): string | undefined {
  if (item.type === "mcp_approval_request") return idIn(item, "id");
  if (typeof item.call_id === "string") return item.call_id;
  return holdsResult(item) ? idIn(item, "id") : undefined;
}

export function callName(item: AnyItem): string {
  return typeof item.name === "string" ? item.name : item.type.replace(/_call$/, "");
}

export function idIn(item: AnyItem, member: string): string | undefined {
  const id = item[member];
  return typeof id === "string" && id !== "" ? id : undefined;
}

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

/** Calls that the API runs itself: those that no other kind of item answers, and some that one does. */
function isProviders(item: AnyItem): boolean {
  if (!answeredCalls.has(item.type)) return true;
  if (item.type === "tool_search_call") return item.execution !== "client";
  const environment = item.environment as { readonly type?: unknown } | null | undefined;
  return item.type === "shell_call" && environment?.type === "container_reference";
}

/** `web_search_call`, `mcp_call` and their like: call and result in one. */
export function holdsResult(item: AnyItem): boolean {
  return item.type.endsWith("_call") && !answeredCalls.has(item.type) && typeof item.call_id !== "string";
}

/** What such a call answers: itself, and the request that was approved before it ran. */
export const ownResult: ResultShape<AnyItem> = { ref: (item) => ({ id: item.id as string }) };
export const requestResult: ResultShape<AnyItem> = {
  ref: (item) => ({ id: item.approval_request_id as string }),
};

/** An item that is nothing but a result. Only some say which tool it is of. */
export const result: ResultShape<AnyItem> = {
  ref({ type, call_id, name }) {
    const id = call_id as string;
    const isNamed = type === "function_call_output" || type === "custom_tool_call_output";
    return isNamed && typeof name === "string" ? { id, name } : { id };
  },
  id: "call_id",
  name: "name",
  isProviders: ({ type, execution }) =>
    type === "tool_search_output" ? execution !== "client" : !answeredCalls.has(type.replace(/_output$/, "")),
};

/** The types of the local shell's output know only the id, the API wants the call's too. */
export const shellResult: ResultShape<AnyItem> = {
  ref: ({ id }) => ({ id: id as string }),
  id: "id",
  isProviders: () => false,
};

/** A request counts as a call that the provider runs, under its own id: the call itself has none before it runs. */
export const approvalRequest: ApprovalShape<AnyItem> = {
  ref: ({ id }) => ({ kind: "request", approvalId: id as string, toolCallId: id as string }),
};

export const approvalResponse: ApprovalShape<AnyItem> = {
  ref: (item) => ({ kind: "response", approvalId: item.approval_request_id as string }),
};
