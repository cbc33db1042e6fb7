/** Tokens by rank: text, or bytes if they are not valid UTF-8. May have holes. */
type Ranks = readonly (string | readonly number[])[];

/**
 * Byte-pair encoding as its definition reads, for comparison: a list of byte strings in hexadecimal, scanned from
 * the left for the pair of lowest rank until none is left.
 */
export function naiveCount(text: string, pattern: string, rankOf: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const [piece] of text.matchAll(new RegExp(pattern, "gu"))) {
    const parts = [...Buffer.from(piece, "utf8")].map((byte) => byte.toString(16).padStart(2, "0"));
    for (;;) {
      let lowest = Number.POSITIVE_INFINITY;
      let place = -1;
      for (let at = 0; at + 1 < parts.length; at += 1) {
        const rank = rankOf.get(`${parts[at]}${parts[at + 1]}`) ?? Number.POSITIVE_INFINITY;
        if (rank < lowest) {
          lowest = rank;
          place = at;
        }
      }
      if (place < 0) break;
      parts.splice(place, 2, `${parts[place]}${parts[place + 1]}`);
    }
    total += parts.length;
  }
  return total;
}

export function ranksByHex(ranks: Ranks): Map<string, number> {
  const rankOf = new Map<string, number>();
  ranks.forEach((token, rank) => {
    rankOf.set(bytesOfToken(token).toString("hex"), rank);
  });
  return rankOf;
}

export function bytesOfToken(token: string | readonly number[]): Buffer {
  return typeof token === "string" ? Buffer.from(token, "utf8") : Buffer.from(token);
}
