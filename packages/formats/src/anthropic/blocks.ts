import type { AnthropicMessage } from "./messages.ts";

/** A block of any type, known or not; its members are what the application gave. */
export interface AnyBlock {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The blocks of a message; none where its content is a text. */
export function blocksOf(message: AnthropicMessage): readonly AnyBlock[] {
  return listOf(message.content);
}

/** The blocks of a member that may hold a list of them. */
export function listOf(content: unknown): readonly AnyBlock[] {
  return Array.isArray(content) ? (content as readonly AnyBlock[]) : [];
}

/**
 * `tool_use`, and calls that the API runs: `server_tool_use`, `mcp_tool_use` and whatever kind it may add. Only an
 * assistant message makes calls.
 */
export function isCall(block: AnyBlock): boolean {
  return block.type.endsWith("tool_use");
}

/** `tool_result`, and results of calls that the API ran: `web_search_tool_result`, `mcp_tool_result` and others. */
export function isResult(block: AnyBlock): boolean {
  return block.type.endsWith("tool_result");
}

/** The API's own summary of what stands before it. One without content tells that compacting failed. */
export function isCompaction(block: AnyBlock): boolean {
  return block.type === "compaction" && typeof block.content === "string";
}

/** Whether a block is an image or a file as a whole. A document of text, or of blocks, is none. */
export function isMedia(block: AnyBlock): boolean {
  if (block.type === "image" || block.type === "container_upload") return true;
  if (block.type !== "document") return false;
  const { type } = sourceOf(block);
  return type !== "text" && type !== "content";
}

/** The source of an image or a document. */
export function sourceOf(block: AnyBlock): { readonly type?: unknown; readonly [member: string]: unknown } {
  const { source } = block;
  return typeof source === "object" && source !== null ? (source as { readonly type?: unknown }) : {};
}
