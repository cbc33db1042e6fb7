/**
 * Of `count` things, oldest first, how many lie before a border that leaves the newest `keep`. The border moves on by a
 * quarter of `keep` at once, so that what stands before it stays the same meanwhile: it leaves `keep` of them at least,
 * and fewer than a quarter more. It depends on the two numbers alone.
 */
export function beforeBorder(count: number, keep: number): number {
  const stride = Math.max(1, Math.ceil(keep / 4));
  return Math.floor(Math.max(0, count - keep) / stride) * stride;
}

/** What a cut may leave out, oldest first: the places where it may stand, and what lies before each. */
export interface CutOptions {
  /** Tokens of each step. */
  readonly costs: readonly number[];
  /** Whether the cut may stand before that step. */
  readonly mayBegin: (index: number) => boolean;
  /** Tokens that there is room for. */
  readonly room: number;
  /** Tokens by which the cut moves on at once; 0: as little as fits. */
  readonly stride: number;
}

/**
 * How many of the oldest steps are left out so that the rest fits; `undefined` if not even the newest does, from where
 * the cut may stand. The cut lies at the last place within a whole number of strides from the beginning, and beyond
 * that only where a long step leaves no other: it is the same for all lists that are longer by less than a stride.
 */
export function cutBefore({ costs, mayBegin, room, stride }: CutOptions): number | undefined {
  const excess = costs.reduce((sum, cost) => sum + cost, 0) - room;
  if (excess <= 0) return 0;
  const reach = stride > 0 ? Math.ceil(excess / stride) * stride : 0;
  let before = 0;
  let cut: number | undefined;
  for (const [index, cost] of costs.entries()) {
    if (mayBegin(index) && before >= excess && (cut === undefined || before <= reach)) cut = index;
    before += cost;
  }
  return cut;
}
