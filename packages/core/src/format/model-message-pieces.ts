import type { Piece } from "../message-format.ts";
import { base64ByteLength, toBase64 } from "./base64.ts";
import type { AnyPart } from "./model-message-format.ts";

type Place = "content" | "reasoning" | "tool-result";

const mediaTypes: ReadonlySet<string> = new Set([
  "image",
  "file",
  "reasoning-file",
  "media",
  "file-data",
  "file-url",
  "file-id",
  "file-reference",
  "image-data",
  "image-url",
  "image-file-id",
  "image-file-reference",
]);

/** Whether a part, or a part of a tool's output, is an image or a file. */
export function isMedia(part: AnyPart): boolean {
  return mediaTypes.has(part.type);
}

/** What a counter counts of a part. A part of an unknown type counts as its JSON text. */
export function piecesOf(part: AnyPart): Piece[] {
  switch (part.type) {
    case "text":
      return text(part.text, "content");
    case "reasoning":
      return text(part.text, "reasoning");
    case "reasoning-file":
      return [media(part, "reasoning")];
    case "tool-call":
      return [...text(part.toolName, "name"), ...text(asText(part.input), "tool-call")];
    case "tool-result":
      return [...text(part.toolName, "name"), ...outputPieces(part.output as AnyPart)];
    case "tool-approval-request":
    case "tool-approval-response":
      // Only the application sees approvals, never the model.
      return [];
    default:
      return isMedia(part) ? [media(part, "content")] : text(asText(part), "content");
  }
}

function outputPieces(output: AnyPart): Piece[] {
  if (output.type === "execution-denied") return text(output.reason ?? "", "tool-result");
  if (output.type !== "content") return text(asText(output.value), "tool-result");
  return (output.value as AnyPart[]).flatMap((part) => {
    if (part.type === "text") return text(part.text, "tool-result");
    return isMedia(part) ? [media(part, "tool-result")] : text(asText(part), "tool-result");
  });
}

function text(value: unknown, of: "content" | "reasoning" | "name" | "tool-call" | "tool-result"): Piece[] {
  return [{ type: "text", text: asText(value), of }];
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, asJson) ?? "");
}

/** What JSON cannot hold, as briefly as a provider could be sent it. */
function asJson(_key: string, member: unknown): unknown {
  if (typeof member === "bigint") return String(member);
  if (member instanceof Uint8Array) return toBase64(member);
  return member instanceof ArrayBuffer ? toBase64(new Uint8Array(member)) : member;
}

function media(part: AnyPart, of: Place): Piece {
  const mediaType = typeof part.mediaType === "string" ? part.mediaType : undefined;
  return { type: "media", mediaType, bytes: byteLength(part.image ?? part.data ?? part.url), of };
}

/** The decoded size of data that the message carries; `undefined` for what stands elsewhere. */
function byteLength(data: unknown): number | undefined {
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return data.byteLength;
  if (data instanceof URL) return textByteLength(data.href);
  if (typeof data === "string") return textByteLength(data);
  const file = (data ?? {}) as { type?: unknown; data?: unknown; url?: unknown; text?: unknown };
  if (file.type === "data") return byteLength(file.data);
  if (file.type === "url") return byteLength(file.url);
  return file.type === "text" && typeof file.text === "string" ? utf8Length(file.text) : undefined;
}

/** Base64 has no colon, so that a colon tells a URL. */
function textByteLength(text: string): number | undefined {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) return base64ByteLength(text);
  if (!/^data:/i.test(text)) return undefined;
  const comma = text.indexOf(",");
  if (comma < 0) return undefined;
  const body = text.slice(comma + 1);
  if (/;base64$/i.test(text.slice(0, comma).trimEnd())) return base64ByteLength(body);
  return utf8Length(body.replace(/%[0-9a-f]{2}/gi, "_"));
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
