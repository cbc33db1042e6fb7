import type { Piece } from "@turnkeep/core";
import { base64Bytes, isObject } from "@turnkeep/core/format-kit";
import type { AnyItem } from "./items.ts";

/** Of an image, a file, a sound or a screenshot, in a message or in what a tool put out. */
export function mediaPiece(part: AnyItem, of: "content" | "tool-result"): Piece {
  const held = part.image ?? part.file ?? part.audio ?? part.data;
  const { data, mediaType } = isObject(held) ? held : { data: held, mediaType: undefined };
  const { type, ...facts } = dataFacts(data);
  return {
    type: "media",
    mediaType: typeof mediaType === "string" ? mediaType : (type ?? mediaTypeOf(part)),
    ...facts,
    ...(typeof part.detail === "string" ? { detail: part.detail } : {}),
    of,
  };
}

function mediaTypeOf({ type, format }: AnyItem): string | undefined {
  if (type === "audio") return typeof format === "string" ? `audio/${format}` : "audio/*";
  return type.includes("file") ? undefined : "image/*";
}

interface DataFacts {
  readonly type?: string | undefined;
  readonly bytes: number | undefined;
  readonly data?: string | Uint8Array;
}

function dataFacts(data: unknown): DataFacts {
  if (data instanceof Uint8Array) return { bytes: data.byteLength, data };
  if (typeof data !== "string") return { bytes: undefined };
  const [, type, encoded] = /^data:([^;,]*)[^,]*;base64,(.*)$/is.exec(data) ?? [];
  if (encoded === undefined && /^[a-z][a-z0-9+.-]*:/i.test(data)) return { bytes: undefined };
  const base64 = encoded ?? data;
  return {
    type: type || undefined,
    bytes: base64Bytes(base64),
    data: base64,
  };
}
