import {
  type Change,
  mapList,
  mapMember,
  mapProviderValue,
  mapUnknownPart,
  mapValue,
  withMember,
} from "../reshape.ts";
import { type AnyBlock, blocksOf, isCall, isMedia, isResult, listOf, sourceOf } from "./blocks.ts";
import type { AnthropicMessage } from "./messages.ts";
import { withBlocks } from "./reshape.ts";

type Place = "content" | "tool-result";

export function mapText(message: AnthropicMessage, change: Change): AnthropicMessage {
  if (typeof message.content === "string") return mapMember(message, "content", "content", change);
  return withBlocks(
    message,
    mapList(blocksOf(message), (block) => mapBlock(block, "content", change)),
  );
}

function mapBlock(block: AnyBlock, of: Place, change: Change): AnyBlock {
  switch (block.type) {
    case "text":
      return mapMember(block, "text", of, change);
    case "thinking":
      // Where the thinking is not shown, there is only its signature.
      return block.thinking === "" ? block : mapMember(block, "thinking", "reasoning", change);
    case "redacted_thinking":
    case "compaction":
    case "container_upload":
    case "image":
      return block;
    case "document":
      return mapDocument(block, of, change);
    case "search_result":
      return mapNested(mapTexts(block, ["title", "source"], of, change), of, change);
    case "web_fetch_tool_result":
      return mapFetched(block, change);
    case "tool_result":
    case "mcp_tool_result":
      return mapNested(block, "tool-result", change);
    default:
      if (isCall(block)) return withMember(block, "input", mapValue(block.input, "tool-call", change, true));
      if (isResult(block)) return mapProviderResult(block, change);
      return mapUnknownPart(block, of, change, (text) => ({ type: "text", text }));
  }
}

function mapNested(block: AnyBlock, of: Place, change: Change): AnyBlock {
  if (typeof block.content === "string") return mapMember(block, "content", of, change);
  if (!Array.isArray(block.content)) return block;
  const content = mapList(listOf(block.content), (nested) => mapBlock(nested, of, change));
  return withMember(block, "content", content);
}

function mapDocument(block: AnyBlock, of: Place, change: Change): AnyBlock {
  const about = mapTexts(block, ["title", "context"], of, change);
  if (isMedia(block)) return about;
  const source = sourceOf(block) as AnyBlock;
  const changed =
    source.type === "text" ? mapMember(source, "data", of, change) : mapNested(source, of, change);
  return withMember(about, "source", changed);
}

function mapFetched(block: AnyBlock, change: Change): AnyBlock {
  const result = block.content as AnyBlock;
  const document = result.content as AnyBlock | null | undefined;
  if (document?.type !== "document") return mapProviderResult(block, change);
  const fetched = mapTexts(result, ["url"], "tool-result", change);
  const content = mapDocument(document, "tool-result", change);
  return withMember(block, "content", withMember(fetched, "content", content));
}

function mapProviderResult(block: AnyBlock, change: Change): AnyBlock {
  return withMember(block, "content", mapProviderValue(block.content, change));
}

/** Of those that are there. */
function mapTexts(block: AnyBlock, members: readonly string[], of: Place, change: Change): AnyBlock {
  return members
    .filter((member) => typeof block[member] === "string" && block[member] !== "")
    .reduce((copy, member) => mapMember(copy, member, of, change), block);
}
