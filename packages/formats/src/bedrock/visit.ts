import type { Piece } from "@turnkeep/core";
import {
  type CallShape,
  isObject,
  type ResultShape,
  toBase64,
  type Visit,
  type Visitor,
  type VisitPart,
  withMember,
} from "@turnkeep/core/format-kit";
import { carriedFacts } from "../media.ts";
import { visitUnknownPart } from "../unknown-part.ts";
import {
  type AnyBlock,
  type BlockKind,
  isServers,
  kindOfBlock,
  type MediaKind,
  mediaTypeOf,
} from "./blocks.ts";
import type { BedrockMessage } from "./messages.ts";

type Of = "content" | "tool-result";

/** Everything of a message that a model reads. Ids, signatures, cache points and citations are not shown to it. */
export const visitMessage: Visit<BedrockMessage> = (message, at) =>
  message.content === undefined || message.content.length === 0
    ? at.unsent(message)
    : at.list(message, "content", visitBlock, "content");

const visitBlock: VisitPart<AnyBlock, Of> = (block, at, of) => {
  const kind = kindOfBlock(block);
  return kind === undefined ? visitUnknownPart(block, of, [], at) : visits[kind](block, at, of);
};

type VisitKind = (block: AnyBlock, at: Visitor, of: Of) => AnyBlock | undefined;

const visits: Readonly<Record<BlockKind, VisitKind>> = {
  text: (block, at, of) => at.textPart(block, "text", of),
  json: visitJson,
  image: (block, at, of) => at.media(block, of, mediaPiece),
  video: (block, at, of) => at.media(block, of, mediaPiece),
  audio: (block, at, of) => at.media(block, of, mediaPiece),
  document: visitDocument,
  toolUse: visitCall,
  toolResult: visitResult,
  guardContent: visitGuarded,
  cachePoint: (block) => block,
  reasoningContent: visitReasoning,
  citationsContent: (block, at, of) => visitTexts(block, "citationsContent", [], at, of),
  searchResult: (block, at, of) => visitTexts(block, "searchResult", ["title", "source"], at, of),
};

/** JSON of which a text was made is a text. */
function visitJson(block: AnyBlock, at: Visitor, of: Of): AnyBlock {
  const visited = at.text(block, "json", of);
  if (visited === block || typeof visited.json !== "string" || typeof block.json === "string") return visited;
  const { json: text, ...others } = visited;
  return { ...others, text };
}

const call: CallShape<AnyBlock> = {
  ref: ({ toolUseId, name }) => ({ id: toolUseId as string, name: name as string }),
  id: "toolUseId",
  name: "name",
};

function visitCall(block: AnyBlock, at: Visitor): AnyBlock | undefined {
  const toolUse = block.toolUse as AnyBlock;
  const kept = isServers(toolUse) ? at.present(toolUse) : at.call(toolUse, call);
  if (kept === undefined) return undefined;
  at.name(toolUse.name);
  return withMember(block, "toolUse", at.text(kept, "input", "tool-call", "json"));
}

/** A result names the call alone, and not its tool. What the API found itself says of what type it is. */
const result: ResultShape<AnyBlock> = {
  ref: ({ toolUseId }) => ({ id: toolUseId as string }),
  id: "toolUseId",
  isProviders: () => false,
};

function visitResult(block: AnyBlock, at: Visitor): AnyBlock | undefined {
  const toolResult = block.toolResult as AnyBlock;
  const isOwn = (toolResult.type ?? undefined) !== undefined;
  const kept = isOwn ? at.present(toolResult) : at.result(toolResult, result);
  if (kept === undefined) return undefined;
  const told = isOwn ? kept : withBlocks(at.told(kept, "content", kept.status === "error"));
  const visited = Array.isArray(told.content) ? at.list(told, "content", visitBlock, "tool-result") : told;
  return withMember(block, "toolResult", visited);
}

/** A result holds blocks, also where it is given a text. */
function withBlocks(toolResult: AnyBlock): AnyBlock {
  const { content } = toolResult;
  return typeof content === "string" ? { ...toolResult, content: [{ text: content }] } : toolResult;
}

function visitReasoning(block: AnyBlock, at: Visitor): AnyBlock | undefined {
  const thought = at.reasoning(block);
  if (thought === undefined) return undefined;
  const content = thought.reasoningContent as AnyBlock;
  const { reasoningText, redactedContent } = content;
  if (isObject(reasoningText)) {
    // Where the reasoning is not shown, the signature carries it.
    const visited =
      reasoningText.text === "" && typeof reasoningText.signature === "string"
        ? at.text(reasoningText, "signature", "reasoning", "sealed")
        : at.text(reasoningText, "text", "reasoning");
    return withMember(thought, "reasoningContent", withMember(content, "reasoningText", visited));
  }
  const redacted = redactedContent instanceof Uint8Array ? toBase64(redactedContent) : redactedContent;
  at.text({ redacted }, "redacted", "reasoning", "sealed");
  return thought;
}

function visitGuarded(block: AnyBlock, at: Visitor, of: Of): AnyBlock | undefined {
  const content = block.guardContent as AnyBlock;
  if (isObject(content.text)) {
    const text = at.textPart(content.text, "text", of);
    return text && withMember(block, "guardContent", withMember(content, "text", text));
  }
  const kept = isObject(content.image) ? at.media(content, of, mediaPiece) : at.present(content);
  return kept && withMember(block, "guardContent", kept);
}

/** A block of texts goes back with all it holds. */
function visitTexts(
  block: AnyBlock,
  kind: "citationsContent" | "searchResult",
  about: readonly string[],
  at: Visitor,
  of: Of,
): AnyBlock | undefined {
  return at.whole(
    at.present(block),
    (whole, visitor) => {
      const named = about.reduce(
        (copy, name) => (typeof copy[name] === "string" ? visitor.text(copy, name, of) : copy),
        whole[kind] as AnyBlock,
      );
      const visited = Array.isArray(named.content) ? visitor.list(named, "content", visitBlock, of) : named;
      return withMember(whole, kind, visited);
    },
    undefined,
  );
}

/** A document goes with what it holds: its file, its text, or the last of its blocks. The API takes few signs in a name. */
function visitDocument(block: AnyBlock, at: Visitor, of: Of): AnyBlock | undefined {
  const document = block.document as AnyBlock;
  at.name(document.name);
  const named = at.fileName(document, "name");
  const about =
    typeof named.context === "string" && named.context !== "" ? at.text(named, "context", of) : named;
  const visited = withMember(block, "document", about);
  const source = document.source as AnyBlock;
  if (typeof source.text === "string") {
    const text = at.textPart(source, "text", of);
    return text && withMember(visited, "document", withMember(about, "source", text));
  }
  if (!Array.isArray(source.content)) return at.media(visited, of, mediaPiece);
  const blocks = at.list(source, "content", visitBlock, of);
  if (blocks !== source && (blocks.content as readonly unknown[]).length === 0) return undefined;
  return withMember(visited, "document", withMember(about, "source", blocks));
}

function mediaPiece(block: AnyBlock, of: Of): Piece {
  const kind = kindOfBlock(block) as MediaKind;
  const { format, source } = block[kind] as { readonly format?: unknown; readonly source?: AnyBlock };
  // On the wire, and in stored requests, bytes are base64.
  return { type: "media", ...carriedFacts(source?.bytes), mediaType: mediaTypeOf(kind, format), of };
}
