import type { Piece, ToolCallRef } from "@turnkeep/core";
import {
  asText,
  base64Bytes,
  type CallShape,
  type ResultShape,
  type Visit,
  type Visitor,
  withMember,
} from "@turnkeep/core/format-kit";
import { base64Facts, imageFacts } from "../media.ts";
import { type AnyBlock, isCall, isCompaction, isMedia, isResult, listOf, sourceOf } from "./blocks.ts";
import type { AnthropicMessage } from "./messages.ts";

type Of = "content" | "tool-result";

/** Everything of a message that a model reads. Ids, cache breakpoints and citations are not shown to it. */
export const visitMessage: Visit<AnthropicMessage> = (message, at) => {
  if (typeof message.content === "string") return at.textPart(message, "content", "content");
  // The beta API has system messages that only change the configuration of the output.
  if (message.content === undefined) return at.present(message);
  return at.list(message, "content", visitBlock, message.role);
};

function visitBlock(block: AnyBlock, at: Visitor, role: AnthropicMessage["role"]): AnyBlock | undefined {
  switch (block.type) {
    case "thinking":
    case "redacted_thinking":
      return visitThinking(block, at);
    case "compaction":
      if (isCompaction(block)) at.boundary(block);
      return visitTexts(at.present(block), ["content"], "content", at, "sealed");
    case "tool_result":
      return visitToolResult(block, at);
    default:
      if (isCall(block)) return visitCall(block, at, role);
      return isResult(block) ? visitProviderResult(block, at) : visitContent(block, at, "content");
  }
}

function visitThinking(block: AnyBlock, at: Visitor): AnyBlock | undefined {
  const thought = at.reasoning(block);
  if (thought === undefined) return undefined;
  if (block.type === "redacted_thinking") return at.text(thought, "data", "reasoning", "sealed");
  // Where the thinking is not shown, the signature carries it.
  return block.thinking === ""
    ? at.text(thought, "signature", "reasoning", "sealed")
    : at.text(thought, "thinking", "reasoning");
}

/** What a result must repeat of its call. */
export interface CallRef extends ToolCallRef {
  readonly toolsetName?: string;
}

const call: CallShape<AnyBlock> = {
  ref(block): CallRef {
    const ref = { id: block.id as string, name: asText(block.name) };
    if (block.type !== "tool_use") return { ...ref, providerExecuted: true };
    return typeof block.toolset_name === "string" ? { ...ref, toolsetName: block.toolset_name } : ref;
  },
  id: "id",
  name: "name",
};

/** Only an assistant message makes calls. */
function visitCall(block: AnyBlock, at: Visitor, role: AnthropicMessage["role"]): AnyBlock | undefined {
  const kept = role === "assistant" ? at.call(block, call) : at.present(block);
  if (kept === undefined) return undefined;
  at.name(block.name);
  return at.text(kept, "input", "tool-call", "json");
}

/** A result names the call alone, and not its tool. */
const result: ResultShape<AnyBlock> = {
  ref: (block) => ({ id: block.tool_use_id as string }),
  id: "tool_use_id",
  isProviders: (block) => block.type !== "tool_result",
};

function visitToolResult(block: AnyBlock, at: Visitor): AnyBlock | undefined {
  const kept = at.result(block, result);
  if (kept === undefined) return undefined;
  const told = at.told(kept, "content", block.is_error === true);
  const visited = visitNested(told, at, "tool-result");
  if (visited === told || listOf(visited.content).length > 0 || typeof visited.content === "string")
    return visited;
  // It stays an answer.
  const { content: _, ...rest } = visited;
  return rest as AnyBlock;
}

/** One of the provider's own must stay whole. */
function visitProviderResult(block: AnyBlock, at: Visitor): AnyBlock | undefined {
  const kept = at.result(block, result);
  if (kept === undefined) return undefined;
  if (block.type === "mcp_tool_result") return at.whole(kept, visitNested, "tool-result");
  return block.type === "web_fetch_tool_result"
    ? at.whole(kept, visitFetched, undefined)
    : at.text(kept, "content", "tool-result", "provider");
}

function visitFetched(block: AnyBlock, at: Visitor): AnyBlock {
  const fetched = block.content as AnyBlock;
  const document = fetched.content as AnyBlock | null | undefined;
  if (document?.type !== "document") return at.text(block, "content", "tool-result", "provider");
  const named = visitTexts(fetched, ["url"], "tool-result", at);
  return withMember(
    block,
    "content",
    withMember(named, "content", visitDocument(document, at, "tool-result")),
  );
}

/** What may stand in a message, in a result and in a document. */
function visitContent(block: AnyBlock, at: Visitor, of: Of): AnyBlock | undefined {
  switch (block.type) {
    case "text":
      return at.textPart(block, "text", of);
    case "image":
      return at.media(block, of, imagePiece, textBlock);
    case "container_upload":
      return at.media(block, of, filePiece, textBlock);
    case "document":
      return visitDocument(block, at, of);
    case "search_result":
      return at.whole(at.present(block), visitSearchResult, of);
    default:
      return at.unknown(block, of, textBlock);
  }
}

function textBlock(text: string): AnyBlock {
  return { type: "text", text };
}

function visitSearchResult(block: AnyBlock, at: Visitor, of: Of): AnyBlock {
  return visitNested(visitTexts(block, ["title", "source"], of, at), at, of);
}

/** Content that may be a text or a list of blocks. */
function visitNested(block: AnyBlock, at: Visitor, of: Of): AnyBlock {
  if (typeof block.content === "string") return at.text(block, "content", of);
  return Array.isArray(block.content) ? at.list(block, "content", visitContent, of) : block;
}

/** A document goes with what it holds: its file, its text, or the last of its blocks. */
function visitDocument(document: AnyBlock, at: Visitor, of: Of): AnyBlock | undefined {
  const about = visitTexts(at.present(document), ["title", "context"], of, at);
  if (isMedia(document)) return at.media(about, of, filePiece, textBlock);
  const source = sourceOf(document) as AnyBlock;
  const member = source.type === "text" ? "data" : "content";
  const visited = Array.isArray(source[member])
    ? at.list(source, member, visitContent, of)
    : at.textPart(source, member, of);
  const isLeft = visited === source || (visited !== undefined && !isEmptyList(visited[member]));
  return isLeft ? withMember(about, "source", visited) : undefined;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Of those members that are there. */
function visitTexts(
  block: AnyBlock,
  members: readonly string[],
  of: Of,
  at: Visitor,
  kind?: "sealed",
): AnyBlock {
  return members
    .filter((member) => typeof block[member] === "string" && block[member] !== "")
    .reduce((copy, member) => at.text(copy, member, of, kind), block);
}

function imagePiece(block: AnyBlock, of: Of): Piece {
  const source = sourceOf(block);
  if (typeof source.data !== "string") return { type: "media", ...imageFacts(asText(source.url)), of };
  const { data } = source;
  return { type: "media", mediaType: mediaTypeOf(source) ?? "image/*", bytes: base64Bytes(data), data, of };
}

/** A file may be of any type; a document at a URL is a PDF. */
function filePiece(block: AnyBlock, of: Of): Piece {
  const source = sourceOf(block);
  const facts = typeof source.data === "string" ? base64Facts(source.data) : { bytes: undefined };
  const mediaType = mediaTypeOf(source) ?? (source.type === "url" ? "application/pdf" : undefined);
  return { type: "media", ...facts, mediaType, of };
}

function mediaTypeOf(source: AnyBlock | ReturnType<typeof sourceOf>): string | undefined {
  return typeof source.media_type === "string" ? source.media_type : undefined;
}
