/** So many calls are made by one contender before the next has its turn: the first of them finds the caches cold. */
export const callsOfTurn = 8;

/** Numbers that look random and are the same in each run. */
export function* noise(seed = 1): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state >>> 16;
  }
}

/** How long each run took, in milliseconds, those that warm up apart. */
export async function timesOf(
  runs: number,
  run: (index: number) => unknown,
  { warmUp = Math.min(runs, 20) }: { readonly warmUp?: number } = {},
): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < warmUp + runs; index++) {
    const began = performance.now();
    await run(index);
    if (index >= warmUp) times.push(performance.now() - began);
  }
  return times;
}

/** The value below which that share of them lies; 0.5 is the median. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1));
  const value = sorted[place];
  if (value === undefined) throw new Error("A quantile of nothing was asked for");
  return value;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
