import { isDirect } from "../conversion/caller.ts";
import type { Losses, Source } from "../conversion/losses.ts";
import { mediumOf, named, textMedium } from "../conversion/media.ts";
import {
  type Medium,
  type NeutralMessage,
  type NeutralPart,
  type OutputPart,
  type SourcedPart,
  sourced,
  type WithOptions,
} from "../conversion/neutral.ts";
import { outputOf } from "../conversion/outputs.ts";
import { answersAndSaid } from "../conversion/said.ts";
import { type AnyBlock, blocksOf, isCall, listOf, sourceOf } from "./blocks.ts";
import type { AnthropicMessage } from "./messages.ts";

/** See `Conversion.read`. What a user says beside results stands in a message behind them. */
export function readMessages(messages: readonly AnthropicMessage[], losses: Losses): NeutralMessage[] {
  return messages.flatMap((message, index): NeutralMessage[] => {
    const source = { index, losses };
    losses.members(index, "message", message, ["role", "content"]);
    const parts =
      typeof message.content === "string"
        ? [sourced(source, "text", { type: "text", text: message.content })]
        : blocksOf(message).flatMap((block) => readBlock(block, source));
    return message.role === "user" ? answersAndSaid(parts) : [{ role: message.role, parts }];
  });
}

function readBlock(block: AnyBlock, source: Source): SourcedPart[] {
  const { index, losses } = source;
  const { type } = block;
  const read = (part: NeutralPart, ...known: string[]): SourcedPart[] => {
    losses.members(index, type, block, ["type", "cache_control", ...known]);
    return [sourced(source, type, part)];
  };
  switch (type) {
    case "thinking": {
      const { thinking, signature } = block as { thinking?: unknown; signature?: unknown };
      const options = { anthropic: { signature } };
      return read({ type: "reasoning", text: thinking as string, options }, "thinking", "signature");
    }
    case "redacted_thinking":
      return read(
        { type: "reasoning", text: "", options: { anthropic: { redactedData: block.data } } },
        "data",
      );
    case "tool_use": {
      const { id, name, input } = block as { id?: unknown; name?: unknown; input?: unknown };
      const call = { type: "call" as const, id: id as string, name: name as string, input };
      return read(
        { ...call, ...cached(block) },
        "id",
        "name",
        "input",
        ...(isDirect(block.caller) ? ["caller"] : []),
      );
    }
    case "tool_result":
      return read(readResult(block, source), "tool_use_id", "content", "is_error");
    case "text":
    case "image":
    case "document":
    case "search_result": {
      const content = readContent(block, type, source);
      if (content === undefined) losses.add(index, type);
      return (content ?? []).map((part) => sourced(source, type, part));
    }
    default:
      // Calls that the API ran itself, and their results, mean nothing to another one.
      if (isCall(block)) losses.call(index, type, block.id as string);
      else losses.add(index, type);
      return [];
  }
}

function readResult(block: AnyBlock, source: Source): NeutralPart {
  const content =
    typeof block.content === "string"
      ? [{ type: "text" as const, text: block.content }]
      : readNested(block.content, "tool_result", source);
  const output = outputOf(content, block.is_error === true ? "error" : undefined);
  return { type: "result", id: block.tool_use_id as string, output, ...cached(block) };
}

function readNested(content: unknown, within: string, source: Source): OutputPart[] {
  return listOf(content).flatMap((nested) => {
    const kind = `${within}.${nested.type}`;
    const parts = readContent(nested, kind, source);
    if (parts === undefined) source.losses.add(source.index, kind);
    return parts ?? [];
  });
}

/** What a message or a result may hold; `undefined` for what is neither text nor medium. */
function readContent(block: AnyBlock, kind: string, source: Source): readonly OutputPart[] | undefined {
  const lose = (...known: string[]): void => {
    source.losses.members(source.index, kind, block, ["type", ...known]);
    if (known.includes("source")) {
      source.losses.members(source.index, `${kind}.source`, sourceOf(block), sourceMembers);
    }
  };
  switch (block.type) {
    case "text":
      lose("text", "cache_control");
      return [{ type: "text", text: block.text as string, ...cached(block) }];
    case "image": {
      const medium = mediumOfSource(sourceOf(block), "image/*");
      if (medium === undefined) return undefined;
      lose("source", "cache_control");
      return [{ type: "media", medium, ...cached(block) }];
    }
    case "document":
      return readDocument(block, kind, source, lose);
    case "search_result":
      lose("content");
      return readNested(block.content, kind, source);
    default:
      return undefined;
  }
}

/** A document of blocks arrives as its blocks. */
function readDocument(
  block: AnyBlock,
  kind: string,
  source: Source,
  lose: (...known: string[]) => void,
): readonly OutputPart[] | undefined {
  const from = sourceOf(block);
  if (from.type === "content") {
    if (typeof from.content === "string") {
      lose("source", "cache_control");
      return [{ type: "text", text: from.content, ...cached(block) }];
    }
    lose("source");
    return readNested(from.content, kind, source);
  }
  const medium = mediumOfSource(from, "application/pdf");
  if (medium === undefined) return undefined;
  lose("source", "title", "context", "cache_control");
  const about = { title: block.title, context: block.context };
  const { options } = cached(block);
  const anthropic = { ...options?.anthropic, ...given({ context: about.context }) };
  return [
    {
      type: "media",
      medium: { ...medium, ...named(about.title) },
      ...(Object.keys(anthropic).length > 0 ? { options: { anthropic } } : {}),
    },
  ];
}

const sourceMembers: readonly string[] = ["type", "media_type", "data", "url", "file_id", "content"];

function mediumOfSource(from: { readonly [member: string]: unknown }, otherwise: string): Medium | undefined {
  const { type, media_type: mediaType, data, url, file_id: id } = from;
  if (type === "text") return textMedium(data);
  if (type === "base64" && typeof data === "string")
    return { base64: data, mediaType: typeof mediaType === "string" ? mediaType : otherwise };
  if (type === "url" && typeof url === "string") return mediumOf(url, otherwise);
  const kept = otherwise === "image/*" ? { mediaType: otherwise } : {};
  return type === "file" && typeof id === "string" ? { reference: { anthropic: id }, ...kept } : undefined;
}

function cached(block: AnyBlock): WithOptions {
  const anthropic = given({ cacheControl: block.cache_control });
  return Object.keys(anthropic).length > 0 ? { options: { anthropic } } : {};
}

function given(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  );
}
