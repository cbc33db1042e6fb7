type Count = (text: string) => number;

/** Characters of a text for each token at first; then it is doubled until the tokens are too many. */
const charactersAtFirst = 4;

/** A count of a beginning may be above that of the whole, by what the tokenizer joins at its end. */
const slack = 8;

/** Whether a text has at most so many tokens. Reads no more of a long one than it has to. */
export function fits(text: string, tokens: number, count: Count): boolean {
  for (let length = charactersAtFirst * tokens + 64; length < text.length; length *= 2) {
    if (count(text.slice(0, length)) > tokens + slack) return false;
  }
  return count(text) <= tokens;
}

/** The longest beginning of a text with at most so many tokens, as far as a search by halves finds it. */
export function beginning(text: string, tokens: number, count: Count): string {
  return text.slice(
    0,
    wholeAt(
      text,
      longest(text.length, tokens, (length) => count(text.slice(0, length))),
    ),
  );
}

/** The longest end of a text with at most so many tokens, likewise. */
export function ending(text: string, tokens: number, count: Count): string {
  const { length } = text;
  const kept = longest(length, tokens, (size) => count(text.slice(length - size)));
  const from = length - kept;
  return text.slice(isWithinPair(text, from) ? from + 1 : from);
}

function longest(all: number, tokens: number, countOf: (length: number) => number): number {
  if (tokens === 0) return 0;
  let tooLong = Math.min(all, charactersAtFirst * tokens);
  while (tooLong < all && countOf(tooLong) <= tokens) tooLong = Math.min(all, tooLong * 2);
  if (countOf(tooLong) <= tokens) return tooLong;
  let within = 0;
  while (tooLong - within > 1) {
    const middle = Math.floor((within + tooLong) / 2);
    if (countOf(middle) <= tokens) within = middle;
    else tooLong = middle;
  }
  return within;
}

function wholeAt(text: string, at: number): number {
  return isWithinPair(text, at) ? at - 1 : at;
}

/** Whether a place lies between the two halves of a surrogate pair. */
function isWithinPair(text: string, at: number): boolean {
  return at > 0 && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff;
}
