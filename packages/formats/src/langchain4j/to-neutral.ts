import { isObject } from "@turnkeep/core/format-kit";
import type { Losses, Source } from "../conversion/losses.ts";
import { MadeUpIds } from "../conversion/made-up-ids.ts";
import { mediumOf, typed } from "../conversion/media.ts";
import {
  type Medium,
  type NeutralMessage,
  type OutputPart,
  type SourcedPart,
  sourced,
} from "../conversion/neutral.ts";
import { inputOf, outputOf } from "../conversion/outputs.ts";
import type { LangChain4jContent, LangChain4jMessage } from "./messages.ts";
import { contentsOf, mediaKinds } from "./parts.ts";

/** See `Conversion.read`. */
export function readMessages(messages: readonly LangChain4jMessage[], losses: Losses): NeutralMessage[] {
  const ids = new MadeUpIds();
  return messages.flatMap((message, index) => {
    ids.enter({ isAnswer: message.type === "AI" });
    return readMessage(message, { index, losses }, ids);
  });
}

function readMessage(message: LangChain4jMessage, source: Source, ids: MadeUpIds): NeutralMessage[] {
  const { index, losses } = source;
  switch (message.type) {
    case "SYSTEM":
      loseMembers(message, ["text"], source);
      return [{ role: "system", parts: [sourced(source, "SYSTEM", { type: "text", text: message.text })] }];
    case "USER": {
      loseMembers(message, ["contents", ...(message.name === "" ? ["name"] : [])], source);
      const parts = contentsOf(message).flatMap((content) =>
        readContent(content, source).map((part) => sourced(source, content.type, part)),
      );
      return [{ role: "user", parts }];
    }
    case "AI":
      loseMembers(message, ["text", "thinking", "toolExecutionRequests"], source);
      return [{ role: "assistant", parts: readAnswer(message, source, ids) }];
    case "TOOL_EXECUTION_RESULT": {
      loseMembers(message, ["id", "toolName", "contents", "isError"], source);
      const { id, toolName: name = "" } = message;
      const output = outputOf(
        contentsOf(message).flatMap((content) => readContent(content, source)),
        message.isError === true ? "error" : undefined,
      );
      const paired = id || ids.take(name) || `tool_${index}`;
      const result = { type: "result" as const, id: paired, ...(name === "" ? {} : { name }), output };
      return [{ role: "tool", parts: [sourced(source, message.type, result)] }];
    }
    case "CUSTOM":
      losses.add(index, "CUSTOM");
      return [];
  }
}

/** Attributes are the application's and a provider's own, each by its name. */
function loseMembers(message: object, known: readonly string[], { index, losses }: Source): void {
  losses.members(index, "message", message, ["type", "attributes", "attributeDoubles", ...known]);
  const { attributes } = message as { attributes?: unknown };
  if (isObject(attributes)) losses.members(index, "message.attributes", attributes, []);
}

function readAnswer(
  message: Extract<LangChain4jMessage, { type: "AI" }>,
  source: Source,
  ids: MadeUpIds,
): SourcedPart[] {
  const { text, thinking, toolExecutionRequests = [] } = message;
  const calls = toolExecutionRequests.flatMap((call, at): SourcedPart[] => {
    if (call === null) return [];
    source.losses.members(source.index, "call", call, ["id", "name", "arguments"]);
    const { name = "" } = call;
    const id = call.id || `tool_${source.index}_${at}`;
    if (!call.id) ids.ask(name, id);
    const input = inputOf(call.arguments ?? "");
    return [sourced(source, "call", { type: "call", id, name, input })];
  });
  return [
    ...(thinking ? [sourced(source, "thinking", { type: "reasoning", text: thinking })] : []),
    ...(text === undefined ? [] : [sourced(source, "text", { type: "text", text })]),
    ...calls,
  ];
}

function readContent(content: LangChain4jContent, { index, losses }: Source): OutputPart[] {
  const { type } = content;
  if (content.type === "TEXT") {
    losses.members(index, type, content, ["type", "text"]);
    return [{ type: "text", text: content.text }];
  }
  const [member, anyType] = mediaKinds.get(type) ?? [];
  const given = member === undefined ? undefined : (content as unknown as Record<string, unknown>)[member];
  const medium = isObject(given) ? mediumOfFile(given, anyType) : undefined;
  if (member === undefined || medium === undefined) {
    losses.add(index, type);
    return [];
  }
  losses.members(index, type, content, ["type", "detailLevel", member]);
  losses.members(index, type, given as object, ["url", "base64Data", "binaryData", "mimeType"]);
  const detail = content.type === "IMAGE" ? content.detailLevel : undefined;
  const options = detail === undefined ? {} : { options: { openai: { imageDetail: detail.toLowerCase() } } };
  return [{ type: "media", medium, ...options }];
}

function mediumOfFile(file: Record<string, unknown>, anyType: string | undefined): Medium | undefined {
  const { url, base64Data, binaryData, mimeType } = file;
  const mediaType = (typeof mimeType === "string" && mimeType) || anyType;
  const base64 = base64Data ?? binaryData;
  if (typeof base64 === "string") return { base64, ...typed(mediaType) };
  return typeof url === "string" ? mediumOf(url, mediaType) : undefined;
}
