import type { ToolCallRef } from "@turnkeep/core";
import { type ApprovalShape, type CallShape, isObject, type ResultShape } from "@turnkeep/core/format-kit";
import { type AnyItem, idMember, isName } from "./items.ts";

/** How items say that they are calls, results and approvals. */

/** A call with what decides the kind of its result, where it is no function call. */
export interface CallRef extends ToolCallRef {
  readonly type?: string;
}

const ownCall: CallShape<AnyItem> = {
  ref(item): CallRef {
    const ref = { id: idOf(item), name: callName(item) };
    if (isServers(item)) return { ...ref, providerExecuted: true };
    return item.type === "function_call" ? ref : { ...ref, type: item.type };
  },
  name: "name",
};
const ownResult: ResultShape<AnyItem> = {
  ref: (item) => (isName(item.name) ? { id: idOf(item), name: item.name } : { id: idOf(item) }),
  name: "name",
  isProviders: isServers,
};

/** By the member that holds the id. */
const calls = { callId: { ...ownCall, id: "callId" }, call_id: { ...ownCall, id: "call_id" } };
const results = { callId: { ...ownResult, id: "callId" }, call_id: { ...ownResult, id: "call_id" } };

/** `undefined` for a call that nothing can answer. */
export function callShape(item: AnyItem): CallShape<AnyItem> | undefined {
  const member = idMember(item);
  return member && calls[member];
}

export function resultShape(item: AnyItem): ResultShape<AnyItem> | undefined {
  const member = idMember(item);
  return member && results[member];
}

export function callName({ type, name }: AnyItem): string {
  return isName(name) ? name : type.replace(/_call$/, "");
}

function idOf(item: AnyItem): string {
  return item[idMember(item) as string] as string;
}

/** What the provider runs: a program that the model wrote, and a search that the application does not execute itself. */
function isServers({ type, execution }: AnyItem): boolean {
  return type.startsWith("program") || (type.startsWith("tool_search_") && execution !== "client");
}

/** A tool that the provider runs: call and result in one item, under the provider's id. */
export const hostedCall: CallShape<AnyItem> = {
  ref: (item) => ({ id: item.id as string, name: callName(item), providerExecuted: true }),
};
export const hostedResult: ResultShape<AnyItem> = {
  ref: ({ id }) => ({ id: id as string }),
  isProviders: () => true,
};

/** What a person is to decide before an MCP server's tool runs, and the decision. */
export const hostedRequest: ApprovalShape<AnyItem> = {
  ref: ({ id }) => ({ kind: "request", approvalId: id as string, toolCallId: id as string }),
};
export const hostedResponse: ApprovalShape<AnyItem> = {
  ref: (item) => ({ kind: "response", approvalId: decidedId(item) as string }),
};

/** The request that a decision is about. */
export function decidedId({ providerData }: AnyItem): string | undefined {
  const id = isObject(providerData) ? providerData.approval_request_id : undefined;
  return isName(id) ? id : undefined;
}
