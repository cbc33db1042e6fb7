import type { CallPlace } from "@turnkeep/core";
import { isLeftOut, joinedMembers, mapList, withMember } from "../reshape.ts";
import {
  type AnyBlock,
  blocksOf,
  isCompaction,
  isResult,
  isUnchanged,
  listOf,
  sourceOf,
  withDocumentBlocks,
} from "./blocks.ts";
import type { AnthropicMessage } from "./messages.ts";

/** Only of the application's calls: `server_tool_use` and its like, and what answers them, have ids of the API's. */
export function renameCalls(
  message: AnthropicMessage,
  rename: (id: string, of?: CallPlace) => string,
): AnthropicMessage {
  return withBlocks(
    message,
    mapList(blocksOf(message), (block) => {
      if (block.type === "tool_use") return withMember(block, "id", rename(block.id as string, "call"));
      if (block.type !== "tool_result") return block;
      return withMember(block, "tool_use_id", rename(block.tool_use_id as string, "result"));
    }),
  );
}

/** Those of the application's calls; a result names the call alone. */
export function renameTools(message: AnthropicMessage, rename: (name: string) => string): AnthropicMessage {
  return withBlocks(
    message,
    mapList(blocksOf(message), (block) =>
      block.type === "tool_use" ? withMember(block, "name", rename(block.name as string)) : block,
    ),
  );
}

/** The API wants results before anything else of a message. */
export function joined(first: AnthropicMessage, second: AnthropicMessage): AnthropicMessage | undefined {
  if (first.role !== second.role || first.role === "system") return undefined;
  const blocks = [...contentBlocks(first), ...contentBlocks(second)];
  if (blocks.some(isCompaction)) return undefined;
  const members = joinedMembers(first, second, ["content"]);
  if (members === undefined) return undefined;
  const content = first.role === "user" ? withResultsFirst(blocks) : blocks;
  return { ...members, content } as unknown as AnthropicMessage;
}

export function resultsFirst(message: AnthropicMessage): AnthropicMessage {
  const blocks = contentBlocks(message);
  const isFirst = blocks.slice(0, blocks.findLastIndex(isResult) + 1).every(isResult);
  return message.role !== "user" || isFirst ? message : withBlocks(message, withResultsFirst(blocks));
}

function withResultsFirst(blocks: readonly AnyBlock[]): readonly AnyBlock[] {
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

function contentBlocks(message: AnthropicMessage): readonly AnyBlock[] {
  return typeof message.content === "string" ? [{ type: "text", text: message.content }] : blocksOf(message);
}

export function withErrorText(message: AnthropicMessage, text: string): AnthropicMessage {
  return withBlocks(
    message,
    mapList(blocksOf(message), (block) => {
      const isError = block.type === "tool_result" && block.is_error === true;
      const isEmpty = typeof block.content !== "string" && listOf(block.content).length === 0;
      return isError && (isEmpty || block.content === "") ? withMember(block, "content", text) : block;
    }),
  );
}

export function withoutEmptyText(
  message: AnthropicMessage,
  which: "empty" | "blank",
): AnthropicMessage | undefined {
  if (typeof message.content === "string") return isLeftOut(message.content, which) ? undefined : message;
  const blocks = blocksOf(message);
  const kept = blocks.flatMap((block) => withoutEmpty(block, which));
  if (isUnchanged(kept, blocks)) return message;
  return kept.length > 0 ? withBlocks(message, kept) : undefined;
}

function withoutEmpty(block: AnyBlock, which: "empty" | "blank"): readonly AnyBlock[] {
  if (block.type === "text") return isLeftOut(block.text, which) ? [] : [block];
  if (block.type !== "document") return [block];
  const { type, data, content } = sourceOf(block);
  const text =
    type === "text" ? data : type === "content" && typeof content === "string" ? content : undefined;
  if (text !== undefined && isLeftOut(text, which)) return [];
  return withDocumentBlocks(block, (inner) => withoutEmpty(inner, which));
}

/** The message with other blocks; a message without any stays as it is. */
export function withBlocks(message: AnthropicMessage, blocks: readonly AnyBlock[]): AnthropicMessage {
  return Array.isArray(message.content) ? withMember(message, "content", blocks) : message;
}
