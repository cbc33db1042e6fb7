import { asText, isObject } from "@turnkeep/core/format-kit";
import type { Losses, Source } from "../conversion/losses.ts";
import { mediumOf, named, withFilename } from "../conversion/media.ts";
import {
  type Medium,
  type NeutralMessage,
  type NeutralPart,
  type OutputPart,
  type SourcedPart,
  sourced,
} from "../conversion/neutral.ts";
import { inputOf, outputOf } from "../conversion/outputs.ts";
import type { ChatMessage } from "./messages.ts";
import { type AnyChatPart, type AnyToolCall, callName, callsOf, legacyId, partsOf } from "./parts.ts";

/** See `Conversion.read`. */
export function readMessages(messages: readonly ChatMessage[], losses: Losses): NeutralMessage[] {
  const legacyIds = new Map<string, string>();
  return messages.map((message, index) => readMessage(message, { index, losses }, legacyIds));
}

/** `legacyIds`: the ids that stand for the calls that have none, by the name that pairs them with their results. */
function readMessage(message: ChatMessage, source: Source, legacyIds: Map<string, string>): NeutralMessage {
  const lose = (...known: string[]): void =>
    source.losses.members(source.index, "message", message, ["role", "content", ...known]);
  switch (message.role) {
    case "system":
    case "developer":
      lose();
      return { role: "system", parts: contentOf(message, source) };
    case "user":
      lose();
      return { role: "user", parts: contentOf(message, source) };
    case "assistant": {
      const legacy = message.function_call;
      if (legacy) legacyIds.set(legacy.name, legacyCallId(source));
      return { role: "assistant", parts: assistantParts(message, source) };
    }
    case "tool":
      lose("tool_call_id");
      return { role: "tool", parts: resultParts(message, source, { id: message.tool_call_id }) };
    case "function": {
      lose("name");
      const { name } = message;
      return {
        role: "tool",
        parts: resultParts(message, source, { id: legacyIds.get(name) ?? legacyId(name), name }),
      };
    }
  }
}

function legacyCallId({ index }: Source): string {
  return `function_call_${index}`;
}

function contentOf(message: ChatMessage, source: Source): SourcedPart[] {
  if (typeof message.content === "string")
    return [sourced(source, "text", { type: "text", text: message.content })];
  return (partsOf(message) ?? []).flatMap((part) => readPart(part, source));
}

function assistantParts(message: Extract<ChatMessage, { role: "assistant" }>, source: Source): SourcedPart[] {
  const legacy = message.function_call;
  if (legacy) source.losses.members(source.index, "function_call", legacy, ["name", "arguments"]);
  const legacyCall = legacy && {
    type: "call" as const,
    id: legacyCallId(source),
    name: legacy.name,
    input: inputOf(asText(legacy.arguments ?? "")),
  };
  return [
    ...thoughtOf(message, source),
    ...contentOf(message, source),
    ...callsOf(message).flatMap((call) => readCall(call, source)),
    ...(legacyCall ? [sourced(source, "function_call", legacyCall)] : []),
  ];
}

/** What the assistant thought, and what it holds beside its content and its calls. */
function thoughtOf(message: object, source: Source): SourcedPart[] {
  const { reasoning_content: content, reasoning } = message as Record<string, unknown>;
  // Some servers give the same text under both names.
  const [kind, thought] = content ? ["reasoning_content", content] : ["reasoning", reasoning];
  const isText = typeof thought === "string" && thought !== "";
  const known = ["role", "content", "tool_calls", "function_call", ...(isText ? [kind] : [])];
  if (isText && reasoning === thought) known.push("reasoning");
  for (const [name, value] of Object.entries(message)) {
    if (known.includes(name) || value === undefined || value === null || value === "") continue;
    const isPart = ["refusal", "audio", "reasoning_content", "reasoning", "reasoning_details"].includes(name);
    source.losses.add(source.index, isPart ? name : `message.${name}`);
  }
  return isText ? [sourced(source, kind as string, { type: "reasoning", text: thought as string })] : [];
}

function resultParts(
  message: ChatMessage,
  source: Source,
  result: { readonly id: string; readonly name?: string },
): SourcedPart[] {
  const content = contentOf(message, source).flatMap(({ part }): OutputPart[] =>
    part.type === "text" || part.type === "media" ? [part] : [],
  );
  return [sourced(source, message.role, { type: "result", ...result, output: outputOf(content) })];
}

function readCall(call: AnyToolCall, source: Source): SourcedPart[] {
  const { index, losses } = source;
  const kind = call.function ? "function" : "custom";
  const text = call.function?.arguments ?? call.custom?.input;
  if (typeof text !== "string") {
    losses.call(index, call.type ?? kind, call.id);
    return [];
  }
  losses.members(index, kind, call, ["type", "id", kind]);
  losses.members(index, kind, call[kind] ?? {}, ["name", "arguments", "input"]);
  const input = kind === "custom" ? text : inputOf(text);
  return [sourced(source, kind, { type: "call", id: call.id, name: callName(call), input })];
}

function readPart(part: AnyChatPart, source: Source): SourcedPart[] {
  const { index, losses } = source;
  const { type } = part;
  if (type === "text" && typeof part.text === "string") {
    losses.members(index, type, part, ["type", "text"]);
    return [sourced(source, type, { type, text: part.text })];
  }
  const media = mediaPart(part);
  if (media === undefined) {
    losses.add(index, type);
    return [];
  }
  losses.members(index, type, part, ["type", type]);
  losses.members(index, type, (part as unknown as Record<string, object>)[type] ?? {}, media.known);
  return [sourced(source, type, media.part)];
}

function mediaPart(part: AnyChatPart): { part: NeutralPart; known: readonly string[] } | undefined {
  if (part.type === "image_url" && typeof part.image_url?.url === "string") {
    const { url, detail } = part.image_url;
    const medium = mediumOf(url as string, "image/*");
    const options = typeof detail === "string" ? { options: { openai: { imageDetail: detail } } } : {};
    return medium && { part: { type: "media", medium, ...options }, known: ["url", "detail"] };
  }
  if (part.type === "input_audio" && typeof part.input_audio?.data === "string") {
    const { data, format } = part.input_audio;
    const mediaType = format === "mp3" ? "audio/mpeg" : `audio/${asText(format) || "*"}`;
    return {
      part: { type: "media", medium: { base64: data as string, mediaType } },
      known: ["data", "format"],
    };
  }
  if (part.type !== "file" || !isObject(part.file)) return undefined;
  const medium = fileMedium(part.file);
  return medium && { part: { type: "media", medium }, known: ["file_data", "file_id", "filename"] };
}

/** `file_data` is a `data:` URL; bare base64 is taken for what it is. */
function fileMedium({ file_data: data, file_id: id, filename }: Record<string, unknown>): Medium | undefined {
  if (typeof data === "string" && data !== "")
    return withFilename(/^data:/i.test(data) ? mediumOf(data) : { base64: data }, filename);
  return typeof id === "string" && id !== "" ? { reference: { openai: id }, ...named(filename) } : undefined;
}
