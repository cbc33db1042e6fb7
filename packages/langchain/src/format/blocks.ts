import type { Piece } from "@turnkeep/core";
import {
  asText,
  base64Bytes,
  type CallShape,
  isObject,
  type ResultShape,
  type Visitor,
} from "@turnkeep/core/format-kit";
import type { Block } from "./dict.ts";

/** Where a block stands. `calling`: in an answer whose calls stand in `tool_calls` too. */
export type Place = "content" | "calling" | "tool-result";

/** Blocks that show a call of `tool_calls` once more. */
const echoTypes: ReadonlySet<string> = new Set(["function_call", "tool_call", "tool_use"]);

export function isEcho(block: Block): boolean {
  return echoTypes.has(block.type);
}

/** What a model thought, by the type of the block: where it stands, and whether only the provider can read it. */
const thoughts: ReadonlyMap<string, readonly [member: string, kind: "json" | "sealed"]> = new Map([
  ["reasoning", ["reasoning", "json"]],
  ["reasoning_content", ["reasoningText", "json"]],
  ["redacted_thinking", ["data", "sealed"]],
  ["thinking", ["thinking", "json"]],
]);

const mediaTypes: ReadonlyMap<string, string | undefined> = new Map([
  ["audio", "audio/*"],
  ["container_upload", undefined],
  ["document", undefined],
  ["file", undefined],
  ["image", "image/*"],
  ["image_url", "image/*"],
  ["input_audio", "audio/*"],
  ["media", undefined],
  ["text-plain", "text/plain"],
  ["video", "video/*"],
]);

const asTextBlock = (text: string): Block => ({ type: "text", text });

export function visitBlock(block: Block, at: Visitor, place: Place): Block | undefined {
  if (place === "calling" && isEcho(block)) return block;
  const of = place === "tool-result" ? place : "content";
  const thought = thoughts.get(block.type);
  if (thought !== undefined) return visitThought(block, at, thought);
  if (isProvidersCall(block)) return visitProvidersCall(block, at);
  if (isProvidersResult(block)) return visitProvidersResult(block, at);
  if (block.type === "refusal") return at.textPart(block, "refusal", of);
  // A result stays one, whatever is left of it.
  if (block.type === "text")
    return of === "content" ? at.textPart(block, "text", of) : at.text(block, "text", of);
  if (!mediaTypes.has(block.type)) return at.unknown(block, of, asTextBlock);
  const named = at.fileName(block, "filename");
  return typeof block.text === "string" ? at.textPart(named, "text", of) : at.media(named, of, mediaPiece);
}

function visitThought(
  block: Block,
  at: Visitor,
  [member, kind]: readonly [string, "json" | "sealed"],
): Block | undefined {
  const thought = at.reasoning(block);
  // OpenAI's items have their summary instead.
  const told = block[member] === undefined && block.summary !== undefined ? "summary" : member;
  return thought && at.text(thought, told, "reasoning", kind);
}

function isProvidersCall({ type, id }: Block): boolean {
  return /^(?:server_tool_call|server_tool_use|mcp_tool_use)$/.test(type) && typeof id === "string";
}

function isProvidersResult(block: Block): boolean {
  return /^(?:server_tool_call_result|.+_tool_result)$/.test(block.type) && idMember(block) !== undefined;
}

function idMember(block: Block): "toolCallId" | "tool_use_id" | undefined {
  return (["toolCallId", "tool_use_id"] as const).find((member) => typeof block[member] === "string");
}

const providersCall: CallShape<Block> = {
  ref: ({ id, name }) => ({ id: id as string, name: asText(name), providerExecuted: true }),
};

function visitProvidersCall(block: Block, at: Visitor): Block | undefined {
  const kept = at.call(block, providersCall);
  if (kept === undefined) return undefined;
  at.name(block.name);
  return at.text(kept, "args" in block ? "args" : "input", "tool-call", "json");
}

const providersResult: ResultShape<Block> = {
  ref: (block) => ({ id: asText(block[idMember(block) as string]) }),
  isProviders: () => true,
};

function visitProvidersResult(block: Block, at: Visitor): Block | undefined {
  const kept = at.result(block, providersResult);
  return kept && at.text(kept, "output" in block ? "output" : "content", "tool-result", "provider");
}

/** Where a provider's block keeps its medium; LangChain's own blocks keep it beside their type. */
const holders = ["source", "file", "input_audio", "image_url", "image"];

function mediaPiece(block: Block, of: "content" | "tool-result"): Piece {
  const holder = holders.map((name) => block[name]).find((value) => value !== undefined) ?? block;
  const held = isObject(holder) ? holder : { url: holder };
  const { data = held.file_data ?? held.url ?? held.bytes, detail } = held;
  const dataUrl = typeof data === "string" ? /^data:([^;,]*)[^,]*;base64,(.*)$/is.exec(data) : null;
  const [, urlType, encoded] = dataUrl ?? [];
  const isUrl = encoded === undefined && data === held.url;
  const mediaType = urlType ?? mediaTypeOf(block) ?? mediaTypeOf(held) ?? mediaTypes.get(block.type);
  const known = isUrl ? { bytes: undefined } : bytesOf(encoded ?? data);
  return {
    type: "media",
    mediaType,
    ...known,
    ...(typeof detail === "string" ? { detail } : {}),
    of,
  };
}

function mediaTypeOf({ mimeType, mime_type = mimeType, media_type = mime_type }: Record<string, unknown>) {
  return typeof media_type === "string" && media_type !== "" ? media_type : undefined;
}

function bytesOf(data: unknown): { bytes: number | undefined; data?: string | Uint8Array } {
  if (data instanceof Uint8Array) return { bytes: data.byteLength, data };
  if (typeof data !== "string") return { bytes: undefined };
  return { bytes: base64Bytes(data), data };
}
