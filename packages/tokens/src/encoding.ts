import { TurnkeepError } from "@turnkeep/core";
import { type BytePairEncoding, bytePairEncoding, type Ranks } from "./bpe.ts";
import { cl100kPattern, o200kPattern } from "./split.ts";

/** `o200k_base`: GPT-4o and later. `cl100k_base`: GPT-4 and GPT-3.5. */
export type EncodingName = "o200k_base" | "cl100k_base";

/** The specifiers are literals, so that a bundler sees them and keeps each vocabulary in a file of its own. */
const sources: Record<EncodingName, { readonly ranks: () => Promise<Ranks>; readonly pattern: string }> = {
  o200k_base: {
    ranks: async () => (await import("gpt-tokenizer/bpeRanks/o200k_base")).default,
    pattern: o200kPattern,
  },
  cl100k_base: {
    ranks: async () => (await import("gpt-tokenizer/bpeRanks/cl100k_base")).default,
    pattern: cl100kPattern,
  },
};

const loaded = new Map<EncodingName, Promise<() => BytePairEncoding>>();

/**
 * Reads the vocabulary, once a process. The function it answers builds the lookup table when first called: a counter
 * that is never asked costs no more than the reading.
 */
export function loadEncoding(name: EncodingName): Promise<() => BytePairEncoding> {
  if (!Object.hasOwn(sources, name)) {
    const names = Object.keys(sources).join(", ");
    throw new TurnkeepError(
      "INVALID_OPTION",
      `Unknown encoding ${JSON.stringify(name)}. Use one of: ${names}.`,
    );
  }
  let loading = loaded.get(name);
  if (loading === undefined) {
    loading = load(name);
    loaded.set(name, loading);
    // A failed import may succeed later; it must not be kept.
    loading.catch(() => loaded.delete(name));
  }
  return loading;
}

async function load(name: EncodingName): Promise<() => BytePairEncoding> {
  const { ranks, pattern } = sources[name];
  const vocabulary = await ranks();
  let encoding: BytePairEncoding | undefined;
  return () => {
    encoding ??= bytePairEncoding(vocabulary, pattern);
    return encoding;
  };
}
