import type { Losses } from "../conversion/losses.ts";
import { carriedBase64, exactType, listedType, topType, typed } from "../conversion/media.ts";
import type { Medium, NeutralMessage, OutputPart, SourcedPart } from "../conversion/neutral.ts";
import { inputText, outputParts, type SourcedResult } from "../conversion/outputs.ts";
import { textOf } from "../conversion/texts.ts";
import { isJavaUri, trimmed } from "./java.ts";
import type { LangChain4jContent, LangChain4jImageContent, LangChain4jMessage } from "./messages.ts";
import { pdfType } from "./places.ts";

/** See `Conversion.write`. A system message and an answer have one text each. */
export function writeMessages(messages: readonly NeutralMessage[], losses: Losses): LangChain4jMessage[] {
  return messages.flatMap((message) => writeMessage(message, losses));
}

function writeMessage({ role, parts }: NeutralMessage, losses: Losses): LangChain4jMessage[] {
  switch (role) {
    case "system": {
      const text = textOf(parts, losses);
      if (text === undefined) return [];
      if (trimmed(text) !== "") return [{ type: "SYSTEM", text }];
      // LangChain4j builds no system message without a text.
      for (const sourced of parts) losses.part(sourced);
      return [];
    }
    case "user": {
      const contents = parts.flatMap((sourced) => writeContent(sourced, losses));
      return contents.length === 0 ? [] : [{ type: "USER", contents }];
    }
    case "assistant":
      return writeAnswer(parts, losses);
    case "tool":
      return parts.flatMap((sourced) => writeResult(sourced, losses));
  }
}

function writeAnswer(parts: readonly SourcedPart[], losses: Losses): LangChain4jMessage[] {
  const others: SourcedPart[] = [];
  const thoughts: string[] = [];
  const calls = parts.flatMap((sourced) => {
    const { part } = sourced;
    if (part.type === "call" && part.providerExecuted !== true) {
      losses.options(sourced);
      return [{ id: part.id, name: part.name, arguments: inputText(part, sourced, losses) }];
    }
    if (part.type === "reasoning" && part.text !== "") {
      losses.options(sourced);
      thoughts.push(part.text);
    } else others.push(sourced);
    return [];
  });
  const text = textOf(others, losses);
  if (text === undefined && calls.length === 0 && thoughts.length === 0) return [];
  return [
    {
      type: "AI",
      ...(text === undefined ? {} : { text }),
      ...(thoughts.length === 0 ? {} : { thinking: thoughts.join("\n\n") }),
      ...(calls.length === 0 ? {} : { toolExecutionRequests: calls }),
    },
  ];
}

function writeResult(sourced: SourcedPart, losses: Losses): LangChain4jMessage[] {
  const { part, index, kind } = sourced as SourcedResult;
  if (sourced.part.type !== "result") {
    losses.part(sourced);
    return [];
  }
  losses.options(sourced);
  const contents = outputParts(sourced as SourcedResult, losses).flatMap((nested) =>
    writeContent({ index, kind: `${kind}.${nested.type}`, part: nested }, losses),
  );
  return [
    {
      type: "TOOL_EXECUTION_RESULT",
      id: part.id,
      ...(part.name === undefined ? {} : { toolName: part.name }),
      contents: contents.length > 0 ? contents : [{ type: "TEXT", text: "" }],
      ...(part.output.failed === undefined ? {} : { isError: true }),
    },
  ];
}

function writeContent(sourced: SourcedPart, losses: Losses): LangChain4jContent[] {
  const { part } = sourced;
  const content =
    part.type === "media"
      ? mediaContent(part)
      : part.type === "text"
        ? ({ type: "TEXT", text: part.text } as const)
        : undefined;
  if (content === undefined) losses.part(sourced);
  else losses.filename(sourced);
  if (content !== undefined)
    losses.options(sourced, content.type === "IMAGE" && content.detailLevel ? ["openai.imageDetail"] : []);
  return content === undefined ? [] : [content];
}

const levels: ReadonlyMap<unknown, LangChain4jImageContent["detailLevel"]> = new Map([
  ["low", "LOW"],
  ["medium", "MEDIUM"],
  ["high", "HIGH"],
  ["ultra_high", "ULTRA_HIGH"],
  ["auto", "AUTO"],
]);

/** Images, audio, video and PDFs, by URL or with their content. */
function mediaContent({
  medium,
  options,
}: Extract<OutputPart, { type: "media" }>): LangChain4jContent | undefined {
  const file = fileOf(medium);
  if (file === undefined) return undefined;
  switch (topType(medium)) {
    case "image": {
      const level = levels.get(options?.openai?.imageDetail);
      return { type: "IMAGE", image: file, ...(level === undefined ? {} : { detailLevel: level }) };
    }
    case "audio":
      return { type: "AUDIO", audio: file };
    case "video":
      return { type: "VIDEO", video: file };
    default:
      return listedType(medium) === pdfType ? { type: "PDF", pdfFile: file } : undefined;
  }
}

function fileOf(medium: Medium): { url: string } | { base64Data: string; mimeType?: string } | undefined {
  if ("url" in medium) return isJavaUri(medium.url) ? { url: medium.url, ...mime(medium) } : undefined;
  const base64Data = carriedBase64(medium);
  return base64Data === undefined ? undefined : { base64Data, ...mime(medium) };
}

function mime(medium: Medium): { mimeType?: string } {
  const { mediaType } = typed(exactType(medium));
  return mediaType === undefined ? {} : { mimeType: mediaType };
}
