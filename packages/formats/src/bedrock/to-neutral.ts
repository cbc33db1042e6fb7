import { isObject, toBase64 } from "@turnkeep/core/format-kit";
import type { Losses, Source } from "../conversion/losses.ts";
import { mediumOf, named, textMedium, typed } from "../conversion/media.ts";
import {
  type Medium,
  type NeutralMessage,
  type NeutralPart,
  type Output,
  type OutputPart,
  type SourcedPart,
  sourced,
} from "../conversion/neutral.ts";
import { jsonText, outputOf } from "../conversion/outputs.ts";
import { answersAndSaid } from "../conversion/said.ts";
import {
  type AnyBlock,
  blocksOf,
  isMediaKind,
  isServers,
  kindOfBlock,
  type MediaKind,
  mediaTypeOf,
} from "./blocks.ts";
import { filenameOfDocument } from "./document-names.ts";
import type { BedrockMessage } from "./messages.ts";

/** See `Conversion.read`. What a user says beside results stands in a message behind them. */
export function readMessages(messages: readonly BedrockMessage[], losses: Losses): NeutralMessage[] {
  return messages.flatMap((message, index): NeutralMessage[] => {
    const source = { index, losses };
    losses.members(index, "message", message, ["role", "content"]);
    const parts = blocksOf(message).flatMap((block) => readBlock(block, source));
    if (message.role === "user") return answersAndSaid(parts);
    return [{ role: message.role as "system" | "assistant", parts }];
  });
}

function readBlock(block: AnyBlock, source: Source): SourcedPart[] {
  const { index, losses } = source;
  const kind = kindOfBlock(block);
  const data = kind && block[kind];
  losses.members(index, kind ?? "block", block, kind ? [kind] : Object.keys(block));
  if (kind === "toolUse" || kind === "toolResult" || kind === "reasoningContent") {
    const part = readers[kind](data as AnyBlock, source);
    if (part !== undefined) return [sourced(source, kind, part)];
    if (kind === "toolUse") losses.call(index, kind, (data as AnyBlock).toolUseId as string);
    else losses.add(index, kind);
    return [];
  }
  const content = readContent(block, kind ?? "block", source);
  if (content === undefined) losses.add(index, kind ?? Object.keys(block)[0] ?? "block");
  return (content ?? []).map((part) => sourced(source, kind ?? "block", part));
}

const readers = { toolUse: readCall, toolResult: readResult, reasoningContent: readReasoning };

/** Calls that the API ran itself, and their results, mean nothing to another one. */
function readCall(toolUse: AnyBlock, { index, losses }: Source): NeutralPart | undefined {
  if (isServers(toolUse)) return undefined;
  losses.members(index, "toolUse", toolUse, ["toolUseId", "name", "input"]);
  return {
    type: "call",
    id: toolUse.toolUseId as string,
    name: toolUse.name as string,
    input: toolUse.input,
  };
}

function readResult(result: AnyBlock, source: Source): NeutralPart | undefined {
  if ((result.type ?? undefined) !== undefined) return undefined;
  source.losses.members(source.index, "toolResult", result, ["toolUseId", "content", "status"]);
  return { type: "result", id: result.toolUseId as string, output: readOutput(result, source) };
}

function readOutput({ content, status }: AnyBlock, source: Source): Output {
  const blocks = (Array.isArray(content) ? content : []) as AnyBlock[];
  const failed = status === "error" ? ("error" as const) : undefined;
  const [only] = blocks;
  if (blocks.length === 1 && only !== undefined && kindOfBlock(only) === "json") {
    source.losses.members(source.index, "toolResult.json", only, ["json"]);
    const value = { type: "json" as const, json: only.json };
    return failed ? { value, failed } : { value };
  }
  return outputOf(
    blocks.flatMap((block) => readNested(block, "toolResult", source)),
    failed,
  );
}

function readNested(block: AnyBlock, within: string, source: Source): readonly OutputPart[] {
  const own = kindOfBlock(block);
  const kind = `${within}.${own ?? "block"}`;
  source.losses.members(source.index, kind, block, own ? [own] : []);
  const parts = readContent(block, kind, source);
  if (parts === undefined) source.losses.add(source.index, kind);
  return parts ?? [];
}

function readReasoning(content: AnyBlock, { index, losses }: Source): NeutralPart | undefined {
  const { reasoningText, redactedContent } = content;
  losses.members(index, "reasoningContent", content, ["reasoningText", "redactedContent"]);
  if (isObject(reasoningText)) {
    losses.members(index, "reasoningContent.reasoningText", reasoningText, ["text", "signature"]);
    const { text, signature } = reasoningText;
    const options = typeof signature === "string" ? { options: { bedrock: { signature } } } : {};
    return typeof text === "string" ? { type: "reasoning", text, ...options } : undefined;
  }
  const redactedData = base64Of(redactedContent);
  return redactedData === undefined
    ? undefined
    : { type: "reasoning", text: "", options: { bedrock: { redactedData } } };
}

/** What a message or a result may hold; `undefined` for what is neither text nor medium. */
function readContent(block: AnyBlock, kind: string, source: Source): readonly OutputPart[] | undefined {
  const own = kindOfBlock(block);
  const data = own && block[own];
  if (own === "text") return [{ type: "text", text: data as string }];
  if (own === "json") {
    return [{ type: "text", text: jsonText(data, () => source.losses.add(source.index, kind)) }];
  }
  if (isMediaKind(own)) return readMedium(own, data as AnyBlock, kind, source);
  if (own === "searchResult" || own === "citationsContent") {
    const { content } = data as AnyBlock;
    source.losses.members(source.index, kind, data as AnyBlock, ["content"]);
    return (Array.isArray(content) ? (content as AnyBlock[]) : []).flatMap((nested) =>
      readNested(nested, kind, source),
    );
  }
  return own === "guardContent" ? readGuarded(data as AnyBlock, kind, source) : undefined;
}

function readGuarded(
  content: AnyBlock,
  kind: string,
  { index, losses }: Source,
): readonly OutputPart[] | undefined {
  const { text } = content;
  losses.members(index, kind, content, ["text", "image"]);
  if (isObject(text)) {
    losses.members(index, `${kind}.text`, text, ["text"]);
    // That a guardrail is to look at it is lost.
    losses.add(index, kind);
    return typeof text.text === "string" ? [{ type: "text", text: text.text }] : undefined;
  }
  return undefined;
}

/** A document of blocks arrives as its blocks. */
function readMedium(
  kind: MediaKind,
  block: AnyBlock,
  path: string,
  origin: Source,
): readonly OutputPart[] | undefined {
  const source = block.source as AnyBlock;
  origin.losses.members(origin.index, path, block, ["format", "source", "name"]);
  origin.losses.members(origin.index, `${path}.source`, source, ["bytes", "s3Location", "text", "content"]);
  if (kind === "document" && Array.isArray(source.content))
    return (source.content as AnyBlock[]).flatMap((nested) => readNested(nested, path, origin));
  const medium = mediumOfSource(source, mediaTypeOf(kind, block.format), path, origin);
  if (medium === undefined) return undefined;
  const filename = kind === "document" ? filenameOfDocument(block.name, block.format) : undefined;
  return [{ type: "media", medium: { ...medium, ...named(filename) } }];
}

function mediumOfSource(
  { bytes, s3Location, text }: AnyBlock,
  mediaType: string | undefined,
  path: string,
  { index, losses }: Source,
): Medium | undefined {
  if (typeof text === "string") return textMedium(text, mediaType);
  const base64 = base64Of(bytes);
  if (base64 !== undefined) return { base64, ...typed(mediaType) };
  if (!isObject(s3Location) || typeof s3Location.uri !== "string") return undefined;
  losses.members(index, `${path}.source.s3Location`, s3Location, ["uri"]);
  return mediumOf(s3Location.uri, mediaType);
}

/** On the wire, and in stored requests, bytes are base64. */
function base64Of(bytes: unknown): string | undefined {
  if (bytes instanceof Uint8Array) return toBase64(bytes);
  return typeof bytes === "string" ? bytes : undefined;
}
