import { type BytePairEncoding, bytePairEncoding } from "./bpe.ts";
import { type Cut, cutCl100k, cutO200k, cutR50k } from "./split.ts";
import { vocabulary } from "./vocabulary.ts";

/**
 * OpenAI's public encodings. `o200k_base`: GPT-4o and later; `o200k_harmony`: the same for text, as `gpt-oss` frames
 * messages; `cl100k_base`: GPT-4 and GPT-3.5; the others: models before those. `p50k_edit` and `gpt2` cut text as
 * `p50k_base` and `r50k_base` do and differ in special tokens only, which text never holds.
 */
export type EncodingName =
  | "o200k_base"
  | "o200k_harmony"
  | "cl100k_base"
  | "p50k_base"
  | "p50k_edit"
  | "r50k_base"
  | "gpt2";

/** The encodings that count text differently. */
export type Vocabulary = "o200k_base" | "cl100k_base" | "p50k_base" | "r50k_base";

const vocabularies: Readonly<Record<EncodingName, Vocabulary>> = {
  o200k_base: "o200k_base",
  o200k_harmony: "o200k_base",
  cl100k_base: "cl100k_base",
  p50k_base: "p50k_base",
  p50k_edit: "p50k_base",
  r50k_base: "r50k_base",
  gpt2: "r50k_base",
};

export const encodingNames: readonly EncodingName[] = Object.keys(vocabularies) as EncodingName[];

/** The vocabulary by which an encoding counts text. */
export function vocabularyOf(name: EncodingName): Vocabulary {
  return vocabularies[name];
}

/** The specifiers are literals, so that bundlers see them and keep each vocabulary in its own file. */
const sources: Readonly<
  Record<Vocabulary, { readonly load: () => Promise<{ packed: string }>; readonly cut: Cut }>
> = {
  o200k_base: { load: () => import("./vocabularies/o200k_base.ts"), cut: cutO200k },
  cl100k_base: { load: () => import("./vocabularies/cl100k_base.ts"), cut: cutCl100k },
  p50k_base: { load: () => import("./vocabularies/p50k_base.ts"), cut: cutR50k },
  r50k_base: { load: () => import("./vocabularies/r50k_base.ts"), cut: cutR50k },
};

const loaded = new Map<Vocabulary, Promise<() => BytePairEncoding>>();

/**
 * Loads the vocabulary, once per process. The returned function builds the lookup table at its first call, so an unused
 * counter costs no more than the loading.
 */
export function loadEncoding(name: EncodingName): Promise<() => BytePairEncoding> {
  const vocabulary = vocabularies[name];
  let loading = loaded.get(vocabulary);
  if (loading === undefined) {
    loading = load(vocabulary);
    loaded.set(vocabulary, loading);
    // A failed import may succeed later, so it is not kept.
    loading.catch(() => loaded.delete(vocabulary));
  }
  return loading;
}

async function load(name: Vocabulary): Promise<() => BytePairEncoding> {
  const { load, cut } = sources[name];
  const { packed } = await load();
  let encoding: BytePairEncoding | undefined;
  return () => {
    encoding ??= bytePairEncoding(vocabulary(packed), cut);
    return encoding;
  };
}
