import {
  blank,
  caseless,
  classAt,
  letter,
  lower,
  mark,
  newline,
  number,
  other,
  runEnd,
  space,
  unitAt,
  upper,
  widthAt,
} from "./classes.ts";

/**
 * Where the piece ends that begins at a place. OpenAI's encodings cut a text into pieces before any two bytes are merged,
 * each by a regular expression (`tiktoken_ext/openai_public.py` of `tiktoken` 0.14). Here each is a walk over the classes of
 * the characters, which the tests hold to those expressions, as JavaScript has to write them: see `test/patterns.ts`.
 *
 * A piece is never empty, so whoever cuts on from its end comes to the end of the text.
 */
export type Cut = (text: string, start: number) => number;

const slash = 0x2f;
const apostrophe = 0x27;

/** `o200k_base`: letters with a capital first, a blank or sign before them, `'s` and the like behind them. */
export const cutO200k: Cut = (text, start) => {
  const plain = plainWordEnd(text, start);
  if (plain !== undefined) return plain;
  const class_ = classAt(text, start);
  // Anything but a letter, a number and a line break may stand before letters.
  const behindLead = (class_ & (other | mark | blank)) === 0 ? start : start + widthAt(text, start);
  const following = behindLead < text.length ? classAt(text, behindLead) : 0;
  if (((class_ | following) & (letter | mark)) !== 0) {
    const end =
      lowerWordEnd(text, behindLead) ??
      lowerWordEnd(text, start) ??
      upperWordEnd(text, behindLead) ??
      upperWordEnd(text, start);
    if (end !== undefined) return contractionEnd(text, end) ?? end;
  }
  return (
    digitsEnd(text, start, class_) ??
    signsEnd(text, start, (end) => {
      let at = end;
      while (at < text.length && (unitAt(text, at) === slash || isNewline(text, at))) at += 1;
      return at;
    }) ??
    linesEnd(text, start, runEnd(text, start, space)) ??
    blanksEnd(text, start)
  );
};

/** `cl100k_base`: as above without regard to capitals; `'s` and the like are pieces of their own. */
export const cutCl100k: Cut = (text, start) => {
  const class_ = classAt(text, start);
  const contraction = contractionEnd(text, start);
  if (contraction !== undefined) return contraction;
  const first =
    (class_ & letter) === 0 && (class_ & (number | newline)) === 0 ? start + widthAt(text, start) : start;
  const end = runEnd(text, first, letter);
  if (end > first) return end;
  const signs = digitsEnd(text, start, class_) ?? signsEnd(text, start, (end) => runEnd(text, end, newline));
  if (signs !== undefined) return signs;
  const spaces = runEnd(text, start, space);
  return spaces === text.length ? spaces : (linesEnd(text, start, spaces) ?? blanksEnd(text, start));
};

/** `r50k_base` and `p50k_base`: a run of one kind, with a space before it; only small letters behind an apostrophe. */
export const cutR50k: Cut = (text, start) => {
  if (unitAt(text, start) === apostrophe && /^(?:[sdmt]|ll|ve|re)/.test(text.slice(start + 1, start + 3))) {
    return contractionEnd(text, start) as number;
  }
  const first = unitAt(text, start) === 0x20 ? start + 1 : start;
  for (const kind of [letter, number, other | mark]) {
    const end = runEnd(text, first, kind);
    if (end > first) return end;
  }
  return blanksEnd(text, start);
};

/**
 * Capitals, then at least one small letter; a letter without case, or a mark, is either. Where no small letter follows the
 * capitals, the last of those that are either counts as one.
 */
function lowerWordEnd(text: string, start: number): number | undefined {
  const capitals = runEnd(text, start, upper | caseless | mark);
  const end = runEnd(text, capitals, lower | caseless | mark);
  if (end > capitals) return end;
  for (let at = capitals; at > start; ) {
    const before = at - (at - 2 >= start ? widthAt(text, at - 2) : 1);
    if ((classAt(text, before) & (caseless | mark)) !== 0) return at;
    at = before;
  }
  return undefined;
}

/** Capitals that no small letter follows. */
function upperWordEnd(text: string, start: number): number | undefined {
  const end = runEnd(text, start, upper | caseless | mark);
  return end > start ? end : undefined;
}

/**
 * Where a word ends as most are: perhaps a space and capitals, then small letters, all of ASCII, and behind them neither an
 * apostrophe nor anything beyond ASCII.
 */
function plainWordEnd(text: string, start: number): number | undefined {
  let at = unitAt(text, start) === 0x20 ? start + 1 : start;
  let unit = unitAt(text, at);
  while (unit >= 0x41 && unit <= 0x5a) unit = unitAt(text, ++at);
  const small = at;
  while (unit >= 0x61 && unit <= 0x7a) unit = unitAt(text, ++at);
  return at > small && !(unit >= 0x80 || unit === apostrophe) ? at : undefined;
}

/** Up to three numbers. */
function digitsEnd(text: string, start: number, class_: number): number | undefined {
  if (class_ !== number) return undefined;
  let at = start + widthAt(text, start);
  for (let count = 1; count < 3 && at < text.length && classAt(text, at) === number; count++)
    at += widthAt(text, at);
  return at;
}

/** Signs with a space before them, and what `tail` says of what follows. */
function signsEnd(text: string, start: number, tail: (end: number) => number): number | undefined {
  const first = unitAt(text, start) === 0x20 ? start + 1 : start;
  const end = runEnd(text, first, other | mark);
  return end > first ? tail(end) : undefined;
}

/** White space up to its last line break. */
function linesEnd(text: string, start: number, end: number): number | undefined {
  for (let at = end; at > start; at--) if (isNewline(text, at - 1)) return at;
  return undefined;
}

/** White space; its last character is left to what follows. */
function blanksEnd(text: string, start: number): number {
  const end = runEnd(text, start, space);
  return end === text.length || end - start === 1 ? end : end - 1;
}

function isNewline(text: string, at: number): boolean {
  const unit = unitAt(text, at);
  return unit === 0x0a || unit === 0x0d;
}

/** `'s` (also with `ſ`, U+017F), `'t`, `'d`, `'m`, `'ll`, `'ve`, `'re`, in small letters and capitals. */
function contractionEnd(text: string, start: number): number | undefined {
  if (unitAt(text, start) !== apostrophe) return undefined;
  if (/^[sSſtTdDmM]/.test(text.charAt(start + 1))) return start + 2;
  return /^(?:[lL][lL]|[vV][eE]|[rR][eE])/.test(text.slice(start + 1, start + 3)) ? start + 3 : undefined;
}
