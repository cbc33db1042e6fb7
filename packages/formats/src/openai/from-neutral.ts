import type { Losses } from "../conversion/losses.ts";
import { carriedBase64, dataUrl, filenameOf, listedType, topType } from "../conversion/media.ts";
import type { NeutralMessage, SourcedPart } from "../conversion/neutral.ts";
import { inputText, loseFailure, outputText, type SourcedResult } from "../conversion/outputs.ts";
import { textsOf } from "../conversion/texts.ts";
import type {
  ChatAudioPart,
  ChatFilePart,
  ChatFunctionToolCall,
  ChatImagePart,
  ChatMessage,
  ChatTextPart,
} from "./messages.ts";

/** See `Conversion.write`. */
export function writeMessages(messages: readonly NeutralMessage[], losses: Losses): ChatMessage[] {
  return messages.flatMap((message) => writeMessage(message, losses));
}

function writeMessage({ role, parts }: NeutralMessage, losses: Losses): ChatMessage[] {
  switch (role) {
    case "system":
      return said(texts(parts, losses), (content) => ({ role, content }));
    case "user":
      return said(userParts(parts, losses), (content) => ({ role, content }));
    case "assistant":
      return assistant(parts, losses);
    case "tool":
      return parts.flatMap((sourced) => result(sourced, losses));
  }
}

type UserChatPart = ChatTextPart | ChatImagePart | ChatAudioPart | ChatFilePart;

/** A message of those parts, if there are any; a single text as a text. */
function said<P extends UserChatPart>(
  parts: readonly P[],
  build: (content: string | P[]) => ChatMessage,
): ChatMessage[] {
  if (parts.length === 0) return [];
  const [first] = parts;
  return [build(parts.length === 1 && first?.type === "text" ? first.text : [...parts])];
}

function texts(parts: readonly SourcedPart[], losses: Losses): ChatTextPart[] {
  return textsOf(parts, losses).map((text) => ({ type: "text", text }));
}

function userParts(parts: readonly SourcedPart[], losses: Losses): UserChatPart[] {
  return parts.flatMap((sourced): UserChatPart[] => {
    const { part } = sourced;
    if (part.type !== "media") return texts([sourced], losses);
    const media = mediaPart(sourced);
    if (media === undefined) {
      losses.part(sourced);
      return [];
    }
    const hasDetail = media.type === "image_url" && media.image_url.detail !== undefined;
    losses.options(sourced, hasDetail ? ["openai.imageDetail"] : []);
    // The API finds a file of its own by the id alone.
    if (media.type !== "file" || media.file.filename === undefined) losses.filename(sourced);
    return [media];
  });
}

const audioFormats: Readonly<Record<string, "wav" | "mp3">> = {
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
};

const details: readonly unknown[] = ["auto", "low", "high", "original"];

/** The API takes images by URL, anything else only with its content, or by its own id. */
function mediaPart({ part }: SourcedPart): Exclude<UserChatPart, ChatTextPart> | undefined {
  if (part.type !== "media") return undefined;
  const { medium, options } = part;
  const base64 = carriedBase64(medium);
  switch (topType(medium)) {
    case "image": {
      const url = "url" in medium ? medium.url : dataUrl(medium);
      if (url === undefined) return undefined;
      const detail = options?.openai?.imageDetail;
      const seen = details.includes(detail) ? { detail: detail as "auto" } : {};
      return { type: "image_url", image_url: { url, ...seen } };
    }
    case "audio": {
      const format = audioFormats[listedType(medium) ?? ""];
      return base64 === undefined || format === undefined
        ? undefined
        : { type: "input_audio", input_audio: { data: base64, format } };
    }
    case "video":
      return undefined;
  }
  if ("reference" in medium) {
    const id = medium.reference.openai;
    return id === undefined ? undefined : { type: "file", file: { file_id: id } };
  }
  const url = dataUrl(medium);
  return url === undefined
    ? undefined
    : { type: "file", file: { file_data: url, filename: filenameOf(medium) } };
}

/** Reasoning, which OpenAI's API does not take back, is lost, and so is what the provider of another API ran itself. */
function assistant(parts: readonly SourcedPart[], losses: Losses): ChatMessage[] {
  const calls: ChatFunctionToolCall[] = [];
  const others: SourcedPart[] = [];
  for (const sourced of parts) {
    const { part } = sourced;
    if (part.type !== "call" || part.providerExecuted === true) {
      others.push(sourced);
      continue;
    }
    losses.options(sourced);
    const called = { name: part.name, arguments: inputText(part, sourced, losses) };
    calls.push({ type: "function", id: part.id, function: called });
  }
  const content = texts(others, losses);
  if (calls.length === 0) return said(content, (said) => ({ role: "assistant", content: said }));
  const [message] = said(content, (said) => ({ role: "assistant", content: said, tool_calls: calls }));
  return [message ?? { role: "assistant", content: null, tool_calls: calls }];
}

function result(sourced: SourcedPart, losses: Losses): ChatMessage[] {
  if (sourced.part.type !== "result") {
    losses.part(sourced);
    return [];
  }
  losses.options(sourced);
  loseFailure(sourced as SourcedResult, losses);
  return [
    { role: "tool", tool_call_id: sourced.part.id, content: outputText(sourced as SourcedResult, losses) },
  ];
}
