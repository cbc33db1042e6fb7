import type { Piece } from "@turnkeep/core";
import { wrongOption } from "@turnkeep/core/store-kit";
import { imageSizeOf } from "./image-size.ts";
import { defaultImages, type ImageSize, imageTokens } from "./images.ts";

/** A medium in a message: its type, size, data and detail, as far as the message has them. */
export type MediaPiece = Extract<Piece, { readonly type: "media" }>;

/** Ten tokens a second of speech, taken at 32 kbit/s, a low rate for compressed speech. */
const bytesPerAudioToken = 400;

/** What a file's bytes cost if they are text. */
const bytesPerFileToken = 4;

/**
 * The default estimate for media, for a model whose images cost like GPT-4o's. An image that the message carries (PNG,
 * JPEG, GIF, WebP) costs by its width, height and detail, as OpenAI documents; one behind a URL counts as the most that
 * an image can cost. No tokenizer can count other media: audio counts as one token per 400 bytes, anything else as one
 * per four bytes, and a medium of unknown size as an image of unknown size. Errors: `INVALID_OPTION` for what is no
 * medium.
 *
 * @example
 * ```ts
 * import { estimateMedia } from "@turnkeep/tokens";
 *
 * estimateMedia({ type: "media", mediaType: "image/png", bytes: undefined, of: "content" }); // 1445
 * ```
 */
export function estimateMedia(piece: MediaPiece): number {
  const { type, mediaType, bytes } = piece ?? {};
  const isSize = bytes === undefined || (typeof bytes === "number" && bytes >= 0);
  if (type !== "media" || !isTextOrNone(mediaType) || !isSize)
    throw wrongOption("piece", piece, "a medium, as a MessageFormat's pieces tell of it");
  return mediaTokens(piece, (size, detail) => imageTokens(defaultImages, size, detail));
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

/** The cost of an image of this size; `undefined`: of unknown size. */
export type ImageCost = (size: ImageSize | undefined, detail: string | undefined) => number;

/** The same for another model. */
export function mediaTokens(
  piece: MediaPiece,
  imageCost: ImageCost,
  bytesPerAudio: number = bytesPerAudioToken,
): number {
  const { mediaType, bytes, data, detail } = piece;
  if (bytes === undefined || mediaType?.startsWith("image")) {
    return imageCost(data === undefined ? undefined : imageSizeOf(data), detail);
  }
  const bytesPerToken = mediaType?.startsWith("audio") ? bytesPerAudio : bytesPerFileToken;
  return Math.ceil(bytes / bytesPerToken);
}
