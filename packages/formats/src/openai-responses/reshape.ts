import type { CallPlace } from "@turnkeep/core";
import { withMember } from "@turnkeep/core/format-kit";
import { isLeftOut } from "../reshape.ts";
import { type AnyItem, itemOf, partsOf } from "./any-item.ts";
import { namedItems } from "./calls.ts";
import type { ResponsesItem } from "./items.ts";

/** The calls that the application answers, and what it answers them with. */
const ownItems: ReadonlySet<string> = new Set(
  ["function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call"]
    .concat("apply_patch_call")
    .flatMap((type) => [type, `${type}_output`]),
);

/**
 * What joins a call and its result is `call_id`, not the item's `id`. Of a shell call only the call tells who runs it,
 * so that both are renamed, whoever does.
 */
export function renameCalls(
  message: ResponsesItem,
  rename: (id: string, of?: CallPlace) => string,
): ResponsesItem {
  const item = itemOf(message);
  const isSearch = item.type === "tool_search_call" || item.type === "tool_search_output";
  if (!ownItems.has(item.type) && !(isSearch && item.execution === "client")) return message;
  const place = item.type.endsWith("_output") ? "result" : "call";
  if (typeof item.call_id === "string") return withMember(message, "call_id", rename(item.call_id, place));
  // The types of the local shell's output know only the id, which then is the call's.
  const isOwnId = item.type === "local_shell_call_output" && typeof item.id === "string";
  return isOwnId ? withMember(message, "id", rename(item.id as string, place)) : message;
}

export function renameTools(message: ResponsesItem, rename: (name: string) => string): ResponsesItem {
  const { type, name } = itemOf(message);
  if (!namedItems.has(type) || typeof name !== "string") return message;
  return withMember(message, "name", rename(name));
}

export function withoutEmptyText(
  message: ResponsesItem,
  which: "empty" | "blank",
): ResponsesItem | undefined {
  const item = itemOf(message);
  if (item.type !== "message") return message;
  if (typeof item.content === "string") return isLeftOut(item.content, which) ? undefined : message;
  const parts = partsOf(item.content);
  const kept = parts.filter((part) => !isEmptyPart(part, which));
  if (kept.length === parts.length) return message;
  return kept.length > 0 ? withMember(message, "content", kept) : undefined;
}

function isEmptyPart(part: AnyItem, which: "empty" | "blank"): boolean {
  if (part.type === "input_text" || part.type === "output_text") return isLeftOut(part.text, which);
  return part.type === "refusal" && isLeftOut(part.refusal, which);
}
