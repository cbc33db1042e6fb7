/** The classes of characters by which texts are cut, as bits, so that several are one mask. */
export const other = 1;
/** `\p{Ll}` */
export const lower = 2;
/** `\p{Lu}` and `\p{Lt}` */
export const upper = 4;
/** `\p{Lm}` and `\p{Lo}`: letters without case. */
export const caseless = 8;
/** `\p{M}` */
export const mark = 16;
/** `\p{N}` */
export const number = 32;
/** `\p{White_Space}` but for the next two. */
export const blank = 64;
/** U+000A and U+000D */
export const newline = 128;

export const letter: number = lower | upper | caseless;
export const space: number = blank | newline;

const categories: readonly (readonly [RegExp, number])[] = [
  [/^\p{Ll}/u, lower],
  [/^[\p{Lu}\p{Lt}]/u, upper],
  [/^\p{L}/u, caseless],
  [/^\p{M}/u, mark],
  [/^\p{N}/u, number],
  [/^[\r\n]/u, newline],
  [/^\p{White_Space}/u, blank],
];

const { charCodeAt } = String.prototype;

/**
 * The code unit at a place; `NaN` beyond the end. A program that has a class of its own `extends String`, as `ioredis` 6 does,
 * makes V8 look up every method of every string anew, which halved the speed of counting: this one was looked up once.
 */
export function unitAt(text: string, at: number): number {
  return charCodeAt.call(text, at);
}

/** By code unit; 0: not asked for yet, or half of a pair of surrogates. */
const known = new Uint8Array(0x1_0000);

/** By code point beyond U+FFFF; made when a text holds one. */
let astral = new Uint8Array(0);

/**
 * The class of the character at a place. The engine's own tables of Unicode say it, once for each character: a regular
 * expression costs a microsecond, a look-up next to nothing.
 */
export function classAt(text: string, at: number): number {
  const unit = unitAt(text, at);
  return (known[unit] as number) || learn(text, at, unit);
}

function learn(text: string, at: number, unit: number): number {
  const point = text.codePointAt(at) as number;
  if (point > 0xffff) {
    if (astral.length === 0) astral = new Uint8Array(0x10_0000);
    const index = point - 0x1_0000;
    astral[index] ||= classOf(String.fromCodePoint(point));
    return astral[index] as number;
  }
  const found = classOf(String.fromCharCode(unit));
  // A lone surrogate is no character; its unit may begin a pair elsewhere.
  if (unit < 0xd800 || unit > 0xdfff) known[unit] = found;
  return found;
}

function classOf(character: string): number {
  return categories.find(([pattern]) => pattern.test(character))?.[1] ?? other;
}

/** How many code units the character at a place has. */
export function widthAt(text: string, at: number): 1 | 2 {
  return (unitAt(text, at) & 0xfc00) === 0xd800 && (unitAt(text, at + 1) & 0xfc00) === 0xdc00 ? 2 : 1;
}

/** Where the characters of these classes end that begin at a place. */
export function runEnd(text: string, start: number, classes: number): number {
  let at = start;
  for (const { length } = text; at < length; ) {
    const class_ = known[unitAt(text, at)] as number;
    if (class_ !== 0) {
      if ((class_ & classes) === 0) return at;
      at += 1;
    } else {
      if ((classAt(text, at) & classes) === 0) return at;
      at += widthAt(text, at);
    }
  }
  return at;
}
