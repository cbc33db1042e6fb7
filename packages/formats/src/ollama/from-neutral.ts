import type { Losses } from "../conversion/losses.ts";
import { carriedBase64, topType } from "../conversion/media.ts";
import type { Medium, NeutralCall, NeutralMessage, SourcedPart } from "../conversion/neutral.ts";
import { inputObject, loseFailure, outputTextAndMedia, type SourcedResult } from "../conversion/outputs.ts";
import { textOf } from "../conversion/texts.ts";
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
    const image = part.type === "media" ? imageOf(part.medium) : undefined;
    if (part.type !== "text" && image === undefined) {
      losses.part(sourced);
      continue;
    }
    losses.options(sourced);
    losses.filename(sourced);
    const last = written.at(-1);
    if (part.type === "text") written.push({ role: "user", content: part.text });
    else if (last === undefined) written.push({ role: "user", content: "", images: [image as string] });
    else if (last.images === undefined) last.images = [image as string];
    else last.images.push(image as string);
  }
  return written;
}

/** The API takes images alone, and only those that the message carries. */
function imageOf(medium: Medium): string | undefined {
  return topType(medium) === "image" ? carriedBase64(medium) : undefined;
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
  const call = sourced.part as NeutralCall;
  losses.options(sourced);
  return { id: call.id, function: { name: call.name, arguments: inputObject(call, sourced, losses) } };
}

function writeResult(sourced: SourcedPart, losses: Losses): OllamaMessage[] {
  const { part } = sourced;
  if (part.type !== "result") {
    losses.part(sourced);
    return [];
  }
  losses.options(sourced);
  loseFailure(sourced as SourcedResult, losses);
  const { text, media } = outputTextAndMedia(sourced as SourcedResult, imageOf, losses);
  return [
    {
      role: "tool",
      content: text,
      ...(part.name === undefined ? {} : { tool_name: part.name }),
      tool_call_id: part.id,
      ...(media.length > 0 ? { images: media } : {}),
    },
  ];
}
