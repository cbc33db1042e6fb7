import { isObject } from "@turnkeep/core/format-kit";
import type { Losses } from "../conversion/losses.ts";
import { carriedBase64, topType } from "../conversion/media.ts";
import type { NeutralMessage, SourcedPart } from "../conversion/neutral.ts";
import { loseFailure, outputText, type SourcedResult } from "../conversion/outputs.ts";
import type { OllamaMessage, OllamaToolCall } from "./messages.ts";

/** See `Conversion.write`. */
export function writeMessages(messages: readonly NeutralMessage[], losses: Losses): OllamaMessage[] {
  return messages.flatMap((message) => writeMessage(message, losses));
}

function writeMessage({ role, parts }: NeutralMessage, losses: Losses): OllamaMessage[] {
  switch (role) {
    case "system": {
      const content = textOf(parts, losses);
      return content === undefined ? [] : [{ role, content }];
    }
    case "user":
      return writeUser(parts, losses);
    case "assistant":
      return writeAnswer(parts, losses);
    case "tool":
      return parts.flatMap((sourced) => writeResult(sourced, losses));
  }
}

/** A message has one text, and its images behind it: each further text begins another message. */
function writeUser(parts: readonly SourcedPart[], losses: Losses): OllamaMessage[] {
  const written: (OllamaMessage & { images?: string[] })[] = [];
  for (const sourced of parts) {
    const { part } = sourced;
    const image = imageOf(sourced);
    if (part.type !== "text" && image === undefined) {
      losses.part(sourced);
      continue;
    }
    losses.options(sourced);
    losses.filename(sourced);
    const last = written.at(-1);
    if (part.type === "text") written.push({ role: "user", content: part.text });
    else if (last === undefined) written.push({ role: "user", content: "", images: [image as string] });
    else last.images = [...(last.images ?? []), image as string];
  }
  return written;
}

/** The API takes images alone, and only those that the message carries. */
function imageOf({ part }: SourcedPart): string | undefined {
  return part.type === "media" && topType(part.medium) === "image" ? carriedBase64(part.medium) : undefined;
}

/** Of several texts one; what is no text is lost. */
function textOf(parts: readonly SourcedPart[], losses: Losses): string | undefined {
  const texts = parts.flatMap((sourced) => {
    const { part } = sourced;
    if (part.type === "text") losses.options(sourced);
    else losses.part(sourced);
    return part.type === "text" ? [part.text] : [];
  });
  return texts.length === 0 ? undefined : texts.join("\n\n");
}

function writeAnswer(parts: readonly SourcedPart[], losses: Losses): OllamaMessage[] {
  const others: SourcedPart[] = [];
  const thoughts: string[] = [];
  const calls: OllamaToolCall[] = [];
  for (const sourced of parts) {
    const { part } = sourced;
    if (part.type === "call" && part.providerExecuted !== true) calls.push(callOf(sourced, losses));
    else if (part.type === "reasoning" && part.text !== "") {
      losses.options(sourced);
      thoughts.push(part.text);
    } else others.push(sourced);
  }
  const content = textOf(others, losses);
  if (content === undefined && calls.length === 0 && thoughts.length === 0) return [];
  return [
    {
      role: "assistant",
      content: content ?? "",
      ...(thoughts.length === 0 ? {} : { thinking: thoughts.join("\n\n") }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

function callOf(sourced: SourcedPart, losses: Losses): OllamaToolCall {
  const { part, index, kind } = sourced;
  const { id, name, input } = part as Extract<typeof part, { type: "call" }>;
  losses.options(sourced);
  // The server reads an object alone.
  if (input !== undefined && !isObject(input)) losses.add(index, `${kind}.input`);
  const given = isObject(input) ? input : input === undefined ? {} : { input };
  return { id, function: { name, arguments: given } };
}

function writeResult(sourced: SourcedPart, losses: Losses): OllamaMessage[] {
  const { part, index, kind } = sourced;
  if (part.type !== "result") {
    losses.part(sourced);
    return [];
  }
  losses.options(sourced);
  loseFailure(sourced as SourcedResult, losses);
  const { value } = part.output;
  const media = value.type === "content" ? value.content.filter(({ type }) => type === "media") : [];
  const images = media.flatMap((nested) => {
    const at = { index, kind: `${kind}.media`, part: nested };
    const image = imageOf(at);
    if (image === undefined) losses.part(at);
    else {
      losses.filename(at);
      losses.options(at);
    }
    return image === undefined ? [] : [image];
  });
  const said = value.type === "content" ? value.content.filter(({ type }) => type === "text") : [];
  const texts = value.type === "content" ? { value: { ...value, content: said } } : part.output;
  const content = outputText({ ...sourced, part: { ...part, output: texts } } as SourcedResult, losses);
  return [
    {
      role: "tool",
      content,
      ...(part.name === undefined ? {} : { tool_name: part.name }),
      tool_call_id: part.id,
      ...(images.length > 0 ? { images } : {}),
    },
  ];
}
