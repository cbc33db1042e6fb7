import type { MessageFormat, TokenCounter } from "@turnkeep/core";
import {
  type Fields,
  invalidOption,
  kindOf,
  optional,
  quoted,
  show,
  takeOptions,
  wrongOption,
} from "@turnkeep/core/store-kit";
import { type EncodingName, loadEncoding, vocabularyOf } from "./encoding.ts";
import { defaultImages } from "./images.ts";
import { costsOf, type MediaPiece, mediaTokens } from "./media.ts";
import { ruleOf } from "./models.ts";

/** The name of an encoding or of a model. */
export type EncodingOrModel = EncodingName | (string & {});

/** How a list of messages is framed, in tokens. */
export interface Framing {
  readonly perMessage: number;
  readonly perName: number;
  readonly perAssistant: number;
  readonly reply: number;
}

/**
 * OpenAI cookbook, "How to count tokens with tiktoken": each message is framed by three tokens, a name costs one token
 * beside its text, and every reply is primed with three.
 */
const chat: Framing = { perMessage: 3, perName: 1, perAssistant: 0, reply: 3 };

/** OpenAI cookbook, "OpenAI harmony response format": an assistant message names its channel too. */
const harmony: Framing = { ...chat, perAssistant: 2 };

/** Your own rule for media. */
export interface MediaRule {
  /** Becomes part of the counter's name, so that counts by another rule are not reused. */
  readonly name: string;
  /** Returns a non-negative integer. */
  readonly count: (piece: MediaPiece) => number;
}

/** Options of {@link tokenCounter}. */
export interface TokenCounterOptions {
  /** Default: the model's documented rule for images, {@link estimateMedia}'s for other media. */
  readonly media?: MediaRule | undefined;
}

/**
 * A token counter for a window, for one of OpenAI's encodings or models. Text is counted exactly as OpenAI's `tiktoken`
 * counts it; special tokens in it (`<|endoftext|>`) count as plain text. A message costs its texts, its role and the
 * overhead that OpenAI's cookbook documents in "How to count tokens with tiktoken": three tokens per message, one per
 * name; a list costs three more, for the reply that it opens (`base`). Images cost by the model's documented rule;
 * other media are estimated. Models that count alike share a counter's name, and so their stored counts. A model that is
 * newer than the newest that is known of its family is counted like that one; a memory tells so by a `warning` event.
 *
 * Loads only the requested vocabulary, once per process.
 *
 * Errors: `INVALID_OPTION` for an unknown encoding, model or option, a media rule without name or count, and a media
 * rule that returns anything but a non-negative integer.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { tokenCounter } from "@turnkeep/tokens";
 *
 * const counter = await tokenCounter("gpt-4o");
 * const memory = createChatMemory({ window: { maxTokens: 8_000, counter } });
 * ```
 */
export async function tokenCounter(
  name: EncodingOrModel,
  options?: TokenCounterOptions,
): Promise<TokenCounter> {
  const { encoding, images, assumed } = ruleOf(name);
  const media = mediaRuleOf("tokenCounter", options);
  const bytePairs = await loadEncoding(encoding);
  const costs = costsOf(images);
  const countMedia = media?.count ?? ((piece: MediaPiece) => mediaTokens(piece, costs));
  const framing = encoding === "o200k_harmony" ? harmony : chat;
  const names = [
    vocabularyOf(encoding),
    ...(framing === harmony ? ["harmony"] : []),
    ...(media !== undefined ? [media.name] : images === defaultImages ? [] : [images.name]),
  ];
  const warning = assumed && {
    code: "token-counter",
    message: `No rule is known for ${quoted(name)}: it is counted as ${assumed}. Update @turnkeep/tokens, or calibrate.`,
  };
  return {
    name: names.join("+"),
    base: framing.reply,
    ...(warning && { warning }),
    count: (message, format) =>
      countMessage(message, format, (text) => bytePairs().count(text), framing, countMedia),
  };
}

/**
 * A function that counts the tokens of a text by one of OpenAI's encodings or models, as `tiktoken` does with special
 * tokens taken as plain text.
 *
 * Errors: `INVALID_OPTION` for an unknown encoding or model, and from the function for what is no string.
 *
 * @example
 * ```ts
 * import { textCounter } from "@turnkeep/tokens";
 *
 * const count = await textCounter("o200k_base");
 * count("Hello, world!"); // 4
 * ```
 */
export async function textCounter(name: EncodingOrModel): Promise<(text: string) => number> {
  const bytePairs = await loadEncoding(ruleOf(name).encoding);
  return (text) => {
    if (typeof text !== "string") throw wrongOption("text", text, "a string");
    return bytePairs().count(text);
  };
}

/** What a message costs, with its role, its name and its frame. */
export function countMessage<M>(
  message: M,
  format: MessageFormat<M>,
  countText: (text: string) => number,
  framing: Framing,
  countMedia: (piece: MediaPiece) => number,
): number {
  if (typeof format?.pieces !== "function") throw wrongOption("format", format, "a MessageFormat");
  const role = format.role(message);
  let tokens = framing.perMessage + countText(role) + (role === "assistant" ? framing.perAssistant : 0);
  for (const piece of format.pieces(message)) {
    if (piece.type === "media") {
      tokens += countMedia(piece);
    } else {
      tokens += countText(piece.text);
      if (piece.of === "name") tokens += framing.perName;
    }
  }
  return tokens;
}

const fields = { media: optional(checkRule) } satisfies Fields<TokenCounterOptions>;

function checkRule(name: string, value: unknown): void {
  const rule = value as Partial<MediaRule> | null;
  if (typeof rule?.count !== "function") {
    throw invalidOption(
      `${name} must be a rule, { name, count }, whose count is a function; it is ${kindOf(rule)}.`,
    );
  }
  if (typeof rule.name !== "string" || rule.name === "") {
    throw invalidOption(
      `${name}.name must be a non-empty string: counts are stored under it, and another rule needs another name.`,
    );
  }
}

/** The media rule among the options of a counter, with its answers checked. Errors: `INVALID_OPTION`. */
export function mediaRuleOf(
  counter: string,
  options: TokenCounterOptions | undefined,
): MediaRule | undefined {
  const { media: rule } = takeOptions(`${counter}'s options`, fields, options);
  if (rule === undefined) return undefined;
  const count = (piece: MediaPiece): number => {
    const tokens = rule.count(piece);
    if (Number.isSafeInteger(tokens) && tokens >= 0) return tokens;
    throw invalidOption(
      `The media rule ${quoted(rule.name)} answered ${show(tokens)}. Answer a non-negative integer.`,
    );
  };
  return { name: rule.name, count };
}
