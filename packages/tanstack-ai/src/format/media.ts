import type { Piece } from "@turnkeep/core";
import { base64Bytes } from "@turnkeep/core/format-kit";

/** A content part of any type, known or not; its members are what the application gave. */
export interface AnyPart {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface Source {
  readonly type?: unknown;
  readonly value?: unknown;
  readonly mimeType?: unknown;
}

/** Of an image, a sound, a film or a document, at a URL or carried as base64. */
export function mediaPiece(part: AnyPart, of: "content" | "tool-result"): Piece {
  const { type, value, mimeType } = part.source as Source;
  const [, urlType, encoded] = /^data:([^;,]*)[^,]*;base64,(.*)$/is.exec(String(value)) ?? [];
  const data = encoded ?? (type === "data" && typeof value === "string" ? value : undefined);
  const detail = (part.metadata as { readonly detail?: unknown } | null | undefined)?.detail;
  return {
    type: "media",
    mediaType: typeof mimeType === "string" ? mimeType : urlType || topType(part.type),
    bytes: data === undefined ? undefined : base64Bytes(data),
    ...(data === undefined ? {} : { data }),
    ...(typeof detail === "string" ? { detail } : {}),
    of,
  };
}

function topType(type: string): string | undefined {
  return type === "document" ? undefined : `${type}/*`;
}
