/**
 * The regular expressions by which OpenAI's encodings cut a text into pieces before any two bytes are merged, as `tiktoken` has
 * them (`tiktoken_ext/openai_public.py`, 0.14). Two things differ between its regular expressions and JavaScript's:
 * its `\s` is Unicode's White_Space (with U+0085, without U+FEFF), and its case-insensitive `s` is also `ſ` (U+017F).
 */
const space = String.raw`\p{White_Space}`;
const contraction = "'(?:[sSſ]|[tT]|[dD]|[mM]|[lL][lL]|[vV][eE]|[rR][eE])";
const upper = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const lower = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const lead = String.raw`[^\r\n\p{L}\p{N}]?`;

export const o200kPattern: string = [
  `${lead}${upper}*${lower}+(?:${contraction})?`,
  `${lead}${upper}+${lower}*(?:${contraction})?`,
  String.raw`\p{N}{1,3}`,
  String.raw` ?[^${space}\p{L}\p{N}]+[\r\n/]*`,
  String.raw`${space}*[\r\n]+`,
  `${space}+(?=${space}|$)`,
  `${space}+`,
].join("|");

export const cl100kPattern: string = [
  contraction,
  String.raw`${lead}\p{L}+`,
  String.raw`\p{N}{1,3}`,
  String.raw` ?[^${space}\p{L}\p{N}]+[\r\n]*`,
  `${space}+$`,
  String.raw`${space}*[\r\n]`,
  `${space}+(?=${space}|$)`,
  space,
].join("|");

export const r50kPattern: string = [
  "'(?:[sdmt]|ll|ve|re)",
  String.raw` ?\p{L}+`,
  String.raw` ?\p{N}+`,
  String.raw` ?[^${space}\p{L}\p{N}]+`,
  `${space}+$`,
  `${space}+(?=${space}|$)`,
  space,
].join("|");
