import { getRegexByEncoder, TikTokenizer } from "@microsoft/tiktokenizer";
import { Tokenizer } from "ai-tokenizer";
import { Tiktoken } from "js-tiktoken/lite";
import { get_encoding } from "tiktoken";

/** For `gpt-tokenizer`: no special token is looked for. */
const asText = { disallowedSpecial: new Set() };
/** Those that `ai-tokenizer` has, of OpenAI's. */
const ofAi = ["o200k_base", "cl100k_base", "p50k_base"];

/** Each counts a text by that encoding; those that lack it are absent. What looks like a special token is plain text. */
export async function open(encoding) {
  const { countTokens } = await import(`gpt-tokenizer/encoding/${encoding}`);
  const wasm = get_encoding(encoding);
  const js = new Tiktoken((await import(`js-tiktoken/ranks/${encoding}`)).default);
  const microsoft = await microsoftOf(encoding);
  const ai = ofAi.includes(encoding) && new Tokenizer(await import(`ai-tokenizer/encoding/${encoding}`));
  return {
    "gpt-tokenizer": (text) => countTokens(text, asText),
    tiktoken: (text) => wasm.encode_ordinary(text).length,
    "js-tiktoken": (text) => js.encode(text, [], []).length,
    "@microsoft/tiktokenizer": (text) => microsoft.encode(text).length,
    ...(ai && { "ai-tokenizer": (text) => ai.count(text) }),
  };
}

/** It has no vocabularies of its own and would fetch them: it gets those of `gpt-tokenizer`, which are the same. */
async function microsoftOf(encoding) {
  const { default: tokens } = await import(`gpt-tokenizer/bpeRanks/${encoding}`);
  const utf8 = new TextEncoder();
  const ranks = new Map();
  for (const [rank, token] of tokens.entries()) {
    // Some ranks are those of special tokens, which the list lacks.
    if (token === undefined) continue;
    ranks.set(typeof token === "string" ? utf8.encode(token) : Uint8Array.from(token), rank);
  }
  return new TikTokenizer(ranks, new Map(), getRegexByEncoder(encoding));
}
