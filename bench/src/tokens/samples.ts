import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { modelMessageFormat } from "@turnkeep/core";
import { endlessConversation } from "../corpus.ts";
import { noise } from "../measure.ts";
import { benchFolder } from "../peers.ts";

/** The first article of the Universal Declaration of Human Rights, and what else conversations hold. */
const sentences = {
  English:
    "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood. ",
  Russian:
    "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью. ",
  Chinese: "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
  Hindi: "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। ",
  TypeScript:
    "export function sum(values: readonly number[]): number {\n  return values.reduce((a, b) => a + b, 0);\n}\n\n",
  JSON: '{"id":"01890a5d-ac96-774b-bcce-b302099a8057","price":12.95,"tags":["new","sale"]},\n',
};

/** The kind whose words do not come again and again: this repository's documents and sources, paragraph by paragraph. */
export const realText = "real text";
/** A short text, for a first count. */
export const sample: string = sentences.English;

export interface Size {
  /** The first of them is for warming up. */
  readonly rounds: number;
  /** Of a round. */
  readonly bytes: number;
}

export const sizes = {
  quick: { rounds: 4, bytes: 20_000, warmUpMs: 100 },
  full: { rounds: 11, bytes: 100_000, warmUpMs: 500 },
} as const;

/** Rounds of texts, by kind. */
export function samplesOf({ rounds, bytes }: Size): ReadonlyMap<string, readonly string[][]> {
  const kinds = new Map([
    [realText, paragraphsOfRepository()],
    ["conversations", textsOfMessages()],
    ...Object.entries(sentences).map(([kind, sentence]) => [kind, passagesOf(sentence)] as const),
  ]);
  return new Map(
    [...kinds].map(([kind, texts]) => [kind, Array.from({ length: rounds }, () => take(texts, bytes))]),
  );
}

/** Of a document and of a source file in turn, as far as there are both. */
function* paragraphsOfRepository(): Generator<string, undefined> {
  const top = join(benchFolder, "..");
  const documents = paragraphsIn(join(top, "docs"), ".md");
  const sources = readdirSync(join(top, "packages")).flatMap((name) =>
    paragraphsIn(join(top, "packages", name, "src"), ".ts"),
  );
  for (const [index, document] of documents.entries()) {
    const source = sources[index];
    if (source === undefined) return;
    yield document;
    yield source;
  }
}

function paragraphsIn(folder: string, ending: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending) && !name.includes("vocabularies"))
    .sort();
  return [...new Set(files.flatMap((name) => readFileSync(join(folder, name), "utf8").split(/(?<=\n\n)/)))];
}

/** Of ten sentences that come again and again, one message after the other, as a memory counts them. */
function* textsOfMessages(): Generator<string, never> {
  const messages = endlessConversation();
  for (;;) {
    for (const piece of modelMessageFormat.pieces(messages.next().value)) {
      if (piece.type === "text") yield piece.text;
    }
  }
}

/** As long as a message, with a number between the sentences, so that no two are the same. */
function* passagesOf(sentence: string): Generator<string, never> {
  const values = noise();
  for (;;) yield Array.from({ length: 10 }, () => `${sentence}${values.next().value} `).join("");
}

function take(texts: Generator<string, undefined>, bytes: number): string[] {
  const taken: string[] = [];
  for (let left = bytes; left > 0; ) {
    const text = texts.next().value;
    if (text === undefined) throw new Error("There is less text than the rounds ask for");
    taken.push(text);
    left -= bytesOf(text);
  }
  return taken;
}

export function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

function noisy(length: number, character: (value: number) => string): string {
  const values = noise();
  return Array.from({ length }, () => character(values.next().value as number)).join("");
}

/** What costs most to count: no break to cut at, or hardly two letters that were met before. */
export const worst: Readonly<Record<string, string>> = {
  "50,000 spaces": " ".repeat(50_000),
  "10,000 Chinese characters": noisy(10_000, (value) => String.fromCharCode(0x4e00 + (value % 20_000))),
  "100,000 random bytes as text": new TextDecoder().decode(
    Uint8Array.from(
      { length: 100_000 },
      (
        (values) => () =>
          (values.next().value as number) % 256
      )(noise()),
    ),
  ),
  "100,000 random letters": noisy(100_000, (value) => String.fromCharCode(97 + (value % 26))),
  "400,000 times a": "a".repeat(400_000),
};
