import type { ModelMessageLike } from "@turnkeep/core";
import { isObject, toBase64 } from "@turnkeep/core/format-kit";
import type { Losses, Source } from "../conversion/losses.ts";
import { mediumOf, named, textMedium, typed } from "../conversion/media.ts";
import {
  type Medium,
  type NeutralMessage,
  type NeutralPart,
  type Output,
  type OutputPart,
  optionsOf,
  type SourcedPart,
  sourced,
} from "../conversion/neutral.ts";

interface ModelPart {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** See `Conversion.read`. */
export function readMessages(messages: readonly ModelMessageLike[], losses: Losses): NeutralMessage[] {
  return messages.map((message, index) => {
    const source = { index, losses };
    const { role, content, ...others } = message as unknown as {
      readonly role: NeutralMessage["role"];
      readonly content: string | readonly ModelPart[];
    };
    losses.members(index, "message", others, []);
    if (typeof content === "string")
      return { role, parts: [sourced(source, "text", { type: "text", text: content })] };
    const parts = content.flatMap((part) => readPart(part, source));
    return { role, parts: role === "assistant" ? withProviderCalls(parts) : parts };
  });
}

/** A call whose result stands beside it was the provider's, whether or not it says so. */
function withProviderCalls(parts: readonly SourcedPart[]): SourcedPart[] {
  const answered = new Set(parts.flatMap(({ part }) => (part.type === "result" ? [part.id] : [])));
  return parts.map((one) =>
    one.part.type === "call" && answered.has(one.part.id)
      ? { ...one, part: { ...one.part, providerExecuted: true } }
      : one,
  );
}

/** The members of each part that the neutral one has a place for. */
const members: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  image: ["image", "mediaType"],
  file: ["data", "mediaType", "filename"],
  reasoning: ["text"],
  "reasoning-file": ["data", "mediaType"],
  custom: ["kind"],
  "tool-call": ["toolCallId", "toolName", "input", "providerExecuted"],
  "tool-result": ["toolCallId", "toolName", "output"],
};

function readPart(part: ModelPart, source: Source): SourcedPart[] {
  const { index, losses } = source;
  const { type } = part;
  const read = neutralPart(part, source);
  if (read === undefined) {
    losses.add(index, type);
    return [];
  }
  const known = Object.hasOwn(members, type) ? members[type] : undefined;
  if (known !== undefined) losses.members(index, type, part, ["type", "providerOptions", ...known]);
  for (const member of ["data", "image"]) loseOfData(`${type}.${member}`, part[member], source);
  return [sourced(source, type, read)];
}

function neutralPart(part: ModelPart, source: Source): NeutralPart | undefined {
  const options = optionsOf(part.providerOptions);
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: part.text as string, ...options };
    case "image": {
      const medium = mediumOfData(part.image, part.mediaType ?? "image/*");
      return medium && { type: "media", medium, ...options };
    }
    case "file": {
      const medium = mediumOfData(part.data, part.mediaType);
      return medium && { type: "media", medium: { ...medium, ...named(part.filename) }, ...options };
    }
    case "reasoning-file": {
      const medium = mediumOfData(part.data, part.mediaType);
      return medium && { type: "reasoning-media", medium, ...options };
    }
    case "custom":
      return { type: "custom", name: part.kind as string, ...options };
    case "tool-call": {
      const { toolCallId: id, toolName: name, input } = part as unknown as ToolMembers;
      const providers = part.providerExecuted === true ? { providerExecuted: true } : {};
      return { type: "call", id, name, input, ...providers, ...options };
    }
    case "tool-result": {
      const { toolCallId: id, toolName: name } = part as unknown as ToolMembers;
      return { type: "result", id, name, output: readOutput(part.output as ModelPart, source), ...options };
    }
    case "tool-approval-request": {
      const { type: _, approvalId, toolCallId, ...more } = part;
      return { type: "request", approvalId: approvalId as string, callId: toolCallId as string, more };
    }
    case "tool-approval-response": {
      const { type: _, approvalId, approved, ...more } = part;
      return { type: "response", approvalId: approvalId as string, approved: approved as boolean, more };
    }
    default:
      return undefined;
  }
}

interface ToolMembers {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

function readOutput(output: ModelPart, source: Source): Output {
  const { type, value } = output;
  source.losses.members(source.index, "tool-result.output", output, ["type", "value", "reason"]);
  switch (type) {
    case "text":
      return { value: { type: "text", text: value as string } };
    case "error-text":
      return { value: { type: "text", text: value as string }, failed: "error" };
    case "error-json":
      return { value: { type: "json", json: value }, failed: "error" };
    case "execution-denied":
      return {
        value: { type: "text", text: typeof output.reason === "string" ? output.reason : "" },
        failed: "denied",
      };
    case "content": {
      const content = (value as readonly ModelPart[]).flatMap((part) => readOutputPart(part, source));
      return { value: { type: "content", content } };
    }
    default:
      // Another type of output may hold a value all the same.
      return { value: { type: "json", json: value ?? null } };
  }
}

function readOutputPart(part: ModelPart, source: Source): OutputPart[] {
  const { index, losses } = source;
  const kind = `tool-result.${part.type}`;
  const options = optionsOf(part.providerOptions);
  if (part.type === "text") {
    losses.members(index, kind, part, ["type", "text", "providerOptions"]);
    return [{ type: "text", text: part.text as string, ...options }];
  }
  const medium = outputMedium(part);
  if (medium === undefined) {
    losses.add(index, kind);
    return [];
  }
  losses.members(index, kind, part, [
    "type",
    "data",
    "url",
    "fileId",
    "providerReference",
    "mediaType",
    "filename",
    "providerOptions",
  ]);
  loseOfData(`${kind}.data`, part.data, source);
  return [{ type: "media", medium: { ...medium, ...named(part.filename) }, ...options }];
}

/** Beside what it holds, data may say what kind it is, and that member bears the kind's name. */
function loseOfData(kind: string, data: unknown, { index, losses }: Source): void {
  if (isObject(data) && typeof data.type === "string") losses.members(index, kind, data, ["type", data.type]);
}

function outputMedium({
  type,
  data,
  url,
  fileId,
  providerReference,
  mediaType,
}: ModelPart): Medium | undefined {
  const anyType = mediaType ?? (type.startsWith("image-") ? "image/*" : undefined);
  switch (type) {
    case "file":
    case "file-data":
    case "image-data":
    case "media":
      return mediumOfData(data, anyType);
    case "file-url":
    case "image-url":
      return typeof url === "string" ? mediumOf(url, textOf(anyType)) : undefined;
    case "file-id":
    case "image-file-id":
      // A bare id does not tell whose it is.
      return isObject(fileId) ? mediumOfData(fileId, anyType) : undefined;
    case "file-reference":
    case "image-file-reference":
      return mediumOfData(providerReference, anyType);
    default:
      return undefined;
  }
}

/** Base64 text, bytes, a URL, a provider's reference, or an object that says which of them it holds. */
function mediumOfData(data: unknown, type: unknown): Medium | undefined {
  const mediaType = textOf(type);
  if (data instanceof Uint8Array) return { base64: toBase64(data), ...typed(mediaType) };
  if (data instanceof ArrayBuffer) return { base64: toBase64(new Uint8Array(data)), ...typed(mediaType) };
  if (data instanceof URL) return mediumOf(data.href, mediaType);
  if (typeof data === "string")
    // Base64 has no colon, so that a colon tells a URL.
    return /^[a-z][a-z0-9+.-]*:/i.test(data)
      ? mediumOf(data, mediaType)
      : { base64: data, ...typed(mediaType) };
  if (!isObject(data)) return undefined;
  switch (data.type) {
    case "data":
      return mediumOfData(data.data, mediaType);
    case "url":
      return mediumOfData(data.url, mediaType);
    case "reference":
      return mediumOfData(data.reference, mediaType);
    case "text":
      return textMedium(data.text, mediaType);
    case undefined: {
      const ids = Object.entries(data).filter(
        (entry): entry is [string, string] => typeof entry[1] === "string",
      );
      return ids.length > 0 ? { reference: Object.fromEntries(ids), ...typed(mediaType) } : undefined;
    }
    default:
      return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
