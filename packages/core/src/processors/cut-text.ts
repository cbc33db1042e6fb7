type Count = (text: string) => number;

/** Characters read for each token at first; doubled until there are too many tokens. */
const charactersAtFirst = 4;

/** A beginning may count more tokens than the whole text, by what the tokenizer merges across its end. */
const slack = 8;

/** Whether a text has at most this many tokens. Reads no more of a long text than needed. */
export function fits(text: string, tokens: number, count: Count): boolean {
  for (let length = charactersAtFirst * tokens + 64; length < text.length; length *= 2) {
    if (count(text.slice(0, length)) > tokens + slack) return false;
  }
  return count(text) <= tokens;
}

/** The longest beginning of a text with at most this many tokens, as far as bisection finds it. */
export function beginning(text: string, tokens: number, count: Count): string {
  return text.slice(
    0,
    wholeAt(
      text,
      longest(text.length, tokens, (length) => count(text.slice(0, length))),
    ),
  );
}

/** The longest end of a text with at most this many tokens, found likewise. */
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
