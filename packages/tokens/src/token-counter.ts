import { type MessageFormat, type TokenCounter, TurnkeepError } from "@turnkeep/core";
import type { BytePairEncoding } from "./bpe.ts";
import { type EncodingName, loadEncoding } from "./encoding.ts";
import { estimateMedia, type MediaPiece } from "./media.ts";

/** OpenAI cookbook, "How to count tokens with tiktoken": each message is framed by three tokens, */
const tokensPerMessage = 3;
/** a name costs one token beside its text, */
const tokensPerName = 1;
/** and every reply is primed with three. */
const tokensPerReply = 3;

/** A rule of one's own for media. */
export interface MediaRule {
  /** Becomes part of the counter's name, so that counts by another rule are not reused. */
  readonly name: string;
  /** A non-negative integer. */
  readonly count: (piece: MediaPiece) => number;
}

export interface TokenCounterOptions {
  /** Default: {@link estimateMedia}. */
  readonly media?: MediaRule | undefined;
}

/**
 * A counter of a window's tokens by one of OpenAI's encodings. Text is counted exactly as OpenAI's `tiktoken` counts
 * it, the text of special tokens (`<|endoftext|>`) as plain text. A message costs its texts, its role and the
 * overhead that OpenAI's cookbook documents in "How to count tokens with tiktoken": three tokens a message, one a
 * name; a list costs three beyond its messages, for the reply that it opens (`base`). Media are estimated.
 *
 * Only the encoding asked for is loaded, once a process.
 *
 * Errors: `INVALID_OPTION` for an unknown encoding or a media rule without a name, and when a media rule answers no
 * non-negative integer.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { tokenCounter } from "@turnkeep/tokens";
 *
 * const counter = await tokenCounter("o200k_base");
 * const memory = createChatMemory({ window: { maxTokens: 8_000, counter } });
 * ```
 */
export async function tokenCounter(
  encoding: EncodingName,
  options: TokenCounterOptions = {},
): Promise<TokenCounter> {
  const { media } = options;
  if (media !== undefined && (typeof media.name !== "string" || media.name === "")) {
    throw new TurnkeepError(
      "INVALID_OPTION",
      "media.name must be a non-empty string: counts are stored under it, and another rule needs another name.",
    );
  }
  const bytePairs = await loadEncoding(encoding);
  const countMedia = media === undefined ? estimateMedia : checked(media);
  return {
    name: media === undefined ? encoding : `${encoding}+${media.name}`,
    base: tokensPerReply,
    count: <M>(message: M, format: MessageFormat<M>): number =>
      countMessage(message, format, bytePairs(), countMedia),
  };
}

/**
 * Counts the tokens of a text by one of OpenAI's encodings, as `tiktoken` does with special tokens taken as plain
 * text.
 *
 * Errors: `INVALID_OPTION` for an unknown encoding.
 *
 * @example
 * ```ts
 * import { textCounter } from "@turnkeep/tokens";
 *
 * const count = await textCounter("o200k_base");
 * count("Hello, world!"); // 4
 * ```
 */
export async function textCounter(encoding: EncodingName): Promise<(text: string) => number> {
  const bytePairs = await loadEncoding(encoding);
  return (text) => bytePairs().count(text);
}

function countMessage<M>(
  message: M,
  format: MessageFormat<M>,
  bytePairs: BytePairEncoding,
  countMedia: (piece: MediaPiece) => number,
): number {
  let tokens = tokensPerMessage + bytePairs.count(format.role(message));
  for (const piece of format.pieces(message)) {
    if (piece.type === "media") {
      tokens += countMedia(piece);
    } else {
      tokens += bytePairs.count(piece.text);
      if (piece.of === "name") tokens += tokensPerName;
    }
  }
  return tokens;
}

function checked(rule: MediaRule): (piece: MediaPiece) => number {
  return (piece) => {
    const count = rule.count(piece);
    if (!Number.isSafeInteger(count) || count < 0) {
      throw new TurnkeepError(
        "INVALID_OPTION",
        `The media rule ${JSON.stringify(rule.name)} answered ${String(count)}. Answer a non-negative integer.`,
      );
    }
    return count;
  };
}
