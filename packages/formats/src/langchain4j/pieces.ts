import type { Piece } from "@turnkeep/core";
import { asText } from "../as-text.ts";
import { base64Bytes, dataUrlFacts } from "../media.ts";
import { callsOf } from "./calls.ts";
import type { LangChain4jContent, LangChain4jMessage } from "./messages.ts";
import { pdfType } from "./places.ts";

type Place = "content" | "tool-result";

/** The members that media of all kinds share. */
interface Medium {
  readonly url?: string | undefined;
  readonly base64Data?: string | undefined;
  readonly binaryData?: string | undefined;
  readonly mimeType?: string | undefined;
}

export const mediaKinds: ReadonlyMap<string, readonly [member: string, mediaType: string]> = new Map([
  ["IMAGE", ["image", "image/*"]],
  ["AUDIO", ["audio", "audio/*"]],
  ["VIDEO", ["video", "video/*"]],
  ["PDF", ["pdfFile", pdfType]],
]);

export function contentsOf(message: LangChain4jMessage): readonly LangChain4jContent[] {
  return "contents" in message ? message.contents.filter((content) => content !== null) : [];
}

export function isMedia(content: LangChain4jContent): boolean {
  return mediaKinds.has(content.type);
}

/** Everything of a message that a model reads: of attributes, only those of a custom message, which has nothing else. */
export function piecesOf(message: LangChain4jMessage): readonly Piece[] {
  switch (message.type) {
    case "SYSTEM":
      return [{ type: "text", text: message.text, of: "content" }];
    case "USER":
      return [...names(message.name), ...contentsOf(message).map((content) => pieceOf(content, "content"))];
    case "TOOL_EXECUTION_RESULT":
      return [
        ...names(message.toolName),
        ...contentsOf(message).map((content) => pieceOf(content, "tool-result")),
      ];
    case "CUSTOM":
      return [{ type: "text", text: asText(message.attributes ?? {}), of: "content" }];
    case "AI": {
      const pieces: Piece[] = [];
      if (message.thinking) pieces.push({ type: "text", text: message.thinking, of: "reasoning" });
      if (message.text !== undefined) pieces.push({ type: "text", text: message.text, of: "content" });
      for (const call of callsOf(message)) {
        pieces.push(...names(call.name), { type: "text", text: call.arguments ?? "", of: "tool-call" });
      }
      return pieces;
    }
  }
}

function names(text: string | undefined): readonly Piece[] {
  return text ? [{ type: "text", text, of: "name" }] : [];
}

function pieceOf(content: LangChain4jContent, of: Place): Piece {
  if (content.type === "TEXT") return { type: "text", text: content.text, of };
  const kind = mediaKinds.get(content.type);
  if (kind === undefined) return { type: "text", text: asText(content), of };
  const [member, anyType] = kind;
  const medium = ((content as unknown as Record<string, unknown>)[member] ?? {}) as Medium;
  const data = medium.base64Data ?? medium.binaryData;
  const facts = data === undefined ? dataUrlFacts(medium.url ?? "") : undefined;
  return {
    type: "media",
    mediaType: medium.mimeType || (content.type === "PDF" ? pdfType : (facts?.mediaType ?? anyType)),
    bytes: data === undefined ? facts?.bytes : base64Bytes(data),
    of,
  };
}
