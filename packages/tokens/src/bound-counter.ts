import { type TokenCounter, TurnkeepError } from "@turnkeep/core";
import { claudeTokens } from "./claude-bound.ts";
import { loadEncoding } from "./encoding.ts";
import type { ImageSize } from "./images.ts";
import { type MediaCosts, type MediaPiece, mediaTokens } from "./media.ts";
import { shown } from "./models.ts";
import { countMessage, type Framing, mediaRuleOf, type TokenCounterOptions } from "./token-counter.ts";

/** Providers that publish no tokenizer for the models they sell. */
export type BoundName = "anthropic" | "gemini";

/** Bounds a text's tokens from above, given what OpenAI's `o200k_base` counts. */
interface Bound {
  /** Part of the counter's name; a changed rule needs another number. */
  readonly name: string;
  readonly text: (text: string, count: (text: string) => number) => number;
  readonly framing: Framing;
  readonly media: MediaCosts;
}

/** Decision record 0016 documents the sources of the numbers and how far they were measured. */
const bounds: Readonly<Record<BoundName, Bound>> = {
  anthropic: {
    name: "anthropic-bound-1",
    text: claudeTokens,
    framing: { perMessage: 8, perName: 1, perAssistant: 0, reply: 16 },
    // Anthropic's guide "PDF support": 1,500 to 3,000 tokens of text a page, and the page's image.
    media: { image: anthropicImage, page: 3000 + 2806, soundSecond: 32 },
  },
  gemini: {
    name: "gemini-bound-1",
    text: geminiTokens,
    framing: { perMessage: 8, perName: 1, perAssistant: 0, reply: 16 },
    // Google's guides (read November 2026) "Audio understanding": 32 tokens a second; "Video understanding": a frame a second,
    // 258 tokens, with the sound and what is said of the time some 300 a second; "Media resolution": up to 280 a frame with
    // Gemini 3, and up to 1,120 for a page of a PDF, its text nothing.
    media: { image: geminiImage, page: 1120, soundSecond: 32, filmSecond: 322 },
  },
};

/**
 * A counter for a provider without a public tokenizer. It does not count tokens but gives a number that they should not
 * exceed (decision record 0016). Anthropic's covers the text by tokens that an open reconstruction of Claude's tokenizers has: none
 * of more than a million texts, made to break it or drawn, cost more there, and English, code and JSON come to 1.32 times what
 * they cost in the median. Gemini's held against the last published relative for every kind of text that it was measured on. The usage
 * that the provider reports is the truth: pass it to `memory.calibrate`, which also gives back the room that the bound takes too much.
 *
 * Errors: `INVALID_OPTION` for an unknown provider or option and for a media rule as in `tokenCounter`.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { boundCounter } from "@turnkeep/tokens";
 *
 * const counter = await boundCounter("anthropic");
 * const memory = createChatMemory({ window: { maxTokens: 180_000, counter } });
 * ```
 */
export async function boundCounter(
  provider: BoundName,
  options?: TokenCounterOptions,
): Promise<TokenCounter> {
  if (typeof provider !== "string" || !Object.hasOwn(bounds, provider)) {
    throw new TurnkeepError(
      "INVALID_OPTION",
      `No bound for ${shown(provider)}. Use one of: ${Object.keys(bounds).join(", ")}; tokenCounter knows OpenAI's models.`,
    );
  }
  const bound = bounds[provider];
  const media = mediaRuleOf("boundCounter", options);
  const bytePairs = await loadEncoding("o200k_base");
  const countText = (text: string): number => Math.ceil(bound.text(text, (part) => bytePairs().count(part)));
  const countMedia = media?.count ?? ((piece: MediaPiece) => mediaTokens(piece, bound.media));
  return {
    name: media === undefined ? bound.name : `${bound.name}+${media.name}`,
    base: bound.framing.reply,
    count: (message, format) => countMessage(message, format, countText, bound.framing, countMedia),
  };
}

/** One and a half times as many; each digit, and each 16 of a long run of spaces, is one more. */
function geminiTokens(text: string, count: (text: string) => number): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: U+0000 to U+007F are ASCII
  const other = text.match(/[^\u0000-\u007f]+/g) ?? [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: U+0000 to U+007F are ASCII
  const ascii = text.replace(/[^\u0000-\u007f]+/g, " ");
  const digits = ascii.match(/[0-9]/g)?.length ?? 0;
  const spaces = (ascii.match(/\s{17,}/g) ?? []).reduce((sum, run) => sum + run.length, 0);
  let tokens = digits + spaces / 16;
  tokens += 1.5 * count(digits === 0 ? ascii : ascii.replace(/[0-9]+/g, " "));
  for (const run of other) tokens += 1.5 * count(run);
  return tokens;
}

/**
 * Anthropic's guide "Vision": width × height / 750, and at most 4,784 for the models that take the largest images, which
 * count patches of 28 pixels: more for small images.
 */
function anthropicImage(size: ImageSize | undefined): number {
  if (size === undefined) return 4784;
  const patches = Math.ceil(size.width / 28) * Math.ceil(size.height / 28);
  return Math.min(4784, Math.max(patches, Math.ceil((size.width * size.height) / 750)));
}

/**
 * Google's guides "Understand and count tokens" and "Media resolution": 258 tokens for each tile of 768 pixels, of at
 * most 3,072 by 3,072; Gemini 3 takes up to 1,120 whatever the size.
 */
function geminiImage(size: ImageSize | undefined): number {
  if (size === undefined) return 16 * 258;
  const scale = Math.min(1, 3072 / Math.max(size.width, size.height));
  const across = (pixels: number): number => Math.ceil((pixels * scale) / 768 - 1e-9);
  return Math.max(1120, 258 * across(size.width) * across(size.height));
}
