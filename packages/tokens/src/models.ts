import { TurnkeepError } from "@turnkeep/core";
import { quoted } from "@turnkeep/core/store-kit";
import { type EncodingName, encodingNames } from "./encoding.ts";
import { defaultImages, type ImageRule, originalPatches, patches, tiles } from "./images.ts";

/** How a model counts: its encoding, and what its images cost. */
export interface ModelRule {
  readonly encoding: EncodingName;
  readonly images: ImageRule;
  /** The model whose rule this is, where none is known for the one asked for. */
  readonly assumed?: string | undefined;
}

/**
 * Model → encoding as in OpenAI's `tiktoken` 0.14.0 (`tiktoken/model.py`), which a test compares. Model → images as in
 * the table of OpenAI's guide "Images and vision", section "Calculating costs"; where that names no number for a model
 * (`gpt-5.2` and later), by what OpenAI's API billed (community.openai.com/t/1377015), and for `original` detail by the
 * limit that OpenAI's own `codex` cites from the guide (github.com/openai/codex/pull/19865). From `gpt-5.5` on, by what was
 * billed in huggingface.co/datasets/JOHNISKING/image-token-cost: an image without a detail costs what it costs at
 * `original`, and for `gpt-6` no limit was seen; an image of unknown size is taken for one of 4,096 by 4,096 pixels.
 * GPT-6's tokenizer was not published when its names were added: it is counted by the newest encoding.
 *
 * A row applies to its name and to that name followed by `-…`, such as a date; the longest row wins. A row that ends
 * with a dot applies to any continuation.
 */
const models: Readonly<Record<string, readonly [EncodingName, ImageRule?]>> = {
  "gpt-5": ["o200k_base", tiles(70, 140)],
  "gpt-5-mini": ["o200k_base", patches(1.62, 1536)],
  "gpt-5-nano": ["o200k_base", patches(2.46, 1536)],
  "gpt-6": ["o200k_base", originalPatches(1.2, 2500, 16_384)],
  "gpt-6.": ["o200k_base", originalPatches(1.2, 2500, 16_384)],
  "gpt-5.": ["o200k_base", originalPatches(1.2, 2500, 10_000)],
  "gpt-5.1": ["o200k_base", tiles(70, 140)],
  "gpt-5.2": ["o200k_base", patches(1.2, 1536)],
  "gpt-5.3": ["o200k_base", patches(1.2, 1536)],
  "gpt-5.4": ["o200k_base", patches(1.2, 2500, 10_000)],
  "gpt-5.4-mini": ["o200k_base", patches(1.62, 1536)],
  "gpt-5.4-nano": ["o200k_base", patches(2.46, 1536)],
  "gpt-4.5": ["o200k_base"],
  "gpt-4.1": ["o200k_base"],
  "gpt-4.1-mini": ["o200k_base", patches(1.62, 1536)],
  "gpt-4.1-nano": ["o200k_base", patches(2.46, 1536)],
  "gpt-4o": ["o200k_base"],
  "gpt-4o-mini": ["o200k_base", tiles(2833, 5667)],
  "chatgpt-4o": ["o200k_base"],
  o1: ["o200k_base", tiles(75, 150)],
  o3: ["o200k_base", tiles(75, 150)],
  "o4-mini": ["o200k_base", patches(1.72, 1536)],
  "gpt-oss": ["o200k_harmony"],
  "gpt-4": ["cl100k_base"],
  "gpt-3.5": ["cl100k_base"],
  "gpt-3.5-turbo": ["cl100k_base"],
  "gpt-35-turbo": ["cl100k_base"],
  "davinci-002": ["cl100k_base"],
  "babbage-002": ["cl100k_base"],
  "text-embedding-ada-002": ["cl100k_base"],
  "text-embedding-3-small": ["cl100k_base"],
  "text-embedding-3-large": ["cl100k_base"],
};

/** By family, a name newer than the newest row, and the row that it is counted by. An application starts all the same. */
const newer: readonly (readonly [name: RegExp, row: string])[] = [
  [/^gpt-(?:[7-9]|1\d)(?:[.-]|$)/, "gpt-6"],
  [/^o[5-9](?:-|$)/, "o4-mini"],
];

/** Names of models without a public tokenizer, as their providers or a gateway write them, and their bound. */
const bounded: readonly (readonly [name: RegExp, bound: string])[] = [
  [/(?:^|[./])(?:claude|anthropic)\b/i, "anthropic"],
  [/(?:^|[./])gemini\b/i, "gemini"],
];

/**
 * Finds how an encoding or a model counts. A fine-tuned model (`ft:gpt-4o-mini-2024-07-18:…`) counts like its base, and one
 * that is newer than the newest of its family like that. Errors: `INVALID_OPTION`.
 */
export function ruleOf(name: string): ModelRule {
  const encoding = encodingNames.find((known) => known === name);
  if (encoding !== undefined) return { encoding, images: defaultImages };
  const text = typeof name === "string" ? name : "";
  const base = text.startsWith("ft:") ? (text.split(":")[1] ?? "") : text;
  const [row] = Object.keys(models)
    .filter((model) => base === model || (base.startsWith(model) && /[-.]/.test(boundary(base, model))))
    .sort((a, b) => b.length - a.length);
  const assumed = row === undefined ? newer.find(([pattern]) => pattern.test(base))?.[1] : undefined;
  const found = models[row ?? assumed ?? ""];
  if (found === undefined) {
    const bound = bounded.find(([pattern]) => pattern.test(text));
    if (bound !== undefined)
      throw new TurnkeepError(
        "INVALID_OPTION",
        `No tokenizer of ${shown(name)} is published. Use boundCounter("${bound[1]}"): what it should not exceed.`,
      );
    const known = Object.keys(models).filter((model) => !model.endsWith("."));
    throw new TurnkeepError(
      "INVALID_OPTION",
      `Unknown encoding or model ${shown(name)}. Use an encoding (${encodingNames.join(", ")}) or a model ` +
        `(${known.join(", ")}, also with a suffix such as a date). For other providers use boundCounter.`,
    );
  }
  return { encoding: found[0], images: found[1] ?? defaultImages, assumed };
}

/** A given name, as errors show it. */
export function shown(name: unknown): string {
  return typeof name === "string" ? quoted(name) : `(${name === null ? "null" : typeof name})`;
}

/** The character that decides whether a row's name ends where it should: `gpt-4` is no prefix of `gpt-4o`. */
function boundary(name: string, model: string): string {
  if (model.endsWith(".")) return ".";
  const next = name[model.length] ?? "";
  return next === "." ? "" : next;
}
