import type { Piece } from "../message-format.ts";
import { base64ByteLength } from "./base64.ts";
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
  if (output.type !== "content" || !Array.isArray(output.value))
    return text(asText(output.value), "tool-result");
  return (output.value as AnyPart[]).flatMap((part) => {
    if (part.type === "text") return text(part.text, "tool-result");
    return isMedia(part) ? [media(part, "tool-result")] : text(asText(part), "tool-result");
  });
}

function text(value: unknown, of: "content" | "reasoning" | "name" | "tool-call" | "tool-result"): Piece[] {
  return [{ type: "text", text: asText(value), of }];
}

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  return (
    JSON.stringify(value, (_key, member: unknown) =>
      typeof member === "bigint" ? String(member) : member,
    ) ?? ""
  );
}

function media(part: AnyPart, of: Place): Piece {
  const mediaType = typeof part.mediaType === "string" ? part.mediaType : undefined;
  return { type: "media", mediaType, bytes: byteLength(part.image ?? part.data), of };
}

/** The decoded size of data that the message carries; `undefined` for what stands elsewhere. */
function byteLength(data: unknown): number | undefined {
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return data.byteLength;
  if (typeof data === "string") {
    if (/^https?:/i.test(data)) return undefined;
    return base64ByteLength(data.startsWith("data:") ? data.slice(data.indexOf(",") + 1) : data);
  }
  if (data instanceof URL) return data.protocol === "data:" ? byteLength(data.href) : undefined;
  const {
    type,
    data: inner,
    text: plain,
  } = (data ?? {}) as { type?: unknown; data?: unknown; text?: unknown };
  if (type === "data") return byteLength(inner);
  return type === "text" && typeof plain === "string" ? new TextEncoder().encode(plain).length : undefined;
}
