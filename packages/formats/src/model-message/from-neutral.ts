import {
  type AssistantModelMessage,
  equalContent,
  type FilePart,
  type ImagePart,
  type JsonValue,
  type ModelMessage,
  type ProviderOptions,
  type ToolApprovalRequest,
  type ToolApprovalResponse,
  type ToolModelMessage,
  type ToolResultContent,
  type ToolResultOutput,
  type ToolResultPart,
  type UserModelMessage,
} from "@turnkeep/core";
import type { Losses } from "../conversion/losses.ts";
import { carriedBase64, exactType, topType } from "../conversion/media.ts";
import type {
  Medium,
  NeutralMessage,
  NeutralResult,
  OutputPart,
  ProviderSettings,
  SourcedPart,
  WithOptions,
} from "../conversion/neutral.ts";
import { outputText } from "../conversion/outputs.ts";

/** See `Conversion.write`. What only one provider knows stands in `providerOptions`. */
export function writeMessages(messages: readonly NeutralMessage[], losses: Losses): ModelMessage[] {
  return messages.flatMap((message) => writeMessage(message, losses));
}

function writeMessage({ role, parts }: NeutralMessage, losses: Losses): ModelMessage[] {
  switch (role) {
    case "system":
      return writeSystem(parts, losses);
    case "user": {
      const content = kept(parts, losses, userPart);
      return content.length === 0 ? [] : [{ role, content: plainOr(content) }];
    }
    case "assistant": {
      const content = kept(parts, losses, assistantPart);
      return content.length === 0 ? [] : [{ role, content: plainOr(content) }];
    }
    case "tool": {
      const content = kept(parts, losses, toolPart);
      return content.length === 0 ? [] : [{ role, content }];
    }
  }
}

/** The message has one text and one set of options. */
function writeSystem(parts: readonly SourcedPart[], losses: Losses): ModelMessage[] {
  const texts = kept(parts, losses, ({ part }) => (part.type === "text" ? part : undefined));
  if (texts.length === 0) return [];
  const options = Object.assign({}, ...texts.map((text) => text.options ?? {})) as ProviderSettings;
  for (const sourced of parts) loseOverridden(sourced, options, losses);
  return [
    {
      role: "system",
      content: texts.map(({ text }) => text).join("\n\n"),
      ...optionsMember({ options } as WithOptions),
    },
  ];
}

/** The settings of a text that are not the message's, since another text has others of the same provider. */
function loseOverridden({ part, ...about }: SourcedPart, options: ProviderSettings, losses: Losses): void {
  if (part.type !== "text") return;
  const own = Object.entries(part.options ?? {});
  const overridden = own.filter(([provider, settings]) => !equalContent(settings, options[provider]));
  losses.options({ ...about, part: { ...part, options: Object.fromEntries(overridden) } });
}

/** What `write` makes of each part; what it makes nothing of is lost. */
function kept<T>(
  parts: readonly SourcedPart[],
  losses: Losses,
  write: (sourced: SourcedPart, losses: Losses) => T | undefined,
): T[] {
  return parts.flatMap((sourced) => {
    const written = write(sourced, losses);
    if (written === undefined) losses.part(sourced);
    return written === undefined ? [] : [written];
  });
}

function plainOr<P extends { readonly type: string }>(content: P[]): string | P[] {
  const [only] = content as { type: string; text?: string; providerOptions?: unknown }[];
  const isPlain = content.length === 1 && only?.type === "text" && only.providerOptions === undefined;
  return isPlain ? (only.text as string) : content;
}

type UserModelPart = Exclude<UserModelMessage["content"], string>[number];
type AssistantPart = Exclude<AssistantModelMessage["content"], string>[number];
type ToolPart = ToolModelMessage["content"][number];

function userPart({ part }: SourcedPart): UserModelPart | undefined {
  if (part.type === "text") return { type: "text", text: part.text, ...optionsMember(part) };
  if (part.type !== "media") return undefined;
  const isImage = topType(part.medium) === "image" && part.medium.filename === undefined;
  return isImage ? imagePart(part.medium, part) : filePart(part.medium, part);
}

function assistantPart(sourced: SourcedPart, losses: Losses): AssistantPart | undefined {
  const { part } = sourced;
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: part.text, ...optionsMember(part) };
    case "media":
      return filePart(part.medium, part);
    case "reasoning-media": {
      const { data, mediaType } = filePart(part.medium, part);
      // A reference cannot stand for a file of the reasoning.
      if ("reference" in part.medium) return undefined;
      return { type: "reasoning-file", data: data as string | URL, mediaType, ...optionsMember(part) };
    }
    case "custom":
      return { type: "custom", kind: part.name as `${string}.${string}`, ...optionsMember(part) };
    case "call": {
      const call = {
        type: "tool-call" as const,
        toolCallId: part.id,
        toolName: part.name,
        input: part.input,
      };
      return {
        ...call,
        ...(part.providerExecuted ? { providerExecuted: true } : {}),
        ...optionsMember(part),
      };
    }
    case "result":
      return resultPart(part, sourced, losses);
    case "request": {
      const { approvalId, callId: toolCallId, more } = part;
      return { type: "tool-approval-request", approvalId, toolCallId, ...more } as ToolApprovalRequest;
    }
    default:
      return undefined;
  }
}

function toolPart(sourced: SourcedPart, losses: Losses): ToolPart | undefined {
  const { part } = sourced;
  if (part.type === "result") return resultPart(part, sourced, losses);
  if (part.type !== "response") return undefined;
  const { approvalId, approved, more } = part;
  return { type: "tool-approval-response", approvalId, approved, ...more } as ToolApprovalResponse;
}

function imagePart(medium: Medium, of: WithOptions): ImagePart {
  const mediaType = exactType(medium);
  const image = "reference" in medium ? medium.reference : dataOf(medium);
  return { type: "image", image, ...(mediaType === undefined ? {} : { mediaType }), ...optionsMember(of) };
}

function filePart(medium: Medium, of: WithOptions): FilePart {
  const data = "reference" in medium ? medium.reference : dataOf(medium);
  const name = medium.filename === undefined ? {} : { filename: medium.filename };
  return { type: "file", data, mediaType: typeOf(medium), ...name, ...optionsMember(of) };
}

/** Base64 text or a URL, which every major of the SDK takes. */
function dataOf(medium: Medium): string | URL {
  return "url" in medium ? new URL(medium.url) : (carriedBase64(medium) ?? "");
}

function typeOf(medium: Medium): string {
  return exactType(medium) ?? medium.mediaType ?? "application/octet-stream";
}

function resultPart(part: NeutralResult, sourced: SourcedPart, losses: Losses): ToolResultPart {
  const output = writeOutput(part, sourced, losses);
  return {
    type: "tool-result",
    toolCallId: part.id,
    toolName: part.name ?? "",
    output,
    ...optionsMember(part),
  };
}

function writeOutput(part: NeutralResult, { index, kind }: SourcedPart, losses: Losses): ToolResultOutput {
  const { value, failed } = part.output;
  if (failed === "denied") {
    const reason = value.type === "text" ? value.text : "";
    return { type: "execution-denied", ...(reason === "" ? {} : { reason }) };
  }
  switch (value.type) {
    case "text":
      return { type: failed === undefined ? "text" : "error-text", value: value.text };
    case "json":
      return { type: failed === undefined ? "json" : "error-json", value: value.json as JsonValue };
    case "content": {
      const isText = value.content.every(({ type }) => type === "text");
      if (failed !== undefined && isText) {
        return { type: "error-text", value: outputText({ index, kind, part }, losses) };
      }
      if (failed !== undefined) losses.add(index, `${kind}.error`);
      for (const shown of value.content) {
        // Only a file with its content has a name here.
        const isNameless =
          shown.type === "media" && shown.medium.filename !== undefined && !isNamed(shown.medium);
        if (isNameless) losses.add(index, `${kind}.filename`);
      }
      return { type: "content", value: value.content.map(outputContent) };
    }
  }
}

function isNamed(medium: Medium): boolean {
  return topType(medium) !== "image" && carriedBase64(medium) !== undefined;
}

function outputContent(part: OutputPart): ToolResultContent {
  const options = optionsMember(part);
  if (part.type === "text") return { type: "text", text: part.text, ...options };
  const { medium } = part;
  const isImage = topType(medium) === "image";
  const name = medium.filename === undefined ? {} : { filename: medium.filename };
  if ("reference" in medium)
    return { type: isImage ? "image-file-id" : "file-id", fileId: medium.reference, ...options };
  if ("url" in medium)
    return isImage
      ? { type: "image-url", url: medium.url, ...options }
      : { type: "file-url", url: medium.url, mediaType: typeOf(medium), ...options };
  const data = carriedBase64(medium) ?? "";
  return isImage
    ? { type: "image-data", data, mediaType: typeOf(medium), ...options }
    : { type: "file-data", data, mediaType: typeOf(medium), ...name, ...options };
}

function optionsMember({ options }: WithOptions): { providerOptions?: ProviderOptions } {
  return options === undefined || Object.keys(options).length === 0
    ? {}
    : { providerOptions: options as ProviderOptions };
}
