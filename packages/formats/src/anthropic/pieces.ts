import type { Piece } from "@turnkeep/core";
import { asText } from "../as-text.ts";
import { base64Bytes, imageFacts } from "../media.ts";
import { type AnyBlock, blocksOf, isCall, isResult, listOf, sourceOf } from "./blocks.ts";
import type { AnthropicMessage } from "./messages.ts";

type Place = "content" | "tool-result";

/** Everything of a message that a model reads. Ids, cache breakpoints and citations are not shown to it. */
export function piecesOf(message: AnthropicMessage): readonly Piece[] {
  if (typeof message.content === "string") return [text(message.content, "content")];
  return blocksOf(message).flatMap((block) => blockPieces(block, "content"));
}

function blockPieces(block: AnyBlock, of: Place): readonly Piece[] {
  switch (block.type) {
    case "text":
      return [text(block.text, of)];
    case "thinking":
      // Where the thinking is not shown, the signature carries it.
      return [text(block.thinking === "" ? block.signature : block.thinking, "reasoning")];
    case "redacted_thinking":
      return [text(block.data, "reasoning")];
    case "image":
      return [imagePiece(block, of)];
    case "document":
      return documentPieces(block, of);
    case "search_result":
      return [...texts([block.title, block.source], of), ...nestedPieces(block.content, of)];
    case "container_upload":
      return [{ type: "media", mediaType: undefined, bytes: undefined, of }];
    case "compaction":
      return texts([block.content], of);
    case "web_fetch_tool_result":
      return fetchPieces(block);
    case "tool_result":
    case "mcp_tool_result":
      return nestedPieces(block.content, "tool-result");
    default:
      if (isCall(block)) return [text(block.name, "name"), text(block.input, "tool-call")];
      return isResult(block) ? [text(block.content, "tool-result")] : [text(block, of)];
  }
}

function nestedPieces(content: unknown, of: Place): readonly Piece[] {
  if (typeof content === "string") return [text(content, of)];
  return listOf(content).flatMap((block) => blockPieces(block, of));
}

function imagePiece(block: AnyBlock, of: Place): Piece {
  const source = sourceOf(block);
  if (typeof source.data !== "string") return { type: "media", ...imageFacts(asText(source.url)), of };
  const { data } = source;
  return { type: "media", mediaType: mediaTypeOf(source, "image/*"), bytes: base64Bytes(data), data, of };
}

function documentPieces(block: AnyBlock, of: Place): readonly Piece[] {
  const source = sourceOf(block);
  const about = texts([block.title, block.context], of);
  if (source.type === "text") return [...about, text(source.data, of)];
  if (source.type === "content") return [...about, ...nestedPieces(source.content, of)];
  const bytes = typeof source.data === "string" ? base64Bytes(source.data) : undefined;
  // A file may be of any type; a URL, and what the message carries, is a PDF.
  const mediaType = mediaTypeOf(source, source.type === "url" ? "application/pdf" : undefined);
  return [...about, { type: "media", mediaType, bytes, of }];
}

function fetchPieces(block: AnyBlock): readonly Piece[] {
  const result = block.content as { readonly content?: unknown; readonly url?: unknown } | null | undefined;
  const document = result?.content as AnyBlock | null | undefined;
  if (document?.type !== "document") return [text(result, "tool-result")];
  return [...texts([result?.url], "tool-result"), ...documentPieces(document, "tool-result")];
}

function mediaTypeOf(
  source: { readonly [member: string]: unknown },
  otherwise: string | undefined,
): string | undefined {
  return typeof source.media_type === "string" ? source.media_type : otherwise;
}

function text(value: unknown, of: Place | "reasoning" | "name" | "tool-call"): Piece {
  return { type: "text", text: asText(value), of };
}

/** Those that are there. */
function texts(values: readonly unknown[], of: Place): readonly Piece[] {
  return values.filter((value) => typeof value === "string" && value !== "").map((value) => text(value, of));
}
