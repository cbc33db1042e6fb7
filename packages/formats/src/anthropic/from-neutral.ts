import { isObject } from "@turnkeep/core/format-kit";
import type { Losses } from "../conversion/losses.ts";
import { carriedBase64, carriedText, listedType, topType } from "../conversion/media.ts";
import type {
  NeutralMessage,
  NeutralResult,
  OutputPart,
  SourcedPart,
  WithOptions,
} from "../conversion/neutral.ts";
import { outputParts, type SourcedResult } from "../conversion/outputs.ts";
import type { AnthropicBlock, AnthropicMessage, AnthropicToolResultBlock } from "./messages.ts";

/** See `Conversion.write`. */
export function writeMessages(messages: readonly NeutralMessage[], losses: Losses): AnthropicMessage[] {
  return messages.flatMap(({ role, parts }) => {
    const blocks = parts.flatMap((sourced) => writePart(sourced, role, losses));
    const [first] = blocks;
    if (first === undefined) return [];
    const isPlain = blocks.length === 1 && first.type === "text" && first.cache_control === undefined;
    const content = isPlain ? first.text : blocks;
    return [{ role: role === "tool" ? "user" : role, content } as AnthropicMessage];
  });
}

function writePart(sourced: SourcedPart, role: NeutralMessage["role"], losses: Losses): AnthropicBlock[] {
  const block = blockOf(sourced, role, losses);
  if (block === undefined) losses.part(sourced);
  return block === undefined ? [] : [block];
}

function blockOf(
  sourced: SourcedPart,
  role: NeutralMessage["role"],
  losses: Losses,
): AnthropicBlock | undefined {
  const { part, index, kind } = sourced;
  switch (part.type) {
    case "text":
      losses.options(sourced, ["anthropic.cacheControl"]);
      return { type: "text", text: part.text, ...cacheOf(part) };
    case "media": {
      // The API takes images and documents from the user alone.
      const block = role === "user" ? mediaBlock(part) : undefined;
      if (block !== undefined) loseFrom(sourced, block, losses);
      return block;
    }
    case "reasoning":
      return thinkingBlock(sourced, losses);
    case "call": {
      if (part.providerExecuted === true) return undefined;
      losses.options(sourced, ["anthropic.cacheControl"]);
      const isInput = isObject(part.input);
      // The API refuses an input that is no object.
      if (!isInput) losses.add(index, `${kind}.input`);
      const input = isInput ? part.input : { input: part.input };
      return { type: "tool_use", id: part.id, name: part.name, input, ...cacheOf(part) };
    }
    case "result":
      if (role === "assistant") return undefined;
      losses.options(sourced, ["anthropic.cacheControl"]);
      return resultBlock(part, sourced, losses);
    default:
      return undefined;
  }
}

/** What a text or a medium has no place for here: of images, only documents have a title. */
function loseFrom(sourced: SourcedPart, { type }: AnthropicBlock, losses: Losses): void {
  const isDocument = type === "document";
  losses.options(sourced, ["anthropic.cacheControl", ...(isDocument ? ["anthropic.context"] : [])]);
  if (!isDocument) losses.filename(sourced);
}

/** The API takes back no thinking without the signature that it gave. */
function thinkingBlock(sourced: SourcedPart, losses: Losses): AnthropicBlock | undefined {
  const { part } = sourced;
  if (part.type !== "reasoning") return undefined;
  const { signature, redactedData } = part.options?.anthropic ?? {};
  if (typeof signature === "string") {
    losses.options(sourced, ["anthropic.signature"]);
    return { type: "thinking", thinking: part.text, signature };
  }
  if (typeof redactedData !== "string" || part.text !== "") return undefined;
  losses.options(sourced, ["anthropic.redactedData"]);
  return { type: "redacted_thinking", data: redactedData };
}

function resultBlock(part: NeutralResult, sourced: SourcedPart, losses: Losses): AnthropicToolResultBlock {
  const { output } = part;
  const result = { type: "tool_result" as const, tool_use_id: part.id };
  const failed = output.failed === undefined ? {} : { is_error: true };
  if (output.value.type !== "content") {
    const [only] = outputParts(sourced as SourcedResult, losses);
    return { ...result, content: only?.type === "text" ? only.text : "", ...failed, ...cacheOf(part) };
  }
  const content = output.value.content.flatMap((nested) => {
    const block = nestedBlock(nested);
    const at = { index: sourced.index, kind: `${sourced.kind}.${nested.type}`, part: nested };
    if (block === undefined) losses.part(at);
    else loseFrom(at, block, losses);
    return block === undefined ? [] : [block];
  });
  return { ...result, content, ...failed, ...cacheOf(part) } as AnthropicToolResultBlock;
}

function nestedBlock(nested: OutputPart): AnthropicBlock | undefined {
  if (nested.type === "media") return mediaBlock(nested);
  return { type: "text", text: nested.text, ...cacheOf(nested) };
}

const imageTypes: readonly (string | undefined)[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

function mediaBlock(part: Extract<OutputPart, { type: "media" }>): AnthropicBlock | undefined {
  const { medium } = part;
  const isImage = topType(medium) === "image";
  const source = isImage ? imageSource(part) : documentSource(part);
  if (source === undefined) return undefined;
  if (isImage) return { type: "image", source, ...cacheOf(part) } as AnthropicBlock;
  const context = part.options?.anthropic?.context;
  return {
    type: "document",
    source,
    ...(medium.filename === undefined ? {} : { title: medium.filename }),
    ...(typeof context === "string" ? { context } : {}),
    ...cacheOf(part),
  } as AnthropicBlock;
}

function imageSource({ medium }: Extract<OutputPart, { type: "media" }>): object | undefined {
  if ("reference" in medium) return fileSource(medium.reference);
  if ("url" in medium) return isWeb(medium.url) ? { type: "url", url: medium.url } : undefined;
  const [mediaType, data] = [listedType(medium), carriedBase64(medium)];
  return imageTypes.includes(mediaType) ? { type: "base64", media_type: mediaType, data } : undefined;
}

function documentSource({ medium }: Extract<OutputPart, { type: "media" }>): object | undefined {
  if ("reference" in medium) return fileSource(medium.reference);
  const isPdf = listedType(medium) === "application/pdf";
  if ("url" in medium) return isPdf && isWeb(medium.url) ? { type: "url", url: medium.url } : undefined;
  const text = carriedText(medium);
  if (text !== undefined) return { type: "text", media_type: "text/plain", data: text };
  return isPdf ? { type: "base64", media_type: "application/pdf", data: carriedBase64(medium) } : undefined;
}

function fileSource({ anthropic }: Readonly<Record<string, string>>): object | undefined {
  return anthropic === undefined ? undefined : { type: "file", file_id: anthropic };
}

function isWeb(url: string): boolean {
  return /^https?:/i.test(url);
}

function cacheOf({ options }: WithOptions): { cache_control?: never } {
  const control = options?.anthropic?.cacheControl;
  return isObject(control) ? { cache_control: control as never } : {};
}
