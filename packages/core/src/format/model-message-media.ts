import { base64Bytes } from "../base64.ts";
import type { Piece } from "../message-format.ts";
import { utf8Length } from "../stores/text.ts";
import type { AnyPart } from "./any-part.ts";
import { dataUrlFacts } from "./data-url.ts";

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

/** What a counter counts of an image or a file. */
export function mediaPiece(part: AnyPart, of: "content" | "reasoning" | "tool-result"): Piece {
  // An image need not state its media type.
  const known = part.type.startsWith("image") ? "image/*" : undefined;
  const mediaType = typeof part.mediaType === "string" ? part.mediaType : known;
  const carried = carriedBy(part.image ?? part.data ?? part.url);
  const { openai } = (part.providerOptions ?? {}) as { openai?: { imageDetail?: unknown } };
  const detail = openai?.imageDetail;
  return {
    type: "media",
    mediaType,
    bytes: carried?.bytes,
    ...(carried?.data !== undefined && { data: carried.data }),
    ...(typeof detail === "string" && { detail }),
    of,
  };
}

/** Data that a message carries, with its decoded size; kept as text only if it is base64. */
interface Carried {
  readonly bytes: number;
  readonly data?: string | Uint8Array | ArrayBuffer | undefined;
}

/** `undefined` for data that is elsewhere. */
function carriedBy(data: unknown): Carried | undefined {
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return { bytes: data.byteLength, data };
  if (data instanceof URL) return carriedByText(data.href);
  if (typeof data === "string") return carriedByText(data);
  const file = (data ?? {}) as { type?: unknown; data?: unknown; url?: unknown; text?: unknown };
  if (file.type === "data") return carriedBy(file.data);
  if (file.type === "url") return carriedBy(file.url);
  return file.type === "text" && typeof file.text === "string" ? { bytes: utf8Length(file.text) } : undefined;
}

/** Base64 has no colon, so a colon means a URL. */
function carriedByText(text: string): Carried | undefined {
  return /^[a-z][a-z0-9+.-]*:/i.test(text) ? dataUrlFacts(text) : { bytes: base64Bytes(text), data: text };
}
