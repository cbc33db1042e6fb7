import { fromBase64 } from "@turnkeep/core/format-kit";

/**
 * The tokens of an encoding in the order of their ranks. A token is found by its bytes, wherever they lie: its hash is that
 * of a polynomial, so that the hash of every part of a piece follows from the sums up to its beginning and its end.
 */
export interface Vocabulary {
  /** In bytes, of the longest token. */
  readonly longest: number;
  /**
   * Which token these bytes are: a number that grows with its rank; -1: none.
   *
   * @param sum Of the polynomial over the bytes: see {@link base}.
   */
  find(bytes: Uint8Array, start: number, end: number, sum: number): number;
}

/** The polynomial: for each further byte, the sum is multiplied by this and the byte added, modulo 2 ** 32. */
export const base = 0x0100_0193;

/** Where a token stands among the packed ones, which is below 2 ** 21, is what the rest of the package knows as its rank. */
const placeBits = 21;
const places: number = (1 << placeBits) - 1;

/** The number of tokens, in three bytes, is before the first. */
const firstPlace = 3;

/** @param packed Base64 of the number of tokens, and for each the number of its bytes, in one byte, and the bytes. */
export function vocabulary(packed: string): Vocabulary {
  const tokens = fromBase64(packed);
  const count = ((tokens[0] as number) << 16) | ((tokens[1] as number) << 8) | (tokens[2] as number);
  // At most half full, so that what is not there is soon known.
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(count * 2)));
  const mask = slots.length - 1;
  const longest = fill(slots, tokens);

  return {
    longest,
    find(bytes, start, end, sum) {
      const length = end - start;
      const hash = hashOf(sum, length);
      search: for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
        const entry = slots[slot] as number;
        if (entry === 0) return -1;
        // The upper bits of the hash, which said nothing of the slot, spare most comparisons.
        if ((entry ^ hash) >> placeBits !== 0) continue;
        const place = entry & places;
        if (tokens[place] !== length) continue;
        for (let index = 0; index < length; index++)
          if (bytes[start + index] !== tokens[place + 1 + index]) continue search;
        return place;
      }
    },
  };
}

/** Enters each token; answers the length of the longest. */
function fill(slots: Int32Array, tokens: Uint8Array): number {
  const mask = slots.length - 1;
  let longest = 0;
  for (let place = firstPlace; place < tokens.length; ) {
    const length = tokens[place] as number;
    const end = place + 1 + length;
    let sum = 0;
    for (let at = place + 1; at < end; at++) sum = (Math.imul(sum, base) + (tokens[at] as number)) | 0;
    const hash = hashOf(sum, length);
    let slot = hash & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = (hash & ~places) | place;
    if (length > longest) longest = length;
    place = end;
  }
  return longest;
}

/** The number of bytes tells zeros at the beginning. The lower bits say which slot. */
function hashOf(sum: number, length: number): number {
  const mixed = Math.imul(sum + length, 0x9e37_79b1);
  return mixed ^ (mixed >>> 15);
}
