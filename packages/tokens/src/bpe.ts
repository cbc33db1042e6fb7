/**
 * Byte-pair encoding, for counting only. A token is stored as a string of its bytes, one character per byte, so that
 * one map holds all tokens, whether or not they are valid UTF-8.
 */
export interface BytePairEncoding {
  count(text: string): number;
}

/** Tokens by rank: text, or bytes if they are not valid UTF-8. May have holes. */
export type Ranks = readonly (string | readonly number[])[];

/** Pieces repeat within a conversation: the counts of short ones are cached, up to this many. */
const maxCachedPieces = 20_000;
const maxCachedLength = 48;

export function bytePairEncoding(ranks: Ranks, pattern: string): BytePairEncoding {
  const rankOf = new Map<string, number>();
  let longest = 0;
  ranks.forEach((token, rank) => {
    const bytes = typeof token === "string" ? bytesOf(token) : String.fromCharCode(...token);
    rankOf.set(bytes, rank);
    longest = Math.max(longest, bytes.length);
  });
  const split = new RegExp(pattern, "gu");
  const cache = new Map<string, number>();

  const countPiece = (piece: string): number => {
    const bytes = bytesOf(piece);
    if (bytes.length <= longest && rankOf.has(bytes)) return 1;
    return mergedLength(bytes, rankOf, longest);
  };

  return {
    count(text) {
      let total = 0;
      for (const piece of text.match(split) ?? []) {
        if (piece.length > maxCachedLength) {
          total += countPiece(piece);
          continue;
        }
        let count = cache.get(piece);
        if (count === undefined) {
          count = countPiece(piece);
          if (cache.size >= maxCachedPieces) cache.clear();
          cache.set(piece, count);
        }
        total += count;
      }
      return total;
    },
  };
}

const utf8 = new TextEncoder();

/** The UTF-8 bytes of a text, one character a byte; a lone surrogate becomes U+FFFD, as everywhere in UTF-8. */
function bytesOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: U+0000 to U+007F are the characters of one byte
  if (/^[\u0000-\u007f]*$/.test(text)) return text;
  const bytes = utf8.encode(text);
  let chars = "";
  for (let at = 0; at < bytes.length; at += 4096) {
    chars += String.fromCharCode(...bytes.subarray(at, at + 4096));
  }
  return chars;
}

const none = -1;

/**
 * How many tokens remain after repeatedly joining the pair of neighbours with the lowest rank, leftmost first. A heap
 * finds that pair, so that a piece of a million bytes costs n log n, not its square.
 */
function mergedLength(bytes: string, rankOf: ReadonlyMap<string, number>, longest: number): number {
  const length = bytes.length;
  const next = new Int32Array(length);
  const previous = new Int32Array(length);
  const pairRank = new Int32Array(length).fill(none);
  const heap = new RankHeap(length);

  const consider = (at: number): void => {
    pairRank[at] = none;
    const middle = next[at] as number;
    if (middle >= length) return;
    const end = next[middle] as number;
    if (end - at > longest) return;
    const rank = rankOf.get(bytes.substring(at, end));
    if (rank === undefined) return;
    pairRank[at] = rank;
    heap.push(rank, at);
  };

  for (let at = 0; at < length; at += 1) {
    next[at] = at + 1;
    previous[at] = at - 1;
  }
  for (let at = 0; at < length; at += 1) consider(at);

  let tokens = length;
  for (let top = heap.pop(); top !== undefined; top = heap.pop()) {
    const { rank, at } = top;
    // An entry stays in the heap when its pair is gone because a neighbour was joined first.
    if (pairRank[at] !== rank) continue;
    const joined = next[at] as number;
    const after = next[joined] as number;
    next[at] = after;
    if (after < length) previous[after] = at;
    pairRank[joined] = none;
    tokens -= 1;
    consider(at);
    const before = previous[at] as number;
    if (before >= 0) consider(before);
  }
  return tokens;
}

/** A binary heap of ranks with their places: the lowest rank first, then the leftmost place. */
class RankHeap {
  readonly #keys: number[] = [];
  readonly #places: number;

  /** `places`: every place is below it, so that rank and place fit one number. */
  constructor(places: number) {
    this.#places = places;
  }

  push(rank: number, at: number): void {
    const keys = this.#keys;
    const key = rank * this.#places + at;
    let index = keys.length;
    keys.push(key);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = keys[parent] as number;
      if (above <= key) break;
      keys[index] = above;
      index = parent;
    }
    keys[index] = key;
  }

  pop(): { readonly rank: number; readonly at: number } | undefined {
    const keys = this.#keys;
    const top = keys[0];
    const last = keys.pop();
    if (top === undefined || last === undefined) return undefined;
    if (keys.length > 0) this.#sink(last);
    return { rank: Math.floor(top / this.#places), at: top % this.#places };
  }

  #sink(key: number): void {
    const keys = this.#keys;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= keys.length) break;
      if (child + 1 < keys.length && (keys[child + 1] as number) < (keys[child] as number)) child += 1;
      const below = keys[child] as number;
      if (below >= key) break;
      keys[index] = below;
      index = child;
    }
    keys[index] = key;
  }
}
