import { utf8Length } from "@turnkeep/core/store-kit";
import { commonWords, pairCosts, signTokens, wholeCosts, withinCosts } from "./claude-costs.ts";

/** Counts a text by `o200k_base`. */
type CountText = (text: string) => number;

/** Signs beyond ASCII that are taken as those of ASCII are. */
const signs = "!-/:-@[-`{-~\u2013\u2014\u2018\u2019\u201c\u201d\u2022\u2026";
const beyond = "\u0080-\u2012\u2015-\u2017\u201a\u201b\u201e-\u2021\u2023-\u2025\u2027-\uffff";
const runs: RegExp = new RegExp(
  `[A-Za-z]+(?![A-Za-z${beyond}])|[A-Za-z${beyond}]+|[0-9]+|[${signs}]+|[\\t\\n ]+`,
  "g",
);

/**
 * What Claude's tokenizers cost at most for a text, as far as `ctok` 1.3.0 tells (an open reconstruction, by its record equal to
 * Anthropic's `count_tokens` on 2.3 million texts). They cut a text into words, numbers, signs and blanks, and never take
 * more than any way to cover each of these by tokens that they have: so each is covered by tokens that were measured, and by
 * single letters and bytes elsewhere. Decision record 0016 has the figures.
 */
export function claudeTokens(text: string, count: CountText): number {
  if (text === "") return 0;
  // Where a number or an ideograph opens the message, a mark of its beginning is one.
  let tokens = 1;
  const read = asRead(text, () => {
    tokens += 1;
  });
  const parts = read.match(runs) ?? [];
  for (let at = 0; at < parts.length; at += 1) {
    const run = parts[at] as string;
    const first = run.charCodeAt(0);
    if (run === " ") {
      // Between two words or signs, it is what their borders say.
      if (!hasBorder(parts[at - 1]?.at(-1)) || !hasBorder(parts[at + 1]?.[0])) tokens += 1;
    } else if (first <= 0x20) {
      for (const [kind] of run.matchAll(/ +|\t+|\n+/g)) tokens += Math.ceil(kind.length / 16);
    } else if (first >= 0x30 && first <= 0x39) {
      tokens += Math.ceil(run.length / 3);
    } else if (isSign.test(run)) {
      const before = parts[at - 1]?.at(-1) === " " ? " " : "";
      const after = /^ (?! )/.test(parts[at + 1] ?? "") ? " " : "";
      tokens += remembered(before + run + after, ofSigns, count);
    } else {
      tokens += remembered(run, isWord.test(run) ? ofWord : beyondAscii, count);
    }
  }
  return tokens;
}

const isSign: RegExp = new RegExp(`^[${signs}]`);
const isWord: RegExp = /^[A-Za-z]+$/;

/** What repeats within a conversation, and what it costs; as much as one conversation has, and then anew. */
const known = new Map<string, number>();
const mostKnown = 20_000;

function remembered(run: string, cost: (run: string, count: CountText) => number, count: CountText): number {
  let tokens = known.get(run);
  if (tokens !== undefined) return tokens;
  tokens = cost(run, count);
  if (known.size >= mostKnown) known.clear();
  // V8 copies a part of a text that is no longer than that. Of a longer one it keeps the whole text.
  if (run.length <= 12) known.set(run, tokens);
  return tokens;
}

/** As the tokenizers read a text: composed, each blank of one width a space, without control and private characters. */
function asRead(text: string, removed: () => void): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: U+0000 to U+007F are ASCII
  if (!/[\0-\u0008\u000b-\u001f\u007f-\uffff]/.test(text)) return text;
  return (
    text
      .normalize("NFC")
      .replace(/\r(?=\n)/g, "")
      .replace(/[\0\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f]/g, " ")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are left out
      .replace(/[\u0001-\u0008\u000b-\u001f\u007f-\u009f\ue000-\uf8ff]/g, () => {
        removed();
        return "";
      })
  );
}

/** Whether the tokenizers mark the border of a word or of signs here. */
function hasBorder(character: string | undefined): boolean {
  if (character === undefined || character >= "\u3000") return false;
  return character < "\u0080" ? !/[0-9\s]/.test(character) : /[\p{Alphabetic}‘’“”–—•…]/u.test(character);
}

/** A quotation mark that is not straight has no token: it is two. */
function ofSigns(run: string): number {
  return (run.match(signTokens)?.length ?? 0) + (run.match(/[‘’“”]/g)?.length ?? 0);
}

/** One a letter at most, and one for a capital at its beginning or for capitals throughout; Z, J and Q take no border in. */
function ofWord(word: string, count: CountText): number {
  const { length } = word;
  const small = word.toLowerCase();
  if (small === word) return ofSmall(word, count);
  if (length === 1) return 2;
  if (word.slice(1) === small.slice(1)) return 1 + ofSmall(small, count);
  let tokens = numberOf(word, /^Z|[JQZ]$/g);
  if (word === word.toUpperCase()) return length + 1 + tokens;
  for (const [part] of word.matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g))
    tokens += Math.min(
      part.length,
      /[a-z]./.test(part) ? byPairs(part.toLowerCase(), withinCosts, count) : part.length,
    );
  return tokens;
}

function ofSmall(word: string, count: CountText): number {
  if (commonWords.has(word)) return 1;
  return word.length === 1 ? 1 : Math.min(word.length, byPairs(word, wholeCosts, count));
}

/** Infinite where `o200k_base` has not the whole word. */
function byPairs(word: string, costs: readonly number[], count: CountText): number {
  if (count(` ${word}`) !== 1) return Number.POSITIVE_INFINITY;
  const capitals = word.toUpperCase();
  const title = `${capitals[0]}${word.slice(1)}`;
  const spellings = [word, title, ` ${title}`, capitals, ` ${capitals}`].filter((one) => count(one) === 1);
  let tokens = costs[spellings.length] as number;
  let before = 0;
  for (let at = 0; at <= word.length; at += 1) {
    const letter = at === word.length ? 0 : word.charCodeAt(at) - 0x60;
    tokens += Number.parseInt(pairCosts[before * 27 + letter] as string, 36);
    before = letter;
  }
  return Math.floor(tokens / 20);
}

/** Letters that are one token in any place; of the first, also with the border of a word. */
const plainLetter = /[a-zà-áä-åç-êí-îò-óö-øР-Са-шю-яא-יל-םס-עק-תا-بج-حر-صف-وक-गण-तद-नम-रव-ह]/u;
const oneToken =
  /[A-Za-zß-öø-þά-ία-ωό-ώА-ДМ-Ха-яі-ќա-օא-ת\u0621-\u0623\u0625-\u063b\u0640-\u064b\u064e-\u0652\u0901-\u0903\u0905-\u0909\u0915-\u0928\u092a-\u0930\u0935-\u0939\u093e-\u0943\u094b-\u094d\u09a3-\u09a8\u09aa-\u09b0\u09be-\u09c2\u0bae-\u0bb5\u0bbe-\u0bc2\u0e1a-\u0e1c\u0e20-\u0e23\u0e27-\u0e2b\u0e30-\u0e39\u0e40-\u0e44\u0e47-\u0e49ა-პრ-შお-きけ-せっ-にね-ばま-もょ-ろァ-イウ-ケサ-セテ-ニネ-パビ-プベ-ャラ-ロ]/u;
const twoTokens =
  /[\u0080-\u07ff\u0900-\u0fbf\u1000-\u10ff\u1200-\u137f\u1780-\u17ff\u1e00-\u1f7f\u1fc0-\u203f\u2100-\u213f\u2200-\u223f\u2500-\u267f\u2700-\u27bf\u3000-\u30ff]/u;

/** Ideographs, syllables of Korean and all beyond the first plane stand alone, without borders. */
const alone =
  "\\u3005\\u3006\\u3031-\\u3035\\u303b\\u303c\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7a3\\uf900-\\ufa6d\\ufa70-\\ufad9\\u{10000}-\\u{10ffff}";
const standsAlone: RegExp = new RegExp(`^[${alone}]`, "u");
const words: RegExp = new RegExp(`[^${alone}\\P{Alphabetic}]+|([─═█])\\1{3}|[^]`, "gu");

/** By the bytes of its characters, where they have no token; the borders of each word count, and a capital in it. */
function beyondAscii(run: string): number {
  let tokens = 0;
  const parts = run.match(words) ?? [];
  for (const [at, part] of parts.entries()) {
    if (standsAlone.test(part)) {
      tokens += oneOf(part);
    } else if (/^\p{Alphabetic}/u.test(part)) {
      for (const end of [part.at(0), part.at(-1)]) if (!plainLetter.test(end as string)) tokens += 1;
      if (part.length === 1) tokens += 1;
      if (/\p{Uppercase}/u.test(part)) tokens += 1;
      for (const letter of part) tokens += oneOf(letter);
    } else {
      // Its borders count where blanks may stand.
      tokens += (at === 0 ? 1 : 0) + (at === parts.length - 1 ? 1 : 0);
      tokens += part.length > 1 ? 1 : oneOf(part);
    }
  }
  return tokens;
}

/** Of a capital, also what its small letter costs: the tokenizers read that, where all else is small. */
function oneOf(character: string): number {
  const small = character.toLowerCase();
  return small === character ? bytesOf(character) : Math.max(bytesOf(character), bytesOf(small));
}

function bytesOf(character: string): number {
  return oneToken.test(character) ? 1 : twoTokens.test(character) ? 2 : utf8Length(character);
}

function numberOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
