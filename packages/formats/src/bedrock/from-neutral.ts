import { fromBase64, isObject } from "@turnkeep/core/format-kit";
import type { Losses } from "../conversion/losses.ts";
import { carriedBase64, carriedText, listedType } from "../conversion/media.ts";
import type {
  Medium,
  NeutralMessage,
  NeutralResult,
  OutputPart,
  SourcedPart,
} from "../conversion/neutral.ts";
import { inputObject, outputText, type SourcedResult } from "../conversion/outputs.ts";
import { type AnyBlock, formatOf, type MediaKind } from "./blocks.ts";
import { filenameOfDocument, nameOfDocument } from "./document-names.ts";
import type { BedrockMessage } from "./messages.ts";

/** See `Conversion.write`. */
export function writeMessages(messages: readonly NeutralMessage[], losses: Losses): BedrockMessage[] {
  return messages.flatMap(({ role, parts }) => {
    const blocks = parts.flatMap((sourced) => {
      const block = blockOf(sourced, role, losses);
      if (block === undefined) losses.part(sourced);
      return block === undefined ? [] : [block];
    });
    if (blocks.length === 0) return [];
    return [{ role: role === "tool" ? "user" : role, content: blocks } as object as BedrockMessage];
  });
}

function blockOf(sourced: SourcedPart, role: NeutralMessage["role"], losses: Losses): AnyBlock | undefined {
  const { part } = sourced;
  switch (part.type) {
    case "text":
      losses.options(sourced);
      return { text: part.text };
    case "media":
      // The API takes media from the user alone.
      return role === "user" ? mediaBlock(part.medium, sourced, losses) : undefined;
    case "reasoning":
      return reasoningBlock(sourced, losses);
    case "call":
      if (part.providerExecuted === true) return undefined;
      losses.options(sourced);
      return {
        toolUse: { toolUseId: part.id, name: part.name, input: inputObject(part, sourced, losses) },
      };
    case "result":
      if (role === "assistant") return undefined;
      losses.options(sourced);
      return { toolResult: resultOf(part, sourced, losses) };
    default:
      return undefined;
  }
}

/** The API takes back no reasoning without the signature that it gave. */
function reasoningBlock(sourced: SourcedPart, losses: Losses): AnyBlock | undefined {
  const { part } = sourced;
  if (part.type !== "reasoning") return undefined;
  const { signature, redactedData } = part.options?.bedrock ?? {};
  if (typeof signature === "string") {
    losses.options(sourced, ["bedrock.signature"]);
    return { reasoningContent: { reasoningText: { text: part.text, signature } } };
  }
  const redactedContent = part.text === "" ? bytesOf(redactedData) : undefined;
  if (redactedContent === undefined) return undefined;
  losses.options(sourced, ["bedrock.redactedData"]);
  return { reasoningContent: { redactedContent } };
}

function resultOf(part: NeutralResult, sourced: SourcedPart, losses: Losses): AnyBlock {
  const { value, failed } = part.output;
  const status = failed === undefined ? {} : { status: "error" };
  const write = (content: readonly AnyBlock[]): AnyBlock => ({ toolUseId: part.id, content, ...status });
  // The API takes an object as JSON, and anything else as text.
  if (value.type === "json" && isObject(value.json)) return write([{ json: value.json }]);
  if (value.type !== "content") return write([{ text: outputText(sourced as SourcedResult, losses) }]);
  return write(value.content.flatMap((nested) => nestedBlocks(nested, sourced, losses)));
}

function nestedBlocks(nested: OutputPart, sourced: SourcedPart, losses: Losses): AnyBlock[] {
  const at = { index: sourced.index, kind: `${sourced.kind}.${nested.type}`, part: nested };
  if (nested.type === "text") {
    losses.options(at);
    return [{ text: nested.text }];
  }
  const block = mediaBlock(nested.medium, at, losses);
  if (block === undefined) losses.part(at);
  return block === undefined ? [] : [block];
}

/** What the message carries, and what stands in S3: the API fetches nothing else. */
function mediaBlock(medium: Medium, sourced: SourcedPart, losses: Losses): AnyBlock | undefined {
  const mediaType = listedType(medium);
  const [kind, format] = (mediaType === undefined ? undefined : formatOf(mediaType)) ?? [];
  if (kind === undefined) return undefined;
  const source = sourceOf(medium, kind);
  if (source === undefined) return undefined;
  losses.options(sourced);
  if (kind !== "document") {
    losses.filename(sourced);
    return { [kind]: { format, source } };
  }
  const name = nameOfDocument(medium);
  if (filenameOfDocument(name, format) !== medium.filename) losses.filename(sourced);
  return { document: { format, name, source } };
}

function sourceOf(medium: Medium, kind: MediaKind): AnyBlock | undefined {
  if ("url" in medium) return /^s3:/i.test(medium.url) ? { s3Location: { uri: medium.url } } : undefined;
  if ("reference" in medium) return undefined;
  const text = kind === "document" ? carriedText(medium) : undefined;
  if (text !== undefined) return { text };
  const bytes = bytesOf(carriedBase64(medium));
  return bytes && { bytes };
}

function bytesOf(base64: unknown): Uint8Array | undefined {
  if (typeof base64 !== "string") return undefined;
  try {
    return fromBase64(base64);
  } catch {
    // No base64.
    return undefined;
  }
}
