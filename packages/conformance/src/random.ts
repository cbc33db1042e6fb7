/** A seeded source of numbers from 0 (inclusive) to 1: the same seed and salt give the same numbers. */
export function createRandom(seed: number, salt: string): () => number {
  let state = seed | 0;
  for (let index = 0; index < salt.length; index++) {
    state = Math.imul(state ^ salt.charCodeAt(index), 0x01000193);
  }
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Eight hexadecimal digits of a random number. */
export function hex(random: () => number): string {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, "0");
}

/** A seed that nobody chose: 1 to 2³¹ − 1. */
export function newSeed(): number {
  return 1 + Math.floor(Math.random() * (2 ** 31 - 2));
}
