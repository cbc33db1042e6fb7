/**
 * Groups numbers into ascending runs in which each is at most `step` from the next, for a store that keeps or requests
 * seqs as ranges. `to` is the last number of a run.
 *
 * @example
 * ```ts
 * import { runsOf } from "@turnkeep/core/store-kit";
 *
 * runsOf([7, 1, 2, 3]); // [{ from: 1, to: 3 }, { from: 7, to: 7 }]
 * ```
 */
export function runsOf(seqs: Iterable<number>, step = 1): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (const seq of [...seqs].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && seq <= last.to + step) last.to = seq;
    else runs.push({ from: seq, to: seq });
  }
  return runs;
}
