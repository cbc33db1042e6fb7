import { unitAt } from "./classes.ts";
import type { Cut } from "./split.ts";
import { base, type Vocabulary } from "./vocabulary.ts";

/** Byte-pair encoding, for counting only. */
export interface BytePairEncoding {
  count(text: string): number;
}

/** Above this many bytes, a heap finds the next pair sooner than looking at all. */
const mostLookedThrough = 64;

/** In bytes, of a remembered piece; with its length and its tokens it fills a place. */
const mostRemembered = 94;
const roomOfOne = 96;
const rememberedBits = 12;

/** In bytes: pieces longer than this are rare. */
const usualRoom = 1024;

/** Powers of the hash's base, by the length of a token. */
function powersUpTo(longest: number): Int32Array {
  const powers = new Int32Array(longest + 1).fill(1);
  for (let length = 1; length <= longest; length++)
    powers[length] = Math.imul(powers[length - 1] as number, base);
  return powers;
}

export function bytePairEncoding(vocabulary: Vocabulary, cut: Cut): BytePairEncoding {
  const { longest } = vocabulary;
  const powers = powersUpTo(longest);
  // Of the piece that is being counted: its bytes, and the sums of the hash's polynomial up to each.
  let bytes = new Uint8Array(usualRoom);
  let sums = new Int32Array(usualRoom + 1);
  let next = new Int32Array(usualRoom);
  let ranks = new Int32Array(usualRoom);
  // Of each remembered piece: its length, its tokens, its bytes.
  const remembered = new Uint8Array(roomOfOne << rememberedBits);

  function makeRoom(length: number): void {
    bytes = new Uint8Array(length);
    sums = new Int32Array(length + 1);
    next = new Int32Array(length);
    ranks = new Int32Array(length);
  }

  /** Puts the UTF-8 of a piece into `bytes`; answers its length. A lone surrogate becomes U+FFFD, as everywhere in UTF-8. */
  function encode(text: string, start: number, end: number): number {
    const into = bytes;
    let length = 0;
    for (let at = start; at < end; at++) {
      const unit = unitAt(text, at);
      if (unit < 0x80) {
        into[length++] = unit;
        continue;
      }
      if (unit < 0x800) {
        into[length++] = 0xc0 | (unit >> 6);
        into[length++] = 0x80 | (unit & 0x3f);
        continue;
      }
      const isSurrogate = (unit & 0xf800) === 0xd800;
      const read = isSurrogate ? (text.codePointAt(at) as number) : unit;
      const point = isSurrogate && read === unit ? 0xfffd : read;
      if (point > 0xffff) {
        at++;
        into[length++] = 0xf0 | (point >> 18);
        into[length++] = 0x80 | ((point >> 12) & 0x3f);
      } else {
        into[length++] = 0xe0 | (point >> 12);
      }
      into[length++] = 0x80 | ((point >> 6) & 0x3f);
      into[length++] = 0x80 | (point & 0x3f);
    }
    return length;
  }

  /** The rank of a part of the piece; -1: no token. */
  function rankOf(start: number, end: number): number {
    const length = end - start;
    if (length > longest) return -1;
    const sum = (sums[end] as number) - Math.imul(sums[start] as number, powers[length] as number);
    return vocabulary.find(bytes, start, end, sum | 0);
  }

  function countPiece(text: string, start: number, end: number): number {
    // A code unit takes three bytes at most: a pair of surrogates takes four.
    if ((end - start) * 3 > bytes.length) makeRoom((end - start) * 3);
    const length = encode(text, start, end);
    const [piece, sumTo] = [bytes, sums];
    let sum = 0;
    for (let at = 0; at < length; ) {
      sum = (Math.imul(sum, base) + (piece[at] as number)) | 0;
      at += 1;
      sumTo[at] = sum;
    }
    if (length <= longest && vocabulary.find(piece, 0, length, sum) >= 0) return 1;
    return length <= mostRemembered ? recalled(length, sum) : merged(length);
  }

  /** Words repeat within a conversation: what short pieces came to is remembered, until another takes the place. */
  function recalled(length: number, sum: number): number {
    const place = (Math.imul(sum, 0x9e37_79b1) >>> (32 - rememberedBits)) * roomOfOne;
    if (remembered[place] === length) {
      let at = 0;
      while (at < length && remembered[place + 2 + at] === bytes[at]) at++;
      if (at === length) return remembered[place + 1] as number;
    }
    const tokens = merged(length);
    remembered[place] = length;
    remembered[place + 1] = tokens;
    for (let at = 0; at < length; at++) remembered[place + 2 + at] = bytes[at] as number;
    return tokens;
  }

  function merged(length: number): number {
    if (length <= mostLookedThrough) return mergedByLooking(length);
    const tokens = mergedByHeap(length);
    // One long piece should not cost its memory for ever.
    if (bytes.length > usualRoom) makeRoom(usualRoom);
    return tokens;
  }

  /**
   * How many tokens remain after repeatedly joining the pair of neighbours with the lowest rank, leftmost first. `next`
   * holds where each part ends, `ranks` what it is together with the part behind it.
   */
  function mergedByLooking(length: number): number {
    const pairRank = (at: number): number => {
      const middle = next[at] as number;
      return middle >= length ? none : orNone(rankOf(at, next[middle] as number));
    };
    for (let at = 0; at < length; at++) next[at] = at + 1;
    for (let at = 0; at < length; at++) ranks[at] = pairRank(at);
    for (let tokens = length; ; tokens--) {
      let lowest = none;
      let place = -1;
      let before = -1;
      for (let at = 0, previous = -1; at < length; previous = at, at = next[at] as number) {
        if ((ranks[at] as number) >= lowest) continue;
        lowest = ranks[at] as number;
        place = at;
        before = previous;
      }
      if (place < 0) return tokens;
      next[place] = next[next[place] as number] as number;
      ranks[place] = pairRank(place);
      if (before >= 0) ranks[before] = pairRank(before);
    }
  }

  /** The same with a heap, so that a piece of a million bytes costs n log n, not its square. */
  function mergedByHeap(length: number): number {
    const previous = new Int32Array(length);
    const heap = new RankHeap(length);

    const consider = (at: number): void => {
      const middle = next[at] as number;
      const rank = middle >= length ? -1 : rankOf(at, next[middle] as number);
      ranks[at] = rank;
      if (rank >= 0) heap.push(rank, at);
    };

    for (let at = 0; at < length; at++) {
      next[at] = at + 1;
      previous[at] = at - 1;
    }
    for (let at = 0; at < length; at++) consider(at);

    let tokens = length;
    for (let top = heap.pop(); top !== undefined; top = heap.pop()) {
      const { rank, at } = top;
      // An entry stays in the heap when its pair is gone because a neighbour was joined first.
      if (ranks[at] !== rank) continue;
      const joined = next[at] as number;
      const after = next[joined] as number;
      next[at] = after;
      if (after < length) previous[after] = at;
      ranks[joined] = -1;
      tokens -= 1;
      consider(at);
      const before = previous[at] as number;
      if (before >= 0) consider(before);
    }
    return tokens;
  }

  return {
    count(text) {
      let total = 0;
      for (let at = 0; at < text.length; ) {
        const end = cut(text, at);
        total += countPiece(text, at, end);
        at = end;
      }
      return total;
    },
  };
}

/** Above every rank. */
const none = 0x7fff_ffff;

function orNone(rank: number): number {
  return rank < 0 ? none : rank;
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
