import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { isTurnkeepError } from "@turnkeep/core";
import fc from "fast-check";
import cl100kRanks from "gpt-tokenizer/bpeRanks/cl100k_base";
import o200kRanks from "gpt-tokenizer/bpeRanks/o200k_base";
import p50kRanks from "gpt-tokenizer/bpeRanks/p50k_base";
import r50kRanks from "gpt-tokenizer/bpeRanks/r50k_base";
import { describe, expect, it } from "vitest";
import type { Vocabulary } from "../src/encoding.ts";
import { textCounter } from "../src/index.ts";
import { packed as cl100kPacked } from "../src/vocabularies/cl100k_base.ts";
import { packed as o200kPacked } from "../src/vocabularies/o200k_base.ts";
import { packed as p50kPacked } from "../src/vocabularies/p50k_base.ts";
import { packed as r50kPacked } from "../src/vocabularies/r50k_base.ts";
import { base, vocabulary } from "../src/vocabulary.ts";
import { bytesOfToken, naiveCount, ranksByHex } from "./naive-encoding.ts";
import { cl100kPattern, o200kPattern, r50kPattern } from "./patterns.ts";

interface Vectors {
  readonly cases: readonly ({ readonly text: string } & Record<Vocabulary, number>)[];
}
const vectors: Vectors = JSON.parse(
  readFileSync(new URL("./vectors/tiktoken.json", import.meta.url), "utf8"),
) as Vectors;

// The hashes by which OpenAI's tiktoken (tiktoken_ext/openai_public.py) checks the vocabularies that it downloads.
const encodings = [
  {
    name: "o200k_base",
    longRun: 50000,
    ranks: o200kRanks,
    packed: o200kPacked,
    pattern: o200kPattern,
    sha256: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
  },
  {
    name: "cl100k_base",
    longRun: 50000,
    ranks: cl100kRanks,
    packed: cl100kPacked,
    pattern: cl100kPattern,
    sha256: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
  },
  {
    name: "p50k_base",
    longRun: 100_000,
    ranks: p50kRanks,
    packed: p50kPacked,
    pattern: r50kPattern,
    sha256: "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
  },
  {
    name: "r50k_base",
    longRun: 100_000,
    ranks: r50kRanks,
    packed: r50kPacked,
    pattern: r50kPattern,
    sha256: "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
  },
] as const;

describe.each(encodings)("$name", ({ name, ranks, packed, pattern, sha256, longRun }) => {
  it("has OpenAI's vocabulary, byte for byte", () => {
    const hash = createHash("sha256");
    ranks.forEach((token, rank) => {
      hash.update(`${bytesOfToken(token).toString("base64")} ${rank}\n`);
    });
    expect(hash.digest("hex")).toBe(sha256);
  });

  it("finds every token by its bytes, in the order of the ranks, and nothing else", () => {
    const { find, longest } = vocabulary(packed);
    const found = (bytes: Uint8Array): number => {
      let sum = 0;
      for (const byte of bytes) sum = (Math.imul(sum, base) + byte) | 0;
      return find(bytes, 0, bytes.length, sum);
    };
    const rankOf = ranksByHex(ranks);
    let last = -1;
    let most = 0;
    ranks.forEach((token) => {
      const bytes = bytesOfToken(token);
      const place = found(bytes);
      if (place <= last)
        throw new Error(`${bytes.toString("hex")} is at ${place}, the one before at ${last}`);
      last = place;
      most = Math.max(most, bytes.length);
    });
    expect(longest).toBe(most);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 4 }), (bytes) => {
        expect(found(bytes) >= 0).toBe(rankOf.has(Buffer.from(bytes).toString("hex")));
      }),
      { numRuns: 1_000 },
    );
  });

  it("counts what tiktoken counts", async () => {
    const count = await textCounter(name);
    const wrong = vectors.cases
      .map((vector) => ({ text: vector.text, expected: vector[name], counted: count(vector.text) }))
      .filter(({ expected, counted }) => expected !== counted);
    expect(wrong).toEqual([]);
    expect(vectors.cases.length).toBeGreaterThan(100);
  });

  it("counts like the definition, for any text", async () => {
    const count = await textCounter(name);
    const rankOf = ranksByHex(ranks);
    const fragment = fc.constantFrom(
      "\ufeff",
      "\u0085",
      "'s",
      "'ſ",
      "\n",
      "  ",
      "/",
      "the",
      "日本",
      "😀",
      "<|endoftext|>",
    );
    const text = fc
      .array(
        fc.oneof(
          fc.string({ unit: "binary", maxLength: 6 }),
          fc.string({ unit: "grapheme", maxLength: 6 }),
          fragment,
        ),
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (value) => {
        expect(count(value)).toBe(naiveCount(value, pattern, rankOf));
      }),
    );
  });

  it("counts long runs without a break, which cost others the square of their length", async () => {
    const count = await textCounter(name);
    expect(count("a".repeat(400_000))).toBe(longRun);
    expect(count("!?".repeat(100_000))).toBeGreaterThan(10_000);
    expect(count(" ".repeat(400_000))).toBeGreaterThan(1_000);
  });

  it("counts lone surrogates as U+FFFD, which stands for them in UTF-8", async () => {
    const count = await textCounter(name);
    expect(count("a\ud83d b \ude00")).toBe(count("a\ufffd b \ufffd"));
  });
});

describe("textCounter", () => {
  it("takes the text of special tokens as plain text", async () => {
    const count = await textCounter("o200k_base");
    expect(count("<|endoftext|>")).toBe(7);
    expect(count("<|im_start|>")).toBeGreaterThan(1);
  });

  it.each([
    ["o200k_harmony", "o200k_base"],
    ["p50k_edit", "p50k_base"],
    ["gpt2", "r50k_base"],
  ])("counts text by %s as by %s", async (name, vocabulary) => {
    const [count, same] = [await textCounter(name), await textCounter(vocabulary)];
    for (const { text } of vectors.cases) expect(count(text)).toBe(same(text));
  });

  it.each(["o300k", "", "__proto__", "mistral-large"])("refuses %s and names what is known", async (name) => {
    const error = await textCounter(name).catch((reason: unknown) => reason);
    expect(isTurnkeepError(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain(JSON.stringify(name));
    expect(String(error)).toContain("o200k_base, o200k_harmony, cl100k_base");
    expect(String(error)).toContain("gpt-4o-mini");
  });
});
