import type { Piece } from "@turnkeep/core";
import { wrongOption } from "@turnkeep/core/store-kit";
import { imageSizeOf } from "./image-size.ts";
import { defaultImages, type ImageRule, type ImageSize, imageTokens } from "./images.ts";
import { mediaSeconds } from "./media-seconds.ts";
import { pdfPages } from "./pdf-pages.ts";

/** A medium in a message: its type, size, data and detail, as far as the message has them. */
export type MediaPiece = Extract<Piece, { readonly type: "media" }>;

/** OpenAI's guide "Managing costs" of the Realtime API (read November 2026): a token for each 100 ms of a user's sound. */
const soundSecond = 10;

/** Sound that does not tell its length is taken at 32 kbit/s, a low rate for compressed speech. */
const speechBytes = 4000;

/** What a file's bytes cost if they are text. */
const bytesPerFileToken = 4;

/**
 * The default estimate for media, for a model whose images cost like GPT-4o's. An image that the message carries (PNG,
 * JPEG, GIF, WebP) costs by its width, height and detail, as OpenAI documents; one behind a URL counts as the most that
 * an image can cost. A PDF costs by its pages, each a full page of text and its image. Sound costs ten
 * tokens a second, by the length that its header tells, else by one token per 400 bytes. Anything else (a PDF that does not
 * tell its pages, too) counts as one token per four bytes, and a medium of unknown size as an image of unknown size. Errors:
 * `INVALID_OPTION` for what is no medium.
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
  return mediaTokens(piece, costsOf(defaultImages));
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

/** What media cost with a model. */
export interface MediaCosts {
  /** An image of this size; `undefined`: of unknown size. */
  readonly image: (size: ImageSize | undefined, detail: string | undefined) => number;
  /** A page of a PDF. */
  readonly page: number;
  readonly soundSecond: number;
  /** Absent where the provider names no figure: a film then costs by its bytes. */
  readonly filmSecond?: number;
}

/** A sheet of Letter at 150 dots an inch. */
const sheet: ImageSize = { width: 1275, height: 1650 };

/** OpenAI's guide "File inputs": a model is shown a page's text and its image. A full page of print has some 800 tokens. */
export function costsOf(rule: ImageRule): MediaCosts {
  const image: MediaCosts["image"] = (size, detail) => imageTokens(rule, size, detail);
  return { image, page: 800 + image(sheet, "high"), soundSecond };
}

/** What a medium costs. */
export function mediaTokens(piece: MediaPiece, costs: MediaCosts): number {
  const { mediaType, bytes, data, detail } = piece;
  if (bytes === undefined || mediaType?.startsWith("image")) {
    return costs.image(data === undefined ? undefined : imageSizeOf(data), detail);
  }
  const isSound = mediaType?.startsWith("audio") === true;
  const filmSecond = mediaType?.startsWith("video") ? costs.filmSecond : undefined;
  const second = isSound ? costs.soundSecond : filmSecond;
  if (second !== undefined) {
    const seconds = data === undefined ? undefined : mediaSeconds(data, bytes);
    const tokens = Math.ceil((seconds ?? Number.NaN) * second);
    // A header may say anything.
    if (Number.isSafeInteger(tokens)) return tokens;
    if (isSound) return Math.ceil((bytes / speechBytes) * second);
  }
  const pages = data === undefined ? undefined : pdfPages(data);
  return pages === undefined ? Math.ceil(bytes / bytesPerFileToken) : pages * costs.page;
}
