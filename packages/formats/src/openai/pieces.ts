import type { Piece } from "@turnkeep/core";
import { asText } from "../as-text.ts";
import { base64Bytes, dataUrlFacts, imageFacts } from "../media.ts";
import { callInput, callName, callsOf } from "./calls.ts";
import type { ChatMessage } from "./messages.ts";
import { reasoningOf } from "./reasoning.ts";

type Place = "content" | "tool-result";

/** A content part of any type, known or not; its members are what the application gave. */
export interface AnyPart {
  readonly type: string;
  readonly text?: unknown;
  readonly refusal?: unknown;
  readonly image_url?: { readonly url?: unknown; readonly detail?: unknown } | null;
  readonly input_audio?: { readonly data?: unknown; readonly format?: unknown } | null;
  readonly file?: { readonly file_data?: unknown } | null;
}

export function partsOf(message: ChatMessage): readonly AnyPart[] | undefined {
  return Array.isArray(message.content) ? (message.content as readonly AnyPart[]) : undefined;
}

export function isMedia(part: AnyPart): boolean {
  return part.type === "image_url" || part.type === "input_audio" || part.type === "file";
}

/** Everything of a message that a model reads. Ids of calls are not counted: the API does not show them to it. */
export function piecesOf(message: ChatMessage): readonly Piece[] {
  const place: Place = message.role === "tool" || message.role === "function" ? "tool-result" : "content";
  const pieces: Piece[] = [];
  if ("name" in message && message.name)
    pieces.push({ type: "text", text: asText(message.name), of: "name" });
  for (const text of reasoningOf(message)) pieces.push({ type: "text", text, of: "reasoning" });
  if (typeof message.content === "string") pieces.push({ type: "text", text: message.content, of: place });
  for (const part of partsOf(message) ?? []) pieces.push(pieceOf(part, place));
  if (message.role === "assistant") pieces.push(...assistantPieces(message));
  return pieces;
}

function pieceOf(part: AnyPart, of: Place): Piece {
  switch (part.type) {
    case "text":
      return { type: "text", text: asText(part.text), of };
    case "refusal":
      return { type: "text", text: asText(part.refusal), of };
    case "image_url":
      return { type: "media", ...imageFacts(asText(part.image_url?.url), part.image_url?.detail), of };
    case "input_audio": {
      const data = part.input_audio?.data;
      const format = asText(part.input_audio?.format) || "*";
      const mediaType = format === "mp3" ? "audio/mpeg" : `audio/${format}`;
      return {
        type: "media",
        mediaType,
        bytes: typeof data === "string" ? base64Bytes(data) : undefined,
        of,
      };
    }
    case "file": {
      const data = part.file?.file_data;
      if (typeof data !== "string") return { type: "media", mediaType: undefined, bytes: undefined, of };
      const facts = dataUrlFacts(data) ?? { mediaType: undefined, bytes: base64Bytes(data) };
      return { type: "media", ...facts, of };
    }
    default:
      return { type: "text", text: asText(part), of };
  }
}

function assistantPieces(message: Extract<ChatMessage, { role: "assistant" }>): readonly Piece[] {
  const pieces: Piece[] = [];
  if (message.refusal) pieces.push({ type: "text", text: asText(message.refusal), of: "content" });
  if (message.audio) pieces.push({ type: "media", mediaType: "audio/*", bytes: undefined, of: "content" });
  for (const call of callsOf(message)) pieces.push(...callPieces(callName(call), callInput(call)));
  const legacy = message.function_call;
  if (legacy) pieces.push(...callPieces(legacy.name, legacy.arguments));
  return pieces;
}

function callPieces(name: string, input: unknown): readonly Piece[] {
  return [
    { type: "text", text: name, of: "name" },
    { type: "text", text: asText(input), of: "tool-call" },
  ];
}
