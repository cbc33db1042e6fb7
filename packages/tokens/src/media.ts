import type { Piece } from "@turnkeep/core";

/** A medium in a message: its type and decoded size, where the message tells them. */
export type MediaPiece = Extract<Piece, { readonly type: "media" }>;

/**
 * What an image costs at most by OpenAI's tile rule for the GPT-4o family (not its mini models): 85 tokens, and 170
 * for each of at most eight squares of 512 pixels, at high detail.
 * Source: platform.openai.com, guide "Images and vision", "Calculating costs".
 */
const imageTokens = 85 + 8 * 170;

/** Ten tokens a second of speech, taken at 32 kbit/s, a low rate for compressed speech. */
const bytesPerAudioToken = 400;

/** What a file's bytes cost if they are text. */
const bytesPerFileToken = 4;

/**
 * The estimate that counters use for media. No text tokenizer can count a medium exactly: its cost depends on the
 * model and on pixels, seconds or pages, which a message does not tell. An image is taken at the most it can cost;
 * audio at 400 bytes a token; anything else at four bytes a token; a medium of unknown size like an image.
 *
 * @example
 * ```ts
 * import { estimateMedia } from "@turnkeep/tokens";
 *
 * estimateMedia({ type: "media", mediaType: "image/png", bytes: 40_000, of: "content" }); // 1445
 * ```
 */
export function estimateMedia(piece: MediaPiece): number {
  if (piece.bytes === undefined || piece.mediaType?.startsWith("image/")) return imageTokens;
  const bytesPerToken = piece.mediaType?.startsWith("audio/") ? bytesPerAudioToken : bytesPerFileToken;
  return Math.ceil(piece.bytes / bytesPerToken);
}
