import type { AgentInputItem } from "@openai/agents-core";
import { isObject } from "@turnkeep/core/format-kit";
import { type AnyItem, idMember, isCall, isName, isResult } from "../format/items.ts";

/**
 * An item as the runner has it in a session: without the id that the provider gave to a call or a result, which have one of their
 * own to join them. The memory keeps that id: the provider takes reasoning with the item behind it as it was made.
 */
export function runnersForm(item: AgentInputItem): AgentInputItem {
  const { id, ...rest } = item as unknown as AnyItem;
  return id !== undefined && isJoined(rest) ? (rest as unknown as AgentInputItem) : item;
}

/** What tells an item from others of a run: the id of its call, else all that it says. */
export function keyOf(item: AgentInputItem): string {
  const any = item as unknown as AnyItem;
  const member = idMember(any);
  if (member !== undefined && (isCall(any.type) || isResult(any.type))) return `${any.type} ${any[member]}`;
  return textOf(item);
}

/** All that an item says, without its id, which not every copy has. Members may stand in any order. */
export function textOf(item: AgentInputItem): string {
  const { id: _, ...rest } = item as unknown as AnyItem;
  return canonical(rest);
}

/** JSON with the members of each object in order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member) => {
    if (member instanceof Uint8Array) return { bytes: [...member] };
    return isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member;
  });
}

export function isQuestion(item: AgentInputItem): boolean {
  return (item as { readonly role?: unknown }).role === "user";
}

/** Whether no model says it. */
export function isPrompt(item: AgentInputItem): boolean {
  return isQuestion(item) || (item as { readonly role?: unknown }).role === "system";
}

/** What the runner drops of a history where nothing answers it. */
export function isOpen(item: AgentInputItem): boolean {
  return item.type === "reasoning" || isCall(item.type ?? "message");
}

function isJoined(item: AnyItem): boolean {
  switch (item.type) {
    case "function_call":
    case "function_call_result":
      return true;
    case "tool_search_call":
    case "tool_search_output":
      return isName(item[idMember(item) as string]);
    default:
      return false;
  }
}

/** A member of the items that the model is shown, and never sent to a provider: JSON leaves out what is undefined. */
const mark = "turnkeepShown";

/**
 * A copy to be known again. Whatever the runner cannot lay over its own input, such as what others have said meanwhile or the
 * result of a call that a crash cut off, it hands over for storing, as a copy with the same members.
 */
export function marked(item: AgentInputItem): AgentInputItem {
  return { ...item, [mark]: undefined } as unknown as AgentInputItem;
}

export function isMarked(item: AgentInputItem): boolean {
  return Object.hasOwn(item, mark);
}
